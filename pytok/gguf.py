"""Read the metadata of a GGUF file: bytes in, typed values out, no I/O.

`read_metadata` is a generator. It yields the `Range` of the file that it needs next and is
sent the bytes; whoever drives it decides where they come from (`pytok.source` for Python,
``web/lib`` for the browser). It stops at the end of the key/value section, so the cost of
reading is the header's, however large the file. A long array that is no part of the tokenizer
is described, not read: a file may hold one as large as it likes.

Source: ggml docs/gguf.md and ggml/src/gguf.cpp, gguf_init_from_reader @ pin.
"""

import struct
import sys
from array import array
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

from pytok.cursor import FIRST_STEP, LAST_STEP, Cursor, Range
from pytok.errors import GGUFError, quoted
from pytok.unicode import is_valid

MAGIC = b"GGUF"
VERSIONS = (2, 3)

# The format allows keys of up to 65,535 bytes.
MAX_KEY = 0xFFFF
# Far more than any model has; a crafted file could hold millions.
MAX_KEYS = 1 << 17
# Strings or arrays in an array; the largest vocabularies have a quarter of a million tokens,
# and half a million merges.
MAX_ITEMS = 1 << 22
# Longer arrays are kept only if they are the tokenizer's.
DESCRIBED = 1024
TOKENIZER_KEYS = "tokenizer."
# llama.cpp refuses arrays of arrays; the format allows them.
MAX_DEPTH = 8
# Oddities of one file that are told one by one; the rest are counted.
MAX_WARNINGS = 20


class ValueType(IntEnum):
    """Type numbers of GGUF values."""

    UINT8, INT8, UINT16, INT16, UINT32, INT32 = range(6)
    FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(6, 13)


# Codes of struct and array; a bool is read as the byte it is.
_CODE = {
    ValueType.UINT8: "B",
    ValueType.INT8: "b",
    ValueType.UINT16: "H",
    ValueType.INT16: "h",
    ValueType.UINT32: "I",
    ValueType.INT32: "i",
    ValueType.FLOAT32: "f",
    ValueType.BOOL: "B",
    ValueType.UINT64: "Q",
    ValueType.INT64: "q",
    ValueType.FLOAT64: "d",
}
# The fewest bytes that a value can take.
_LEAST = {type_: struct.calcsize("<" + code) for type_, code in _CODE.items()}
_LEAST |= {ValueType.STRING: 8, ValueType.ARRAY: 12}
# About what an item takes in memory, where that is more than its bytes.
_COST = {ValueType.STRING: 64, ValueType.ARRAY: 128, ValueType.BOOL: 8}


class Strings(Sequence[str]):
    """The strings of a long array: they are one until somebody looks at them."""

    def __init__(self, joined: bytes, count: int) -> None:
        self.joined = joined
        """All of them, a NUL between each; none holds one."""
        self._count = count

    @cached_property
    def _cut(self) -> list[str]:
        return self.joined.decode("utf-8", "surrogateescape").split("\0")

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._cut[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cut)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._cut)


