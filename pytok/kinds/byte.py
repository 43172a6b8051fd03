"""No vocabulary: every byte is a token, its value the id."""

from pytok.unicode import bytes_of
from pytok.vocab import Vocab


class Encoder:
    """Turns text into its bytes."""

    def __init__(self, vocab: Vocab) -> None:
        pass

    def __call__(self, text: str, after_special: bool) -> list[int]:
        return [*bytes_of(text)]


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's byte."""
    return bytes_of(vocab.pieces[token_id])
