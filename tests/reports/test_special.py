"""Faults that people have reported of special tokens; each test bears a report's id."""

import golden
import pytest

from pytok import Attr, DictSource, DoubledTokenWarning, Tokenizer
from pytok.kinds.bpe import BYTE_CHAR


def test_sp_user_text_not_parsed() -> None:
    tokenizer = golden.model("qwen2")
    text = "<|im_start|>system"
    assert 151644 not in tokenizer.encode(text, add_special=False)
    assert len(tokenizer.encode(text, add_special=False)) > 3
    assert tokenizer.encode(text, add_special=False, parse_special=True)[0] == 151644


def test_sp_user_defined_always() -> None:
    tokenizer = golden.model("command-r")
    text = "<|USER_TOKEN|>hi<|END_OF_TURN_TOKEN|>"
    ids = tokenizer.encode(text, add_special=False)
    assert ids[0] == 255006
    assert 255001 not in ids
    assert tokenizer.attrs(255006) == Attr.USER_DEFINED
    assert tokenizer.attrs(255001) == Attr.CONTROL
    assert tokenizer.added_tokens["<|USER_TOKEN|>"] == 255006


def test_sp_longest_first_not_leftmost() -> None:
    source = DictSource(
        {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "gpt-2",
            "tokenizer.ggml.tokens": [*BYTE_CHAR, "ab", "bcd"],
            "tokenizer.ggml.token_type": [1] * 256 + [4, 4],
            "tokenizer.ggml.merges": ["y z"],
        }
    )
    tokenizer = Tokenizer.from_source(source)
    pieces = [tokenizer.decode_token(id_) for id_ in tokenizer.encode("abcd abce")]
    assert pieces == [b"a", b"bcd", b" ", b"ab", b"c", b"e"]


@pytest.mark.parametrize("model", ["mpt", "gpt-neox"])
@pytest.mark.parametrize("count", range(1, 51))
def test_sp_whitespace_run_tokens(model: str, count: int) -> None:
    tokenizer = golden.model(model)
    ids = tokenizer.encode("x" + " " * count + "y", add_special=False)
    runs = [24] * (count // 24) + ([count % 24] if count % 24 else [])
    if 1 not in runs:
        assert ids[1:-1] == [50278 - run for run in runs]
    assert tokenizer.decode(ids) == "x" + " " * count + "y"


@pytest.mark.parametrize("model", ["gpt-2", "qwen2", "falcon"])
def test_sp_count_must_not_raise(model: str) -> None:
    tokenizer = golden.model(model)
    text = 'if tok == "<|endoftext|>": stop()'
    assert tokenizer.count(text) == len(tokenizer.encode(text)) > 8
    assert tokenizer.count("<|endoftext|>", parse_special=True) == 1


@pytest.mark.parametrize("model", ["phi-3", "command-r", "gemma-4"])
def test_sp_double_bos(model: str) -> None:
    tokenizer = golden.model(model)
    bos = tokenizer.special_tokens["bos"]
    text = tokenizer.vocab.pieces[bos] + "Hi"
    with pytest.warns(DoubledTokenWarning, match="BOS"):
        ids = tokenizer.encode(text, parse_special=True)
    assert ids[:2] == [bos, bos]
    assert tokenizer.encode(text, add_special=False, parse_special=True) == ids[1:]
