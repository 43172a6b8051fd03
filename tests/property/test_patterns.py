"""Patterns that are written differently from llama.cpp's match the same."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytok.data.pretokenizers import PRETOKENIZERS, DigitGroups
from pytok.split import Splitter, compile_pattern
from pytok.unicode import category, collapse, is_han, is_white_space

# Code points of every class and case, white space and Han beyond ASCII, digits of two kinds.
TEXTS = st.text("aZéÉ日\u0301\ufa6e٣17 \t\n\r\u3000.,'sStlLvVeE/$€\ue000ABCDIMG<:>", max_size=40)

_CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_ASCII_SIGNS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
_UPPER, _LOWER = r"(?:(?=[\p{L}])(?:[^a-z]))", r"(?:(?=[\p{L}])(?:[^A-Z]))"
_MARKED_UPPER = _UPPER.replace(r"\p{L}", r"\p{L}\p{M}")
_MARKED_LOWER = _LOWER.replace(r"\p{L}", r"\p{L}\p{M}")
_ANY_UPPER, _ANY_LOWER = r"[\p{L}\p{L}\p{L}\p{L}\p{M}]", r"[\p{L}\p{L}\p{L}\p{M}]"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _cased(upper: str, lower: str, tail: str, digits: str) -> str:
    word = r"[^\r\n\p{L}\p{N}]?"
    return f"{word}{upper}*{lower}+{tail}|{word}{upper}+{lower}*{tail}|{digits}{_REST}"


# (name, stage) -> llama.cpp's own text, groups made non-capturing.
PLAIN = {
    ("jais-2", 0): _CONTRACTION
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    + "".join(rf"|\s{{{n}}}(?!\S)" for n in (512, 256, 128, 64, 32, 16, 8, 4))
    + r"|\s{1,2}(?!\S)|\s{1}",
    ("tekken", 0): _cased(_UPPER, _LOWER, "", r"\p{N}"),
    ("gpt-4o", 0): _cased(_UPPER, _LOWER, f"{_CONTRACTION}?", r"\p{N}{1,3}"),
    ("granite-embed-multi-97m", 0): _cased(
        _MARKED_UPPER, _MARKED_LOWER, f"{_CONTRACTION}?", r"\p{N}{1,3}"
    ),
    ("tiny_aya", 1): _cased(_ANY_UPPER, _ANY_LOWER, f"{_CONTRACTION}?", r"\p{N}{1,3}"),
    ("youtu", 1): _cased(_ANY_UPPER, _ANY_LOWER, f"{_CONTRACTION}?", r"\p{N}"),
    ("exaone-moe", 0): _CONTRACTION
    + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
    + r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
    ("deepseek-llm", 3): r"\s+\Z",  # ECMAScript's $, which is no line's end
    ("deepseek-v3", 2): _ASCII_SIGNS
    + r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ("bailingmoe", 0): "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
    + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    ("chameleon", 1): "(?:IMGIMG)(?:(?:A|B|C|D|E|F|G|H|I){1,4})Z",
}

_settings = settings(deadline=None, max_examples=400)


@pytest.mark.parametrize(("name", "stage"), PLAIN)
def test_stage_matches_as_its_plain_text(name: str, stage: int) -> None:
    pattern = PRETOKENIZERS[name].stages[stage]
    assert isinstance(pattern, str)
    ours = compile_pattern(pattern)
    plain = compile_pattern(PLAIN[name, stage])

    @_settings
    @given(TEXTS)
    def same(text: str) -> None:
        seen = collapse(text)
        assert [m.span() for m in ours.finditer(seen)] == [m.span() for m in plain.finditer(seen)]

    same()


@_settings
@given(st.text("\t \n\r.a", max_size=1200))
def test_jais_2_cuts_long_white_space_as_its_plain_text(text: str) -> None:
    ours = compile_pattern(str(PRETOKENIZERS["jais-2"].stages[0]))
    plain = compile_pattern(PLAIN["jais-2", 0])
    assert ours.findall(text) == plain.findall(text)


def ends_by_afmoe(text: str) -> list[int]:
    """Cut as unicode_regex_split_custom_afmoe does, digit by digit."""
    ends, pos = [], 0
    while pos < len(text):
        start = pos
        while pos < len(text) and is_number(text[pos]):
            pos += 1
        count = pos - start
        if count:
            current = start + count % 3
            ends += [current] if count % 3 else []
            while current < pos:
                current += 3
                ends.append(current)
        else:
            pos += 1
    return ends


def is_number(char: str) -> bool:
    return category(ord(char)) == "N"


def cut_at(text: str, ends: list[int]) -> list[str]:
    starts = [0, *ends]
    return [p for a, b in zip(starts, [*ends, len(text)], strict=True) if (p := text[a:b])]


def groups_of(name: str, stage: int) -> Callable[[str], list[str]]:
    groups = PRETOKENIZERS[name].stages[stage]
    assert isinstance(groups, DigitGroups)
    return Splitter(type(PRETOKENIZERS[name])((groups,))).split


@_settings
@given(st.text("a1٣ .", max_size=40))
def test_digit_groups_of_afmoe(text: str) -> None:
    assert groups_of("afmoe", 0)(text) == cut_at(text, ends_by_afmoe(text))


@_settings
@given(st.text("a1٣ .", max_size=40))
def test_digit_groups_of_superbpe(text: str) -> None:
    places = [m.start() for m in re.finditer(r"(?=([0-9]{3})+(?![0-9]))", text)]
    assert groups_of("superbpe", 1)(text) == cut_at(text, places)


def word_by_hand(text: str, marks: bool, digits: int, han: bool) -> list[str]:
    """Split as the llama3, qwen2, qwen35 and kimi_k2 splitters do, code point by code point."""

    def kind(pos: int) -> str:
        if not 0 <= pos < len(text):
            return ""
        code = ord(text[pos])
        return "s" if is_white_space(code) else category(code)

    def is_letter(pos: int) -> bool:
        return kind(pos) == "L" or (marks and kind(pos) == "M")

    def is_word(pos: int) -> bool:
        return is_letter(pos) and not (han and is_han(ord(text[pos])))

    def is_sign(pos: int) -> bool:
        return kind(pos) not in ("", "s", "N") and not is_letter(pos)

    contraction = re.compile("'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])")
    words, pos = [], 0
    while pos < len(text):
        start = pos
        found = contraction.match(text, pos) if not han else None
        line = text[pos] in "\r\n"
        if han and is_han(ord(text[pos])):
            while pos < len(text) and is_han(ord(text[pos])):
                pos += 1
        elif found:
            pos = found.end()
        elif is_word(pos) or (
            not line and kind(pos) != "N" and not is_letter(pos) and is_word(pos + 1)
        ):
            pos += 1
            while is_word(pos):
                pos += 1
            tail = contraction.match(text, pos) if han else None
            pos = tail.end() if tail else pos
        elif kind(pos) == "N":
            while kind(pos) == "N" and pos - start < digits:
                pos += 1
        elif is_sign(pos + (text[pos] == " ")):
            pos += text[pos] == " "
            while is_sign(pos):
                pos += 1
            while pos < len(text) and text[pos] in "\r\n":
                pos += 1
        else:
            end = pos
            while kind(end) == "s":
                end += 1
            newline = max(text.rfind("\n", pos, end), text.rfind("\r", pos, end))
            if newline >= 0:
                pos = newline + 1
            else:
                pos = end - 1 if end - pos > 1 and end < len(text) else end
        words.append(text[start:pos])
    return words


@pytest.mark.parametrize(
    ("name", "marks", "digits", "han"),
    [
        ("llama3", False, 3, False),
        ("qwen2", False, 1, False),
        ("qwen35", True, 1, False),
        ("kimi-k2", False, 3, True),
    ],
)
def test_hand_written_splitters(name: str, marks: bool, digits: int, han: bool) -> None:
    split = Splitter(PRETOKENIZERS[name]).split

    @_settings
    @given(TEXTS)
    def same(text: str) -> None:
        assert split(text) == word_by_hand(text, marks, digits, han)

    same()
