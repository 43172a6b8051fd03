"""Read the metadata of a GGUF file: bytes in, typed values out, no I/O.

`read_metadata` is a generator. It yields the `Range` of the file that it needs next and is
sent the bytes; whoever drives it decides where they come from (`pytok.source` for Python,
``web/lib`` for the browser). It stops at the end of the key/value section, so the cost of
reading is the header's, however large the file. A count or length is only a claim: it is
held against the size of the file first, and nothing is allocated by it.

Source: ggml docs/gguf.md and ggml/src/gguf.cpp, gguf_init_from_reader @ pin.
"""

import struct
import sys
from array import array
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from pytok.errors import GGUFError, quoted
from pytok.unicode import is_valid

MAGIC = b"GGUF"
VERSIONS = (2, 3)

# The format allows keys of up to 65,535 bytes.
MAX_KEY = 0xFFFF
# No tokenizer needs a longer string; where the size of the file is unknown (a stream), this
# is what stops a false length from being waited for.
MAX_STRING = 1 << 26
# llama.cpp refuses arrays of arrays; the format allows them.
MAX_DEPTH = 8
# Oddities of one file that are told one by one; the rest are counted.
MAX_WARNINGS = 20
# Bytes asked for at once: small for small headers, then fewer and larger reads.
FIRST_STEP, LAST_STEP = 1 << 16, 1 << 22


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


class Range(NamedTuple):
    """A wish for the bytes from ``offset`` on: ``size`` of them, fewer at the file's end."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Array:
    """An array value: a list of str, bool or Array, or an ``array.array`` of numbers."""

    item_type: ValueType
    items: Any


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


Reading = Generator[Range, bytes]


class _Cursor:
    """A window on the file that moves forward and asks for more when it must."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.data = b""
        self.base = 0
        self.pos = 0
        self.key: str | None = None
        self.sign = "<"
        self._step = FIRST_STEP

    @property
    def offset(self) -> int:
        return self.base + self.pos

    def error(self, reason: str, offset: int | None = None) -> GGUFError:
        return GGUFError(reason, offset=self.offset if offset is None else offset, key=self.key)

    def truncated(self, count: int, what: str) -> GGUFError:
        left = (self.base + len(self.data) if self.size is None else self.size) - self.offset
        return self.error(f"file is truncated: {what} takes {count} bytes, {left} are left")

    def need(self, count: int, what: str) -> Generator[Range, bytes, None]:
        """Make ``count`` bytes from the position on available."""
        if self.size is not None and self.offset + count > self.size:
            raise self.truncated(count, what)
        while (missing := count - (len(self.data) - self.pos)) > 0:
            wish = max(min(missing, LAST_STEP), self._step)
            end = self.base + len(self.data)
            chunk = yield Range(end, wish if self.size is None else min(wish, self.size - end))
            if not chunk:
                raise self.truncated(count, what)
            self.data = self.data[self.pos :] + chunk
            self.base += self.pos
            self.pos = 0
            self._step = min(self._step * 2, LAST_STEP)

    def number(self, code: str, what: str) -> Generator[Range, bytes, Any]:
        code = self.sign + code
        size = struct.calcsize(code)
        yield from self.need(size, what)
        (value,) = struct.unpack_from(code, self.data, self.pos)
        self.pos += size
        return value

    def string(self, what: str, limit: int = MAX_STRING) -> Generator[Range, bytes, bytes]:
        yield from self.need(8, f"the length of {what}")
        (length,) = struct.unpack_from(self.sign + "Q", self.data, self.pos)
        if self.size is not None and self.offset + 8 + length > self.size:
            raise self.truncated(8 + length, what)
        if length > limit:
            raise self.error(f"{what} claims {length} bytes, at most {limit} are allowed")
        yield from self.need(8 + length, what)
        value = self.data[self.pos + 8 : self.pos + 8 + length]
        self.pos += 8 + length
        return value

    def check_count(self, count: int, least: int, what: str, start: int) -> None:
        """Hold a claimed count against the bytes that are left."""
        if self.size is not None and count * least > (left := self.size - self.offset):
            raise self.error(
                f"file is truncated: {what} of {count} items takes at least {count * least} bytes, "
                f"{left} are left",
                start,
            )


