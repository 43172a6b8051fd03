"""Fault reports about reading GGUF files; each test is named after the report's id."""

import io
import tracemalloc
from pathlib import Path
from typing import Any

import golden
import pytest
from gguf_writer import Writer
from places import REAL

from pytok import GGUFError, GGUFSource, Tokenizer
from pytok.cursor import Range
from pytok.gguf import Array, ValueType, read_metadata

GPT2 = REAL / "ggml-vocab-gpt-2.gguf"
T = ValueType


def rewritten(path: Path, order: str) -> bytes:
    """Return a file's metadata as another byte order writes it."""
    writer = Writer(order)
    for key, entry in GGUFSource.from_file(path).entries.items():
        value: Any = entry.value
        if isinstance(value, Array):
            value = (value.item_type, list(value.items or ()))
        writer.add(key, entry.type, value)
    return writer.bytes()


def test_gg_big_endian() -> None:
    little, big = (GGUFSource.from_bytes(rewritten(GPT2, order)) for order in "<>")
    assert big.metadata.byte_order == "big"
    assert little.metadata.byte_order == "little"
    for key, entry in little.entries.items():
        assert big.entries[key] == entry
    rows = golden.rows("vocab", "gpt-2")
    tokenizer = Tokenizer.from_source(big)
    for row in rows[::20]:
        got = tokenizer.encode(
            row["text"], add_special=row["add_special"], parse_special=row["parse_special"]
        )
        assert got == row["ids"]


def test_gg_v1_v2() -> None:
    aquila = GGUFSource.from_file(REAL / "ggml-vocab-aquila.gguf")
    assert aquila.metadata.version == 2
    assert golden.model("aquila").encode("Hello") == Tokenizer.from_source(aquila).encode("Hello")
    one = b"GGUF" + Writer().pack("III", 1, 0, 1) + Writer().pack("I", 1) + b"kxxxx"
    with pytest.raises(GGUFError, match="version 1 is not supported"):
        GGUFSource.from_bytes(one)


def huge(what: str) -> bytes:
    w = Writer()
    match what:
        case "key length":
            return w.add_raw(w.pack("Q", 2**48 - 1)).bytes()
        case "key count":
            return w.bytes(count=2**63)
        case "string":
            return w.add_raw(w.string("k") + w.pack("IQ", T.STRING, 2**40)).bytes()
        case _:
            return w.add_raw(w.string("k") + w.pack("IIQ", T.ARRAY, T.UINT8, 2**60)).bytes()


@pytest.mark.parametrize(
    ("what", "number"),
    [("key length", 2**48 - 1), ("key count", 2**63), ("string", 2**40), ("array", 2**60)],
)
def test_gg_huge_length(what: str, number: int) -> None:
    tracemalloc.start()
    with pytest.raises(GGUFError) as caught:
        GGUFSource.from_bytes(huge(what))
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert caught.value.offset is not None
    # The bytes that it would take: the claim itself, its length field or its least items with it.
    assert any(str(number * size + more) in str(caught.value) for size in (1, 8) for more in (0, 8))


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (Writer().string("general.name") + Writer().pack("IQ", 256, 0), "type 256 .*general.name"),
        (Writer().string("general.name") + Writer().pack("IQ", 13, 0), "type 13 .*general.name"),
        (Writer().string("") + Writer().pack("IB", 0, 0), "key number 1 is empty"),
        (Writer().string("twice") + Writer().pack("IB", 0, 0), "twice .*'twice'"),
    ],
)
def test_gg_bad_type(pair: bytes, said: str) -> None:
    with pytest.raises(GGUFError, match=said):
        GGUFSource.from_bytes(Writer().add("twice", T.UINT8, 1).add_raw(pair).bytes())


def test_gg_64bit_and_order() -> None:
    writer = Writer().add("x.u64", T.UINT64, 2**63 + 1).add("x.i64", T.INT64, -(2**53) - 1)
    writer.add("x.f64", T.FLOAT64, 0.1)
    entries = GGUFSource.from_bytes(GPT2.read_bytes()).entries
    for key in sorted(entries, reverse=True):
        entry = entries[key]
        value: Any = entry.value
        if isinstance(value, Array):
            value = (value.item_type, list(value.items or ()))
        if key != "general.architecture":
            writer.add(key, entry.type, value)
    writer.add("general.architecture", T.STRING, "gpt2")
    source = GGUFSource.from_bytes(writer.bytes())
    values = [source.entries[f"x.{kind}"].value for kind in ("u64", "i64", "f64")]
    assert values == [2**63 + 1, -(2**53) - 1, 0.1]
    assert list(source.entries)[-1] == "general.architecture"
    assert Tokenizer.from_source(source).encode("Hello world") == [15496, 995]


