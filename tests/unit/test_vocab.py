"""From metadata to a vocabulary: what decides, what is warned of, what is refused."""

from typing import Any

import golden
import pytest
from places import SYNTHETIC

from pytok import DictSource, Kind, Tokenizer, UnsupportedError, VocabError
from pytok.kinds.bpe import BYTE_CHAR

K = "tokenizer.ggml."
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPM: dict[str, Any] = {
    K + "model": "llama",
    K + "tokens": ["<unk>", "<s>", "</s>", *BYTES, "▁", "a", "b", "c", "ab", "bc"],
    K + "scores": [0.0] * 259 + [-3.0, -3.0, -3.0, -3.0, -2.0, -1.0],
    K + "token_type": [2, 3, 3] + [6] * 256 + [1] * 6,
}
BPE: dict[str, Any] = {
    K + "model": "gpt2",
    K + "pre": "gpt-2",
    K + "tokens": [*BYTE_CHAR, "ab", "bc"],
    K + "merges": ["b c", "a b"],
}


def make(base: dict[str, Any], **changes: Any) -> Tokenizer:
    """Build from a base with some tokenizer keys changed; None deletes one."""
    keys = {**base, **{K + name: value for name, value in changes.items()}}
    return Tokenizer.from_source(DictSource({k: v for k, v in keys.items() if v is not None}))


def encode(tokenizer: Tokenizer, text: str = "abc") -> list[str]:
    return [tokenizer.vocab.pieces[id_] for id_ in tokenizer.encode(text, add_special=False)]


class TestTheDeclaredModelWins:
    def test_llama_is_spm_even_with_merges(self) -> None:
        tokenizer = make(SPM, merges=["b c", "a b"])
        assert tokenizer.kind is Kind.SPM
        assert encode(tokenizer) == ["▁", "a", "bc"]

    def test_gpt2_is_bpe_even_with_scores(self) -> None:
        tokenizer = make(BPE, scores=[0.0] * 258)
        assert tokenizer.kind is Kind.BPE
        assert encode(tokenizer) == ["a", "bc"]

    @pytest.mark.parametrize("name", [None, ""])
    def test_without_a_model_merges_without_scores_are_bpe(self, name: str | None) -> None:
        assert make(BPE, model=name).kind is Kind.BPE

    @pytest.mark.parametrize("name", [None, ""])
    def test_without_a_model_scores_are_spm(self, name: str | None) -> None:
        assert make(SPM, model=name).kind is Kind.SPM
        assert make(SPM, model=name, merges=["a b"]).kind is Kind.SPM

    def test_without_all_three_it_is_an_error(self) -> None:
        with pytest.raises(VocabError, match=r"neither merges nor scores"):
            make(BPE, model=None, merges=None)

    @pytest.mark.parametrize("tokens", [None, []])
    @pytest.mark.parametrize("model", [None, "llama", "gpt2"])
    def test_without_tokens_every_byte_is_one(self, tokens: Any, model: str | None) -> None:
        tokenizer = make(BPE, model=model, tokens=tokens)
        assert tokenizer.kind is Kind.BYTE
        assert len(tokenizer) == 256
        assert tokenizer.encode("é\0") == [0xC3, 0xA9, 0]
        assert tokenizer.decode_bytes([0xC3, 0xA9, 255]) == b"\xc3\xa9\xff"
        assert "no vocabulary" in tokenizer.warnings[0]

    @pytest.mark.parametrize("model", ["none", "no_vocab"])
    def test_declared_to_have_none_loads_and_does_not_encode(self, model: str) -> None:
        tokenizer = make(BPE, model=model)
        assert tokenizer.kind is Kind.NONE
        with pytest.raises(UnsupportedError, match=r"no vocabulary"):
            tokenizer.encode("a")

    @pytest.mark.parametrize("model", ["replit", "test", "LLAMA"])
    def test_an_unknown_model_is_named(self, model: str) -> None:
        with pytest.raises(UnsupportedError, match=model) as caught:
            make(SPM, model=model)
        assert caught.value.name == model


def test_unknown_pre_tokenizer_lists_near_matches() -> None:
    with pytest.raises(UnsupportedError, match=r"'llama-bbe'; did you mean 'llama-bpe'") as caught:
        make(BPE, pre="llama-bbe")
    assert caught.value.name == "llama-bbe"
    with pytest.raises(UnsupportedError, match=r"'not-a-real-pre' \(key"):
        make(BPE, pre="not-a-real-pre")


def test_missing_pre_tokenizer_is_llama_cpps_default_with_a_warning() -> None:
    tokenizer = make(BPE, pre=None)
    assert any("tokenizer.ggml.pre" in warning for warning in tokenizer.warnings)
    text = "Total: 12345.67 (approx)"
    assert tokenizer.encode(text) == make(BPE, pre="default").encode(text)


