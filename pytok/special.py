"""Cut text at special tokens, before anything else looks at it.

llama.cpp: tokenizer_st_partition goes through the special tokens, longest text first, and
cuts each out of all that is still text; so a long one wins over a shorter one that begins
further left. Doing that literally costs (number of specials) x (length of text). Here one
pattern finds the longest special at each place where any begins, and the places are then
taken in llama.cpp's order.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from operator import itemgetter

from pytok.unicode import bytes_of
from pytok.vocab import SPECIAL_ATTRS, Attr, Vocab

# isspace() of the C locale, which decides what LSTRIP and RSTRIP swallow.
_SPACE = " \t\n\v\f\r"

# An alternation nests by shared beginnings no deeper than this, so that no vocabulary can
# exhaust the recursion of the pattern compiler.
_MAX_DEPTH = 32


def alternation(texts: Iterable[str], depth: int = 0) -> str:
    """Return a pattern that matches the longest of the texts at a place.

    >>> alternation(["<a>", "<ab>", "<"])
    '<ab>|<a>|<'
    >>> alternation(["<a1>", "<a2>", "<b>", "<"])
    '<(?:a1>|a2>|b>|)'
    """
    texts = sorted(texts, key=len, reverse=True)
    if len(texts) < 4 or depth == _MAX_DEPTH:
        return "|".join(map(re.escape, texts))
    prefix = _common_prefix(texts)
    branches: dict[str, list[str]] = {}
    for text in texts:
        rest = text[len(prefix) :]
        branches.setdefault(rest[:1], []).append(rest)
    ends_here = branches.pop("", None) is not None
    body = "|".join(alternation(rests, depth + 1) for rests in branches.values())
    return f"{re.escape(prefix)}(?:{body}{'|' if ends_here else ''})"


def _common_prefix(texts: list[str]) -> str:
    low, high = min(texts), max(texts)
    same = (index for index, char in enumerate(low) if high[index : index + 1] != char)
    return low[: next(same, len(low))]


class SpecialCutter:
    """Cuts text at the special tokens of a vocabulary.

    USER_DEFINED tokens are always cut out, CONTROL and UNKNOWN ones only with
    ``parse_special``, also where a token is USER_DEFINED beside.
    """

    def __init__(self, vocab: Vocab, parse_special: bool) -> None:
        self._ids = {
            piece: id_
            for piece, id_ in vocab.ids.items()
            if vocab.has(id_, SPECIAL_ATTRS)
            and (parse_special or not vocab.has(id_, Attr.CONTROL | Attr.UNKNOWN))
        }
        self._lengths = sorted({len(piece) for piece in self._ids}, reverse=True)
        self._attrs = {id_: vocab.attrs[id_] for id_ in self._ids.values()}
        self._pattern = re.compile(alternation(self._ids)) if self._ids else None

    def cut(self, text: str) -> list[str | int]:
        """Return the text's parts in order: a str for text, an int for a special token's id.

        Of specials of one length llama.cpp's order is unspecified; the lower id goes first.

        Source: llama-vocab.cpp, tokenizer_st_partition @ pin.
        """
        if self._pattern is None or not self._pattern.search(text):
            return [text] if text else []
        parts: list[str | int] = []
        pos = 0
        for start, end, id_ in self._taken(text, self._pattern):
            if start > pos:
                parts.append(text[pos:start])
            parts.append(id_)
            pos = end
        if pos < len(text):
            parts.append(text[pos:])
        return parts

    def _taken(self, text: str, pattern: re.Pattern[str]) -> list[tuple[int, int, int]]:
        """Return start, end and id of each special that is cut out, in the text's order."""
        waiting = []
        match = pattern.search(text)
        while match:
            waiting.append(self._candidate(match[0], match.start()))
            match = pattern.search(text, match.start() + 1)
        heapify(waiting)

        taken: list[tuple[int, int, int]] = []
        while waiting:
            _, id_, start, piece = heappop(waiting)
            at = bisect_right(taken, start, key=itemgetter(0))
            lower = taken[at - 1][1] if at else 0
            upper = taken[at][0] if at < len(taken) else len(text)
            end = start + len(piece)
            if start < lower:
                continue
            if end > upper:
                shorter = self._longest_prefix(piece)
                if shorter:
                    heappush(waiting, self._candidate(shorter, start))
                continue
            if self._attrs[id_] & Attr.LSTRIP:
                start = lower + len(text[lower:start].rstrip(_SPACE))
            if self._attrs[id_] & Attr.RSTRIP:
                end = upper - len(text[end:upper].lstrip(_SPACE))
            taken.insert(at, (start, end, id_))
        return taken

    def _candidate(self, piece: str, start: int) -> tuple[int, int, int, str]:
        return -len(bytes_of(piece)), self._ids[piece], start, piece

    def _longest_prefix(self, piece: str) -> str | None:
        """Return the longest special that a special begins with, other than itself."""
        for length in self._lengths:
            if length < len(piece) and piece[:length] in self._ids:
                return piece[:length]
        return None
