"""The reader: every type in both byte orders, in any portions, and one clear error."""

import io
import math
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from gguf_writer import Writer
from places import REAL

from pytok import GGUFError, GGUFSource, Tokenizer
from pytok.gguf import Array, Metadata, ValueType, read_metadata

T = ValueType
SCALARS: dict[ValueType, list[Any]] = {
    T.UINT8: [0, 255],
    T.INT8: [-128, 127],
    T.UINT16: [0, 65535],
    T.INT16: [-32768, 32767],
    T.UINT32: [0, 2**32 - 1],
    T.INT32: [-(2**31), 2**31 - 1],
    T.FLOAT32: [0.5, -math.inf],
    T.BOOL: [False, True],
    T.STRING: ["", "né\0 日🐢"],
    T.UINT64: [0, 2**64 - 1],
    T.INT64: [-(2**63), -(2**53) - 1],
    T.FLOAT64: [0.1, math.inf],
}


def every_type(order: str = "<", version: int = 3) -> bytes:
    writer = Writer(order, version)
    for type_, values in SCALARS.items():
        for index, value in enumerate(values):
            writer.add(f"{type_.name}.{index}", type_, value)
        writer.add(f"{type_.name}.array", T.ARRAY, (type_, values * 3))
        writer.add(f"{type_.name}.empty", T.ARRAY, (type_, []))
    nested = (T.ARRAY, [(T.ARRAY, [(T.UINT8, [1, 2]), (T.STRING, ["a"])]), (T.BOOL, [])])
    writer.add("nested", T.ARRAY, nested).add("after", T.STRING, "end")
    return writer.bytes(tensors=3) + b"tensor infos and data, never read"


def drive(data: bytes, step: int, size: int | None) -> Metadata:
    """Read from a source that gives at most ``step`` bytes at once."""
    reading = read_metadata(size)
    try:
        wanted = next(reading)
        while True:
            end = wanted.offset + min(step, wanted.size)
            wanted = reading.send(data[wanted.offset : end])
    except StopIteration as stop:
        metadata: Metadata = stop.value
        return metadata


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [2, 3])
def test_every_value_type(order: str, version: int) -> None:
    metadata = GGUFSource.from_bytes(every_type(order, version)).metadata
    assert metadata.version == version
    assert metadata.byte_order == {"<": "little", ">": "big"}[order]
    assert metadata.tensor_count == 3
    values = {key: entry.value for key, entry in metadata.entries.items()}
    for type_, expected in SCALARS.items():
        for index, value in enumerate(expected):
            assert values[f"{type_.name}.{index}"] == value
        array = values[f"{type_.name}.array"]
        assert (array.item_type, list(array.items)) == (type_, expected * 3)
        assert list(values[f"{type_.name}.empty"].items) == []
    inner, flags = values["nested"].items
    assert [list(array.items) for array in inner.items] == [[1, 2], ["a"]]
    assert flags == Array(T.BOOL, [], 0)
    assert values["after"] == "end"


@pytest.mark.parametrize("step", [1, 7, 4096, 1 << 21])
@pytest.mark.parametrize("known", [True, False])
def test_portions_make_no_difference(step: int, known: bool) -> None:
    data = every_type()
    whole = GGUFSource.from_bytes(data).metadata
    assert drive(data, step, len(data) if known else None) == whole


def test_real_file_in_portions() -> None:
    data = (REAL / "ggml-vocab-bert-bge.gguf").read_bytes()
    whole = GGUFSource.from_bytes(data).metadata
    for step in (999, 65536, (1 << 21) - 1):
        assert drive(data, step, len(data)) == whole


def test_only_the_header_is_read(tmp_path: Path) -> None:
    header = (REAL / "ggml-vocab-gpt-2.gguf").read_bytes()
    path = tmp_path / "sparse.gguf"
    with path.open("wb") as file:
        file.write(header)
        file.truncate(40 << 30)

    class Counting(io.FileIO):
        read_bytes = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(-1 if size is None else size) or b""
            self.read_bytes += len(data)
            return data

    with Counting(path) as counting:
        tokenizer = Tokenizer.from_file(counting)
        assert tokenizer.encode("Hello") == [15496]
        assert counting.read_bytes < 2 * len(header)


