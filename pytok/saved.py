"""Keep a loaded vocabulary: as bytes, from which it is there again in a fraction of the time.

It is JSON, so that reading it back can run nothing, whoever wrote it. The bytes are good for
the version of pytok that made them and no other; who keeps them keeps that beside them.
"""

import json
from array import array
from dataclasses import fields
from typing import Any

from pytok.data.models import Kind
from pytok.data.pretokenizers import PRETOKENIZERS
from pytok.vocab import Vocab


def save_vocab(vocab: Vocab) -> bytes:
    """Return a vocabulary as bytes for `restore_vocab`."""
    values: dict[str, Any] = {field.name: getattr(vocab, field.name) for field in fields(Vocab)}
    names = (name for name, row in PRETOKENIZERS.items() if row is vocab.pretokenizer)
    values |= {
        "kind": vocab.kind.name,
        "pretokenizer": next(names, None),
        "pieces": list(vocab.pieces),
        "keys": list(vocab.keys),
        "scores": list(vocab.scores),
        "merges": list(vocab.merges),
        "eog_ids": sorted(vocab.eog_ids),
        "charsmap": vocab.charsmap.hex(),
    }
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")


def restore_vocab(data: bytes) -> Vocab:
    """Return the vocabulary that `save_vocab` made bytes of.

    Raises: ValueError, KeyError or TypeError if they are not its bytes.
    """
    values = json.loads(data.decode("utf-8", "surrogatepass"))
    pre = values["pretokenizer"]
    values |= {
        "kind": Kind[values["kind"]],
        "pretokenizer": None if pre is None else PRETOKENIZERS[pre],
        "scores": array("f", values["scores"]),
        "eog_ids": frozenset(values["eog_ids"]),
        "charsmap": bytes.fromhex(values["charsmap"]),
    }
    return Vocab(**values)
