"""A window on a file that moves forward, and asks for more bytes when it must.

The reader of a GGUF is a generator: it yields the `Range` that it needs next and is sent the
bytes. This is where it asks, and where every claim of the file is held against what is left of
it: a length or a count is checked before anything is allocated by it or looped over.
"""

import struct
from collections.abc import Generator
from typing import Any, NamedTuple

from pytok.errors import GGUFError

# No tokenizer needs a longer string; where the size of the file is unknown (a stream), this
# is what stops a false length from being waited for.
MAX_STRING = 1 << 26
# Memory that one file's metadata may take, by a rough count of it: the largest vocabularies
# known take a fifth.
MAX_KEPT = 1 << 28
# Bytes asked for at once: small for small headers, then fewer and larger reads.
FIRST_STEP, LAST_STEP = 1 << 16, 1 << 22


class Range(NamedTuple):
    """A wish for the bytes from ``offset`` on: ``size`` of them, fewer at the file's end.

    Or, of a driver that cuts strings, for ``strings`` of them from there on, joined by NULs.
    It answers with nothing if that cannot be: one holds a NUL, is long, or is not all there.
    """

    offset: int
    size: int
    strings: int = 0


class Cursor:
    """The position in the file, the window around it, and what errors say of the place."""

    def __init__(self, size: int | None, cuts_strings: bool = False) -> None:
        self.size = size
        self.cuts_strings = cuts_strings
        self.data = b""
        self.base = 0
        self.pos = 0
        self.key: str | None = None
        self.sign = "<"
        self._step = FIRST_STEP
        self._kept = 0

    @property
    def offset(self) -> int:
        """The position in the file, in bytes."""
        return self.base + self.pos

    def error(self, reason: str, offset: int | None = None) -> GGUFError:
        return GGUFError(reason, offset=self.offset if offset is None else offset, key=self.key)

    def truncated(self, count: int, what: str) -> GGUFError:
        end = self.base + len(self.data) if self.size is None else self.size
        left = max(0, end - self.offset)
        return self.error(f"file is truncated: {what} takes {count} bytes, {left} are left")

    def need(self, count: int, what: str) -> Generator[Range, bytes, None]:
        """Make ``count`` bytes from the position on available."""
        if self.size is not None and self.offset + count > self.size:
            raise self.truncated(count, what)
        missing = count - (len(self.data) - self.pos)
        if missing <= 0:
            return
        end = self.base + len(self.data)
        parts = [self.data[self.pos :]]
        while missing > 0:
            wish = max(min(missing, LAST_STEP), self._step)
            chunk = yield Range(end, wish if self.size is None else min(wish, self.size - end))
            parts.append(chunk)
            missing -= len(chunk)
            end += len(chunk)
            self._step = min(self._step * 2, LAST_STEP)
            if not chunk:
                break
        self.data = b"".join(parts)
        self.base += self.pos
        self.pos = 0
        if missing > 0:
            raise self.truncated(count, what)

    def skip(self, count: int, what: str) -> Generator[Range, bytes, None]:
        """Move past bytes that nobody wants; only the last of them is asked for, if any."""
        if self.size is not None and self.offset + count > self.size:
            raise self.truncated(count, what)
        if count > len(self.data) - self.pos:
            self.move_to(self.offset + count - 1)
            yield from self.need(1, what)
            count = 1
        self.pos += count

    def move_to(self, offset: int) -> None:
        """Go to a place that may lie outside the window."""
        self.pos = offset - self.base
        if not 0 <= self.pos <= len(self.data):
            self.data, self.base, self.pos = b"", offset, 0

    def number(self, code: str, what: str) -> Generator[Range, bytes, Any]:
        code = self.sign + code
        size = struct.calcsize(code)
        yield from self.need(size, what)
        (value,) = struct.unpack_from(code, self.data, self.pos)
        self.pos += size
        return value

    def string(self, what: str, limit: int = MAX_STRING) -> Generator[Range, bytes, bytes]:
        yield from self.need(8, f"the length of {what}")
        (length,) = struct.unpack_from(self.sign + "Q", self.data, self.pos)
        if self.size is not None and self.offset + 8 + length > self.size:
            raise self.truncated(8 + length, what)
        if length > limit:
            raise self.error(f"{what} claims {length} bytes, at most {limit} are allowed")
        yield from self.need(8 + length, what)
        value = self.data[self.pos + 8 : self.pos + 8 + length]
        self.pos += 8 + length
        return value

    def check_count(
        self, count: int, least: int, what: str, start: int, most: int | None = None
    ) -> None:
        """Hold a claimed count of items against the bytes that are left, and against a limit."""
        if self.size is not None and count * least > (left := self.size - self.offset):
            raise self.error(
                f"file is truncated: {what} of {count} items takes at least {count * least} bytes, "
                f"{left} are left",
                start,
            )
        if most is not None and count > most:
            raise self.error(f"{what} claims {count} items, at most {most} are allowed", start)

    def keep(self, cost: int, what: str, start: int) -> None:
        """Count what is to be kept, before it is read; ``cost`` is in bytes of memory."""
        self._kept += cost
        if self._kept > MAX_KEPT:
            raise self.error(
                f"{what} would take {cost} bytes of memory; "
                f"{MAX_KEPT} are allowed for all metadata",
                start,
            )
