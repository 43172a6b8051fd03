"""Encode a text that was encoded before and has changed a little: only what changed is encoded.

Texts are kept as chunks with their ids. Of a new text, the chunks that it begins and ends with as
the last one did are taken over, and the rest is cut and encoded anew.
"""

from array import array
from collections.abc import Generator
from typing import NamedTuple

from pytok.tokenizer import Tokenizer
from pytok.unicode import is_valid, text_of


class _Chunk(NamedTuple):
    text: str
    ids: "array[int]"


class IncrementalEncoder:
    """Encodes one text after another for a tokenizer, and remembers the last."""

    def __init__(self, tokenizer: Tokenizer, *, parse_special: bool) -> None:
        self._tokenizer = tokenizer
        self._parse_special = parse_special
        self._chunker = tokenizer.chunker(parse_special=parse_special)
        self._last: list[_Chunk] = []

    def encode(self, text: str) -> "Generator[int, None, array[int]]":
        """Encode a text, without what is added around it.

        A generator: after each chunk it yields how many characters are done; it returns the ids
        as 32-bit integers. Who gives it up half-way loses nothing but its work.
        """
        text = text_of(text)
        chunker = self._chunker if is_valid(text) else None
        begin, end = self._unchanged(text)
        before, after = self._last[:begin], self._last[len(self._last) - end :]
        start = sum(len(chunk.text) for chunk in before)
        stop = len(text) - sum(len(chunk.text) for chunk in after)
        middle = []
        done = start
        changed = text[start:stop]
        for part in chunker.chunks(changed) if chunker else [changed]:
            ids = self._tokenizer.encode_part(part, done == 0, parse_special=self._parse_special)
            middle.append(_Chunk(part, array("i", ids)))
            done += len(part)
            yield done
        chunks = [*before, *middle, *after]
        self._last = chunks if chunker else []
        joined = array("i")
        joined.frombytes(b"".join(chunk.ids for chunk in chunks))
        return joined

    def _unchanged(self, text: str) -> tuple[int, int]:
        """Return how many chunks of the last text this one begins and ends with."""
        if not (self._chunker and is_valid(text)):
            return 0, 0
        last = self._last
        begin = start = 0
        while begin < len(last) and text.startswith(last[begin].text, start):
            start += len(last[begin].text)
            begin += 1
        end, stop = 0, len(text)
        # The first chunk is not like others: before it, a space may be added.
        while max(begin, 1) + end < len(last):
            chunk = last[-1 - end].text
            if stop - len(chunk) < start or not text.endswith(chunk, 0, stop):
                break
            stop -= len(chunk)
            end += 1
        # What a chunk ends or begins beside may have changed, and be no place to cut any more.
        while begin and not self._chunker.is_place(text, start):
            begin -= 1
            start -= len(last[begin].text)
        while end and not self._chunker.is_place(text, stop):
            stop += len(last[-end].text)
            end -= 1
        return begin, end
