"""A bounded memory of words and their ids: text repeats its words."""

from collections.abc import Callable

# Words repeat by Zipf's law: this many hold nearly all that a document repeats.
MAX_WORDS = 1 << 16
# Longer words hardly come again, and would make the bound on their number no bound.
MAX_LENGTH = 64


class WordCache(dict[str, tuple[int, ...]]):
    """Word -> ids, computed when first asked for; emptied when it is full."""

    def __init__(self, encode_word: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._encode_word = encode_word

    def __missing__(self, word: str) -> tuple[int, ...]:
        ids = self._encode_word(word)
        if len(word) <= MAX_LENGTH:
            if len(self) >= MAX_WORDS:
                self.clear()
            self[word] = ids
        return ids