@pytest.mark.parametrize(
    ("base", "changes", "reason"),
    [
        (BPE, {"merges": None}, "needs merges"),
        (BPE, {"merges": [1, 2]}, "wrong type: an array of INT32, not STRING"),
        (BPE, {"tokens": [1]}, "wrong type"),
        (BPE, {"tokens": "abc"}, "wrong type: STRING, not ARRAY"),
        (BPE, {"model": 1}, "wrong type: UINT32, not STRING"),
        (SPM, {"scores": [0.0] * 5}, "5 items for 265 tokens"),
        (SPM, {"scores": ["a"]}, "not FLOAT32 or INT32"),
        (SPM, {"token_type": [1] * 5}, "5 items for 265 tokens"),
        (SPM, {"token_type": [1.0] * 265}, "wrong type"),
        (SPM, {"bos_token_id": "1"}, "wrong type: STRING, not UINT32"),
        (SPM, {"add_bos_token": 1}, "wrong type: UINT32, not BOOL"),
    ],
)
def test_what_is_refused(base: dict[str, Any], changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(VocabError, match=reason) as caught:
        make(base, **changes)
    assert caught.value.key is not None


@pytest.mark.parametrize("name", ["synth-bpe-byte-nomerges", "synth-badmodel"])
def test_what_llama_cpp_refuses_is_refused(name: str) -> None:
    info = golden.facts()[name]
    assert info["refused"]
    with pytest.raises((VocabError, UnsupportedError)):
        golden.model(name)


@pytest.mark.parametrize(
    ("base", "changes", "warning"),
    [
        (SPM, {"bos_token_id": 2**32 - 1}, "it is ignored"),
        (SPM, {"scores": [0.0] * 300}, "300 items for 265 tokens"),
        (SPM, {"scores": [float("nan")] * 265}, "not a number"),
        (SPM, {"token_type": [99, -1, 7, *[1] * 262]}, "unknown token types"),
        (BPE, {"merges": ["b c", "ab"]}, "merges are not two pieces"),
        (BPE, {"merges": ["b c", "a  b"]}, "merges are not two pieces"),
        (BPE, {"tokens": [*BYTE_CHAR, "ab", "ab", ""]}, "ids 256 and 257"),
        (BPE, {"tokens": [*BYTE_CHAR, "ab", "ab", ""]}, "1 tokens are empty"),
        (BPE, {"tokens": BYTE_CHAR[:9], "add_bos_token": True}, "BOS is to be added"),
        (BPE, {"tokens": BYTE_CHAR[:9], "add_eos_token": True}, "EOS is to be added"),
    ],
)
def test_what_is_warned_of(base: dict[str, Any], changes: dict[str, Any], warning: str) -> None:
    tokenizer = make(base, **changes)
    assert any(warning in line for line in tokenizer.warnings), tokenizer.warnings
    assert tokenizer.decode_bytes(tokenizer.encode("abc\n"), special=False).strip() is not None


def test_of_equal_pieces_text_finds_the_lower_id() -> None:
    assert make(BPE, tokens=[*BYTE_CHAR, "bc", "bc"]).encode("bc") == [256]


def test_files_without_special_ids_take_llama_cpps() -> None:
    bpe = Tokenizer.from_file(SYNTHETIC / "synth-bpe-byte.gguf")
    assert bpe.vocab.special_ids["bos"] == golden.facts()["synth-bpe-byte"]["special_ids"]["bos"]
    spm = make(SPM)
    assert (spm.vocab.special_ids["bos"], spm.vocab.special_ids["eos"]) == (1, 2)
    assert spm.encode("") == [1]
    assert spm.encode("", add_special=False) == []


def test_scores_may_be_integers() -> None:
    scores = [0] * 259 + [-3, -3, -3, -3, -2, -1]
    assert encode(make(SPM, scores=scores)) == encode(make(SPM)) == ["▁", "a", "bc"]


@pytest.mark.parametrize(
    ("tokens", "eog"),
    [
        (["</s>", "<|end|>", "x"], {"</s>", "<|end|>"}),
        (["<|end|>", "<|return|>", "<|call|>"], {"<|return|>", "<|call|>"}),
        (["<|end|>", "<|calls|>", "<|flush|>"], {"<|calls|>", "<|flush|>"}),
        (["<|end|>", "<|flush|>"], {"<|end|>", "<|flush|>"}),
        (["</s>", "<|tool_response>"], {"<|tool_response>"}),
        (["<|fim_pad|>", "<|file_sep|>"], {"<|fim_pad|>", "<|file_sep|>"}),
    ],
)
def test_eog_by_text(tokens: list[str], eog: set[str]) -> None:
    tokenizer = make(BPE, tokens=[*BYTE_CHAR[:4], *tokens], merges=["a b"])
    assert {tokenizer.vocab.pieces[id_] for id_ in tokenizer.eog_ids} == eog
    assert tokenizer.is_eog(min(tokenizer.eog_ids))
    assert not tokenizer.is_eog(0)


def test_harmony_markers_are_user_defined() -> None:
    tokenizer = make(BPE, tokens=[*BYTE_CHAR, "<|start|>"], token_type=[1] * 256 + [3])
    assert tokenizer.encode("<|start|>", parse_special=False) == [256]
