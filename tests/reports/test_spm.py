"""Faults that people have reported of SentencePiece vocabularies; each test bears a report's id."""

import time

import golden


def plain(model: str, text: str) -> list[int]:
    return golden.model(model).encode(text, add_special=False)


def test_spm_dummy_prefix() -> None:
    assert plain("llama-spm", "Hi there") == [6324, 727]
    assert plain("llama-spm", " Hi there") == [29871, 6324, 727]
    assert plain("llama-spm", "  Hi there") == [259, 6324, 727]


def test_spm_idempotent_retokenise() -> None:
    for model in ("phi-3", "llama-spm"):
        tokenizer = golden.model(model)
        text = ours = "Name: X"
        for grown in range(1, 5):
            # llama_detokenize keeps the leading space once a BOS was removed.
            text = tokenizer.detokenize(tokenizer.encode(text), remove_special=True).decode()
            assert text == " " * grown + "Name: X"
            ours = tokenizer.decode(tokenizer.encode(ours), remove_special=True)
            assert ours == "Name: X"


def test_spm_prefix_flag_false() -> None:
    text = "\t\t\tif x:\n\t\t\t\tpass"
    ids = plain("gemma-4", text)
    assert ids[0] == 255970
    assert golden.model("gemma-4").decode(ids) == text


def test_spm_nbsp_piece() -> None:
    assert plain("llama-spm", "a\u00a0\u00a0b") == [263, 8655, 29890]
    assert golden.model("llama-spm").decode([8655]) == "\u00a0\u00a0"


def test_spm_phi3_rstrip() -> None:
    phi3, llama = golden.model("phi-3"), golden.model("llama-spm")
    parsed = {"add_special": False, "parse_special": True}
    assert phi3.encode("<|user|>\n  hi", **parsed) == [32010, 7251]
    assert llama.encode("x</s>\n  hi", **parsed) == [921, 2, 29871, 13, 29871, 7251]


def test_perf_spm_long_text() -> None:
    line = "The quick brown fox jumps over the lazy dog, and then the fox sleeps again. "
    text = "".join(f"{number} {line}" for number in range(15_000))
    assert len(text) > 1_200_000 - 40_000
    for model in ("llama-spm", "baichuan", "phi-3"):
        tokenizer = golden.model(model)
        started = time.monotonic()
        ids = tokenizer.encode(text, add_special=False)
        assert time.monotonic() - started < 60  # a guard against hanging, not a measurement
        assert tokenizer.decode(ids).lstrip(" ") == text
