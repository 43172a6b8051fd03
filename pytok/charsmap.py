"""Normalise text by a SentencePiece character map, a compact double array of replacements."""

import re
import sys
from array import array
from bisect import bisect_left

from pytok.errors import VocabError
from pytok.unicode import sequence_length


class Charsmap:
    """Replaces the longest known beginnings of a text, from left to right.

    ``blob`` is the value of tokenizer.ggml.precompiled_charsmap: the size of the double array
    in bytes (32 bits), its 32-bit units, then the replacements, each ended by a zero byte.
    Units hold BASE in bits 10 to 30, LCHECK in 0 to 7, LEAF in 8, and in bit 9 whether BASE is
    to be shifted; a unit with bit 31 is the place of a replacement.

    Source: llama-vocab.cpp, llm_tokenizer_ugm_session::normalize_prefix, xcda_array_view @ pin.
    """

    def __init__(self, blob: bytes, user_defined: list[bytes]) -> None:
        self._units = array("I")
        self._replacements = b""
        if blob:
            size = int.from_bytes(blob[:4], "little")
            self._units.frombytes(blob[4 : 4 + size - size % 4])
            if sys.byteorder == "big":
                self._units.byteswap()
            self._replacements = blob[4 + size :]
        # llama.cpp: what begins a user-defined piece stays as it is, as far as it goes.
        self._user_defined = sorted(user_defined)
        self._longest_piece = max(map(len, user_defined), default=0)
        self._plain = self._plain_runs()

    def normalize(self, data: bytes) -> bytes:
        """Return the bytes of the normalised text."""
        parts = []
        pos = 0
        while pos < len(data):
            run = self._plain.match(data, pos)
            if run:
                parts.append(run[0])
                pos = run.end()
                if pos == len(data):
                    break
            part, pos = self._next(data, pos)
            parts.append(part)
        return b"".join(parts)

    def _next(self, data: bytes, pos: int) -> tuple[bytes, int]:
        """Return what the text at ``pos`` becomes, and where the rest begins."""
        shared = self._shared_with_piece(data[pos : pos + self._longest_piece])
        if shared:
            return data[pos : pos + shared], pos + shared
        end, replacement = self._longest(data, pos)
        if end > pos:
            return replacement, end
        length = sequence_length(data, pos)
        if length:
            return data[pos : pos + length], pos + length
        return b"\xef\xbf\xbd", pos + 1

    def _shared_with_piece(self, text: bytes) -> int:
        """Return how much of the text's beginning some user-defined piece begins with."""
        at = bisect_left(self._user_defined, text)
        # No other piece shares more with the text than its neighbours in the order do.
        return max(
            (_shared(piece, text) for piece in self._user_defined[max(0, at - 1) : at + 1]),
            default=0,
        )

    def _longest(self, data: bytes, pos: int) -> tuple[int, bytes]:
        """Return the end of the longest key at ``pos`` and its replacement; pos if none."""
        units = self._units
        found, place = pos, 0
        if not units:
            return pos, b""
        node = _base(units[0])
        for at in range(pos, len(data)):
            byte = data[at]
            node ^= byte
            if byte == 0 or self._unit(node) & 0x800000FF != byte:
                break
            unit = units[node]
            node ^= _base(unit)
            if unit >> 8 & 1:
                found, place = at + 1, self._unit(node) & 0x7FFFFFFF
        if found == pos:
            return pos, b""
        end = self._replacements.find(b"\0", place)
        if end < 0:
            raise VocabError("the character map points out of itself")
        return found, self._replacements[place:end]

    def _unit(self, node: int) -> int:
        if node >= len(self._units):
            raise VocabError("the character map points out of itself")
        return self._units[node]

    def _plain_runs(self) -> re.Pattern[bytes]:
        """Return a pattern for ASCII that stays as it is, whatever follows.

        A character does if no key and no user-defined piece begins with it and ASCII, or is
        it alone; what follows must then be ASCII too.
        """
        beginnings = {piece[0] for piece in self._user_defined}
        plain = bytes(
            byte
            for byte in range(0x80)
            if byte not in beginnings and not self._begins_ascii_key(byte)
        )
        if not plain:
            return re.compile(rb"(?!)")
        return re.compile(b"(?:[" + re.escape(plain) + b"](?=[\\x00-\\x7f]|\\Z))+")

    def _begins_ascii_key(self, byte: int) -> bool:
        char = bytes([byte])
        if not self._units or byte == 0:
            return False
        node = _base(self._units[0]) ^ byte
        if node >= len(self._units) or self._units[node] & 0x800000FF != byte:
            return False
        if self._longest(char, 0)[0]:
            return True
        node ^= _base(self._units[node])
        return any(
            node ^ after < len(self._units) and self._units[node ^ after] & 0x800000FF == after
            for after in range(1, 0x80)
        )


def _base(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def _shared(one: bytes, other: bytes) -> int:
    """Return the length of what two texts begin with alike."""
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(at for at in range(length) if one[at] != other[at])
