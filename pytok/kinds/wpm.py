"""WordPiece: clean the text, cut it into words, take the longest pieces of each."""

from itertools import chain

from pytok.match import Matcher
from pytok.piece import SPACE_MARK, piece_bytes, spell_spaces
from pytok.unicode import (
    bytes_of,
    category,
    code_points,
    decompose,
    is_valid,
    is_white_space,
    lower,
)
from pytok.vocab import Vocab
from pytok.word_cache import WordCache

# llama.cpp: is_chinese_char; the range from U+2B920 is a slip that HF has too.
_CHINESE = (
    range(0x4E00, 0xA000),
    range(0x3400, 0x4DC0),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B820),
    range(0x2B920, 0x2CEB0),
    range(0xF900, 0xFB00),
    range(0x2F800, 0x2FA20),
)


class _Cleaner(dict[int, str]):
    """A table for str.translate: what a code point becomes; words end at spaces.

    Source: llama-vocab.cpp, llm_tokenizer_wpm_session::preprocess @ pin.
    """

    def __init__(self, lowercase: bool, strip_accents: bool) -> None:
        super().__init__()
        self._lowercase = lowercase
        self._strip_accents = strip_accents

    def __missing__(self, code: int) -> str:
        char = self[code] = self._cleaned(code)
        return char

    def _cleaned(self, code: int) -> str:
        code = decompose(code) if self._strip_accents else code
        letter = category(code)
        if is_white_space(code):
            return " "
        if code in (0, 0xFFFD) or letter == "C" or (self._strip_accents and letter == "M"):
            return ""
        char = lower(chr(code)) if self._lowercase else chr(code)
        is_sign = letter == "P" or (letter == "S" and code < 0x7F)
        alone = is_sign or any(code in block for block in _CHINESE)
        return f" {char} " if alone else char


class Encoder:
    """Turns text between special tokens into ids.

    Source: llama-vocab.cpp, llm_tokenizer_wpm_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._cleaner = _Cleaner(vocab.lowercase, vocab.strip_accents)
        self._unk = vocab.special_ids.get("unk", -1)
        # llama.cpp matches bytes; characters do as well where every piece is whole ones.
        self._by_bytes = not all(map(is_valid, vocab.ids))
        self._longest = Matcher(vocab.ids).longest
        self._longest_bytes = Matcher(
            {bytes_of(text): id_ for text, id_ in vocab.ids.items()} if self._by_bytes else {}
        ).longest
        self._cache = WordCache(self._encode_word)

    def __call__(self, text: str, after_special: bool) -> list[int]:
        words = filter(None, code_points(text).translate(self._cleaner).split(" "))
        return [*chain.from_iterable(map(self._cache.__getitem__, words))]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        word = SPACE_MARK + word
        data = word.encode("utf-8", "surrogatepass") if self._by_bytes else b""
        ids: list[int] = []
        pos = 0
        while pos < len(data or word):
            found = self._longest_bytes(data, pos) if data else self._longest(word, pos)
            if found is None:
                return (self._unk,)
            pos, id_ = found
            ids.append(id_)
        return tuple(ids)


def frame(vocab: Vocab) -> tuple[list[int], list[int]]:
    """Return what stands around a text: CLS and SEP, whatever the flags say."""
    ids = vocab.special_ids
    return [ids["bos"]] if "bos" in ids else [], [ids["sep"]] if "sep" in ids else []


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    return piece_bytes(vocab, token_id, spell_spaces)
