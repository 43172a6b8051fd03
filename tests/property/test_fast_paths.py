"""Each shortcut of encoding against the plain way, over random texts, real ones and golden ones."""

import random
from array import array
from collections.abc import Iterator
from itertools import product
from typing import Any

import golden
import pytest
from gguf_writer import Writer
from hypothesis import given
from hypothesis import strategies as st

from pytok import GGUFSource, Tokenizer, chunks, merge
from pytok.cursor import Range
from pytok.data.pretokenizers import PRETOKENIZERS
from pytok.gguf import Strings, ValueType, read_metadata
from pytok.incremental import IncrementalEncoder
from pytok.kinds import spm
from pytok.load import load_vocab
from pytok.patterns import BEYOND, NotToldError, facts_of
from pytok.piece import adjacent_pairs, cut_where
from pytok.split import Splitter, _cut_alike, _uncollapsed, compile_pattern
from pytok.unicode import collapse, collapse_but_han, text_of
from pytok.vocab import with_attr

SIGNS = " \n\t\r.,;'\"\u2019—…>|_-=()"
ALPHABET = f"abAB01éßд日本{SIGNS}\u3000\u0085\u0301🙂\x0b\xd7Õ"
texts = st.text(ALPHABET, max_size=120)
# Mostly ASCII, which has ways of its own.
plainish = st.lists(
    st.sampled_from(
        ["the word ", "isn't it, ", "  x = 1\n", "“", "\u2019", "é", "\xd7Õ", "\u3000 ", "日"]
    )
).map(lambda parts: "plain text all around it, " * 5 + "".join(parts))

# Names that cut alike need one test.
ROWS = {row.stages: name for name, row in PRETOKENIZERS.items()}


@pytest.mark.parametrize("name", ROWS.values())
@given(text=texts | plainish)
def test_words_of_a_text_are_those_of_its_parts(name: str, text: str) -> None:
    splitter = Splitter(PRETOKENIZERS[name])
    unsafe = splitter.unsafe_before_space()
    if unsafe is None:
        return
    seen = collapse(text)
    for at in range(1, len(text)):
        if text[at] == " " and seen[at - 1] not in unsafe and BEYOND not in unsafe:
            parts = splitter.split(text[:at]) + splitter.split(text[at:])
            assert parts == splitter.split(text)


def test_most_pre_tokenizers_tell_where_to_cut() -> None:
    told = {name for name in ROWS.values() if Splitter(PRETOKENIZERS[name]).unsafe_before_space()}
    assert {ROWS[PRETOKENIZERS[n].stages] for n in ("gpt-2", "llama3", "qwen2", "gpt-4o")} <= told
    # A word of exaone-moe may hold spaces: it must not be cut behind a letter.
    unsafe = Splitter(PRETOKENIZERS["exaone-moe"]).unsafe_before_space()
    assert unsafe is not None
    assert {"a", "Z", "\xd2"} <= unsafe
    # These look behind, or at the end of a text.
    for name in ("deepseek-llm", "jais-2"):
        assert Splitter(PRETOKENIZERS[name]).unsafe_before_space() is None


@pytest.mark.parametrize(
    ("pattern", "before_space"),
    [
        ("ab", ""),
        ("a b", "a"),
        ("[ab]+ ?", "ab"),
        ("(?:a| )+", "a "),
        ("a(?=b c)", "b"),
        ("a?b* ", "ab"),
    ],
)
def test_what_stands_before_a_space(pattern: str, before_space: str) -> None:
    assert facts_of(pattern).before_space == {*before_space}


@pytest.mark.parametrize(
    ("pattern", "alone"),
    [("a|b", "ab"), ("ab?", "a"), ("a+(?!b)|c", "c"), ("a{2}", ""), ("a*b", "b"), ("(?!x)a", "")],
)
def test_what_is_a_match_alone(pattern: str, alone: str) -> None:
    assert facts_of(pattern).alone == {*alone}


