r"""What a pattern can match, told from the pattern alone: where a text may be cut before it.

Between a character and a space behind it lies a place that no match may reach across, if no
match can hold the two side by side. The pattern is taken apart as a machine of sets: which
characters can begin a match, end it, and stand before a space inside it. Characters are those
of `pytok.split`'s collapsed text, and one for all others.
"""

from collections.abc import Iterable
from re import ASCII, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

# Every character beyond the collapsed alphabet, for the patterns that see real code points.
BEYOND = "\u0100"
ALPHABET = frozenset(map(chr, range(0xD8))) | {BEYOND}
_SPACES = frozenset(" \t\n\r\f\v")
_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_CATEGORIES = {
    _constants.CATEGORY_SPACE: _SPACES,
    _constants.CATEGORY_NOT_SPACE: ALPHABET - _SPACES,
    _constants.CATEGORY_DIGIT: _DIGITS,
    _constants.CATEGORY_NOT_DIGIT: ALPHABET - _DIGITS,
    _constants.CATEGORY_WORD: _WORD,
    _constants.CATEGORY_NOT_WORD: ALPHABET - _WORD,
}
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}
NOTHING: frozenset[str] = frozenset()


class Facts(NamedTuple):
    """What a part of a pattern can match; the sets may be too large, ``alone`` too small."""

    nullable: bool
    sure: bool
    """It matches the empty text, whatever follows."""
    first: frozenset[str]
    last: frozenset[str]
    before_space: frozenset[str]
    """Characters that can stand before a space inside a match, or inside what it looks at."""
    alone: frozenset[str]
    """Characters that are a match by themselves, whatever follows."""


EMPTY = Facts(True, True, NOTHING, NOTHING, NOTHING, NOTHING)


class NotToldError(Exception):
    """The pattern looks at what is not part of its match, so that a cut might change it."""


def facts_of(pattern: str) -> Facts:
    """Take a pattern apart.

    Raises: NotToldError if it looks behind, at the text's end, or at a space that follows.
    """
    return _sequence(_parser.parse(pattern, ASCII))


def _sequence(nodes: Iterable[tuple[Any, Any]]) -> Facts:
    found = EMPTY
    for node in nodes:
        found = _joined(found, _facts(*node))
    return found


def _joined(left: Facts, right: Facts) -> Facts:
    bridge = left.last if " " in right.first else NOTHING
    return Facts(
        left.nullable and right.nullable,
        left.sure and right.sure,
        left.first | (right.first if left.nullable else NOTHING),
        right.last | (left.last if right.nullable else NOTHING),
        left.before_space | right.before_space | bridge,
        (left.alone if right.sure else NOTHING) | (right.alone if left.sure else NOTHING),
    )


def _one_of(chars: frozenset[str]) -> Facts:
    return Facts(False, False, chars, chars, NOTHING, chars)


def _facts(kind: Any, value: Any) -> Facts:
    if kind is _constants.LITERAL:
        return _one_of(_spelled(value, value))
    if kind is _constants.NOT_LITERAL:
        return _one_of(ALPHABET - {chr(value)})
    if kind is _constants.IN:
        return _one_of(_members(value))
    if kind in _REPEATS:
        least, most, inner = value
        return _repeated(_sequence(inner), least, most)
    if kind is _constants.BRANCH:
        return _either([_sequence(branch) for branch in value[1]])
    if kind is _constants.SUBPATTERN:
        return _sequence(value[3])
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        direction, inner = value
        looked_at = _sequence(inner)
        if direction < 0 or looked_at.nullable or " " in looked_at.first:
            raise NotToldError
        # Nothing of it is matched, but no match is certain any more.
        return Facts(True, False, NOTHING, NOTHING, looked_at.before_space, NOTHING)
    raise NotToldError


def _repeated(inner: Facts, least: int, most: Any) -> Facts:
    twice = inner.last if most > 1 and " " in inner.first else NOTHING
    return inner._replace(
        nullable=inner.nullable or least == 0,
        sure=inner.sure or least == 0,
        before_space=inner.before_space | twice,
        alone=inner.alone if least <= 1 or inner.sure else NOTHING,
    )


def _either(branches: list[Facts]) -> Facts:
    return Facts(
        any(branch.nullable for branch in branches),
        any(branch.sure for branch in branches),
        NOTHING.union(*(branch.first for branch in branches)),
        NOTHING.union(*(branch.last for branch in branches)),
        NOTHING.union(*(branch.before_space for branch in branches)),
        NOTHING.union(*(branch.alone for branch in branches)),
    )


def _members(items: list[tuple[Any, Any]]) -> frozenset[str]:
    found: frozenset[str] = NOTHING
    is_negated = False
    for kind, value in items:
        if kind is _constants.NEGATE:
            is_negated = True
        elif kind is _constants.CATEGORY:
            found |= _CATEGORIES[value]
        elif kind is _constants.RANGE:
            found |= _spelled(*value)
        else:
            found |= _spelled(value, value)
    # Of the characters beyond, only some are excluded.
    return (ALPHABET - found) | {BEYOND} if is_negated else found


def _spelled(low: int, high: int) -> frozenset[str]:
    inside = frozenset(map(chr, range(low, min(high, 0xD7) + 1)))
    return inside | {BEYOND} if high > 0xD7 else inside
