"""Cut text at special tokens, before anything else looks at it.

llama.cpp: tokenizer_st_partition goes through the special tokens, longest text first, and
cuts each out of all that is still text; so a long one wins over a shorter one that begins
further left. Doing that literally costs (number of specials) x (length of text). Here one
pattern finds the longest special at each place where any begins, and the places are then
taken in llama.cpp's order.
"""

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from pytok.unicode import bytes_of
from pytok.vocab import Attr, Vocab

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
    """Cuts text at the special tokens of a vocabulary, those that `Vocab.added_tokens` tells."""

    def __init__(self, vocab: Vocab, parse_special: bool) -> None:
        self._ids = vocab.added_tokens(parse_special)
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
        is_taken = bytearray(len(text))
        while waiting:
            _, id_, start, piece = heappop(waiting)
            end = start + len(piece)
            if is_taken[start]:
                continue
            if is_taken.find(1, start, end) >= 0:
                shorter = self._longest_prefix(piece)
                if shorter:
                    heappush(waiting, self._candidate(shorter, start))
                continue
            if self._attrs[id_] & Attr.LSTRIP:
                while start and text[start - 1] in _SPACE and not is_taken[start - 1]:
                    start -= 1
            if self._attrs[id_] & Attr.RSTRIP:
                while end < len(text) and text[end] in _SPACE and not is_taken[end]:
                    end += 1
            is_taken[start:end] = b"\1" * (end - start)
            taken.append((start, end, id_))
        return sorted(taken)

    def _candidate(self, piece: str, start: int) -> tuple[int, int, int, str]:
        return -len(bytes_of(piece)), self._ids[piece], start, piece

    def _longest_prefix(self, piece: str) -> str | None:
        """Return the longest special that a special begins with, other than itself."""
        for length in self._lengths:
            if length < len(piece) and piece[:length] in self._ids:
                return piece[:length]
        return None
