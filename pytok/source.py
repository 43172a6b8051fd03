"""Where a tokenizer's metadata comes from: the seam between files and vocabularies.

`MetadataSource` is all that the tokenizer asks for. `GGUFSource` answers from a GGUF file,
`DictSource` from a mapping, for tests and for loaders of other formats.
"""

import io
import os
from array import array
from collections.abc import Mapping
from typing import Any, BinaryIO, Protocol, Self

from pytok.errors import VocabError
from pytok.gguf import Array, Entry, Metadata, ValueType, read_metadata


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
    """The metadata of a GGUF file; only its header is read, never tensor data."""

    def __init__(self, metadata: Metadata) -> None:
        super().__init__(metadata.entries, list(metadata.warnings))
        self.metadata = metadata

    @classmethod
    def from_file(cls, file: str | os.PathLike[str] | BinaryIO) -> Self:
        """Read a path or a seekable binary file, from its beginning.

        Raises: GGUFError if it is not a readable GGUF; OSError as open and read do.
        """
        if isinstance(file, str | os.PathLike):
            with open(file, "rb") as opened:
                return cls.from_file(opened)
        if not hasattr(file, "seek") or isinstance(file, io.TextIOBase):
            raise TypeError(f"a path or a binary file is needed, not {type(file).__name__}")
        size = file.seek(0, os.SEEK_END)
        reading = read_metadata(size)
        try:
            wanted = next(reading)
            while True:
                file.seek(wanted.offset)
                wanted = reading.send(file.read(wanted.size))
        except StopIteration as stop:
            return cls(stop.value)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """Read a buffer that holds the file, or at least its header.

        Raises: GGUFError if it is not a readable GGUF.
        """
        return cls.from_file(io.BytesIO(data))


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
        return Entry(ValueType.ARRAY, Array(ValueType.STRING, items))
    if all(isinstance(item, int) for item in items):
        return Entry(ValueType.ARRAY, Array(ValueType.INT32, array("i", items)))
    return Entry(ValueType.ARRAY, Array(ValueType.FLOAT32, array("f", items)))
