"""Write GGUF files, right and wrong ones: every field may be given as it should not be."""

import struct
from typing import Any

import golden
from places import vocab_file

from pytok.gguf import Array, ValueType

CODES = "BbHhIif?\0\0Qqd"


class Writer:
    """Packs values in one byte order."""

    def __init__(self, order: str = "<", version: int = 3) -> None:
        self.order = order
        self.version = version
        self.pairs: list[bytes] = []

    def pack(self, code: str, *values: Any) -> bytes:
        return struct.pack(self.order + code, *values)

    def string(self, text: str | bytes, length: int | None = None) -> bytes:
        raw = text.encode() if isinstance(text, str) else text
        return self.pack("Q", len(raw) if length is None else length) + raw

    def value(self, type_: ValueType, value: Any) -> bytes:
        if type_ is ValueType.STRING:
            return self.string(value)
        if type_ is ValueType.ARRAY:
            item_type, items = value
            return self.array(item_type, items)
        return self.pack(CODES[type_], value)

    def array(self, item_type: int, items: list[Any], count: int | None = None) -> bytes:
        body = b"".join(self.value(ValueType(item_type), item) for item in items)
        return self.pack("IQ", item_type, len(items) if count is None else count) + body

    def add(self, key: str | bytes, type_: ValueType, value: Any) -> "Writer":
        return self.add_raw(self.string(key) + self.pack("I", type_) + self.value(type_, value))

    def add_raw(self, pair: bytes) -> "Writer":
        self.pairs.append(pair)
        return self

    def bytes(self, *, tensors: int = 0, count: int | None = None) -> bytes:
        count = len(self.pairs) if count is None else count
        head = b"GGUF" + self.pack("IQQ", self.version, tensors, count)
        return head + b"".join(self.pairs)


def patched(file: str, changes: dict[str, Any] | None) -> bytes:
    """Return a vocabulary file with some of its metadata changed."""
    if not changes:
        return vocab_file(file).read_bytes()
    writer = Writer()
    for key, entry in golden.source(file, changes).entries.items():
        value = entry.value
        if isinstance(value, Array):
            items = list(value.items or ())
            if value.item_type is ValueType.STRING:
                items = [text.encode("utf-8", "surrogateescape") for text in items]
            value = (value.item_type, items)
        elif entry.type is ValueType.STRING:
            value = value.encode("utf-8", "surrogateescape")
        writer.add(key, entry.type, value)
    return writer.bytes()