@dataclass(frozen=True, slots=True)
class Array:
    """An array value of ``count`` items.

    ``items`` is a sequence of str, a list of bool or Array, or an ``array.array`` of numbers; None
    if the array was only described, being long and no part of the tokenizer.
    """

    item_type: ValueType
    items: Any | None
    count: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One key's value; ``offset`` is where its key begins in the file (None: no file).

    A string is in the form of `pytok.unicode.text_of`, so that any bytes survive.
    """

    type: ValueType
    value: Any
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """The key/value section. ``size`` is the count of bytes up to its end."""

    version: int
    byte_order: str
    tensor_count: int
    size: int
    entries: dict[str, Entry]
    warnings: list[str] = field(default_factory=list)


def read_metadata(
    size: int | None = None, cuts_strings: bool = False
) -> Generator[Range, bytes, Metadata]:
    """Read the header and the key/value section of a GGUF file.

    ``size`` is the file's size in bytes, None if it is unknown. Send each `Range`'s bytes;
    fewer are fine as long as some come, none mean the file's end. With ``cuts_strings`` ranges
    may ask for strings. Returns the `Metadata`.
    Raises: GGUFError with the byte offset and key, and the reason.
    """
    return (yield from metadata_at(Cursor(size, cuts_strings)))


def metadata_at(cursor: Cursor) -> Generator[Range, bytes, Metadata]:
    """Do `read_metadata`'s work with a cursor at the file's beginning; it ends at the section's."""
    version, byte_order = yield from _header(cursor)
    tensor_count = yield from cursor.number("Q", "the tensor count")
    start = cursor.offset
    count = yield from cursor.number("Q", "the key count")
    # A pair takes more than its key's length field; but where that is all there is, the key is
    # to be named and not the count.
    cursor.check_count(count, 8, "a key/value section", start, MAX_KEYS)

    entries: dict[str, Entry] = {}
    warnings: list[str] = []
    for index in range(count):
        cursor.key = None
        start = cursor.offset
        key = yield from _key(cursor, index, entries)
        cursor.key = key
        type_ = yield from _type(cursor, "value")
        value = yield from _value(cursor, type_, 0, warnings)
        entries[key] = Entry(type_, value, start)
        if type_ is ValueType.STRING and not is_valid(value):
            warnings.append(f"the value of {quoted(key)} is not valid UTF-8")
    cursor.key = None
    if len(warnings) > MAX_WARNINGS:
        warnings[MAX_WARNINGS:] = [f"and {len(warnings) - MAX_WARNINGS} more like these"]
    return Metadata(version, byte_order, tensor_count, cursor.offset, entries, warnings)


def _header(cursor: Cursor) -> Generator[Range, bytes, tuple[int, str]]:
    """Read magic and version; the version tells the byte order."""
    if cursor.size is None:
        cursor.data = yield Range(0, FIRST_STEP)
        cursor.size = None if cursor.data else 0
    if cursor.size == 0:
        raise GGUFError("the file is empty", offset=0)
    yield from cursor.need(1, "the magic")
    head = cursor.data[:4]
    if head != MAGIC[: len(head)]:
        raise GGUFError(f"not a GGUF file: it begins with {quoted(head)}, not 'GGUF'", offset=0)
    yield from cursor.need(8, "the header's magic and version")
    if cursor.data[:4] != MAGIC:
        head = cursor.data[:4]
        raise GGUFError(f"not a GGUF file: it begins with {quoted(head)}, not 'GGUF'", offset=0)
    orders = {"little": "<", "big": ">"}
    versions = {order: int.from_bytes(cursor.data[4:8], order) for order in ("little", "big")}
    for order, version in versions.items():
        if version in VERSIONS:
            cursor.sign, cursor.pos = orders[order], 8
            return version, order
    version = min(versions.values())
    supported = " and ".join(map(str, VERSIONS))
    raise GGUFError(
        f"GGUF version {version} is not supported, only {supported} are", offset=4, key=None
    )


def _key(cursor: Cursor, index: int, entries: dict[str, Entry]) -> Generator[Range, bytes, str]:
    start = cursor.offset
    raw = yield from cursor.string(f"key number {index}", MAX_KEY)
    try:
        key = raw.decode()
    except UnicodeDecodeError:
        raise cursor.error(f"key number {index} is not valid UTF-8", start) from None
    if not key:
        raise cursor.error(f"key number {index} is empty", start)
    if key in entries:
        raise GGUFError("the key appears twice", offset=start, key=key)
    return key


def _type(cursor: Cursor, what: str) -> Generator[Range, bytes, ValueType]:
    start = cursor.offset
    number = yield from cursor.number("I", f"the type of the {what}")
    try:
        return ValueType(number)
    except ValueError:
        raise cursor.error(f"unknown {what} type {number}", start) from None


def _value(
    cursor: Cursor, type_: ValueType, depth: int, warnings: list[str]
) -> Generator[Range, bytes, Any]:
    if type_ is ValueType.ARRAY:
        return (yield from _array(cursor, depth, warnings))
    if type_ is ValueType.STRING:
        start = cursor.offset
        raw = yield from cursor.string("the value")
        cursor.keep(len(raw), "the value", start)
        return raw.decode("utf-8", "surrogateescape")
    value = yield from cursor.number(_CODE[type_], "the value")
    if type_ is ValueType.BOOL:
        if value > 1:
            warnings.append(f"the boolean {quoted(str(cursor.key))} is stored as {value}")
        return bool(value)
    return value


