"""Byte-level BPE: cut text into words, spell their bytes in an alphabet, merge by rank."""

from itertools import chain

from pytok.errors import VocabError
from pytok.merge import merge
from pytok.piece import piece_bytes, raw_byte
from pytok.split import Splitter
from pytok.unicode import bytes_of, code_points
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
        self._ranks = vocab.ranks
        self._ignore_merges = vocab.pretokenizer.ignore_merges
        self._split = Splitter(vocab.pretokenizer).split
        self._cache = WordCache(self._encode_word)

    def __call__(self, text: str, after_special: bool) -> list[int]:
        words = self._split(code_points(text))
        return [*chain.from_iterable(map(self._cache.__getitem__, words))]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        spelled = word.encode("utf-8", "surrogatepass").decode("latin-1").translate(_TO_ALPHABET)
        if self._ignore_merges and spelled in self._ids:
            return (self._ids[spelled],)
        ids: list[int] = []
        for symbol in merge(list(spelled), self._ranks, " "):
            id_ = self._ids.get(symbol)
            if id_ is not None:
                ids.append(id_)
            else:
                # llama.cpp: looks each byte of the symbol up as it is, in UTF-8, and drops
                # those that are no piece.
                bytes_ = map(raw_byte, bytes_of(symbol))
                ids += [self._ids[byte] for byte in bytes_ if byte in self._ids]
        return tuple(ids)


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
    return piece_bytes(vocab, token_id, spell)
