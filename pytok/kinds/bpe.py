"""Byte-level BPE: cut text into words, spell their bytes in an alphabet, merge by rank."""

from itertools import chain

from pytok.chunks import CanCut
from pytok.data.models import MODELS
from pytok.errors import VocabError
from pytok.merge import merge
from pytok.patterns import BEYOND
from pytok.piece import SPACE_MARK, byte_piece, piece_bytes, raw_byte, spell_spaces
from pytok.split import Splitter
from pytok.unicode import (
    bytes_of,
    code_points,
    collapse,
    collapse_but_han,
    is_valid,
    lower,
    split_white_space,
    text_of,
)
from pytok.vocab import Vocab
from pytok.word_cache import WordCache


def _byte_alphabet() -> list[str]:
    """Return GPT-2's character for each byte: itself if printable, else one from U+0100 on.

    Source: unicode.cpp, unicode_byte_to_utf8_map @ pin.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


BYTE_CHAR = _byte_alphabet()
_TO_ALPHABET = dict(enumerate(BYTE_CHAR))
_FROM_ALPHABET = {char: bytes([byte]) for byte, char in _TO_ALPHABET.items()}


class Encoder:
    """Turns text between special tokens into ids.

    Source: llama-vocab.cpp, llm_tokenizer_bpe_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        if vocab.pretokenizer is None:
            raise VocabError("a BPE vocabulary needs a pre-tokenizer")
        self._ids = vocab.ids
        self._vocab = vocab
        self._pre = vocab.pretokenizer
        self._split = Splitter(vocab.pretokenizer).split
        self._cache = WordCache(self._encode_word)

    def escape(self, text: str) -> str:
        """Mark the spaces of a text, if the pre-tokenizer wants it."""
        return text.replace(" ", SPACE_MARK) if self._pre.escape_spaces else text

    def __call__(self, text: str, after_special: bool) -> list[int]:
        return [*chain.from_iterable(map(self._cache.__getitem__, self._words(text)))]

    def count(self, text: str, after_special: bool) -> int:
        """Return how many ids a call gives."""
        return sum(map(len, map(self._cache.__getitem__, self._words(text))))

    def _words(self, text: str) -> list[str]:
        return self._split(code_points(self.escape(text)))

    def _encode_word(self, word: str) -> tuple[int, ...]:
        if self._pre.raw:
            symbols = [*word] if is_valid(word) else [*map(text_of, word)]
            spelled = "".join(symbols)
        else:
            data = word.encode("utf-8", "surrogatepass")
            spelled = data.decode("latin-1").translate(_TO_ALPHABET)
            symbols = [*spelled]
        if spelled in self._ids and (
            self._pre.ignore_merges or (self._pre.whole_newlines and not word.strip("\n"))
        ):
            return (self._ids[spelled],)
        symbols = merge(symbols, self._vocab.ranks, " ")
        try:
            return tuple(map(self._ids.__getitem__, symbols))
        except KeyError:
            return tuple(chain.from_iterable(map(self._spelled, symbols)))

    def _spelled(self, symbol: str) -> list[int]:
        """Return a symbol's id, or if it is no piece those of its bytes.

        llama.cpp: looks for each byte of the symbol, in UTF-8, as a piece that is just this
        byte or, in raw text, <0xNN>; what is no piece is dropped.
        """
        if symbol in self._ids:
            return [self._ids[symbol]]
        names = map(byte_piece if self._pre.raw else raw_byte, bytes_of(symbol))
        return [self._ids[byte] for byte in names if byte in self._ids]


class _Whitespace:
    """Encodes what stands between white space, which is dropped, in lower case if asked.

    Source: llama-vocab.cpp, llm_tokenizer_whitespace_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._encode = Encoder(vocab)
        self._lowercase = vocab.lowercase

    def __call__(self, text: str, after_special: bool) -> list[int]:
        text = code_points(self._encode.escape(text))
        words = split_white_space(lower(text) if self._lowercase else text)
        return [*chain.from_iterable(self._encode(text_of(word), after_special) for word in words)]


class _HybridDna:
    """Encodes what stands between <dna> and </dna> as runs of six bases.

    Source: llama-vocab.cpp, llm_tokenizer_hybriddna_session @ pin.
    """

    OPEN, CLOSE, UNKNOWN, LENGTH = "<dna>", "</dna>", "<oov>", 6

    def __init__(self, vocab: Vocab) -> None:
        self._encode = Encoder(vocab)
        self._ids = vocab.ids
        self._marker = MODELS[vocab.model].marker

    def __call__(self, text: str, after_special: bool) -> list[int]:
        if not {self.OPEN, self.CLOSE, self.UNKNOWN} <= self._ids.keys():
            return self._encode(text, after_special)
        text = self._encode.escape(text)
        ids: list[int] = []
        pos = 0
        while pos < len(text):
            start = text.find(self.OPEN, pos)
            plain = text[pos:] if start < 0 else text[pos:start]
            if plain:
                ids += self._encode(plain, after_special)
            if start < 0:
                break
            start += len(self.OPEN)
            end = text.find(self.CLOSE, start)
            bases = text[start:] if end < 0 else text[start:end]
            ids += [self._ids[self.OPEN], *self._encode_bases(bases)]
            if end < 0:
                break
            ids.append(self._ids[self.CLOSE])
            pos = end + len(self.CLOSE)
        return ids

    def _encode_bases(self, bases: str) -> list[int]:
        data = bytes_of(bases).upper()
        data += b"A" * (-len(data) % self.LENGTH)
        runs = (data[pos : pos + self.LENGTH] for pos in range(0, len(data), self.LENGTH))
        unknown = self._ids[self.UNKNOWN]
        return [self._ids.get(text_of(run + self._marker.encode()), unknown) for run in runs]


_ENCODERS: dict[str, type[_Whitespace | _HybridDna]] = {
    "whitespace": _Whitespace,
    "hybriddna": _HybridDna,
}


def encoder(vocab: Vocab) -> Encoder | _Whitespace | _HybridDna:
    """Return the encoder of a BPE model: two of them look at the text first."""
    return _ENCODERS.get(vocab.model, Encoder)(vocab)


def can_cut(vocab: Vocab) -> CanCut | None:
    """Return behind which characters no word reaches across a space."""
    pre = vocab.pretokenizer
    if pre is None or pre.escape_spaces or vocab.model in _ENCODERS:
        return None
    unsafe = Splitter(pre).unsafe_before_space()
    if unsafe is None:
        return None

    def can_cut_after(char: str) -> bool:
        seen = {char} if char.isascii() else {BEYOND, collapse(char), collapse_but_han(char)}
        return not seen & unsafe

    return can_cut_after


def spell(text: str) -> bytes:
    """Return the bytes of a piece spelled in the alphabet.

    Source: llama-vocab.cpp, llama_decode_text @ pin.
    """
    spelled = []
    for char in code_points(text):
        byte = _FROM_ALPHABET.get(char)
        if byte is None:
            # llama.cpp: spells what is not in the alphabet like this.
            code = char.encode("utf-8", "surrogatepass").hex()
            byte = f"[UNK_BYTE_0x{code}".encode() + bytes_of(text) + b"]"
        spelled.append(byte)
    return b"".join(spelled)


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    escaped = vocab.pretokenizer is not None and vocab.pretokenizer.escape_spaces
    return piece_bytes(vocab, token_id, spell_spaces if escaped else spell)
