"""PLaMo-2: the cheapest way to cut a text into pieces, found from its end."""

import math
import re
from array import array

from pytok.match import Matcher
from pytok.unicode import bytes_of, code_points, text_of
from pytok.vocab import Attr, Vocab, byte_ids, byte_value

_INVALID_SCORE = -20_000_000
_UNKNOWN_SCORE = -10_000_000

# llama.cpp: here such code points do not make it abort, they come out as bytes.
_BEYOND_UNICODE = re.compile(
    rb"(\xf4[\x90-\xbf][\x80-\xbf][\x80-\xbf]|[\xf5-\xf7][\x80-\xbf][\x80-\xbf][\x80-\xbf])"
)


class Encoder:
    """Turns text between special tokens into ids.

    llama.cpp walks a table of all suffixes of pieces; what it finds at a place are the pieces
    that begin there, the longest first, and last a single code point as bytes.

    Source: llama-vocab.cpp, llm_tokenizer_plamo2 @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        scores = {}
        for id_, piece in enumerate(vocab.pieces):
            if not vocab.types[id_] & Attr.BYTE:
                score = _fixed(vocab.scores[id_] if vocab.scores else 0.0)
                if score > _INVALID_SCORE:
                    scores[piece] = (score, id_)
        self._matches = Matcher({piece: id_ for piece, (_, id_) in scores.items()}).matches
        self._scores = {id_: score for score, id_ in scores.values()}
        self._byte_ids = byte_ids(vocab)

    def __call__(self, text: str, after_special: bool) -> list[int]:
        ids: list[int] = []
        first = True
        # Only whole bytes sequences beyond Unicode stand at odd places; no piece holds one.
        for at, part in enumerate(_BEYOND_UNICODE.split(bytes_of(text))):
            if at % 2:
                ids += [self._byte_ids[byte] for byte in part]
            else:
                points = code_points(text_of(part))
                ids += self._encode(points.removeprefix("\ufeff") if first else points)
            first = False
        return ids

    def _encode(self, text: str) -> list[int]:
        count = len(text)
        costs = array("q", bytes(8 * (count + 1)))
        lengths = array("i", bytes(4 * (count + 1)))
        ids = array("i", bytes(4 * (count + 1)))
        for pos in range(count - 1, -1, -1):
            best = 1 << 60
            # The longest of equal ones wins, so among those that come later it takes <=.
            for end, id_ in self._matches(text, pos):
                cost = costs[end] - self._scores[id_]
                if cost <= best:
                    best, lengths[pos], ids[pos] = cost, end - pos, id_
            cost = costs[pos + 1] - _UNKNOWN_SCORE
            if cost < best:
                best, lengths[pos], ids[pos] = cost, 1, -1
            costs[pos] = best
        found: list[int] = []
        pos = 0
        while pos < count:
            if ids[pos] >= 0:
                found.append(ids[pos])
            else:
                found += [self._byte_ids[byte] for byte in bytes_of(text_of(text[pos]))]
            pos += lengths[pos]
        return found


def _fixed(score: float) -> int:
    """Return a score in units of 1/10,000, rounded away from zero at the half."""
    if not math.isfinite(score):
        return _INVALID_SCORE
    scaled = score * 1e4
    fixed = int(math.copysign(math.floor(abs(scaled) + 0.5), scaled))
    # llama.cpp: what is no 32-bit integer becomes the lowest one.
    return fixed if -(1 << 31) <= fixed < 1 << 31 else _INVALID_SCORE


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    text = vocab.pieces[token_id]
    byte = byte_value(text) if vocab.has(token_id, Attr.BYTE) else None
    return bytes_of(text) if byte is None else bytes([byte])
