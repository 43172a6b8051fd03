"""Faults that people have reported of other tokenizers' BPE; each test bears a report's id."""

from itertools import chain

import golden
import pytest

from pytok import Tokenizer, UnsupportedError


def plain(model: str, text: str) -> list[int]:
    return golden.model(model).encode(text, add_special=False)


def check_rows_like(model: str, *parts: str) -> None:
    """Hold the model's golden rows that contain a part against what we say."""
    rows = chain(golden.rows("vocab", model), golden.rows("badutf8", model))
    chosen = [row for row in rows if any(part in row.get("text", "") for part in parts)]
    assert chosen
    assert not golden.differences(golden.model(model), chosen)


@pytest.mark.parametrize("model", ["gpt-neox", "aquila"])
def test_bpe_missing_pre(model: str) -> None:
    tokenizer = golden.model(model)
    assert any("'tokenizer.ggml.pre' is missing" in line for line in tokenizer.warnings)
    with_default = golden.source(golden.facts()[model]["file"], {"tokenizer.ggml.pre": "default"})
    text = "Total: 12345.67 (approx)"
    assert tokenizer.encode(text) == Tokenizer.from_source(with_default).encode(text)


def test_bpe_unknown_pre() -> None:
    source = golden.source("ggml-vocab-qwen2.gguf", {"tokenizer.ggml.pre": "not-a-real-pre"})
    with pytest.raises(UnsupportedError, match=r"'not-a-real-pre'"):
        Tokenizer.from_source(source)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("end\n\n\nnext", [408, 1432, 3684]),
        ("end\n\n\n", [408, 1432]),
        ("x \n\n y", [87, 4815, 379]),
        ("a\r\n\r\n", [64, 881]),
    ],
)
def test_bpe_newline_run(text: str, ids: list[int]) -> None:
    assert plain("llama-bpe", text) == ids


def test_bpe_ignore_merges() -> None:
    assert plain("llama-bpe", " kald\u0131") == [115060]
    assert plain("llama-bpe", "T\u00fcrkiye") == [112353]


def test_bpe_merge_split_whitespace() -> None:
    tokenizer = golden.model("gemma-4")
    merges = tokenizer.vocab.merges
    pairs = [line.split(" ") for line in merges]
    assert len(pairs) == 514906
    assert all(len(pair) == 2 and all(pair) for pair in pairs)
    assert sum("\n" in line or "\t" in line for line in merges) == 930
    ids = tokenizer.encode("\n" * 7 + "x" + "\t" * 9 + "y", add_special=False)
    assert tokenizer.decode(ids) == "\n" * 7 + "x" + "\t" * 9 + "y"
    assert tokenizer.vocab.pieces[ids[0]] == "\n" * 7


def test_bpe_gemma_newlines() -> None:
    assert plain("gemma-4", "a\n\n\nb")[1] == 109
    assert plain("gemma-4", "\n") == [107]
    assert plain("gemma-4", "\n" * 31) == [107 + 30]
    assert set(plain("gemma-4", "\n" * 40)) <= set(range(107, 138))
    check_rows_like("gemma-4", "\n\n", "  ")


def test_bpe_mark_classes_qwen35() -> None:
    text = "\u0e20\u0e32\u0e29\u0e32\u0e17\u0e35\u0e48\u0e14\u0e35"
    assert plain("qwen2", text) == [127382, 35884, 47171, 37033, 28319]
    assert plain("qwen35", text) == [127382, 126953]


@pytest.mark.parametrize(
    "model",
    ["llama-bpe", "qwen2", "falcon", "starcoder", "command-r", "deepseek-llm", "gpt-2"],
)
def test_bpe_digit_grouping(model: str) -> None:
    assert plain("llama-bpe", "123456") == [4513, 10961]
    check_rows_like(model, "123", "2023", "000")
    pieces = [golden.model(model).decode_token(id_) for id_ in plain(model, "x=123456789, 2023")]
    longest = {"llama-bpe": 3, "qwen2": 1, "falcon": 3, "starcoder": 1, "command-r": 1}
    digits = max(len(piece) for piece in pieces if piece.strip().isdigit())
    assert digits <= longest.get(model, 9)


def test_bpe_no_normalisation() -> None:
    assert plain("qwen2", "e\u0301tat") == [68, 53839, 67138]
    assert plain("qwen2", "\u00e9tat") == [133775]
    assert plain("llama-spm", "e\u0301") == [321, 30103]
    assert plain("llama-spm", "\u00e9") == [904]
    for text in ("e\u0301tat", "\u00e9tat"):
        assert golden.model("qwen2").decode(plain("qwen2", text)) == text


@pytest.mark.parametrize("char", ["x", "X", ".", " ", "\n", "\u65e5", "1"])
@pytest.mark.parametrize("model", ["qwen2", "llama-bpe", "deepseek-llm", "gpt-2", "falcon"])
def test_perf_long_run_stack(model: str, char: str) -> None:
    tokenizer = golden.model(model)
    ids = tokenizer.encode(char * 200_000, add_special=False)
    assert tokenizer.decode(ids) == char * 200_000
