"""The errors that pytok raises on purpose.

PytokError is their root, so one ``except`` catches them all. Text that comes out of a
file is shortened and escaped here, once, so that no message can carry control
characters or grow with the file.
"""

_SHOWN = 60


def quoted(text: str | bytes, limit: int = _SHOWN) -> str:
    """Return untrusted text as a quoted, printable, ASCII literal of bounded length."""
    if isinstance(text, bytes):
        text = text[: 4 * limit].decode("utf-8", "replace")
    shown = ascii(text[:limit])
    return f"{shown}..." if len(text) > limit else shown


class PytokError(Exception):
    """Root of the errors raised by pytok."""


class GGUFError(PytokError):
    """The file is not a readable GGUF.

    ``offset`` is the byte position of the item at fault (None if it has no place),
    ``key`` the metadata key it belongs to (None outside the key/value section).
    """

    def __init__(self, reason: str, *, offset: int | None = None, key: str | None = None) -> None:
        self.reason = reason
        self.offset = offset
        self.key = key
        where = [] if key is None else [f"key {quoted(key)}"]
        where += [] if offset is None else [f"byte {offset}"]
        super().__init__(f"{reason} ({', '.join(where)})" if where else reason)


class VocabError(GGUFError):
    """The file is readable, but its tokenizer keys do not make a vocabulary."""


class UnsupportedError(GGUFError):
    """A tokenizer model or pre-tokenizer that pytok does not know; ``name`` is its name."""

    def __init__(
        self, reason: str, *, name: str, offset: int | None = None, key: str | None = None
    ) -> None:
        self.name = name
        super().__init__(reason, offset=offset, key=key)


class DoubledTokenWarning(UserWarning):
    """`encode` added a BOS or EOS to a text that has one already; llama.cpp warns of it too."""


class TemplateError(PytokError):
    """A chat template that cannot be read or rendered."""
