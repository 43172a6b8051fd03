"""RWKV: the longest piece at each place; pieces are written as escaped literals."""

from pytok.match import Matcher
from pytok.unicode import bytes_of
from pytok.vocab import Vocab

_ESCAPES = {ord("t"): b"\t", ord("n"): b"\n", ord("r"): b"\r"}


def unescape(text: str) -> bytes:
    r"""Return the bytes of an escaped literal.

    >>> unescape(r"a\n\x00\\")
    b'a\n\x00\\'

    Source: llama-vocab.cpp, llama_unescape_rwkv_token @ pin.
    """
    data = bytes_of(text)
    found = bytearray()
    pos = 0
    while pos < len(data):
        if data[pos] != ord("\\"):
            found.append(data[pos])
            pos += 1
            continue
        code = data[pos + 1 : pos + 2]
        if code == b"x":
            digits = data[pos + 2 : pos + 4]
            if len(digits) == 2:
                high, low = map(_hex_digit, digits)
                found.append((high << 4) + low & 0xFF)
            pos += 4
        else:
            found += _ESCAPES.get(code[0], code) if code else b""
            pos += 2
    return bytes(found)


def _hex_digit(byte: int) -> int:
    # llama.cpp: anything below "a", bytes beyond ASCII included, counts from "0".
    return byte - ord("a") + 10 if ord("a") <= byte < 0x80 else byte - ord("0") & 0xFF


class Encoder:
    """Turns text between special tokens into ids.

    Source: llama-vocab.cpp, llm_tokenizer_rwkv_session @ pin.
    """

    def __init__(self, vocab: Vocab) -> None:
        ids = {unescape(piece): id_ for id_, piece in enumerate(vocab.pieces)}
        ids.pop(b"", None)
        self._longest = Matcher(ids).longest
        self._unk = vocab.special_ids.get("unk", -1)

    def __call__(self, text: str, after_special: bool) -> list[int]:
        data = bytes_of(text)
        ids: list[int] = []
        pos = 0
        while pos < len(data):
            found = self._longest(data, pos)
            if found is not None:
                pos, id_ = found
                ids.append(id_)
            else:
                pos += 1
                ids.append(self._unk)
        return ids


def frame(vocab: Vocab) -> tuple[list[int], list[int]]:
    """Return what stands around a text: nothing, whatever the flags say."""
    return [], []


def piece(vocab: Vocab, token_id: int) -> bytes:
    """Return a token's bytes."""
    return unescape(vocab.pieces[token_id])
