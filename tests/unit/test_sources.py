"""Sources of every kind: paths, files, pipes, mmap, sparse files, parts of a model."""

import io
import mmap
import os
import threading
import tracemalloc
from pathlib import Path

import pytest
from gguf_writer import Writer
from places import REAL

from pytok import GGUFError, GGUFSource, Tokenizer, VocabError
from pytok.gguf import ValueType
from pytok.shards import shard_of

GPT2 = REAL / "ggml-vocab-gpt-2.gguf"
T = ValueType


def test_mmap_is_read_in_place_and_can_be_closed() -> None:
    with GPT2.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert Tokenizer.from_bytes(mapped).encode("Hello") == [15496]
        mapped.close()  # would raise if a view were left


def test_an_mmap_of_40_gb_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.write_bytes((REAL / "ggml-vocab-bert-bge.gguf").read_bytes())
    os.truncate(path, 40 << 30)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        tracemalloc.start()
        assert GGUFSource.from_bytes(mapped).metadata.size < 1 << 20
        assert tracemalloc.get_traced_memory()[1] < 50e6
        tracemalloc.stop()


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_buffers(wrap: type) -> None:
    assert Tokenizer.from_bytes(wrap(GPT2.read_bytes())).encode("Hello") == [15496]


def test_a_pipe_is_read_as_far_as_needed() -> None:
    read_end, write_end = os.pipe()
    header = GPT2.read_bytes()
    sent = 0

    def feed() -> None:
        nonlocal sent
        with os.fdopen(write_end, "wb", buffering=0) as out:
            try:
                for start in range(0, len(header) + (1 << 28), 1 << 16):
                    part = header[start : start + (1 << 16)]
                    out.write(part.ljust(1 << 16, b"\0"))
                    sent = start
            except BrokenPipeError:
                pass

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(read_end, "rb") as pipe:
        assert Tokenizer.from_file(pipe).encode("Hello") == [15496]
    thread.join()
    assert sent < 3 * len(header)


def test_text_files_and_other_things_are_refused() -> None:
    for wrong in (io.StringIO("GGUF"), 5, None):
        with pytest.raises(TypeError):
            GGUFSource.from_file(wrong)  # type: ignore[arg-type]


# --- by need -----------------------------------------------------------------------------


