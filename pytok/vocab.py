"""The vocabulary: pieces, scores, ranks, attributes, special tokens."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from functools import cached_property
from typing import Any

from pytok.data.models import Kind
from pytok.data.pretokenizers import Pretokenizer


class Attr(IntFlag):
    """Attributes of a token. Source: llama.h, llama_token_attr @ pin."""

    UNDEFINED = 0
    UNKNOWN = 1
    UNUSED = 2
    NORMAL = 4
    CONTROL = 8
    USER_DEFINED = 16
    BYTE = 32
    NORMALIZED = 64
    LSTRIP = 128
    RSTRIP = 256
    SINGLE_WORD = 512


# <0xNN>, hexadecimal digits of either case.
_BYTE_PIECE = re.compile("<0x([0-9A-Fa-f]{2})>")
# Wherever every token is looked at, attributes are plain ints: those of an IntFlag take ten
# times as long.
SPECIAL_ATTRS = int(Attr.CONTROL | Attr.USER_DEFINED | Attr.UNKNOWN)


@dataclass(frozen=True)
class Vocab:
    """A vocabulary as it was loaded; nothing in it changes afterwards.

    ``pieces[id]`` is a token's text in the form of `pytok.unicode.text_of`, ``attrs[id]`` its
    `Attr` bits. ``special_ids`` maps a role such as "bos" or "fim_pre" to an id, roles
    without a token are absent. ``keys[id]`` is what text finds a token by, where that is not
    its piece; ``types[id]`` the attribute that the file itself gives, which some kinds go by.
    """

    kind: Kind
    model: str = ""
    pretokenizer: Pretokenizer | None = None
    pieces: Sequence[str] = ()
    keys: Sequence[str] = ()
    scores: Sequence[float] = ()
    merges: Sequence[str] = ()
    attrs: Sequence[int] = ()
    types: Sequence[int] = ()
    special_ids: Mapping[str, int] = field(default_factory=dict)
    eog_ids: frozenset[int] = frozenset()
    add_bos: bool = False
    add_eos: bool = False
    add_sep: bool = False
    add_space_prefix: bool = False
    clean_spaces: bool = False
    remove_extra_whitespaces: bool = False
    lowercase: bool = False
    strip_accents: bool = False
    charsmap: bytes = b""
    warnings: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Piece (or its key) -> token id; of equal ones the lower id."""
        texts = self.keys or self.pieces
        return dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Merge line ``"left right"`` -> rank; of equal lines the lower rank.

        llama.cpp: llama_vocab::impl::load splits a line at the first space after its first
        byte, and find_bpe_rank refuses symbols with a space, so the line itself is the key.
        """
        merges = self.merges
        return dict(zip(reversed(merges), range(len(merges) - 1, -1, -1), strict=True))

    def with_specials(self, **changes: Any) -> "Vocab":
        """Return a copy with changes that do not touch how text finds a token."""
        copy = replace(self, **changes)
        vars(copy)["ids"] = self.ids
        return copy

    def added_tokens(self, parse_special: bool) -> dict[str, int]:
        """Return text -> id of the tokens that are cut out of text; of equal ones the lower id.

        USER_DEFINED ones always, CONTROL and UNKNOWN ones only with ``parse_special``, also
        where they are USER_DEFINED beside.
        """
        unwanted = 0 if parse_special else int(Attr.CONTROL | Attr.UNKNOWN)
        wanted = [id_ for id_ in self._special_ids if not self.attrs[id_] & unwanted]
        return {self.pieces[id_]: id_ for id_ in reversed(wanted)}

    @cached_property
    def _special_ids(self) -> list[int]:
        return with_attr(self.attrs, SPECIAL_ATTRS)

    def has(self, token_id: int, attr: int) -> bool:
        """Whether a token has any of the attributes."""
        return bool(self.attrs[token_id] & attr)


def with_attr(attrs: Sequence[int], wanted: int) -> list[int]:
    """Return the ids of the tokens that have any of the wanted attributes."""
    if max(attrs, default=0) > 0xFF:
        return [id_ for id_, attr in enumerate(attrs) if attr & wanted]
    # As bytes they are looked through in C, and most have none.
    table = bytes(bool(attr & wanted) for attr in range(256))
    return [found.start() for found in re.finditer(b"\1", bytes(attrs).translate(table))]


def byte_vocab() -> Vocab:
    """Return the vocabulary of 256 bytes, each its own id."""
    pieces = [bytes([byte]).decode("utf-8", "surrogateescape") for byte in range(256)]
    types = [int(Attr.NORMAL)] * 256
    return Vocab(Kind.BYTE, pieces=pieces, attrs=types, types=types)


def byte_value(piece: str) -> int | None:
    """Return the byte that ``<0xNN>`` stands for; None if a piece is not of this form."""
    match = _BYTE_PIECE.fullmatch(piece)
    return int(match[1], 16) if match else None


def byte_ids(vocab: Vocab) -> dict[int, int]:
    """Return byte -> id of the BYTE tokens ``<0xNN>``; of several the last."""
    return {
        byte: id_
        for id_, type_ in enumerate(vocab.types)
        if type_ & Attr.BYTE and (byte := byte_value(vocab.pieces[id_])) is not None
    }
