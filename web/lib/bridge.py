"""The Python side of the worker: everything that worker.js calls, and nothing else.

Results are str, int, or buffers that JavaScript copies; what stays here is known there by a
handle. A failure is remembered, so that JavaScript can ask for its parts.
"""

import gc
import json
from array import array
from collections.abc import Callable, Generator
from functools import wraps
from itertools import accumulate, count
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from pytok import GGUFError, GGUFSource, PytokError, Tokenizer, __version__, keys
from pytok.cursor import Range
from pytok.incremental import IncrementalEncoder
from pytok.saved import restore_vocab, save_vocab
from pytok.source import explained
from pytok.spans import utf16_spans
from pytok.tensors import Header, read_header

_handles = count(1)
_tokenizers: dict[int, Tokenizer] = {}
# By handle and parse_special.
_encoders: dict[tuple[int, bool], IncrementalEncoder] = {}
_failure = "{}"

P = ParamSpec("P")
R = TypeVar("R")


def _remember(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except PytokError as error:
            place = (
                {"offset": error.offset, "key": error.key} if isinstance(error, GGUFError) else {}
            )
            global _failure  # noqa: PLW0603
            _failure = json.dumps({"name": type(error).__name__, "message": str(error), **place})
            raise

    return wrapper


def failure() -> str:
    """Return the last PytokError as JSON: name, message, and offset and key if it has them."""
    return _failure


class Loading:
    """A GGUF being read. Ask `offset`, feed the bytes, until nothing is wanted; then finish."""

    def __init__(self, size: int | None, name: str) -> None:
        self._size = size
        self._name = name
        self._reading = read_header(size, cuts_strings=True)
        self._range: Range | None = None
        self._header: Header | None = None
        self._advance(None)

    @_remember
    def _advance(self, data: bytes | None) -> None:
        try:
            self._range = next(self._reading) if data is None else self._reading.send(data)
        except StopIteration as stop:
            self._range, self._header = None, stop.value
        except GGUFError as error:
            raise explained(error, self._name) from None

    def offset(self) -> int:
        """Return where the wanted bytes begin; -1 if none are wanted any more."""
        return -1 if self._range is None else self._range.offset

    def size(self) -> int:
        """Return how many bytes are wanted."""
        return 0 if self._range is None else self._range.size

    def strings(self) -> int:
        """Return how many strings are wanted, joined by NULs, instead of bytes; 0 if none are."""
        return 0 if self._range is None else self._range.strings

    def feed(self, data: Any) -> None:
        """Take a Uint8Array of what is wanted; an empty one says that there is no such thing."""
        self._advance(data.to_bytes())

    @_remember
    def finish(self) -> str:
        """Build the tokenizer; return its handle and what there is to say of it, as JSON."""
        assert self._header is not None
        metadata, tensors, size = self._header
        source = GGUFSource(metadata, tensors, self._name)
        tokenizer = Tokenizer.from_source(source)
        handle = _keep(tokenizer)
        vocab = tokenizer.vocab
        info = {
            "name": _shown(source.meta_str(keys.NAME)),
            "architecture": _shown(source.meta_str(keys.ARCHITECTURE)),
            "kind": vocab.kind.name,
            "model": _shown(vocab.model),
            "pre": _shown(source.meta_str(keys.PRE)),
            "vocabSize": len(vocab),
            "bosId": vocab.special_ids.get("bos"),
            "eosId": vocab.special_ids.get("eos"),
            "eogIds": sorted(vocab.eog_ids),
            "ggufVersion": metadata.version,
            "tensorCount": metadata.tensor_count,
            "bytesRead": size,
            "fileSize": self._size,
            "warnings": list(tokenizer.warnings),
            "engineVersion": __version__,
        }
        return json.dumps({"handle": handle, "info": info})


def saved(handle: int) -> bytes:
    """Return a tokenizer's vocabulary as bytes for `restore`."""
    return save_vocab(_tokenizer(handle).vocab)


def restore(data: Any) -> int:
    """Make the tokenizer that a Uint8Array was saved from; return its handle."""
    return _keep(Tokenizer(restore_vocab(data.to_bytes())))


def _keep(tokenizer: Tokenizer) -> int:
    handle = next(_handles)
    _tokenizers[handle] = tokenizer
    return handle


def _shown(text: str | None, limit: int = 200) -> str:
    """Return text to be shown: of bounded length, bytes that are not UTF-8 replaced."""
    text = (text or "").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if len(text) <= limit else f"{text[:limit]}…"


def _tokenizer(handle: int) -> Tokenizer:
    if handle not in _tokenizers:
        raise PytokError("this tokenizer has been disposed of")
    return _tokenizers[handle]


class Encoding:
    """A text being encoded: `advance` until it returns ids. What did not change is not repeated."""

    def __init__(self, handle: int, text: str, add_special: bool, parse_special: bool) -> None:
        self._handle = handle
        self._text = text
        self._add_special = add_special
        self._parse_special = parse_special
        self._steps: Generator[int, None, array[int]] | None = None
        self.done = 0
        self.total = len(text)

    @_remember
    def advance(self, seconds: float) -> "array[int] | None":
        """Go on for about so long; return the ids as 32-bit integers, None if there is more to do.

        ``done`` of ``total`` characters are encoded then.
        """
        steps = self._steps = self._steps or self._begun()
        end = perf_counter() + seconds
        try:
            while perf_counter() < end:
                self.done = next(steps)
        except StopIteration as stop:
            before, after = _tokenizer(self._handle).frame if self._add_special else ([], [])
            ids: array[int] = stop.value
            return array("i", before) + ids + array("i", after)
        return None

    def _begun(self) -> "Generator[int, None, array[int]]":
        tokenizer = _tokenizer(self._handle)
        key = self._handle, self._parse_special
        if key not in _encoders:
            _encoders[key] = IncrementalEncoder(tokenizer, parse_special=self._parse_special)
        return _encoders[key].encode(self._text)


@_remember
def count_tokens(handle: int, text: str, add_special: bool, parse_special: bool) -> int:
    """Return the number of ids of a text."""
    tokenizer = _tokenizer(handle)
    return tokenizer.count(text, add_special=add_special, parse_special=parse_special)


@_remember
def decode(handle: int, ids: Any) -> str:
    """Return the text of an Int32Array of ids."""
    return _tokenizer(handle).decode(_ids(handle, ids))


@_remember
def pieces(handle: int, ids: Any) -> tuple[bytes, array[int], array[int]]:
    """Return the bytes of an Int32Array of ids: joined, where each ends, and attributes."""
    tokenizer = _tokenizer(handle)
    checked = _ids(handle, ids, lowest=-1)
    # -1 stands for unknown text where a vocabulary has no token for it.
    parts = [b"" if id_ < 0 else tokenizer.decode_token(id_) for id_ in checked]
    attrs = array("i", (0 if id_ < 0 else tokenizer.vocab.attrs[id_] for id_ in checked))
    return b"".join(parts), array("i", accumulate(map(len, parts))), attrs


@_remember
def spans(handle: int, text: str, ids: Any) -> array[int] | None:
    """Return the UTF-16 span of each of an Int32Array of ids in their text, two numbers each."""
    tokenizer = _tokenizer(handle)
    return utf16_spans(text, [tokenizer.decode_token(id_) for id_ in _ids(handle, ids)])


def dispose(handle: int) -> None:
    """Forget a tokenizer.

    Its caches refer to it and it to them, and Python looks for such circles too seldom: a
    vocabulary is few objects, and large. WebAssembly's memory would grow, and never shrinks.
    """
    _tokenizers.pop(handle, None)
    for parse_special in (False, True):
        _encoders.pop((handle, parse_special), None)
    gc.collect()


def _ids(handle: int, ids: Any, lowest: int = 0) -> "array[int]":
    checked = array("i", ids.to_bytes())
    size = len(_tokenizer(handle))
    if checked and not (lowest <= min(checked) and max(checked) < size):
        bad = next(id_ for id_ in checked if not lowest <= id_ < size)
        raise PytokError(f"token id {bad} is not in 0..{size - 1}")
    return checked
