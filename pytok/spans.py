"""Which part of a text each token covers, in the units of JavaScript strings."""

from array import array
from collections.abc import Sequence


def utf16_spans(text: str, pieces: Sequence[bytes]) -> "array[int] | None":
    r"""Return start and end of each token in UTF-16 units: two numbers a token.

    ``pieces`` are the bytes of the tokens of ``text``. A token that holds a part of a character
    gets all of it, so such tokens share a span. A token that was added, such as BOS, gets an
    empty span; so does a space that was. None if the tokens are not those of the text, byte by
    byte: some kinds of vocabulary change the text before they cut it.

    >>> list(utf16_spans("a🐢", [b"a", b"\xf0\x9f", b"\x90\xa2"]))
    [0, 1, 1, 3, 1, 3]
    """
    data = text.encode("utf-8", "surrogatepass")
    ends = []
    pos = 0
    for piece in pieces:
        start = pos
        if data.startswith(piece, pos):
            pos += len(piece)
        elif piece.startswith(b" ") and data.startswith(piece[1:], pos):
            pos += len(piece) - 1
        ends.append((start, pos))
    if pos != len(data):
        return None
    if len(data) == len(text):  # ASCII: a byte is a unit
        return array("i", [place for span in ends for place in span])
    # Unit at which the character of a byte begins, and at which it ends.
    first, last = array("i"), array("i", [0])
    unit = 0
    for character in text:
        size = len(character.encode("utf-8", "surrogatepass"))
        after = unit + (2 if size == 4 else 1)
        first.extend([unit] * size)
        last.extend([after] * size)
        unit = after
    first.append(unit)
    return array("i", [u16 for a, b in ends for u16 in (first[a], last[b] if b > a else first[a])])