def _array_head(cursor: Cursor, depth: int) -> Generator[Range, bytes, tuple[ValueType, int]]:
    start = cursor.offset
    if depth >= MAX_DEPTH:
        raise cursor.error(f"arrays are nested more than {MAX_DEPTH} deep", start)
    item_type = yield from _type(cursor, "array item")
    count = yield from cursor.number("Q", "the array's count")
    most = MAX_ITEMS if item_type in (ValueType.STRING, ValueType.ARRAY) else None
    cursor.check_count(count, _LEAST[item_type], "an array", start, most)
    return item_type, count


def _array(cursor: Cursor, depth: int, warnings: list[str]) -> Generator[Range, bytes, Array]:
    """Read an array, or move past it if it is long and no part of the tokenizer."""
    start = cursor.offset
    item_type, count = yield from _array_head(cursor, depth)
    if count > DESCRIBED and not str(cursor.key).startswith(TOKENIZER_KEYS):
        yield from _skip_items(cursor, item_type, count, depth)
        return Array(item_type, None, count)
    cursor.keep(_COST.get(item_type, _LEAST[item_type]) * count, "an array", start)
    items: Any
    if item_type is ValueType.STRING:
        items = yield from _strings(cursor, count)
    elif item_type is ValueType.ARRAY:
        items = []
        for _ in range(count):
            items.append((yield from _array(cursor, depth + 1, warnings)))
    else:
        items = yield from _numbers(cursor, _CODE[item_type], count)
        if item_type is ValueType.BOOL:
            items = [*map(bool, items)]
    return Array(item_type, items, count)


def _skip_items(
    cursor: Cursor, item_type: ValueType, count: int, depth: int
) -> Generator[Range, bytes, None]:
    """Move past an array's items, which are checked as if they were kept."""
    if item_type is ValueType.STRING:
        yield from _skip_strings(cursor, count)
    elif item_type is ValueType.ARRAY:
        for _ in range(count):
            inner_type, inner_count = yield from _array_head(cursor, depth + 1)
            yield from _skip_items(cursor, inner_type, inner_count, depth + 1)
    else:
        yield from cursor.skip(_LEAST[item_type] * count, "the array")


def _skip_strings(cursor: Cursor, count: int) -> Generator[Range, bytes, None]:
    length_at = struct.Struct(cursor.sign + "Q").unpack_from
    index = 0
    while index < count:
        data, pos, last = cursor.data, cursor.pos, len(cursor.data) - 8
        while index < count and pos <= last:
            stop = pos + 8 + length_at(data, pos)[0]
            if stop > len(data):
                break
            pos = stop
            index += 1
        cursor.pos = pos
        if index < count:
            yield from cursor.string(f"item {index} of the array")
            index += 1


def _numbers(cursor: Cursor, code: str, count: int) -> Generator[Range, bytes, Any]:
    numbers = array(code)
    while missing := count - len(numbers):
        part = min(missing * numbers.itemsize, LAST_STEP)
        yield from cursor.need(part, "the array")
        numbers.frombytes(cursor.data[cursor.pos : cursor.pos + part])
        cursor.pos += part
    if cursor.sign != ("<" if sys.byteorder == "little" else ">"):
        numbers.byteswap()
    return numbers


def _strings(cursor: Cursor, count: int) -> Generator[Range, bytes, Sequence[str]]:
    if cursor.cuts_strings and cursor.sign == "<" and count > DESCRIBED:
        joined = yield Range(cursor.offset, 0, strings=count)
        if joined:
            cursor.move_to(cursor.offset + 8 * count + len(joined) - (count - 1))
            return Strings(joined, count)
    items: list[str] = []
    length_at = struct.Struct(cursor.sign + "Q").unpack_from
    while len(items) < count:
        # All strings that lie whole in the window, in one plain loop: this is where a
        # file with some 400,000 tokens and merges is read.
        data, pos, end = cursor.data, cursor.pos, len(cursor.data)
        for _ in range(count - len(items)):
            start = pos + 8
            if start > end:
                break
            stop = start + length_at(data, pos)[0]
            if stop > end:
                break
            items.append(data[start:stop].decode("utf-8", "surrogateescape"))
            pos = stop
        cursor.pos = pos
        if len(items) < count:
            raw = yield from cursor.string(f"item {len(items)} of the array")
            items.append(raw.decode("utf-8", "surrogateescape"))
    return items
