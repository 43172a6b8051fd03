"""Work grows with the text, not faster: doubling a text must not quadruple the time."""

import time
from collections.abc import Callable

import golden
import pytest
import texts

from pytok import Kind, Vocab
from pytok.data.pretokenizers import PRETOKENIZERS
from pytok.special import SpecialCutter
from pytok.split import Splitter

# Names that split alike need only one check.
GROUPS = {
    info["same_ids_group"]: name
    for name, info in golden.pre_manifest()["synth-bpe-byte"].items()
    if name in PRETOKENIZERS and info["accepted"]
}


@pytest.mark.parametrize("name", GROUPS.values())
def test_splitters(name: str) -> None:
    split = Splitter(PRETOKENIZERS[name]).split
    texts.check(split, sizes=(6_000, 12_000, 24_000), ratio=3.6)


@pytest.mark.parametrize("name", ["llama-bpe", "gemma-4", "llama-spm"])
def test_merging_one_long_word(name: str) -> None:
    tokenizer = golden.model(name)
    cases = ["letters_word", "letters_random", "uncased"]
    texts.check(tokenizer.encode, cases=cases, sizes=(8_000, 16_000, 32_000), ratio=3.6)


@pytest.mark.parametrize("name", ["bert-bge", "synth-t5", "synth-rwkv", "synth-plamo2"])
def test_other_kinds(name: str) -> None:
    cases = ["letters_word", "letters_random", "spaces", "uncased", "combining", "replacement"]
    encode = golden.model(name).encode
    texts.check(encode, cases=cases, sizes=(8_000, 16_000, 32_000), ratio=3.6)


KINDS = ["bert-bge", "nomic-bert-moe", "synth-rwkv", "synth-plamo2", "llama-spm", "llama-bpe"]


@pytest.mark.parametrize("name", [*KINDS, "gemma-4"])
def test_a_word_of_a_megabyte(name: str) -> None:
    tokenizer = golden.model(name)
    word = "internationalization日本" * 45_000
    started = time.monotonic()
    ids = tokenizer.encode(word, add_special=False)
    assert time.monotonic() - started < 30  # a guard against hanging: ten times what it takes
    assert len(ids) > 100_000


def best_time(function: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "text", ["<" * 50_000, "<x" * 25_000, "if a < b:\n    <tag>" * 3_000, "<special_12|" * 4_000]
)
def test_cutting_does_not_grow_with_the_number_of_specials(text: str) -> None:
    def cutter(count: int) -> SpecialCutter:
        pieces = [f"<special_{number}|>" for number in range(count)]
        return SpecialCutter(Vocab(Kind.BPE, pieces=pieces, attrs=[16] * count), True)

    few, many = cutter(30), cutter(3000)
    assert best_time(lambda: many.cut(text)) < 4 * best_time(lambda: few.cut(text)) + 0.005


def test_specials_that_begin_alike_at_every_depth() -> None:
    pieces = ["<" + "a" * depth for depth in range(1, 3000)]
    cutter = SpecialCutter(Vocab(Kind.BPE, pieces=pieces, attrs=[16] * len(pieces)), True)
    assert cutter.cut("x<aaaab") == ["x", 3, "b"]
