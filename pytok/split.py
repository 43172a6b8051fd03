r"""Cut text into words by a pre-tokenizer's patterns.

A pattern's ``\p{..}`` classes become classes over collapsed text, so one small compiled
pattern serves every script; ASCII text is its own collapse and needs no translation.
"""

import re
from collections.abc import Callable
from itertools import accumulate, pairwise

from pytok.data.pretokenizers import Pretokenizer
from pytok.unicode import CLASS_CHAR, collapse, fold_white_space

# unicode.cpp, unicode_regex_split: the ASCII members of each category.
_ASCII_MEMBERS = {
    "N": "0-9",
    "L": "A-Za-z",
    "P": r"!-#%-*,-/:-;?-@\[-\]_\{\}",
    "M": "",
    "S": r"\$+<->\^`\|~",
}


def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern in which ``\p{L}``, ``\p{Lu}``.. stand for classes of collapsed text.

    >>> compile_pattern(r"\p{L}+").findall("aB1") == ["aB"]
    True
    """

    def members(match: re.Match[str]) -> str:
        letter = match[1][0]
        inside = CLASS_CHAR[letter] + _ASCII_MEMBERS[letter]
        before = re.sub(r"\\.", "", pattern[: match.start()])
        return inside if before.rfind("[") > before.rfind("]") else f"[{inside}]"

    return re.compile(re.sub(r"\\p\{(\w+)\}", members, pattern), re.ASCII)


class _Stage:
    """One compiled pattern, and the form of the text that it sees."""

    def __init__(self, pattern: str) -> None:
        self.form: Callable[[str], str] = collapse if r"\p{" in pattern else fold_white_space
        self._split = re.compile(f"({compile_pattern(pattern).pattern})", re.ASCII).split

    def cut(self, piece: str) -> list[str]:
        """Cut a piece into matches and what lies between them; nothing is lost."""
        return [part for part in self._split(piece) if part]


class Splitter:
    """Cuts text into words as the patterns of a `Pretokenizer` say."""

    def __init__(self, pretokenizer: Pretokenizer) -> None:
        self._stages = [_Stage(pattern) for pattern in pretokenizer.patterns]

    def split(self, text: str) -> list[str]:
        """Return the words of a text of code points; joined they are the text again.

        Source: unicode.cpp, unicode_regex_split @ pin.
        """
        words = [text] if text else []
        for stage in self._stages:
            seen = words if text.isascii() else _cut_alike(stage.form(text), words)
            parts = [part for piece in seen for part in stage.cut(piece)]
            words = parts if seen is words else _cut_alike(text, parts)
        return words


def _cut_alike(text: str, pieces: list[str]) -> list[str]:
    """Cut ``text`` at the places where ``pieces``, joined, are cut."""
    ends = accumulate(map(len, pieces), initial=0)
    return [text[start:end] for start, end in pairwise(ends)]