def read_metadata(size: int | None = None) -> Generator[Range, bytes, Metadata]:
    """Read the header and the key/value section of a GGUF file.

    ``size`` is the file's size in bytes, None if it is unknown. Send each `Range`'s bytes;
    fewer are fine as long as some come, none mean the file's end. Returns the `Metadata`.
    Raises: GGUFError with the byte offset and key, and the reason.
    """
    cursor = _Cursor(size)
    version, byte_order = yield from _header(cursor)
    tensor_count = yield from cursor.number("Q", "the tensor count")
    start = cursor.offset
    count = yield from cursor.number("Q", "the key count")
    # The least pair: key length, a key of one byte, the type, a value of one byte.
    cursor.check_count(count, 8 + 1 + 4 + 1, "a key/value section", start)

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
    if len(warnings) > MAX_WARNINGS:
        warnings[MAX_WARNINGS:] = [f"and {len(warnings) - MAX_WARNINGS} more like these"]
    return Metadata(version, byte_order, tensor_count, cursor.offset, entries, warnings)


def _header(cursor: _Cursor) -> Generator[Range, bytes, tuple[int, str]]:
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


def _key(cursor: _Cursor, index: int, entries: dict[str, Entry]) -> Generator[Range, bytes, str]:
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


def _type(cursor: _Cursor, what: str) -> Generator[Range, bytes, ValueType]:
    start = cursor.offset
    number = yield from cursor.number("I", f"the type of the {what}")
    try:
        return ValueType(number)
    except ValueError:
        raise cursor.error(f"unknown {what} type {number}", start) from None


def _value(
    cursor: _Cursor, type_: ValueType, depth: int, warnings: list[str]
) -> Generator[Range, bytes, Any]:
    if type_ is ValueType.ARRAY:
        return (yield from _array(cursor, depth, warnings))
    if type_ is ValueType.STRING:
        raw = yield from cursor.string("the value")
        return raw.decode("utf-8", "surrogateescape")
    value = yield from cursor.number(_CODE[type_], "the value")
    if type_ is ValueType.BOOL:
        if value > 1:
            warnings.append(f"the boolean {quoted(str(cursor.key))} is stored as {value}")
        return bool(value)
    return value


def _array(cursor: _Cursor, depth: int, warnings: list[str]) -> Generator[Range, bytes, Array]:
    start = cursor.offset
    if depth >= MAX_DEPTH:
        raise cursor.error(f"arrays are nested more than {MAX_DEPTH} deep", start)
    item_type = yield from _type(cursor, "array item")
    count = yield from cursor.number("Q", "the array's count")
    cursor.check_count(count, _LEAST[item_type], "an array", start)
    if item_type is ValueType.STRING:
        return Array(item_type, (yield from _strings(cursor, count)))
    if item_type is ValueType.ARRAY:
        items = []
        for _ in range(count):
            items.append((yield from _array(cursor, depth + 1, warnings)))
        return Array(item_type, items)
    numbers = yield from _numbers(cursor, _CODE[item_type], count)
    return Array(item_type, [*map(bool, numbers)] if item_type is ValueType.BOOL else numbers)


def _numbers(cursor: _Cursor, code: str, count: int) -> Generator[Range, bytes, Any]:
    numbers = array(code)
    while missing := count - len(numbers):
        part = min(missing * numbers.itemsize, LAST_STEP)
        yield from cursor.need(part, "the array")
        numbers.frombytes(cursor.data[cursor.pos : cursor.pos + part])
        cursor.pos += part
    if cursor.sign != ("<" if sys.byteorder == "little" else ">"):
        numbers.byteswap()
    return numbers


def _strings(cursor: _Cursor, count: int) -> Generator[Range, bytes, list[str]]:
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
