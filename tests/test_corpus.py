"""Every golden row of every model that is supported: the ids are llama.cpp's."""

import hashlib
from itertools import chain
from typing import Any

import golden
import pytest

from pytok import Attr, Kind, Tokenizer

PRE_MODELS = [(base, pre) for base in golden.PRE_BASES for pre in golden.PRE_NAMES]
# Roles that several tokens may claim by their texts: llama.cpp then takes any of them.
CLAIMED_BY_TEXT = {"eot", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"}


@pytest.mark.parametrize("name", golden.NAMES)
def test_rows(name: str) -> None:
    rows = list(chain(*(golden.rows(kind, name) for kind in ("vocab", "badutf8", "detok"))))
    assert len(rows) > 100
    different = golden.differences(golden.model(name), rows)
    assert not different, "\n".join(different[:5])


@pytest.mark.parametrize(("base", "pre"), PRE_MODELS)
def test_pre_tokenizer_rows(base: str, pre: str) -> None:
    rows = golden.rows("pre", base) + golden.rows("pre", f"{base}-detok")
    rows = [row for row in rows if row["pre"] == pre]
    assert len(rows) > 100
    different = golden.differences(golden.pre_model(base, pre), rows)
    assert not different, "\n".join(different[:5])


@pytest.mark.parametrize("name", golden.NAMES)
def test_facts(name: str) -> None:
    want = golden.facts()[name]
    tokenizer = golden.model(name)
    vocab = tokenizer.vocab
    assert vocab.kind is Kind[want["type"]]
    assert len(tokenizer) == want["n_tokens"]
    assert sorted(tokenizer.eog_ids) == want["eog_ids"]
    assert {"bos": vocab.add_bos, "eos": vocab.add_eos, "sep": vocab.add_sep} == {
        role: want[f"add_{role}"] for role in ("bos", "eos", "sep")
    }
    for role, id_ in want["special_ids"].items():
        if role not in CLAIMED_BY_TEXT | {"nl"}:
            assert vocab.special_ids.get(role, -1) == id_, role
    assert attr_ranges(tokenizer) == want["attr_ranges"]


@pytest.mark.parametrize("name", golden.NAMES)
def test_every_piece(name: str) -> None:
    tokenizer = golden.model(name)
    for what, digest in golden.facts()[name]["pieces_sha256"].items():
        hashed = hashlib.sha256()
        for id_ in range(len(tokenizer)):
            piece = tokenizer.decode_token(id_, special=what == "special")
            hashed.update(len(piece).to_bytes(4, "little") + piece)
        assert hashed.hexdigest() == digest, what


def attr_ranges(tokenizer: Tokenizer) -> dict[str, list[list[int]]]:
    """Return attribute names -> inclusive ranges of ids, of all tokens not just NORMAL."""
    ranges: dict[str, list[list[int]]] = {}
    for id_, bits in enumerate(tokenizer.vocab.attrs):
        if bits == Attr.NORMAL:
            continue
        found: Any = ranges.setdefault("+".join(a.name or "" for a in Attr if a & bits), [])
        if found and found[-1][1] == id_ - 1:
            found[-1][1] = id_
        else:
            found.append([id_, id_])
    return ranges