def claims(**what: Any) -> bytes:
    """Return a small file in which one length or count is false."""
    writer = Writer()
    key = writer.string("k", what.get("key_length"))
    if "array" in what:
        value = writer.pack("I", T.ARRAY) + writer.array(what["item_type"], [], what["array"])
    elif "depth" in what:
        value = writer.pack("I", T.ARRAY) + writer.pack("IQ", T.ARRAY, 1) * what["depth"]
    else:
        value = writer.pack("I", what.get("type", T.STRING)) + writer.string(
            "v", what.get("string")
        )
    return writer.add_raw(key + value).bytes(count=what.get("count"))


FALSE = {
    "key length": (claims(key_length=2**48 - 1), "key number 0"),
    "key length 2**63": (claims(key_length=2**63), "key number 0"),
    "string length": (claims(string=2**40), "the value"),
    "key count": (claims(count=2**63), "key/value section"),
    "string count": (claims(array=2**60, item_type=T.STRING), "an array of"),
    "number count": (claims(array=2**61, item_type=T.FLOAT64), "an array of"),
    "nested count": (claims(array=2**30, item_type=T.ARRAY), "an array of"),
    "depth": (claims(depth=5000), "nested more than 8 deep"),
    "value type 13": (claims(type=13), "unknown value type 13"),
    "value type 256": (claims(type=256), "unknown value type 256"),
    "item type": (claims(array=0, item_type=99), "unknown array item type 99"),
    "empty key": (Writer().add("", T.STRING, "v").bytes(), "key number 0 is empty"),
    "key not UTF-8": (Writer().add(b"\xff", T.UINT8, 1).bytes(), "not valid UTF-8"),
    "key twice": (Writer().add("k", T.UINT8, 1).add("k", T.INT8, 1).bytes(), "appears twice"),
    "long key": (Writer().add("k" * 70_000, T.UINT8, 1).bytes(), "at most 65535"),
    "version 1": (Writer(version=1).bytes(), "version 1 is not supported"),
    "version 4": (Writer(version=4).bytes(), "version 4 is not supported"),
    "swapped nonsense": (Writer(version=0x05000000).bytes(), "is not supported"),
    "empty file": (b"", "the file is empty"),
    "three bytes": (b"GGU", "truncated"),
    "magic only": (b"GGUF", "truncated"),
    "zip": (b"PK\x03\x04" * 9, "not a GGUF file"),
    "page": (b"<!doctype html><script>alert(1)</script>", "not a GGUF file"),
}


@pytest.mark.parametrize("name", FALSE)
@pytest.mark.parametrize("known_size", [True, False])
def test_one_clear_error(name: str, known_size: bool) -> None:
    data, reason = FALSE[name]
    started = time.monotonic()
    tracemalloc.start()
    with pytest.raises(GGUFError) as caught:
        drive(data, 1 << 20, len(data) if known_size else None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if known_size:
        assert reason in str(caught.value)
    assert caught.value.offset is not None
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()
    assert peak < 50e6
    assert time.monotonic() - started < 10


def test_truncation_names_key_and_bytes() -> None:
    data = (REAL / "ggml-vocab-gpt-2.gguf").read_bytes()
    with pytest.raises(GGUFError, match=r"truncated.* takes .* bytes, \d+ are left") as caught:
        GGUFSource.from_bytes(data[: len(data) // 10])
    assert caught.value.key == "tokenizer.ggml.tokens"


def test_every_truncation_is_an_error() -> None:
    data = Writer().add("a", T.STRING, "text").add("b", T.ARRAY, (T.INT16, [1, 2])).bytes()
    for cut in range(len(data)):
        with pytest.raises(GGUFError):
            GGUFSource.from_bytes(data[:cut])


def test_hostile_text_is_escaped_and_shortened() -> None:
    key = "\x1b[31m<script>\u202e" * 900
    with pytest.raises(GGUFError) as caught:
        GGUFSource.from_bytes(Writer().add(key, T.UINT8, 1).add(key, T.UINT8, 1).bytes())
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 500


def test_oddities_are_warned_of() -> None:
    writer = (
        Writer()
        .add("text", T.STRING, b"caf\xe9")
        .add_raw(Writer().string("flag") + Writer().pack("IB", T.BOOL, 2))
    )
    source = GGUFSource.from_bytes(writer.bytes())
    assert source.meta_bool("flag") is True
    assert source.meta_str("text") == "caf\udce9"
    assert len(source.warnings) == 2
