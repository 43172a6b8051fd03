"""Which pieces begin at a place in a text: the heart of WPM, UGM, RWKV and PLaMo-2."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T", str, bytes)


class Matcher(Generic[T]):
    """Finds the pieces of a vocabulary at a place.

    A trie of some 250,000 pieces is large in Python. Instead the first two units of a piece
    tell which lengths are worth a look, and a dict does the rest.
    """

    def __init__(self, ids: Mapping[T, int]) -> None:
        self._ids: Mapping[T, int] = ids
        lengths: dict[T, set[int]] = {}
        for piece in ids:
            if len(piece) > 1:
                lengths.setdefault(piece[:2], set()).add(len(piece))
        self._lengths: dict[T, list[int]] = {
            start: sorted(found) for start, found in lengths.items()
        }

    def matches(self, text: T, pos: int) -> Iterator[tuple[int, int]]:
        """Yield end and id of each piece that begins at ``pos``, the shortest first."""
        get = self._ids.get
        id_ = get(text[pos : pos + 1])
        if id_ is not None:
            yield pos + 1, id_
        room = len(text) - pos
        for length in self._lengths.get(text[pos : pos + 2], ()):
            if length > room:
                return
            id_ = get(text[pos : pos + length])
            if id_ is not None:
                yield pos + length, id_

    def longest(self, text: T, pos: int) -> tuple[int, int] | None:
        """Return end and id of the longest piece that begins at ``pos``; None if none does."""
        get = self._ids.get
        room = len(text) - pos
        for length in reversed(self._lengths.get(text[pos : pos + 2], ())):
            if length <= room:
                id_ = get(text[pos : pos + length])
                if id_ is not None:
                    return pos + length, id_
        id_ = get(text[pos : pos + 1])
        return None if id_ is None else (pos + 1, id_)
