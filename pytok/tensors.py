"""Read what a GGUF says of its tensors: names, shapes, types, places. Never their data.

The checks are those of llama.cpp, which refuses a file that fails one. Where it would refuse
a file only because its data is not all there, or because a type is newer than it is, there is
a warning: such a file's metadata is good.

Source: ggml/src/gguf.cpp, gguf_init_from_reader @ pin.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

from pytok import keys
from pytok.cursor import Cursor, Range
from pytok.data.tensor_types import TENSOR_TYPES
from pytok.errors import GGUFError, quoted
from pytok.gguf import Metadata, ValueType, metadata_at

DEFAULT_ALIGNMENT = 32
MAX_DIMENSIONS = 4
# ggml.h: GGML_MAX_NAME, its final NUL taken off.
MAX_NAME = 63
# Far more than any model has; a crafted file could hold millions.
MAX_TENSORS = 1 << 17
# The least description: a name's length, a count of dimensions, a type, an offset.
_LEAST = 8 + 4 + 4 + 8
_MAX_ELEMENTS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor: its name, dimensions (the row's length first), type, and where its data is.

    ``type`` is ggml's number. ``offset`` counts from the beginning of the tensor data;
    ``size`` is that of the data in bytes, None if the type is not known.
    """

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int
    size: int | None


@dataclass(frozen=True, slots=True)
class Tensors:
    """All tensor infos. ``data_offset`` is the byte of the file at which their data begins."""

    alignment: int
    data_offset: int
    infos: list[TensorInfo]
    warnings: list[str]


class Header(NamedTuple):
    """All that stands in a file before the tensor data; ``size`` is its count of bytes."""

    metadata: Metadata
    tensors: Tensors
    size: int


def read_header(
    size: int | None = None, cuts_strings: bool = False
) -> Generator[Range, bytes, Header]:
    """Read a GGUF file up to its tensor data; parameters and sending are as for `read_metadata`.

    Raises: GGUFError with the byte offset and the reason.
    """
    cursor = Cursor(size, cuts_strings)
    metadata = yield from metadata_at(cursor)
    tensors = yield from tensors_at(cursor, metadata)
    return Header(metadata, tensors, cursor.offset)


def tensors_at(cursor: Cursor, metadata: Metadata) -> Generator[Range, bytes, Tensors]:
    """Read the tensor infos with a cursor that stands at the end of the metadata."""
    alignment = _alignment(metadata)
    cursor.check_count(metadata.tensor_count, _LEAST, "the tensor list", 8, MAX_TENSORS)
    infos: list[TensorInfo] = []
    warnings: list[str] = []
    names: set[bytes] = set()
    expected: int | None = 0  # offset of the next tensor; None after one of unknown size
    for index in range(metadata.tensor_count):
        start = cursor.offset
        info = yield from _info(cursor, index, names)
        if info.offset % alignment:
            reason = f"the offset {info.offset} is no multiple of the alignment {alignment}"
            raise _fault(info, reason, start)
        if expected is not None and info.offset != expected:
            raise _fault(info, f"the offset is {info.offset}, not {expected}", start)
        end = None if info.size is None else info.offset + info.size
        expected = None if end is None else end + -end % alignment
        infos.append(info)
    data_offset = cursor.offset + (-cursor.offset % alignment if infos else 0)
    if unknown := [info for info in infos if info.size is None]:
        warnings.append(
            f"{len(unknown)} tensors are of a type that is not known, the first is "
            f"{quoted(unknown[0].name)} of type {unknown[0].type}"
        )
    needed = max((data_offset + info.offset + (info.size or 0) for info in infos), default=0)
    if cursor.size is not None and cursor.size < needed:
        warnings.append(
            f"tensor data is missing: the file has {cursor.size} bytes, its tensors end at byte "
            f"{needed}; the download may be incomplete"
        )
    return Tensors(alignment, data_offset, infos, warnings)


def _alignment(metadata: Metadata) -> int:
    entry = metadata.entries.get(keys.ALIGNMENT)
    if entry is None:
        return DEFAULT_ALIGNMENT
    if entry.type is not ValueType.UINT32:
        reason = f"wrong type: {entry.type.name}, not {ValueType.UINT32.name}"
        raise GGUFError(reason, offset=entry.offset, key=keys.ALIGNMENT)
    alignment: int = entry.value
    if alignment.bit_count() != 1:
        reason = f"the alignment is {alignment}, not a power of two"
        raise GGUFError(reason, offset=entry.offset, key=keys.ALIGNMENT)
    return alignment


def _fault(info: TensorInfo, reason: str, offset: int) -> GGUFError:
    return GGUFError(f"tensor {quoted(info.name)}: {reason}", offset=offset)


def _info(cursor: Cursor, index: int, names: set[bytes]) -> Generator[Range, bytes, TensorInfo]:
    start = cursor.offset
    raw = yield from cursor.string(f"the name of tensor {index}", MAX_NAME)
    if raw in names:
        raise cursor.error(f"the tensor {quoted(raw)} appears twice", start)
    names.add(raw)
    what = f"tensor {quoted(raw)}"
    dimensions = yield from cursor.number("I", f"the dimension count of {what}")
    if dimensions > MAX_DIMENSIONS:
        reason = f"{what} has {dimensions} dimensions, at most {MAX_DIMENSIONS} are allowed"
        raise cursor.error(reason, start)
    shape = []
    for _ in range(dimensions):
        shape.append((yield from cursor.number("Q", f"a dimension of {what}")))
    if math.prod(max(1, length) for length in shape) > _MAX_ELEMENTS:
        raise cursor.error(f"{what} has too many elements: {' x '.join(map(str, shape))}", start)
    type_ = yield from cursor.number("I", f"the type of {what}")
    offset = yield from cursor.number("Q", f"the offset of {what}")
    name = raw.decode("utf-8", "surrogateescape")
    info = TensorInfo(name, tuple(shape), type_, offset, None)
    row = TENSOR_TYPES.get(type_)
    if row is None:
        return info
    length = shape[0] if shape else 1
    if length % row.block:
        reason = f"a row has {length} elements, no multiple of {row.name}'s block of {row.block}"
        raise _fault(info, reason, start)
    size = math.prod(shape) // row.block * row.size
    if offset + size > _MAX_ELEMENTS:
        raise _fault(info, f"its data of {size} bytes at offset {offset} is too large", start)
    return TensorInfo(name, info.shape, type_, offset, size)
