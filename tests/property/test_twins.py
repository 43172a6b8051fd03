"""Each quick way of doing a thing against a slow, plain one, over random inputs."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pytok.data.models import Kind
from pytok.data.pretokenizers import PRETOKENIZERS, DigitGroups
from pytok.kinds import spm
from pytok.merge import merge
from pytok.special import SpecialCutter
from pytok.split import Splitter, compile_pattern
from pytok.unicode import bytes_of, category, is_white_space
from pytok.vocab import Attr, Vocab

texts = st.text("aab <|>\n\t\u3000é\u0301٣'sS.1", max_size=60)


def plain_merge(symbols: list[str], priorities: dict[str, int], joint: str) -> list[str]:
    """Look at all pairs again for each merge."""
    while True:
        pairs = [
            (priorities[left + joint + right], index)
            for index, (left, right) in enumerate(pairwise(symbols))
            if left + joint + right in priorities
        ]
        if not pairs:
            return symbols
        _, index = min(pairs)
        symbols[index : index + 2] = [symbols[index] + symbols[index + 1]]


pieces = st.text("abc", min_size=1, max_size=4)


@given(
    st.text("abc", max_size=40),
    st.dictionaries(st.tuples(pieces, pieces).map(" ".join), st.integers(0, 9), max_size=30),
)
def test_merge_by_rank(text: str, ranks: dict[str, int]) -> None:
    assert merge(list(text), ranks, " ") == plain_merge(list(text), ranks, " ")


@given(st.text("abc", max_size=40), st.dictionaries(pieces, st.integers(0, 9), max_size=30))
def test_merge_by_score(text: str, priorities: dict[str, int]) -> None:
    assert merge(list(text), priorities, "") == plain_merge(list(text), priorities, "")


def plain_cut(vocab: Vocab, text: str, parse_special: bool) -> list[str | int]:
    """Go through the specials one by one, as llama.cpp does."""
    parts: list[str | int] = [text] if text else []
    order = sorted(vocab.ids.items(), key=lambda item: (-len(bytes_of(item[0])), item[1]))
    for piece, id_ in order:
        attr = vocab.attrs[id_]
        if not parse_special and attr & (Attr.CONTROL | Attr.UNKNOWN):
            continue
        cut: list[str | int] = []
        for part in parts:
            rest = part
            while isinstance(rest, str) and (at := rest.find(piece)) >= 0:
                left, rest = rest[:at], rest[at + len(piece) :]
                left = left.rstrip(" \t\n\v\f\r") if attr & Attr.LSTRIP else left
                rest = rest.lstrip(" \t\n\v\f\r") if attr & Attr.RSTRIP else rest
                cut += [left, id_]
            cut.append(rest)
        parts = [part for part in cut if part != ""]
    return parts


specials = st.lists(
    st.tuples(
        st.text("<a|>é ", min_size=1, max_size=6),
        st.sampled_from(
            [Attr.CONTROL, Attr.USER_DEFINED, Attr.UNKNOWN, Attr.USER_DEFINED | Attr.CONTROL]
        ),
        st.sampled_from([Attr(0), Attr.LSTRIP, Attr.RSTRIP, Attr.LSTRIP | Attr.RSTRIP]),
    ),
    max_size=30,
    unique_by=lambda row: row[0],
)


@given(specials, st.text("<a|>é \n", max_size=40), st.booleans())
def test_special_tokens(rows: list[tuple[str, Attr, Attr]], text: str, parse_special: bool) -> None:
    vocab = Vocab(
        Kind.BPE,
        pieces=[piece for piece, _, _ in rows],
        attrs=[int(attr | strip) for _, attr, strip in rows],
    )
    cut = SpecialCutter(vocab, parse_special).cut(text)
    assert cut == plain_cut(vocab, text, parse_special)


def plain_gpt2(text: str) -> list[str]:
    """Split as unicode_regex_split_custom_gpt2 does, by flags of code points, one at a time."""

    def kind(pos: int) -> str:
        if pos >= len(text):
            return ""
        code = ord(text[pos])
        letter = category(code)
        return "s" if is_white_space(code) else letter if letter in "LN" else "o"

    words = []
    pos = 0
    while pos < len(text):
        start = pos
        contraction = re.compile("'(?:[stmd]|re|ve|ll)").match(text, pos)
        first = pos + (text[pos] == " ")
        if contraction:
            pos = contraction.end()
        elif kind(first) in ("L", "N", "o"):
            pos = first
            while kind(pos) == kind(first):
                pos += 1
        else:
            while kind(pos) == "s":
                pos += 1
            if pos - start > 1 and pos < len(text):
                pos -= 1
        words.append(text[start:pos])
    return words


@given(texts)
def test_gpt2_splitter(text: str) -> None:
    assert Splitter(PRETOKENIZERS["gpt-2"]).split(text) == plain_gpt2(text)


@given(st.sampled_from(sorted(PRETOKENIZERS)), texts)
def test_splitters_lose_nothing(name: str, text: str) -> None:
    words = Splitter(PRETOKENIZERS[name]).split(text)
    assert "".join(words) == text
    assert all(words)


def test_patterns_have_no_groups() -> None:
    for pretokenizer in PRETOKENIZERS.values():
        for stage in pretokenizer.stages:
            pattern = stage.run if isinstance(stage, DigitGroups) else stage
            assert compile_pattern(pattern).groups == 0


@given(st.text("ab▁ ", max_size=40), st.dictionaries(pieces, st.floats(-3, 3), max_size=20))
def test_spm_words_merge_independently(text: str, scores: dict[str, float]) -> None:
    """The same vocabulary, with and without a piece that forbids to cut into words."""
    words = {piece.replace("c", "▁"): score for piece, score in scores.items()}
    words |= {"a": 0.0, "b": 0.0, "▁": 0.0}
    whole = words | {"x▁": -9.0}
    vocabs = [
        Vocab(Kind.SPM, pieces=list(rows), scores=list(rows.values()), attrs=[4] * len(rows))
        for rows in (words, whole)
    ]
    first, second = (spm.Encoder(vocab)(text, True) for vocab in vocabs)
    assert first == second
