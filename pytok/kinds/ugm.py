"""Unigram: normalise the text, then find the most probable pieces (Viterbi)."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeVar

from pytok.charsmap import Charsmap
from pytok.match import Matcher
from pytok.piece import (
    MARKED_WORD,
    SPACE_MARK,
    piece_bytes,
    spell_spaces,
    words_are_independent,
)
from pytok.unicode import bytes_of, is_valid, length_by_lead, text_of
from pytok.vocab import Attr, Vocab
from pytok.word_cache import WordCache

_UNKNOWN_PENALTY = 10.0

T = TypeVar("T", str, bytes)


class Encoder:
    """Turns text between special tokens into ids.

    Source: llama-vocab.cpp, llm_tokenizer_ugm and llm_tokenizer_ugm_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        scores = vocab.scores or [0.0] * len(vocab)
        normal, user_defined = int(Attr.NORMAL), int(Attr.USER_DEFINED)
        wanted = normal | user_defined | int(Attr.UNUSED)
        ids = {piece: id_ for id_, piece in enumerate(vocab.pieces) if vocab.types[id_] & wanted}
        self._ids = ids
        self._matches = Matcher(ids).matches
        # llama.cpp: user-defined pieces count as certain.
        self._scores = [
            0.0 if vocab.has(id_, user_defined) else score for id_, score in enumerate(scores)
        ]
        lowest = min(
            (score for score, type_ in zip(scores, vocab.types, strict=True) if type_ & normal),
            default=3.4028234663852886e38,
        )
        # In single precision, as there.
        self._unknown_score = array("f", [lowest - _UNKNOWN_PENALTY])[0]
        self._unk = vocab.special_ids.get("unk", -1)
        verbatim = [
            bytes_of(piece)
            for id_, piece in enumerate(vocab.pieces)
            if vocab.types[id_] & user_defined
        ]
        self._normalize = Charsmap(vocab.charsmap, verbatim).normalize
        self._add_space_prefix = vocab.add_space_prefix
        self._merge_spaces = vocab.remove_extra_whitespaces
        self._words_are_independent = words_are_independent(ids)
        self._longest_exact_text = _exact_length([*self._scores, self._unknown_score])
        self._cache = WordCache(self._encode_word)

    def __call__(self, text: str, after_special: bool) -> list[int]:
        text = self._spaced(text_of(self._normalize(bytes_of(text))))
        if not is_valid(text):
            return [*self._encode_bytes(bytes_of(text))]
        if not (self._words_are_independent and len(text) < self._longest_exact_text):
            return [*self._encode_word(text)]
        ids = [*chain.from_iterable(map(self._cache.__getitem__, MARKED_WORD.findall(text)))]
        return self._merge_unknown(ids) if self._unk in ids else ids

    def _spaced(self, text: str) -> str:
        if self._merge_spaces:
            return "".join([SPACE_MARK + word for word in text.split(" ") if word])
        start = len(text) - len(text.lstrip(" "))
        marked = text.replace(" ", SPACE_MARK)
        if self._add_space_prefix and start < len(text):
            return marked[:start] + SPACE_MARK + marked[start:]
        return marked

    def _merge_unknown(self, ids: list[int]) -> list[int]:
        """Make one of neighbouring unknown tokens."""
        unk = self._unk
        return [id_ for at, id_ in enumerate(ids) if id_ != unk or at == 0 or ids[at - 1] != unk]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        return self._best(self._matches, word, range(1, len(word) + 1))

    def _encode_bytes(self, data: bytes) -> tuple[int, ...]:
        """Encode what is not UTF-8: a lead byte alone says where the next step ends."""
        steps = []
        pos = 0
        while pos < len(data):
            pos = min(pos + length_by_lead(data[pos]), len(data))
            steps.append(pos)
        return self._best(self._byte_matches, data, steps)

    @cached_property
    def _byte_matches(self) -> Callable[[bytes, int], Iterator[tuple[int, int]]]:
        return Matcher({bytes_of(piece): id_ for piece, id_ in self._ids.items()}).matches

    def _best(
        self, matches: Callable[[T, int], Iterator[tuple[int, int]]], text: T, steps: Sequence[int]
    ) -> tuple[int, ...]:
        """Return the most probable ids; ``steps`` tells where the code points end."""
        count = len(text)
        # The best way to each place: its score, its last token and where that begins.
        best = array("d", [-1.7976931348623157e308]) * (count + 1)
        best[0] = 0.0
        last = array("i", [self._unk]) * (count + 1)
        begin = array("i", bytes(4 * (count + 1)))
        scores = self._scores
        pos = 0
        for step in steps:
            so_far = best[pos]
            single = False
            for end, id_ in matches(text, pos):
                single = single or end == step
                score = so_far + scores[id_]
                if score > best[end]:
                    best[end], last[end], begin[end] = score, id_, pos
            if not single:
                score = so_far + self._unknown_score
                if score > best[step]:
                    best[step], last[step], begin[step] = score, self._unk, pos
            pos = step
        ids = []
        while pos > 0:
            ids.append(last[pos])
            pos = begin[pos]
        return tuple(self._merge_unknown(ids[::-1]))


def _exact_length(scores: list[float]) -> int:
    """Return a length of text up to which sums of scores are exact.

    Scores are single precision, so they are multiples of a power of two; their sums are exact
    in double precision as long as they are below 2**53 of it. Then the order of words before
    a word cannot change what is best within it.
    """
    finest, largest = 0, 1.0
    for score in set(scores):
        if score - score != 0:  # infinite, or not a number
            return 0
        _, denominator = score.as_integer_ratio()
        finest = max(finest, denominator.bit_length() - 1)
        largest = max(largest, abs(score))
    return int(2.0 ** (53 - finest) / largest)


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    return piece_bytes(vocab, token_id, spell_spaces)
