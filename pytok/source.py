"""Where a tokenizer's metadata comes from: the seam between files and vocabularies.

`MetadataSource` is all that the tokenizer asks for. `GGUFSource` answers from a GGUF file,
`DictSource` from a mapping, for tests and for loaders of other formats.
"""

import io
import mmap
import os
from array import array
from collections.abc import Callable, Generator, Mapping
from typing import Any, BinaryIO, Protocol, Self, TypeVar

from pytok import keys
from pytok.cursor import LAST_STEP, Range
from pytok.errors import GGUFError, VocabError, quoted
from pytok.gguf import Array, Entry, Metadata, ValueType, read_metadata
from pytok.shards import shard_of
from pytok.tensors import Tensors, read_header

T = TypeVar("T")
# The size in bytes, None if it is unknown; and what reads a range.
_Ranges = tuple[int | None, Callable[[int, int], bytes]]


class MetadataSource(Protocol):
    """Typed access to metadata by key; None where a key is absent.

    Each method raises VocabError if the key holds a value of another type: as in llama.cpp,
    types are not converted.
    """

    warnings: list[str]

    def meta_str(self, key: str) -> str | None:
        """Return a string in the form of `pytok.unicode.text_of`."""

    def meta_int(self, key: str) -> int | None:
        """Return an unsigned 32-bit integer."""

    def meta_bool(self, key: str) -> bool | None:
        """Return a boolean."""

    def meta_array(self, key: str, *item_types: ValueType) -> Any | None:
        """Return the items of an array of one of the item types: a list, or an array.array."""

    def meta_offset(self, key: str) -> int | None:
        """Return the byte offset of a key in the file, None if it has none."""


class _EntrySource:
    """A MetadataSource over `Entry` values."""

    def __init__(self, entries: Mapping[str, Entry], warnings: list[str]) -> None:
        self.entries = entries
        self.warnings = warnings

    def meta_str(self, key: str) -> str | None:
        value: str | None = self._get(key, ValueType.STRING)
        return value

    def meta_int(self, key: str) -> int | None:
        value: int | None = self._get(key, ValueType.UINT32)
        return value

    def meta_bool(self, key: str) -> bool | None:
        value: bool | None = self._get(key, ValueType.BOOL)
        return value

    def meta_array(self, key: str, *item_types: ValueType) -> Any | None:
        value: Array | None = self._get(key, ValueType.ARRAY)
        if value is None:
            return None
        if value.item_type not in item_types:
            raise self._wrong_type(key, f"an array of {value.item_type.name}", *item_types)
        if value.items is None:
            reason = f"the array of {value.count} items was not kept"
            raise VocabError(reason, offset=self.meta_offset(key), key=key)
        return value.items

    def meta_offset(self, key: str) -> int | None:
        return self.entries[key].offset if key in self.entries else None

    def _get(self, key: str, type_: ValueType) -> Any | None:
        entry = self.entries.get(key)
        if entry is None:
            return None
        if entry.type is not type_:
            raise self._wrong_type(key, entry.type.name, type_)
        return entry.value

    def _wrong_type(self, key: str, found: str, *wanted: ValueType) -> VocabError:
        names = " or ".join(type_.name for type_ in wanted)
        return VocabError(
            f"wrong type: {found}, not {names}", offset=self.meta_offset(key), key=key
        )