def test_gg_duplicate_tokens() -> None:
    tokens = ["<unk>", "<s>", "</s>", "a", "b", "same", "c", "d", "e", "same"]
    writer = Writer().add("tokenizer.ggml.model", T.STRING, "llama")
    writer.add("tokenizer.ggml.tokens", T.ARRAY, (T.STRING, tokens))
    writer.add("tokenizer.ggml.scores", T.ARRAY, (T.FLOAT32, [0.0] * 10))
    writer.add("tokenizer.ggml.token_type", T.ARRAY, (T.INT32, [2, 3, 3, 1, 1, 4, 1, 1, 1, 4]))
    tokenizer = Tokenizer.from_bytes(writer.bytes())
    (warning,) = [w for w in tokenizer.warnings if "twice" in w]
    assert "5 and 9" in warning
    assert tokenizer.encode("same", add_special=False) == [5]

    writer = Writer().add("tokenizer.ggml.model", T.STRING, "t5")
    writer.add("tokenizer.ggml.tokens", T.ARRAY, (T.STRING, ["<pad>", "</s>", "<unk>", "a"]))
    writer.add("tokenizer.ggml.scores", T.ARRAY, (T.FLOAT32, [0.0] * 4))
    writer.add("tokenizer.ggml.add_bos_token", T.BOOL, True)
    tokenizer = Tokenizer.from_bytes(writer.bytes())
    assert any("BOS is to be added" in warning for warning in tokenizer.warnings)
    with_special, without = (tokenizer.encode("a", add_special=flag) for flag in (True, False))
    assert with_special[: len(without)] == without


class Dribble(io.BytesIO):
    """A file that gives at most so many bytes at once."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self.most = most

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size > 0
        assert self.tell() + size <= len(self.getbuffer())
        return super().read(min(size, self.most))


@pytest.mark.parametrize("most", [7, 4096, 65536, (1 << 21) - 1, 1 << 21])
@pytest.mark.parametrize("name", ["bert-bge", "llama-bpe"])
def test_gg_chunk_boundary(name: str, most: int) -> None:
    if name == "llama-bpe" and most == 7:
        most = 777  # a million calls say no more than ten thousand
    data = (REAL / f"ggml-vocab-{name}.gguf").read_bytes()
    whole = GGUFSource.from_bytes(data).metadata
    assert GGUFSource.from_file(Dribble(data, most)).metadata == whole


def test_gg_chunk_boundary_one_byte_at_a_time() -> None:
    data = Writer().add("a", T.STRING, "text").add("b", T.ARRAY, (T.STRING, ["x", "", "y"])).bytes()
    whole = GGUFSource.from_bytes(data).metadata
    assert GGUFSource.from_file(Dribble(data, 1)).metadata == whole
    reading = read_metadata(len(data))
    assert next(reading) == Range(0, len(data))  # smaller than a step: all of it, and no more


def test_gg_truncated() -> None:
    data = GPT2.read_bytes()
    tokens = GGUFSource.from_bytes(data)
    places = {key: entry.offset or 0 for key, entry in tokens.entries.items()}
    cut = places["tokenizer.ggml.tokens"] + 300_000
    with pytest.raises(GGUFError, match=r"truncated: .* takes .*\d+ bytes, \d+ are left") as caught:
        GGUFSource.from_bytes(data[:cut])
    assert caught.value.key == "tokenizer.ggml.tokens"
    with pytest.raises(GGUFError, match="truncated"):
        GGUFSource.from_bytes(data[: len(data) * 6 // 10])
    for other in (b"", b"PK\x03", b"PK\x03\x04" + bytes(60)):
        with pytest.raises(GGUFError, match=r"not a GGUF file|is empty"):
            GGUFSource.from_bytes(other)
