"""One row for each tokenizer model (``tokenizer.ggml.model``): its kind and its defaults.

Source: llama-vocab.cpp, llama_vocab::impl::load @ pin.
"""

from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """How a vocabulary turns text into tokens; llama.cpp's names, and BYTE for no vocabulary."""

    SPM = "SentencePiece: merge by score"
    BPE = "byte-pair encoding: merge by rank"
    WPM = "WordPiece: longest match in words"
    UGM = "Unigram: the most probable pieces"
    RWKV = "RWKV: longest match"
    PLAMO2 = "PLaMo-2"
    BYTE = "every byte is a token"
    NONE = "no vocabulary"


@dataclass(frozen=True, slots=True)
class Model:
    """What a model's name implies where the metadata says nothing.

    ``special_ids`` maps a role (a key of `pytok.keys.SPECIAL_IDS`) to its default id.
    """

    kind: Kind
    special_ids: dict[str, int] = field(default_factory=dict)
    pre: str | None = None
    """The pre-tokenizer, whatever the metadata says."""
    add_bos: bool = False
    add_eos: bool = False
    add_sep: bool = False
    add_space_prefix: bool = False
    clean_spaces: bool = False
    marker: str = ""
    """A suffix that keeps some pieces apart in the file, and is not part of their text."""


_BPE_IDS = {"bos": 11, "eos": 11}

MODELS = {
    "llama": Model(Kind.SPM, {"bos": 1, "eos": 2, "unk": 0}, add_bos=True, add_space_prefix=True),
    "gpt2": Model(Kind.BPE, _BPE_IDS),
    "whitespace": Model(Kind.BPE, _BPE_IDS),
    # Runs of six bases, which the vocabulary marks to keep them apart from words.
    "hybriddna": Model(Kind.BPE, _BPE_IDS, marker="\ue000"),
    "gemma4": Model(Kind.BPE, pre="gemma4"),
    "bert": Model(
        Kind.WPM,
        {"bos": 101, "unk": 100, "sep": 102, "pad": 0, "mask": 103},
        add_bos=True,
        add_sep=True,
        clean_spaces=True,
    ),
    "t5": Model(Kind.UGM, {"eos": 1, "unk": 2, "pad": 0}, add_eos=True),
    "rwkv": Model(Kind.RWKV),
    "plamo2": Model(Kind.PLAMO2, {"bos": 1, "eos": 2, "unk": 0, "pad": 3}),
    "no_vocab": Model(Kind.NONE),
    "none": Model(Kind.NONE),
}
