"""A vocabulary that was kept is the vocabulary: every field, every id."""

from dataclasses import fields
from typing import Any

import golden
import pytest

from pytok import Tokenizer
from pytok.saved import restore_vocab, save_vocab
from pytok.vocab import Vocab


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) or hasattr(value, "typecode") else value


@pytest.mark.parametrize("name", golden.names())
def test_all_fields_come_back(name: str) -> None:
    vocab = golden.model(name).vocab
    back = restore_vocab(save_vocab(vocab))
    for field in fields(Vocab):
        assert plain(getattr(back, field.name)) == plain(getattr(vocab, field.name)), field.name
    text = "Hello wörld 🐢 <s> 123\n"
    assert Tokenizer(back).encode(text) == Tokenizer(vocab).encode(text)


def test_bytes_that_are_not_utf_8_and_odd_scores_survive() -> None:
    vocab = Vocab(golden.model("llama-spm").kind, pieces=["\udcff", "é\0"], scores=[-0.0, -1e30])
    back = restore_vocab(save_vocab(vocab))
    assert back.pieces == ["\udcff", "é\0"]
    assert back.scores[1] == pytest.approx(-1e30)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"kind": "SPM"}', b"\xff"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        restore_vocab(data)
