"""What llama.cpp knows of a code point, and how it reads bytes that are not UTF-8.

Text inside pytok is a str that stands for bytes: valid UTF-8 as its characters, every
other byte as a lone surrogate U+DC80..U+DCFF (the ``surrogateescape`` form of PEP 383).
So a str and the bytes it stands for determine each other, and valid text needs no care.
"""

import codecs
import re
from bisect import bisect_right
from functools import cache

from pytok.data import unicode_tables

REPLACEMENT = "\ufffd"


def text_of(data: str | bytes | bytearray | memoryview) -> str:
    r"""Return the str that stands for ``data``.

    A lone surrogate in a str, which UTF-8 cannot carry, is read as the three bytes that
    ``surrogatepass`` makes of it.

    Raises: TypeError if it is neither text nor bytes.

    >>> text_of(b"a\xff")
    'a\udcff'
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data).decode("utf-8", "surrogateescape")
    if not isinstance(data, str):
        raise TypeError(f"text must be str or bytes, not {type(data).__name__}")
    if is_valid(data):
        return data
    return data.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Return the bytes that ``text`` stands for; the inverse of `text_of`."""
    return text.encode("utf-8", "surrogateescape")


def is_valid(text: str) -> bool:
    """Whether ``text`` stands for valid UTF-8, that is, holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def code_points(text: str) -> str:
    """Return the code points that llama.cpp reads from the bytes ``text`` stands for.

    It checks lengths and continuation bytes only: overlong forms and surrogates come out
    as the code point they spell, each other bad byte as U+FFFD.

    Source: unicode.cpp, unicode_cpts_from_utf8 @ pin.
    """
    return text if is_valid(text) else bytes_of(text).decode("utf-8", "pytok-llama-cpp")


def length_by_lead(lead: int) -> int:
    """Return how many bytes a lead byte alone announces; 1 for any that is none.

    Source: unicode.cpp, unicode_len_utf8 @ pin.
    """
    return (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4)[lead >> 4]


def sequence_length(data: bytes, pos: int) -> int:
    """Return how many bytes at ``pos`` llama.cpp reads as one code point; 0 if they are bad.

    Source: unicode.cpp, unicode_cpt_from_utf8 @ pin.
    """
    lead = data[pos]
    if lead < 0x80:
        return 1
    length = 2 if lead >> 5 == 6 else 3 if lead >> 4 == 14 else 4 if lead >> 3 == 30 else 0
    rest = data[pos + 1 : pos + length]
    return length if len(rest) == length - 1 and all(byte >> 6 == 2 for byte in rest) else 0


def _read_leniently(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    length = sequence_length(data, start)
    code = data[start] & (0x7F >> length)
    for byte in data[start + 1 : start + length]:
        code = code << 6 | byte & 0x3F
    # llama.cpp aborts on code points beyond Unicode; here their bytes are just bad.
    if length == 0 or code > 0x10FFFF:
        return REPLACEMENT, start + 1
    return chr(code), start + length


codecs.register_error("pytok-llama-cpp", _read_leniently)


@cache
def _ranges() -> tuple[list[int], str]:
    entries = unicode_tables.CATEGORIES.split()
    return [int(entry[:-1], 16) for entry in entries], "".join(entry[-1] for entry in entries)


@cache
def _white_space() -> frozenset[int]:
    return frozenset(int(code, 16) for code in unicode_tables.WHITESPACE.split())


def category(code: int) -> str:
    """Return the general category of a code point as one letter; "U" if it is unassigned.

    >>> category(ord("x")), category(0x300), category(0xE000)
    ('L', 'M', 'C')
    """
    starts, letters = _ranges()
    return letters[bisect_right(starts, code) - 1]


@cache
def _lowercase() -> dict[int, int]:
    pairs = {}
    for run in unicode_tables.LOWERCASE.split():
        codes, target = run.split(">")
        span, step = codes.split("/")
        first, last = (int(code, 16) for code in span.split("-"))
        distance = int(target, 16) - first
        pairs.update({code: code + distance for code in range(first, last + 1, int(step))})
    return pairs


def lower(text: str) -> str:
    """Lower-case code point by code point, each to one: U+0130 to a plain i.

    Source: unicode.cpp, unicode_tolower @ pin.
    """
    return text.translate(_lowercase())


@cache
def _decompositions() -> tuple[list[int], list[int], list[int]]:
    rows = [re.split("[->]", row) for row in unicode_tables.NFD.split()]
    first, last, base = ([int(row[at], 16) for row in rows] for at in range(3))
    return first, last, base


def decompose(code: int) -> int:
    """Return the one code point that llama.cpp decomposes a code point to: its base.

    Source: unicode.cpp, unicode_cpts_normalize_nfd @ pin.
    """
    first, last, base = _decompositions()
    at = bisect_right(first, code) - 1
    return base[at] if at >= 0 and code <= last[at] else code


def is_white_space(code: int) -> bool:
    """Whether llama.cpp counts a code point as white space (U+0085 yes, U+001C no)."""
    return code in _white_space()


# unicode.cpp, unicode_regex_split: the byte that stands for all non-ASCII code points of a
# category. White space is a vertical tab, so that \s matches it; 0xD0 is all the rest.
CLASS_CHAR = {"N": "\xd1", "L": "\xd2", "P": "\xd3", "M": "\xd4", "S": "\xd5"}
WHITE_SPACE_CHAR = "\x0b"
OTHER_CHAR = "\xd0"
# Ours: Han code points, where a pattern asks for them; letters, and the few that are none.
HAN_LETTER_CHAR, HAN_OTHER_CHAR = "\xd6", "\xd7"

# Source: unicode.cpp, unicode_cpt_is_han @ pin.
_HAN = (
    range(0x4E00, 0xA000),
    range(0x3400, 0x4DC0),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2EBF0),
    range(0xF900, 0xFB00),
    range(0x2F800, 0x2FA20),
)


def is_han(code: int) -> bool:
    """Whether llama.cpp counts a code point as Han: by blocks, unassigned ones included."""
    return any(code in block for block in _HAN)


class _Collapse(dict[int, str]):
    """A table for str.translate, filled as code points are met."""

    def __init__(self, keep_han: bool) -> None:
        super().__init__()
        self._keep_han = keep_han

    def __missing__(self, code: int) -> str:
        if code < 0x80:
            char = chr(code)
        elif self._keep_han and is_han(code):
            char = HAN_LETTER_CHAR if category(code) == "L" else HAN_OTHER_CHAR
        elif is_white_space(code):
            char = WHITE_SPACE_CHAR
        else:
            char = CLASS_CHAR.get(category(code), OTHER_CHAR)
        self[code] = char
        return char


_collapse = _Collapse(keep_han=False)
_collapse_but_han = _Collapse(keep_han=True)


def collapse(text: str) -> str:
    r"""Replace each non-ASCII code point by the character of its class; the length stays.

    >>> collapse("né 日") == "n\xd2 \xd2"
    True
    """
    return text if text.isascii() else _translated(text, _collapse)


def collapse_but_han(text: str) -> str:
    """Collapse as `collapse` does, with classes of their own for Han code points."""
    return text if text.isascii() else _translated(text, _collapse_but_han)


def _translated(text: str, table: _Collapse) -> str:
    # ASCII with a few quotation marks is done faster one mark after the other; but not where
    # a mark could itself be the character of a class.
    chars = [char for char in {*text} if char > "\x7f"] if is_mostly_ascii(text) else []
    if not chars or len(chars) > 8 or min(chars) <= "\xff":
        return text.translate(table)
    for char in chars:
        text = text.replace(char, table[ord(char)])
    return text


def is_mostly_ascii(text: str) -> bool:
    """Whether so little of a text is not ASCII that it pays to look at that alone."""
    return len(text.encode("utf-8", "surrogatepass")) - len(text) <= len(text) >> 4


@cache
def _wide_white_space() -> re.Pattern[str]:
    return re.compile("[" + "".join(chr(code) for code in _white_space() if code > 0x7F) + "]")


def split_white_space(text: str) -> list[str]:
    """Return what stands between white space, as llama.cpp counts it."""
    return [part for part in _white_space_runs().split(text) if part]


@cache
def _white_space_runs() -> re.Pattern[str]:
    return re.compile("[" + "".join(map(chr, _white_space())) + "]+")


def fold_white_space(text: str) -> str:
    """Replace each non-ASCII white space by U+000B; the length stays."""
    return text if text.isascii() else _wide_white_space().sub(WHITE_SPACE_CHAR, text)
