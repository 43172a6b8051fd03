r"""One row for each pre-tokenizer name: how text is cut into words before merging.

``patterns`` are applied one after the other, each inside the pieces that the one before
left. They are written in Python's ``re`` over what llama.cpp lets them see:

* a pattern with ``\p{..}`` sees *collapsed* text, in which a non-ASCII code point is only
  its class (`pytok.unicode.collapse`); every ``\p{Lu}``, ``\p{Ll}``.. is any letter there;
* any other pattern sees code points, with non-ASCII white space as U+000B.

llama.cpp: some patterns are replaced there by hand-written splitters (unicode.cpp,
unicode_regex_split_custom_*). Those see real code points, but ask only for classes that
collapsed text keeps apart, so a pattern says the same; it is written here as they behave.

Source: llama-vocab.cpp, llm_tokenizer_bpe and llama_vocab::impl::load @ pin.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pretokenizer:
    """A way to cut text into words, and what its name implies beside."""

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    """A word that is itself a piece is taken whole, without merging."""
    add_bos: bool = False
    """BOS is added unless the metadata says otherwise."""
    clean_spaces: bool = True
    """`detokenize` removes spaces before punctuation and some contractions."""


_GPT2 = r"'(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_DEFAULT = (r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")

DEFAULT = "default"

PRETOKENIZERS = {
    DEFAULT: Pretokenizer(_DEFAULT),
    "gpt-2": Pretokenizer((_GPT2,)),
    "llama-bpe": Pretokenizer((_LLAMA3,), ignore_merges=True, add_bos=True),
    "qwen2": Pretokenizer((_QWEN2,), clean_spaces=False),
}
