"""SentencePiece: spaces become U+2581, then the pair with the highest score merges first."""

from functools import cached_property
from itertools import chain
from math import inf

from pytok.chunks import CanCut
from pytok.merge import merge
from pytok.piece import (
    MARKED_WORD,
    SPACE_MARK,
    adjacent_pairs,
    byte_piece,
    chars_before_mark,
    cut_where,
    piece_bytes,
    raw_byte,
    spell_spaces,
    words_are_independent,
)
from pytok.unicode import bytes_of, is_valid, length_by_lead
from pytok.vocab import Vocab
from pytok.word_cache import WordCache

# From so many words on, a text is long enough to find out which characters never merge.
MANY_WORDS = 200


def _ranks(vocab: Vocab) -> dict[str, int]:
    """Return piece -> rank: the higher the score, the lower; equal scores have one rank."""
    if not vocab.scores:
        return dict.fromkeys(vocab.ids, 0)
    # A score that is not a number would put the order itself in doubt; it comes last.
    scores = [-inf if score != score else score for score in vocab.scores]  # noqa: PLR0124
    order = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
    return {piece: order[scores[id_]] for piece, id_ in vocab.ids.items()}


class Encoder:
    """Turns text between special tokens into ids.

    Source: llama-vocab.cpp, llm_tokenizer_spm_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._ids = vocab.ids
        self._add_space_prefix = vocab.add_space_prefix
        self._unk = vocab.special_ids.get("unk")
        self._ranks = _ranks(vocab)
        self._words_are_independent = words_are_independent(vocab.ids)
        self._cache = WordCache(self._encode_word)
        self._parts = WordCache(self._encode_part)
        self.many_words = MANY_WORDS

    def __call__(self, text: str, after_special: bool) -> list[int]:
        text = self._marked(text, after_special)
        if not is_valid(text):
            return self._encode_bytes(bytes_of(text))
        return [*chain.from_iterable(map(self._cache.__getitem__, self._words(text)))]

    def count(self, text: str, after_special: bool) -> int:
        """Return how many ids a call gives."""
        text = self._marked(text, after_special)
        if not is_valid(text):
            return len(self._encode_bytes(bytes_of(text)))
        return sum(map(len, map(self._cache.__getitem__, self._words(text))))

    def _marked(self, text: str, after_special: bool) -> str:
        if self._add_space_prefix and after_special:
            text = " " + text
        return text.replace(" ", SPACE_MARK)

    def _words(self, text: str) -> list[str]:
        return MARKED_WORD.findall(text) if self._words_are_independent else [text]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        if len(self._cache) < self.many_words:
            return self._encode_part(word)
        parts = cut_where(word, self._pairs)
        return tuple(chain.from_iterable(map(self._parts.__getitem__, parts)))

    @cached_property
    def _pairs(self) -> set[str]:
        return adjacent_pairs(self._ids)

    def _encode_part(self, part: str) -> tuple[int, ...]:
        symbols = merge([*part], self._ranks, "")
        try:
            return tuple(map(self._ids.__getitem__, symbols))
        except KeyError:
            return tuple(chain.from_iterable(map(self._spelled, symbols)))

    def _spelled(self, symbol: str) -> list[int]:
        id_ = self._ids.get(symbol)
        return self._byte_ids(bytes_of(symbol)) if id_ is None else [id_]

    def _encode_bytes(self, data: bytes) -> list[int]:
        """Encode bytes that are not UTF-8: a lead byte alone says how many belong together."""
        symbols = []
        pos = 0
        while pos < len(data):
            end = pos + length_by_lead(data[pos])
            symbols.append(data[pos:end])
            pos = end
        ids: list[int] = []
        for symbol in merge(symbols, self._byte_ranks, b""):
            id_ = self._ids.get(symbol.decode("utf-8", "surrogateescape"))
            ids += self._byte_ids(symbol) if id_ is None else [id_]
        return ids

    @cached_property
    def _byte_ranks(self) -> dict[bytes, int]:
        return {bytes_of(piece): rank for piece, rank in self._ranks.items()}

    def _byte_ids(self, data: bytes) -> list[int]:
        """Return a token for each byte; llama.cpp throws where there is none."""
        ids = (
            self._ids.get(byte_piece(byte), self._ids.get(raw_byte(byte), self._unk))
            for byte in data
        )
        return [id_ for id_ in ids if id_ is not None]


def can_cut(vocab: Vocab) -> CanCut | None:
    """Return behind which characters no piece, and so no merge, reaches across a space."""
    unsafe = {*SPACE_MARK, *chars_before_mark(vocab.ids)}
    return lambda char: char not in unsafe


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    return piece_bytes(vocab, token_id, spell_spaces)