class GGUFSource(_EntrySource):
    """The metadata of a GGUF file; only its header is read, never tensor data.

    ``tensors`` is None unless it was asked for; ``name`` is the file's, if it has one.
    """

    def __init__(
        self, metadata: Metadata, tensors: Tensors | None = None, name: str | None = None
    ) -> None:
        warnings = [*metadata.warnings, *(tensors.warnings if tensors else ())]
        super().__init__(metadata.entries, warnings)
        self.metadata = metadata
        self.tensors = tensors
        self.name = name
        if keys.TOKENS not in self.entries and (warning := self._of_a_later_part()):
            warnings.insert(0, warning)

    @classmethod
    def from_file(cls, file: str | os.PathLike[str] | BinaryIO, *, tensors: bool = False) -> Self:
        """Read a path, or a binary file from its beginning; one that cannot seek from where it is.

        With ``tensors`` the tensor infos are read and checked too.

        Raises: GGUFError if it is not a readable GGUF; OSError as open and read do.
        """
        if isinstance(file, str | os.PathLike):
            with open(file, "rb") as opened:
                return cls._read(_read_file(opened), os.fsdecode(file), tensors)
        if not hasattr(file, "read") or isinstance(file, io.TextIOBase):
            raise TypeError(f"a path or a binary file is needed, not {type(file).__name__}")
        return cls._read(_read_file(file), None, tensors)

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview | mmap.mmap, *, tensors: bool = False
    ) -> Self:
        """Read a buffer that holds the file, or at least its header; it is not copied.

        Raises: GGUFError if it is not a readable GGUF.
        """
        with memoryview(data) as view, view.cast("B") as octets:
            return cls._read(
                (octets.nbytes, lambda at, size: bytes(octets[at : at + size])), None, tensors
            )

    @classmethod
    def _read(cls, ranges: _Ranges, path: str | None, tensors: bool) -> Self:
        """Drive the reader: send it the ranges that it asks for."""
        size, read = ranges
        name = None if path is None else os.path.basename(path)
        try:
            if tensors:
                header = _driven(read_header(size), read)
                return cls(header.metadata, header.tensors, name)
            return cls(_driven(read_metadata(size), read), None, name)
        except GGUFError as error:
            raise explained(error, name) from None

    def _of_a_later_part(self) -> str | None:
        """Say that the tokenizer is in another part of the model, if that is so."""
        shard = shard_of(self.name or "")
        number, count = (
            entry.value if (entry := self.entries.get(key)) and isinstance(entry.value, int) else 0
            for key in (keys.SPLIT_NO, keys.SPLIT_COUNT)
        )
        if not (number or (shard and shard.number > 1)):
            return None
        which = f"{number + 1} of {count}" if number else str(shard.number) if shard else ""
        where = f": open {quoted(shard.first, 300)}" if shard else ""
        return f"this is part {which} of a split model; its tokenizer is in part 1{where}"


class DictSource(_EntrySource):
    """Metadata from a mapping of keys to str, bool, int, or a list of str, int or float.

    An int stands for a UINT32, a list of int for INT32 items, of float for FLOAT32.

    Raises: ValueError for an int that is no UINT32.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({key: _entry(value) for key, value in values.items()}, [])


def _entry(value: Any) -> Entry:
    match value:
        case str():
            return Entry(ValueType.STRING, value)
        case bool():
            return Entry(ValueType.BOOL, value)
        case int() if 0 <= value < 1 << 32:
            return Entry(ValueType.UINT32, value)
        case int():
            raise ValueError(f"{value} is no UINT32")
        case float():
            return Entry(ValueType.FLOAT32, value)
    items = list(value)
    if all(isinstance(item, str) for item in items):
        return Entry(ValueType.ARRAY, Array(ValueType.STRING, items, len(items)))
    if all(isinstance(item, int) for item in items):
        return Entry(ValueType.ARRAY, Array(ValueType.INT32, array("i", items), len(items)))
    return Entry(ValueType.ARRAY, Array(ValueType.FLOAT32, array("f", items), len(items)))


def explained(error: GGUFError, name: str | None) -> GGUFError:
    """Return an error that also says what the file's name gives away: that it is a later part."""
    shard = shard_of(name or "")
    if not shard or shard.number == 1:
        return error
    hint = f"by its name it is part {shard.number} of a model: open {quoted(shard.first, 300)}"
    return type(error)(f"{error.reason}; {hint}", offset=error.offset, key=error.key)


def _driven(reading: Generator[Range, bytes, T], read: Callable[[int, int], bytes]) -> T:
    try:
        wanted = next(reading)
        while True:
            wanted = reading.send(read(wanted.offset, wanted.size))
    except StopIteration as stop:
        result: T = stop.value
        return result


def _read_file(file: BinaryIO) -> _Ranges:
    """Return how to read ranges of a file: by seeking if it can, else by reading on."""
    if getattr(file, "seekable", lambda: True)():
        size = file.seek(0, os.SEEK_END)

        def seek_and_read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        return size, seek_and_read
    position = 0

    def read_on(offset: int, size: int) -> bytes:
        nonlocal position
        while position < offset:
            passed = len(file.read(min(offset - position, LAST_STEP)))
            if not passed:
                return b""
            position += passed
        data = file.read(size)
        position += len(data)
        return data

    return None, read_on
