"""Faults that people have reported of decoding; each test bears a report's id."""

import golden

from pytok import StreamDecoder


def test_dec_control_hidden() -> None:
    tokenizer = golden.model("llama-bpe")
    assert tokenizer.decode([128009], special=False) == ""
    assert tokenizer.decode([128009]) == "<|eot_id|>"
    assert tokenizer.decode([128006, 882, 128007], special=False) == "user"


def test_dec_single_piece_keeps_space() -> None:
    tokenizer = golden.model("llama-spm")
    assert tokenizer.decode_token(727) == b" there"
    assert tokenizer.decode([6324, 727]) == "Hi there"
    assert tokenizer.decode([29871, 6324]) == " Hi"


def test_dec_byte_alphabet() -> None:
    tokenizer = golden.model("gpt-2")
    assert tokenizer.decode_token(198) == b"\n"
    # The report names U+0120 U+00E4, which this vocabulary lacks; U+0120 U+00E5 is of its kind.
    id_ = tokenizer.vocab.ids["\u0120\u00e5"]
    assert tokenizer.decode_token(id_) == b" \xe5"


def test_dec_partial_utf8_input() -> None:
    bpe, spm = golden.model("llama-bpe"), golden.model("llama-spm")
    assert bpe.encode(b"\xe2\x80", add_special=False) == bpe.encode(
        "\ufffd\ufffd", add_special=False
    )
    for data in (b"\xe2\x80", b"ok\xff\xfe!"):
        assert spm.decode_bytes(spm.encode(data, add_special=False)).lstrip(b" ") == data
        assert bpe.encode(data) == bpe.encode(
            data.decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape")
        )


def test_dec_nul_byte() -> None:
    text = "left\0right"
    for model in ("gpt-2", "llama-spm"):
        tokenizer = golden.model(model)
        assert tokenizer.decode(tokenizer.encode(text, add_special=False)) == text
    assert 188 in golden.model("gpt-2").encode(text)
    bert = golden.model("bert-bge")
    assert bert.encode(text) == bert.encode("leftright")


def test_st_emoji_split() -> None:
    decoder = StreamDecoder(golden.model("llama-bpe"))
    assert [decoder.feed(id_) for id_ in (9468, 238, 95, 0)] == ["", "", "\U0001f422", "!"]
    assert decoder.finish() == ""


def test_st_invalid_not_stalling() -> None:
    tokenizer = golden.model("llama-spm")
    decoder = StreamDecoder(tokenizer)
    ids = [tokenizer.vocab.ids[f"<0x{byte}>"] for byte in ("FF", "41", "E2", "28", "E2")]
    assert [decoder.feed(id_) for id_ in ids] == ["\ufffd", "A", "", "\ufffd(", ""]
    assert decoder.finish() == "\ufffd"
    assert decoder.feed(ids[1]) == "A"
