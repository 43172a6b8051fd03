"""The table of kinds: how each turns text into ids, and an id into bytes."""

from collections.abc import Callable
from typing import NamedTuple

from pytok.chunks import CanCut
from pytok.data.models import Kind
from pytok.kinds import bpe, byte, plamo2, rwkv, spm, ugm, wpm
from pytok.vocab import Vocab

# (text, whether it begins the whole text or follows a special token) -> ids. The text is in
# the form of `pytok.unicode.text_of`, holds no special token and is not empty.
Encode = Callable[[str, bool], list[int]]


class KindFunctions(NamedTuple):
    """What a kind can do.

    ``frame`` gives the ids before and after a text with add_special, ``can_cut`` tells where a
    long text can be cut into parts that are encoded one by one.
    """

    encoder: Callable[[Vocab], Encode]
    piece: Callable[[Vocab, int], bytes]
    frame: Callable[[Vocab], tuple[list[int], list[int]]]
    can_cut: Callable[[Vocab], CanCut | None] = lambda _: None


def declared_frame(vocab: Vocab) -> tuple[list[int], list[int]]:
    """Return BOS and EOS where the vocabulary wants them."""
    ids = vocab.special_ids
    return [ids["bos"]] if vocab.add_bos else [], [ids["eos"]] if vocab.add_eos else []


KINDS = {
    Kind.SPM: KindFunctions(spm.Encoder, spm.piece, declared_frame, spm.can_cut),
    Kind.BPE: KindFunctions(bpe.encoder, bpe.piece, declared_frame, bpe.can_cut),
    Kind.WPM: KindFunctions(wpm.Encoder, wpm.piece, wpm.frame),
    Kind.UGM: KindFunctions(ugm.Encoder, ugm.piece, declared_frame),
    Kind.RWKV: KindFunctions(rwkv.Encoder, rwkv.piece, rwkv.frame),
    # Newer than the pin, which adds nothing to a PLaMo-2 text: llama.cpp goes by the flags now.
    Kind.PLAMO2: KindFunctions(plamo2.Encoder, plamo2.piece, declared_frame),
    Kind.BYTE: KindFunctions(byte.Encoder, byte.piece, declared_frame),
}
