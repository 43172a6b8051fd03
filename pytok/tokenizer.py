"""`Tokenizer`: text to token ids and back, as llama.cpp does it."""

import mmap
import os
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import BinaryIO, Self

from pytok import chunks
from pytok.data.models import MODELS, Kind
from pytok.errors import DoubledTokenWarning, UnsupportedError
from pytok.kinds import KINDS, Encode
from pytok.load import load_vocab
from pytok.piece import byte_piece
from pytok.source import GGUFSource, MetadataSource
from pytok.special import SpecialCutter
from pytok.unicode import is_valid, text_of
from pytok.vocab import Attr, Vocab, byte_vocab

# What is not shown without ``special``.
_HIDDEN = int(Attr.UNKNOWN | Attr.CONTROL)


class Tokenizer:
    """A vocabulary and the functions of its kind.

    >>> Tokenizer.byte_tokenizer().encode("hi")
    [104, 105]
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self._chunkers: dict[bool, chunks.Chunker | None] = {}

    @classmethod
    def from_source(cls, source: MetadataSource) -> Self:
        """Build a tokenizer from metadata.

        Raises: VocabError, UnsupportedError as `pytok.load.load_vocab` says.
        """
        return cls(load_vocab(source))

    @classmethod
    def from_file(cls, file: str | os.PathLike[str] | BinaryIO) -> Self:
        """Build a tokenizer from a GGUF: a path, or a seekable binary file.

        Raises: GGUFError, and what `from_source` raises; OSError as open and read do.
        """
        return cls.from_source(GGUFSource.from_file(file))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview | mmap.mmap) -> Self:
        """Build a tokenizer from a buffer that holds a GGUF, or at least its header.

        Raises: GGUFError, and what `from_source` raises.
        """
        return cls.from_source(GGUFSource.from_bytes(data))

    @classmethod
    def byte_tokenizer(cls) -> Self:
        """Build the tokenizer of no vocabulary: 256 tokens, each byte its own id."""
        return cls(byte_vocab())

    @property
    def kind(self) -> Kind:
        return self.vocab.kind

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the file, one line each; loading went on."""
        return tuple(self.vocab.warnings)

    @property
    def eog_ids(self) -> frozenset[int]:
        """The ids that end generation."""
        return self.vocab.eog_ids

    @cached_property
    def special_tokens(self) -> dict[str, int]:
        """Role -> id of the tokens that have one: bos, eos, eot, unk, pad, fim_pre, nl..."""
        found = dict(self.vocab.special_ids)
        newline = self._newline()
        return found if newline is None else {**found, "nl": newline}

    @cached_property
    def added_tokens(self) -> dict[str, int]:
        """Text -> id of the tokens that are cut out of text before anything else is.

        USER_DEFINED ones always, CONTROL and UNKNOWN ones with ``parse_special``.
        """
        return self.vocab.added_tokens(parse_special=True)

    def attrs(self, token_id: int) -> Attr:
        """Return the attributes of a token.

        Raises: ValueError if there is no such token.
        """
        return Attr(self.vocab.attrs[self._checked(token_id)])

    def __len__(self) -> int:
        """Return the number of tokens in the vocabulary."""
        return len(self.vocab)

    def is_eog(self, token_id: int) -> bool:
        """Whether a token ends generation."""
        return token_id in self.vocab.eog_ids

    def encode(
        self,
        text: str | bytes | bytearray | memoryview,
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> list[int]:
        """Return the token ids of a text.

        ``add_special`` adds the tokens that the metadata wants around a text, such as BOS;
        with ``parse_special`` the texts of control tokens stand for these tokens. Bytes need
        not be UTF-8. No text raises. A BOS or EOS that is added beside one in the text stays, as
        in llama.cpp, with a DoubledTokenWarning.

        Raises: UnsupportedError if the file has no vocabulary by declaration; VocabError if its
        character map points out of itself.

        Source: llama-vocab.cpp, llama_vocab::impl::tokenize @ pin.
        """
        text = text_of(text)
        before, after = self.frame if add_special else ([], [])
        ids = [*before]
        is_first = True
        for part in self._parts(text, parse_special):
            ids += self.encode_part(part, is_first, parse_special=parse_special)
            is_first = False
        ids += after
        if add_special and parse_special:
            self._warn_of_doubles(ids)
        return ids

    def count(
        self,
        text: str | bytes | bytearray | memoryview,
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> int:
        """Return the number of ids that `encode` gives; raises as it does."""
        text = text_of(text)
        total = sum(map(len, self.frame)) if add_special else 0
        is_first = True
        for part in self._parts(text, parse_special):
            total += self._count_part(part, is_first, parse_special)
            is_first = False
        return total

    def encode_part(self, text: str, is_first: bool, *, parse_special: bool) -> list[int]:
        """Return the ids of one of a `chunker`'s chunks; ``is_first`` says that it is the first.

        The text is in the form of `pytok.unicode.text_of`. Nothing is added around it.
        """
        ids: list[int] = []
        encode = self._encode
        after_special = is_first
        for part in self._cutter(parse_special).cut(text):
            if isinstance(part, int):
                ids.append(part)
                after_special = True
            else:
                ids += encode(part, after_special)
                after_special = False
        return ids

    def _count_part(self, text: str, is_first: bool, parse_special: bool) -> int:
        count = getattr(self._encode, "count", None)
        if count is None:
            return len(self.encode_part(text, is_first, parse_special=parse_special))
        total = 0
        after_special = is_first
        for part in self._cutter(parse_special).cut(text):
            total += 1 if isinstance(part, int) else count(part, after_special)
            after_special = isinstance(part, int)
        return total

    def _parts(self, text: str, parse_special: bool) -> Iterable[str]:
        """Cut a long text into chunks, if it can be; each is then as quick as it may be."""
        if len(text) <= chunks.SIZE or not is_valid(text):
            return [text]
        chunker = self.chunker(parse_special=parse_special)
        return chunker.chunks(text) if chunker else [text]

    def chunker(self, *, parse_special: bool) -> chunks.Chunker | None:
        """Return what cuts valid text into parts for `encode_part`; None if nothing can."""
        if parse_special not in self._chunkers:
            can_cut = self.kind in KINDS and KINDS[self.kind].can_cut(self.vocab)
            specials = self.vocab.added_tokens(parse_special)
            self._chunkers[parse_special] = (can_cut and chunks.Chunker(can_cut, specials)) or None
        return self._chunkers[parse_special]

    @cached_property
    def frame(self) -> tuple[list[int], list[int]]:
        """The ids that ``add_special`` puts before and behind a text."""
        return KINDS[self.kind].frame(self.vocab) if self.kind in KINDS else ([], [])

    def decode_token(self, token_id: int, *, special: bool = True) -> bytes:
        """Return the bytes of one token; without ``special`` those of control tokens are none.

        The bytes of a token need not be whole characters.

        Raises: ValueError if there is no such token.
        """
        piece = self._pieces[token_id]
        return piece if special or not self.vocab.has(token_id, _HIDDEN) else b""

    def decode_bytes(self, ids: Iterable[int], *, special: bool = True) -> bytes:
        """Return the bytes of all tokens, one after the other.

        Raises: ValueError if there is no such token.
        """
        if special:
            return b"".join(map(self._pieces.__getitem__, ids))
        return b"".join([self.decode_token(id_, special=False) for id_ in ids])

    def decode(
        self,
        ids: Iterable[int],
        errors: str = "replace",
        *,
        special: bool = True,
        remove_special: bool = False,
    ) -> str:
        """Return the text of ids; ``errors`` is that of bytes.decode.

        ``remove_special`` leaves out the tokens that `encode` adds around a text. The space
        that a vocabulary puts before a text is not part of it: it is left out where the text
        begins, so that encoding and decoding settle.

        Raises: ValueError if there is no such token.
        """
        ids = list(ids)
        if remove_special:
            before, after = self.frame
            ids = ids[len(before) :] if before and ids[: len(before)] == before else ids
            ids = ids[: -len(after)] if after and ids[-len(after) :] == after else ids
        data = self.decode_bytes(ids, special=special)
        if ids and self.vocab.add_space_prefix and self.vocab.has(ids[0], Attr.NORMAL):
            data = data.removeprefix(b" ")
        return data.decode("utf-8", errors)

    def detokenize(
        self, ids: Iterable[int], *, remove_special: bool = False, unparse_special: bool = False
    ) -> bytes:
        """Return text as llama_detokenize gives it, spaces cleaned up as the model wants it.

        ``remove_special`` leaves out the BOS and EOS that `encode` adds; control tokens are
        shown with ``unparse_special`` only.

        Raises: ValueError if there is no such token.

        Source: llama-vocab.cpp, llama_vocab::impl::detokenize @ pin.
        """
        vocab = self.vocab
        ids = list(ids)
        remove_space = vocab.add_space_prefix
        if remove_special and vocab.add_bos and ids[:1] == [vocab.special_ids["bos"]]:
            del ids[0]
            remove_space = False
        if remove_special and vocab.add_eos and ids[-1:] == [vocab.special_ids["eos"]]:
            del ids[-1]
        pieces = [self.decode_token(id_, special=unparse_special) for id_ in ids]
        if pieces and remove_space:
            pieces[0] = pieces[0].removeprefix(b" ")
        text = b"".join(pieces)
        return _clean_spaces(text) if vocab.clean_spaces else text

    def _checked(self, token_id: int) -> int:
        if not 0 <= token_id < len(self.vocab):
            raise ValueError(f"token id {token_id} is not in 0..{len(self.vocab) - 1}")
        return token_id

    def _warn_of_doubles(self, ids: list[int]) -> None:
        bos, eos = map(self.vocab.special_ids.get, ("bos", "eos"))
        for role, added, there in (
            ("BOS", self.vocab.add_bos, ids[1:2] == [bos]),
            ("EOS", self.vocab.add_eos, ids[-2:-1] == [eos]),
        ):
            if added and there:
                warning = f"the text has a {role} already, and another one was added"
                warnings.warn(warning, DoubledTokenWarning, stacklevel=3)

    def _newline(self) -> int | None:
        """Return the token of a newline.

        llama.cpp: llama_vocab::impl::load finds it before it reads special ids, so it is found
        with the model's default ids.
        """
        if self.kind is Kind.SPM:
            return self.vocab.ids.get(byte_piece(ord("\n")), self.vocab.ids.get("\n"))
        if self.kind not in KINDS or self.kind is Kind.BYTE:
            return None
        defaults = MODELS[self.vocab.model].special_ids if self.vocab.model in MODELS else {}
        encode = self._encode
        if defaults.get("unk") != self.vocab.special_ids.get("unk"):
            encode = KINDS[self.kind].encoder(replace(self.vocab, special_ids=defaults))
        ids = encode("\n", False)
        return ids[0] if ids else defaults.get("pad")

    @cached_property
    def _encode(self) -> Encode:
        if self.kind is Kind.NONE:
            raise UnsupportedError(
                f"this file declares to have no vocabulary (tokenizer model {self.vocab.model!r})",
                name=self.vocab.model,
            )
        return KINDS[self.kind].encoder(self.vocab)

    @cached_property
    def _pieces(self) -> "_Pieces":
        return _Pieces(self._piece)

    def _piece(self, token_id: int) -> bytes:
        return KINDS[self.kind].piece(self.vocab, self._checked(token_id))

    def _cutter(self, parse_special: bool) -> SpecialCutter:
        return self._special_cutter if parse_special else self._user_defined_cutter

    @cached_property
    def _special_cutter(self) -> SpecialCutter:
        return SpecialCutter(self.vocab, parse_special=True)

    @cached_property
    def _user_defined_cutter(self) -> SpecialCutter:
        return SpecialCutter(self.vocab, parse_special=False)


class _Pieces(dict[int, bytes]):
    """Token id -> its bytes, found out when they are first wanted."""

    def __init__(self, find: Callable[[int], bytes]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, token_id: int) -> bytes:
        piece = self[token_id] = self._find(token_id)
        return piece


# llama.cpp: detokenize makes these three passes by hand.
_SPACE_BEFORE_PUNCTUATION = re.compile(rb" (?=[?!.,])")
_SPACES_AROUND_APOSTROPHE = re.compile(rb" ' ")
_SPACE_BEFORE_CONTRACTION = re.compile(rb" (?='(?:[sm]|re|ve))")


def _clean_spaces(text: bytes) -> bytes:
    text = _SPACE_BEFORE_PUNCTUATION.sub(b"", text)
    text = _SPACES_AROUND_APOSTROPHE.sub(b"'", text)
    return _SPACE_BEFORE_CONTRACTION.sub(b"", text)
