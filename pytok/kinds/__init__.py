"""The table of kinds: how each turns text into ids, and an id into bytes."""

from collections.abc import Callable
from typing import NamedTuple

from pytok.data.models import Kind
from pytok.kinds import bpe, byte, spm
from pytok.vocab import Vocab

# (text, whether it begins the whole text or follows a special token) -> ids. The text is in
# the form of `pytok.unicode.text_of`, holds no special token and is not empty.
Encode = Callable[[str, bool], list[int]]


class KindFunctions(NamedTuple):
    """What a kind can do."""

    encoder: Callable[[Vocab], Encode]
    piece: Callable[[Vocab, int], bytes]


KINDS = {
    Kind.SPM: KindFunctions(spm.Encoder, spm.piece),
    Kind.BPE: KindFunctions(bpe.encoder, bpe.piece),
    Kind.BYTE: KindFunctions(byte.Encoder, byte.piece),
}
