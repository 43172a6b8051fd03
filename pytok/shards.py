"""Large models come in parts, and only the first holds the tokenizer: tell parts by their names.

Source: llama.cpp src/llama.cpp, llama_split_path ("%s-%05d-of-%05d.gguf") @ pin; the other two
ways to cut a file are plain cuts that uploaders use, to be joined again by whoever downloads.
"""

import re
from typing import NamedTuple


class Shard(NamedTuple):
    """A part of a model: ``number`` counts from 1, ``first`` is the name of part 1."""

    number: int
    first: str


# The part's number is the group "number"; "one" is how part 1 writes it.
_PATTERNS = (
    (re.compile(r"-(?P<number>[0-9]{5})-of-[0-9]{5}\.gguf\Z", re.IGNORECASE), "00001"),
    (re.compile(r"\.gguf\.part(?P<number>[0-9]{1,4})of[0-9]{1,4}\Z", re.IGNORECASE), "1"),
    (re.compile(r"\.gguf-split-(?P<number>[a-z])\Z", re.IGNORECASE), "a"),
)


def shard_of(name: str) -> Shard | None:
    """Tell which part of a model a file's name says that it is; None if it says nothing.

    >>> shard_of("big-00002-of-00005.gguf")
    Shard(number=2, first='big-00001-of-00005.gguf')
    """
    for pattern, one in _PATTERNS:
        if found := pattern.search(name):
            text = found["number"]
            number = int(text) if text.isdigit() else ord(text.lower()) - ord("a") + 1
            start, end = found.span("number")
            return Shard(number, name[:start] + one + name[end:])
    return None