@pytest.mark.parametrize("pattern", ["(?<!a)b", "a\\Z", "a(?= )", "a(?!\\s)", "^a", "(a)\\1"])
def test_patterns_that_a_cut_could_change(pattern: str) -> None:
    with pytest.raises(NotToldError):
        facts_of(pattern)


@given(st.text(ALPHABET, max_size=300) | plainish)
def test_collapsing_marks_one_by_one(text: str) -> None:
    for quick in (collapse, collapse_but_han):
        assert quick(text) == "".join(map(quick, text))
    words = compile_pattern(PRETOKENIZERS["llama3"].stages[0]).findall(collapse(text))  # type: ignore[arg-type]
    assert _uncollapsed(text, [*words]) == _cut_alike(text, words)


symbols = st.lists(st.sampled_from("abc"), max_size=90)


@given(symbols, st.dictionaries(st.text("abc ", min_size=2, max_size=7), st.integers(0, 9)))
def test_merging_few_symbols_and_many(given_symbols: list[str], ranks: dict[str, int]) -> None:
    for joint in ("", " "):
        short, long = [
            merge.merge([*given_symbols], ranks, joint, short=short) for short in (10**6, 0)
        ]
        assert short == long


@given(st.text("abc▁\n(", max_size=60), st.sets(st.text("abc▁(", min_size=1, max_size=4)))
def test_no_piece_reaches_across_a_cut(text: str, pieces: set[str]) -> None:
    parts = cut_where(text, adjacent_pairs(pieces))
    assert "".join(parts) == text
    ends = {sum(map(len, parts[:count])) for count in range(len(parts))} - {0}
    assert not any(text[end - 1 : end + 1] in piece for end, piece in product(ends, pieces))


MODELS = ["llama-bpe", "gpt-2", "qwen2", "llama-spm", "phi-3", "command-r", "falcon", "gemma-4"]


def documents(name: str, seed: int) -> Iterator[str]:
    """Yield texts of words, specials and signs that a model knows."""
    rng = random.Random(seed)
    tokenizer = golden.model(name)
    specials = [*tokenizer.added_tokens][:20]
    words = [
        "the ",
        " of",
        "Straße ",
        "日本",
        "x=1;",
        "\n\n",
        "   ",
        "\u2019s ",
        "🙂 ",
        "don't",
        ". ",
        "▁",
    ]
    for _ in range(25):
        yield "".join(rng.choices([*words, *specials], k=rng.randrange(60)))


def whole(tokenizer: Tokenizer, text: str, parse_special: bool) -> list[int]:
    return tokenizer.encode_part(text, True, parse_special=parse_special)


