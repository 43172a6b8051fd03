"""The API: what it takes, gives and raises."""

import golden
import pytest

from pytok import Tokenizer

GPT2 = golden.model("gpt-2")
PHI3 = golden.model("phi-3")
SPM = golden.model("llama-spm")


@pytest.mark.parametrize("tokenizer", [GPT2, PHI3, Tokenizer.byte_tokenizer()])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "left\0right",
        "a\ud800b",
        "\udcff",
        "\U0010ffff\ue000\u0378",
        b"\xff\xfe\xc3",
        " \n",
    ],
)
def test_no_text_raises(tokenizer: Tokenizer, text: str | bytes) -> None:
    for parse_special in (False, True):
        ids = tokenizer.encode(text, parse_special=parse_special)
        assert all(type(id_) is int for id_ in ids)


def test_encode_takes_str_and_bytes_alike() -> None:
    assert GPT2.encode("né") == GPT2.encode("né".encode()) == GPT2.encode(bytearray("né", "utf-8"))


def test_special_text_is_text_unless_asked() -> None:
    assert GPT2.encode("<|endoftext|>") != [50256]
    assert GPT2.encode("<|endoftext|>", parse_special=True) == [50256]


def test_bos_is_added_where_the_model_wants_it() -> None:
    assert SPM.encode("Hi there") == [1, 6324, 727]
    assert SPM.encode("Hi there", add_special=False) == [6324, 727]
    assert GPT2.encode("Hi") == GPT2.encode("Hi", add_special=False)


def test_decode_concatenates() -> None:
    assert SPM.decode_token(727) == b" there"
    assert SPM.decode_bytes([6324, 727]) == b" Hi there"
    assert SPM.decode([1, 6324]) == "<s> Hi"
    assert SPM.decode([1, 6324], special=False) == " Hi"
    assert SPM.decode([1, 6324], remove_special=True) == SPM.decode([6324]) == "Hi"
    assert GPT2.decode_token(12520) == b" \xf0\x9f"
    assert GPT2.decode([12520]) == " \ufffd"
    with pytest.raises(UnicodeDecodeError):
        GPT2.decode([12520], errors="strict")


@pytest.mark.parametrize("bad", [-1, 50257, 2**40])
def test_ids_that_do_not_exist_are_refused(bad: int) -> None:
    with pytest.raises(ValueError, match=r"is not in 0\.\.50256"):
        GPT2.decode_token(bad)
    with pytest.raises(ValueError, match=str(bad)):
        GPT2.decode([0, bad])
    assert not GPT2.is_eog(bad)


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError):
        GPT2.encode("a", True)  # type: ignore[call-arg]


@pytest.mark.parametrize("char", ["x", "X", ".", " ", "\n", "日", "1"])
@pytest.mark.parametrize("name", ["gpt-2", "llama-bpe", "qwen2", "llama-spm", "aquila"])
def test_long_runs_of_one_character(name: str, char: str) -> None:
    tokenizer = golden.model(name)
    ids = tokenizer.encode(char * 200_000, add_special=False)
    assert tokenizer.decode(ids).count(char) in (200_000, 200_001)  # SPM puts a space before
