"""Text from tokens as they come, one at a time."""

import codecs

from pytok.tokenizer import Tokenizer


class StreamDecoder:
    """Turns ids into text while a model generates them.

    What is held back is only the valid beginning of a character that is still to be completed;
    bytes that cannot become one are shown as U+FFFD at once.

    >>> decoder = StreamDecoder(Tokenizer.byte_tokenizer())
    >>> [decoder.feed(byte) for byte in "é!".encode()] + [decoder.finish()]
    ['', 'é', '!', '']
    """

    def __init__(self, tokenizer: Tokenizer, *, special: bool = True) -> None:
        self._decode_token = tokenizer.decode_token
        self._special = special
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, token_id: int) -> str:
        """Return the text that has become whole with a token.

        Raises: ValueError if there is no such token.
        """
        return self._decoder.decode(self._decode_token(token_id, special=self._special))

    def finish(self) -> str:
        """Return what is held back, as U+FFFD; the decoder is then as new."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest
