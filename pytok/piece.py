"""From a token to the bytes it stands for: what the kinds have in common."""

import re
from collections.abc import Callable, Iterable
from operator import add

from pytok.unicode import bytes_of
from pytok.vocab import SPECIAL_ATTRS, Attr, Vocab

_NORMAL, _BYTE = int(Attr.NORMAL), int(Attr.BYTE)

# U+2581, which stands for a space in pieces that do not use the byte alphabet.
SPACE_MARK = "▁"

# A word of marked text: what a U+2581 after another character begins.
MARKED_WORD = re.compile(f"{SPACE_MARK}*[^{SPACE_MARK}]+|{SPACE_MARK}+")
# In pieces that are joined by NULs.
_MARK_INSIDE = re.compile(f"([^{SPACE_MARK}\0]){SPACE_MARK}")

# strtol, on the two bytes behind "<0x".
_HEX = re.compile(rb"[ \t-\r]*([+-]?)([0-9A-Fa-f]+)")


def piece_bytes(vocab: Vocab, token_id: int, spell: Callable[[str], bytes]) -> bytes:
    """Return a token's bytes; ``spell`` gives those of a NORMAL piece.

    Source: llama-vocab.cpp, llama_vocab::impl::token_to_piece @ pin.
    """
    text = vocab.pieces[token_id]
    attr = vocab.attrs[token_id]
    if attr & SPECIAL_ATTRS:
        return bytes_of(text)
    if attr & _NORMAL:
        return spell(text)
    if attr & _BYTE:
        match = _HEX.match(bytes_of(text)[3:5])
        return bytes([int(match[1] + match[2], 16) & 0xFF if match else 0])
    return b""


def spell_spaces(text: str) -> bytes:
    """Return the bytes of a piece in which U+2581 stands for a space."""
    return bytes_of(text.replace(SPACE_MARK, " "))


def words_are_independent(pieces: Iterable[str]) -> bool:
    """Whether no piece reaches from one marked word into the next.

    What is merged or matched is always a piece, so the words can then be encoded one by one.
    """
    return not _MARK_INSIDE.search("\0".join(pieces))


def chars_before_mark(pieces: Iterable[str]) -> set[str]:
    """Return the characters that stand before a U+2581 inside a piece."""
    return set(_MARK_INSIDE.findall("\0".join(pieces)))


def adjacent_pairs(pieces: Iterable[str]) -> set[str]:
    """Return all pairs of characters that stand side by side inside a piece."""
    joined = "\0".join(pieces)
    return {*map(add, joined, joined[1:])}  # with a NUL: harmless, and no text's


def cut_where(text: str, pairs: set[str]) -> list[str]:
    """Cut a text wherever two characters meet that are no such pair: no merge joins them.

    >>> cut_where("abcd", {"ab", "cd"})
    ['ab', 'cd']
    """
    joins = bytes(map(pairs.__contains__, map(add, text, text[1:])))
    parts = []
    start = 0
    while (end := joins.find(b"\0", start) + 1) > 0:
        parts.append(text[start:end])
        start = end
    parts.append(text[start:])
    return parts


def byte_piece(byte: int) -> str:
    """Return the text of the token that stands for one byte.

    >>> byte_piece(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"


def raw_byte(byte: int) -> str:
    """Return the text, in the form of `pytok.unicode.text_of`, that is just one byte."""
    return bytes([byte]).decode("utf-8", "surrogateescape")
