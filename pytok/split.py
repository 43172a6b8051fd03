r"""Cut text into words by the stages of a pre-tokenizer.

A pattern's ``\p{..}`` classes become classes over collapsed text, so one small compiled
pattern serves every script; ASCII text is its own collapse and needs no translation.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise

from pytok.data.pretokenizers import DigitGroups, Pretokenizer, Stage
from pytok.patterns import ALPHABET, NOTHING, Facts, NotToldError, facts_of
from pytok.unicode import (
    CLASS_CHAR,
    HAN_LETTER_CHAR,
    HAN_OTHER_CHAR,
    collapse,
    collapse_but_han,
    fold_white_space,
    is_mostly_ascii,
)

# Property -> its members in collapsed text. The ASCII ones are those of unicode.cpp,
# unicode_regex_split.
_MEMBERS = {
    "N": CLASS_CHAR["N"] + "0-9",
    "L": CLASS_CHAR["L"] + "A-Za-z",
    "P": CLASS_CHAR["P"] + r"!-#%-*,-/:-;?-@\[-\]_\{\}",
    "M": CLASS_CHAR["M"],
    "S": CLASS_CHAR["S"] + r"\$+<->\^`\|~",
    "Han": HAN_LETTER_CHAR + HAN_OTHER_CHAR,
    "HanLetter": HAN_LETTER_CHAR,
}

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern in which ``\p{L}``, ``\p{N}``.. stand for classes of collapsed text.

    >>> compile_pattern(r"\p{L}+").findall("aB1") == ["aB"]
    True
    """

    def members(match: re.Match[str]) -> str:
        before = re.sub(r"\\.", "", pattern[: match.start()])
        inside = before.rfind("[") > before.rfind("]")
        return _MEMBERS[match[1]] if inside else f"[{_MEMBERS[match[1]]}]"

    return re.compile(re.sub(r"\\p\{(\w+)\}", members, pattern), re.ASCII)


def _form(pattern: str) -> Callable[[str], str]:
    """Return how text is to look for a pattern."""
    if r"\p{Han" in pattern:
        return collapse_but_han
    return collapse if r"\p{" in pattern else fold_white_space


class _Pattern:
    """A stage that cuts out what a pattern matches."""

    def __init__(self, pattern: str) -> None:
        self.form = _form(pattern)
        compiled = compile_pattern(pattern)
        self.facts = _facts(compiled.pattern)
        self._find_all = compiled.findall
        self._split = re.compile(f"({compiled.pattern})", re.ASCII).split
        self._has_gaps = not (self.facts and self.facts.alone >= ALPHABET)

    def cut(self, piece: str) -> list[str]:
        """Cut a piece into matches and what lies between them; nothing is lost."""
        if self._has_gaps:
            return [part for part in self._split(piece) if part]
        return self._find_all(piece)


class _Groups:
    """A stage that cuts runs of digits into groups of three."""

    def __init__(self, groups: DigitGroups) -> None:
        self.form = _form(groups.run)
        self.facts = _facts(compile_pattern(groups.run).pattern)
        self._runs = compile_pattern(groups.run).finditer
        self._groups = groups

    def cut(self, piece: str) -> list[str]:
        """Cut a piece where the groups of its runs begin or end; nothing is lost."""
        cuts = [0]
        for run in self._runs(piece):
            start, end = run.span()
            first = start + (end - start) % 3
            if first == start and not self._groups.before:
                first += 3
            cuts += range(first, end, 3)
            if self._groups.after:
                cuts.append(end)
        return [part for a, b in pairwise([*cuts, len(piece)]) if (part := piece[a:b])]


def _facts(pattern: str) -> Facts | None:
    try:
        return facts_of(pattern)
    except NotToldError:
        return None


def _compiled(stage: Stage) -> _Pattern | _Groups:
    return _Groups(stage) if isinstance(stage, DigitGroups) else _Pattern(stage)


class Splitter:
    """Cuts text into words as the stages of a `Pretokenizer` say."""

    def __init__(self, pretokenizer: Pretokenizer) -> None:
        self._stages = [_compiled(stage) for stage in pretokenizer.stages]

    def unsafe_before_space(self) -> frozenset[str] | None:
        """Return what a text must not be cut between and a space, in its collapsed form.

        Cut behind any other character, the parts have the words of the whole: no stage has a
        match there that reaches across, and one of them cuts there. None: no place is told.
        """
        facts = [stage.facts for stage in self._stages]
        if None in facts or not any(" " in known.alone for known in facts if known):
            return None
        return NOTHING.union(*(known.before_space for known in facts if known))

    def split(self, text: str) -> list[str]:
        """Return the words of a text of code points; joined they are the text again.

        Source: unicode.cpp, unicode_regex_split @ pin.
        """
        words = [text] if text else []
        for stage in self._stages:
            seen = words if text.isascii() else _cut_alike(stage.form(text), words)
            parts = [part for piece in seen for part in stage.cut(piece)]
            words = parts if seen is words else _uncollapsed(text, parts)
        return words


def _cut_alike(text: str, pieces: list[str]) -> list[str]:
    """Cut ``text`` at the places where ``pieces``, joined, are cut."""
    ends = [0, *accumulate(map(len, pieces))]
    return [text[start:end] for start, end in pairwise(ends)]


def _uncollapsed(text: str, pieces: list[str]) -> list[str]:
    """Do as `_cut_alike` does, where the pieces are those of the collapsed text.

    They differ from the text's own only where it is not ASCII, which may be in few places.
    """
    if not is_mostly_ascii(text):
        return _cut_alike(text, pieces)
    ends = [0, *accumulate(map(len, pieces))]
    for run in _NOT_ASCII.finditer(text):
        start, end = run.span()
        index = bisect_right(ends, start) - 1
        while ends[index] < end:
            pieces[index] = text[ends[index] : ends[index + 1]]
            index += 1
    return pieces