class Counting(io.FileIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(-1 if size is None else size) or b""
        self.count += len(data)
        return data


def test_long_arrays_that_are_not_the_tokenizers_are_described(tmp_path: Path) -> None:
    writer = Writer()
    writer.add("short", T.ARRAY, (T.UINT8, [1, 2, 3]))
    writer.add("names", T.ARRAY, (T.STRING, ["name"] * 5000))
    writer.add("nested", T.ARRAY, (T.ARRAY, [(T.STRING, ["x"])] * 2000))
    head = writer.string("weights") + writer.pack("IIQ", T.ARRAY, T.FLOAT64, 1 << 30)
    path = tmp_path / "long.gguf"
    start = len(writer.bytes()) + len(head)
    tail = Writer().string("after") + Writer().pack("IB", T.UINT8, 7)
    path.write_bytes(writer.add_raw(head).bytes(count=5))
    with path.open("r+b") as written:
        written.seek(start + (8 << 30))
        written.write(tail)
    with Counting(path) as counting:
        source = GGUFSource.from_file(counting)
        assert counting.count < 1 << 20
    assert source.entries["after"].value == 7
    assert list(source.entries["short"].value.items) == [1, 2, 3]
    for key, count in (("names", 5000), ("nested", 2000), ("weights", 1 << 30)):
        array = source.entries[key].value
        assert (array.items, array.count) == (None, count)
    with pytest.raises(VocabError, match="5000 items was not kept"):
        source.meta_array("names", T.STRING)
    with path.open("rb") as file:
        beginning = file.read(1 << 20)
    # A skipped array is still checked, and so is what a stream of unknown size skips.
    for known in (True, False):
        file_of = io.BytesIO if known else Unseekable
        with pytest.raises(GGUFError, match="truncated") as caught:
            GGUFSource.from_file(file_of(beginning))
        assert caught.value.key == "weights"


class Unseekable(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, offset: int, whence: int = 0) -> int:
        raise io.UnsupportedOperation


@pytest.mark.parametrize(
    ("type_", "count", "said"),
    [
        (T.STRING, 1 << 32, "at most 4194304 are allowed"),
        (T.FLOAT32, 1 << 32, "bytes of memory"),
        (T.ARRAY, 3 << 20, "bytes of memory"),
    ],
)
def test_a_sparse_file_cannot_make_the_tokenizers_arrays_grow(
    tmp_path: Path, type_: T, count: int, said: str
) -> None:
    """In a sparse file of 40 GB every claim is covered: by zeros, which cost nothing."""
    writer = Writer()
    head = writer.string("tokenizer.ggml.tokens") + writer.pack("IIQ", T.ARRAY, type_, count)
    path = tmp_path / "zeros.gguf"
    path.write_bytes(writer.add_raw(head).bytes())
    os.truncate(path, 40 << 30)
    tracemalloc.start()
    with Counting(path) as counting, pytest.raises(GGUFError, match=said):
        GGUFSource.from_file(counting)
    assert counting.count <= 1 << 17
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_all_kept_values_count_together(tmp_path: Path) -> None:
    writer = Writer()
    for number in range(6):
        writer.add(f"tokenizer.{number}", T.STRING, b"x" * (50 << 20))
    with pytest.raises(GGUFError, match="are allowed for all metadata") as caught:
        GGUFSource.from_bytes(writer.bytes())
    assert caught.value.key == "tokenizer.5"


def test_a_million_keys_are_too_many() -> None:
    pair = Writer().string("k") + Writer().pack("IB", T.UINT8, 1)
    with pytest.raises(GGUFError, match="at most 131072 are allowed"):
        GGUFSource.from_bytes(Writer().bytes(count=1_000_000) + pair * 1_000_000)


# --- tensor infos ------------------------------------------------------------------------


def tensor(writer: Writer, name: str, dims: list[int], type_: int, offset: int) -> bytes:
    return writer.string(name) + writer.pack(f"I{len(dims)}QIQ", len(dims), *dims, type_, offset)


@pytest.mark.parametrize("order", "<>")
def test_tensor_infos_are_read_on_request(order: str) -> None:
    writer = Writer(order).add("general.alignment", T.UINT32, 64)
    infos = [
        tensor(writer, "token_embd.weight", [256, 3], 12, 0),  # q4_K: 144 bytes a row
        tensor(writer, "b", [], 0, 448),
    ]
    data = writer.bytes(tensors=2) + b"".join(infos)
    data = data.ljust(len(data) + -len(data) % 64, b"\0") + bytes(452)
    assert GGUFSource.from_bytes(data).tensors is None
    source = GGUFSource.from_bytes(data, tensors=True)
    assert source.tensors is not None
    assert source.warnings == []
    first, second = source.tensors.infos
    assert (first.name, first.shape, first.size) == ("token_embd.weight", (256, 3), 432)
    assert (second.shape, second.offset, second.size) == ((), 448, 4)
    assert source.tensors.alignment == 64
    assert source.tensors.data_offset == len(data) - 452
    short = GGUFSource.from_bytes(data[:-1], tensors=True)
    assert [w for w in short.warnings if "tensor data is missing" in w]


@pytest.mark.parametrize(
    ("infos", "said"),
    [
        ([("a", [33], 2, 0)], "no multiple of q4_0's block of 32"),
        ([("a", [8], 0, 0), ("b", [8], 0, 64)], "the offset is 64, not 32"),
        ([("a", [8], 0, 16)], "no multiple of the alignment 32"),
        ([("n" * 64, [8], 0, 0)], "claims 64 bytes, at most 63"),
        ([("a", [1 << 62], 28, 0)], "is too large"),
        ([("a\x1b\u202e", [1, 1, 1, 1, 1], 0, 0)], r"'a\\x1b\\u202e' has 5 dimensions"),
    ],
)
def test_tensor_infos_are_checked_as_in_llama_cpp(
    infos: list[tuple[str, list[int], int, int]], said: str
) -> None:
    writer = Writer()
    parts = b"".join(tensor(writer, *info) for info in infos)
    with pytest.raises(GGUFError, match=said):
        GGUFSource.from_bytes(writer.bytes(tensors=len(infos)) + parts + bytes(400), tensors=True)


# --- parts of a model --------------------------------------------------------------------


def test_shards_are_told_by_their_names() -> None:
    assert shard_of("m-00002-of-00005.gguf") == (2, "m-00001-of-00005.gguf")
    assert shard_of("m.gguf.part3of4") == (3, "m.gguf.part1of4")
    assert shard_of("m.gguf-split-b") == (2, "m.gguf-split-a")
    for name in (
        "m.gguf",
        "m-2-of-5.gguf",
        "m-00002-of-00005.gguf.txt",
        "",
        "m-00002-of-00005.gguf\n",
    ):
        assert shard_of(name) is None


def test_a_later_shard_points_to_the_first(tmp_path: Path) -> None:
    writer = Writer().add("split.no", T.UINT16, 1).add("split.count", T.UINT16, 3)
    path = tmp_path / "big-00002-of-00003.gguf"
    path.write_bytes(writer.bytes())
    first = Tokenizer.from_file(path).warnings[0]
    assert first == (
        "this is part 2 of 3 of a split model; its tokenizer is in part 1: "
        "open 'big-00001-of-00003.gguf'"
    )
    unnamed = Tokenizer.from_bytes(writer.bytes()).warnings[0]
    assert unnamed == "this is part 2 of 3 of a split model; its tokenizer is in part 1"
    cut = tmp_path / "big.gguf.part2of3"
    cut.write_bytes(b"the middle of a file")
    with pytest.raises(GGUFError, match=r"not a GGUF.*it is part 2 .*open 'big.gguf.part1of3'"):
        Tokenizer.from_file(cut)


def test_the_first_shard_is_a_model_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "gpt-00001-of-00002.gguf"
    path.write_bytes(GPT2.read_bytes())
    assert Tokenizer.from_file(path).warnings == Tokenizer.from_file(GPT2).warnings