@pytest.mark.parametrize("parse_special", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_chunks_have_the_ids_of_the_whole(
    name: str, parse_special: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 3)
    tokenizer = golden.model(name)
    chunker = tokenizer.chunker(parse_special=parse_special)
    flags = {"add_special": False, "parse_special": parse_special}
    count = 0
    for text in [*documents(name, 1), *golden_texts(name)]:
        ids = whole(tokenizer, text, parse_special)
        assert tokenizer.encode(text, **flags) == ids
        assert tokenizer.count(text, **flags) == len(ids)
        count += len([*chunker.chunks(text)]) if chunker else 0
    assert count > 100 or name == "gemma-4"  # its words are whole lines: it has no chunks


def golden_texts(name: str) -> list[str]:
    texts = [row["text"] for row in golden.rows("vocab", name) if "text" in row]
    assert len(texts) > 100
    return texts[:400]


@pytest.mark.parametrize("name", MODELS)
def test_an_edited_text_has_the_ids_of_a_new_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SIZE", 5)
    tokenizer = golden.model(name)
    rng = random.Random(2)
    encoder = IncrementalEncoder(tokenizer, parse_special=True)
    for text in documents(name, 3):
        edited = text
        for _ in range(12):
            ids = whole(tokenizer, text_of(edited), True)
            assert list(result_of(encoder.encode(edited))) == ids
            start, end = sorted(rng.choices(range(len(edited) + 1), k=2))
            end = min(end, start + rng.randrange(8))
            insert = rng.choice(["", "x", " ", "\n", "  y", "\udc80", "<|", "▁", "é "])
            edited = edited[:start] + insert + edited[end:]


def result_of(steps: Any) -> "array[int]":
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        ids: array[int] = stop.value
        return ids


def test_an_edit_costs_what_it_changes() -> None:
    tokenizer = golden.model("llama-bpe")
    text = "all the world is a stage, and all the men merely players; " * 4000
    encoder = IncrementalEncoder(tokenizer, parse_special=False)
    assert len([*encoder.encode(text)]) > 40  # so many chunks
    assert len([*encoder.encode(f"{text[:100_000]}x{text[100_000:]}")]) <= 2
    # Who gives up half-way has not spoilt what comes next.
    next(encoder.encode("another text altogether " * 9000))
    ids = result_of(encoder.encode(text))
    assert list(ids) == whole(tokenizer, text, False)


@given(st.text("ab(▁ \n1é", max_size=80))
def test_spm_words_cut_between_pieces(text: str) -> None:
    vocab = golden.model("llama-spm").vocab
    plain, quick = spm.Encoder(vocab), spm.Encoder(vocab)
    quick.many_words = 0
    plain.many_words = 10**9
    assert plain(text, True) == quick(text, True)


@given(st.lists(st.integers(0, 1023), max_size=40), st.integers(0, 1023))
def test_tokens_with_an_attribute(attrs: list[int], wanted: int) -> None:
    assert with_attr(attrs, wanted) == [i for i, attr in enumerate(attrs) if attr & wanted]


def cut_by_driver(data: bytes) -> GGUFSource:
    """Read as a driver does that cuts the strings of long arrays itself."""
    reading = read_metadata(len(data), cuts_strings=True)
    wanted: Range = next(reading)
    try:
        while True:
            if wanted.strings:
                pos, found = wanted.offset, []
                for _ in range(wanted.strings):
                    size = int.from_bytes(data[pos : pos + 8], "little")
                    found.append(data[pos + 8 : pos + 8 + size])
                    pos += 8 + size
                is_usual = not any(b"\0" in text for text in found)
                wanted = reading.send(b"\0".join(found) if is_usual else b"")
            else:
                wanted = reading.send(data[wanted.offset : wanted.offset + wanted.size])
    except StopIteration as stop:
        return GGUFSource(stop.value, None, "")


MERGES = [["a b", "b c"], ["a b", "ab"], ["a b c", "x"], [" a b", "b "], ["a\0b c", "d"], ["", "a"]]


@pytest.mark.parametrize("merges", MERGES)
def test_strings_cut_by_the_driver(merges: list[str]) -> None:
    T = ValueType  # noqa: N806
    tokens = [*"abcx", "é", "", *(f"t{count}" for count in range(2000))]
    writer = Writer().add("tokenizer.ggml.model", T.STRING, "gpt2")
    writer.add("tokenizer.ggml.pre", T.STRING, "gpt-2")
    writer.add("tokenizer.ggml.tokens", T.ARRAY, (T.STRING, tokens))
    writer.add("tokenizer.ggml.merges", T.ARRAY, (T.STRING, merges * 1000))
    writer.add("tokenizer.ggml.bos_token_id", T.UINT32, 7)
    data = writer.bytes()
    plain, quick = GGUFSource.from_bytes(data), cut_by_driver(data)
    assert isinstance(quick.meta_array("tokenizer.ggml.tokens", T.STRING), Strings)
    first, second = load_vocab(plain), load_vocab(quick)
    assert list(first.pieces) == list(second.pieces)
    assert first.ranks == second.ranks
    assert first.warnings == second.warnings
    assert first.special_ids == second.special_ids


def test_declined_strings_are_read_plainly() -> None:
    T = ValueType  # noqa: N806
    tokens = ["a\0b", *(f"t{count}" for count in range(2000))]
    data = Writer().add("tokenizer.ggml.tokens", T.ARRAY, (T.STRING, tokens)).bytes()
    items = cut_by_driver(data).meta_array("tokenizer.ggml.tokens", T.STRING)
    assert items == tokens
