"""The fuzzer finds, shrinks and keeps differences."""

import json
from typing import Any

import fuzz
import golden
from places import CORPUS
from texts_at_random import KINDS, texts

from pytok import Tokenizer


class Crooked(fuzz.Reference):
    """A reference that takes one text for another token, and dies of a third."""

    def __init__(self) -> None:
        self.asked = 0

    def _exchange(self, asks: Any) -> Any:
        self.asked += 1
        if any(b"\0die" in data for data, *_ in asks):
            return None
        return [[0] if b"xyz" in data else list(data) for data, *_ in asks]


def test_a_difference_is_shrunk_to_what_shows_it() -> None:
    ask = (b"some text with xyz in its middle \xff", False, True)
    shrunk = fuzz.shrink(Tokenizer.byte_tokenizer(), Crooked(), ask)
    assert shrunk == (b"xyz", False, True)


def test_a_text_that_the_reference_dies_of_costs_only_itself() -> None:
    asks = [(text, False, False) for text in (b"a", b"b", b"\0die", b"c", b"d")]
    assert Crooked().ask(asks) == [[97], [98], None, [99], [100]]


def test_texts_are_reproducible_and_of_every_kind() -> None:
    made = texts(7, ["<|a|>", "<s>"], 20_000)
    assert made == texts(7, ["<|a|>", "<s>"], 20_000)
    assert made != texts(8, ["<|a|>", "<s>"], 20_000)
    joined = b"".join(made)
    assert len(joined.decode("utf-8", "replace")) >= 20_000
    for trouble in (b"<|a|><|a|>", b"<|a", b"\xff", b"\0", "🐢".encode(), b"\r", "\u212a".encode()):
        assert trouble in joined
    assert len(KINDS) >= 10


def test_rows_that_fuzzing_has_left() -> None:
    lines = (CORPUS / "fuzz/rows.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["model"] for row in rows} >= set(golden.names())
    for row in rows:
        tokenizer = golden.any_model(row["model"])
        pieces = [tokenizer.decode_token(id_).hex() for id_ in row["ids"]]
        assert not golden.differences(tokenizer, [{**row, "pieces": pieces}])
