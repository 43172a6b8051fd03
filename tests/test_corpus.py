"""Every golden row of every model that is supported: the ids are llama.cpp's."""

import hashlib
from itertools import chain
from typing import Any

import golden
import pytest

from pytok import Attr, Kind, PytokError, UnsupportedError, Vocab
from pytok.load import load_vocab

BASES = ("synth-bpe-byte", "synth-bpe-probe", "synth-bpe-raw")
PRE_MODELS = [(base, pre) for base in BASES for pre in golden.pre_names(base)]
# Roles that several tokens may claim by their texts: llama.cpp then takes any of them.
CLAIMED_BY_TEXT = {"eot", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"}
ALL_PRE = [(base, pre) for base, names in golden.pre_manifest().items() for pre in names]


def test_the_corpus_is_whole() -> None:
    assert len(golden.pre_names("synth-bpe-byte")) == 91
    assert len(golden.names()) == 58


@pytest.mark.parametrize("name", golden.names())
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


def check_facts(vocab: Vocab, want: dict[str, Any]) -> None:
    assert sorted(vocab.eog_ids) == want["eog_ids"]
    assert {"bos": vocab.add_bos, "eos": vocab.add_eos, "sep": vocab.add_sep} == {
        role: want[f"add_{role}"] for role in ("bos", "eos", "sep")
    }
    for role, id_ in want["special_ids"].items():
        if role not in CLAIMED_BY_TEXT | {"nl"}:
            assert vocab.special_ids.get(role, -1) == id_, role
        elif id_ == -1 and role != "nl":
            assert role not in vocab.special_ids


@pytest.mark.parametrize("name", golden.names())
def test_facts(name: str) -> None:
    want = golden.facts()[name]
    vocab = load_vocab(golden.source(want["file"], want.get("set")))
    assert vocab.kind is Kind[want["type"]]
    assert len(vocab) == want["n_tokens"]
    check_facts(vocab, want)
    assert attr_ranges(vocab) == want["attr_ranges"]


@pytest.mark.parametrize(("base", "pre"), ALL_PRE)
def test_facts_of_pre_tokenizer_names(base: str, pre: str) -> None:
    want = golden.pre_manifest()[base][pre]
    source = golden.source(want["base"], want["set"])
    if want.get("newer_than_source") or not want["accepted"]:
        # Known: names that the pin does not know. They are refused, and named.
        with pytest.raises(UnsupportedError, match=f"'{pre}'"):
            load_vocab(source)
    else:
        check_facts(load_vocab(source), want)


@pytest.mark.parametrize("name", golden.names())
def test_the_newline_token(name: str) -> None:
    special = golden.model(name).special_tokens
    assert special.get("nl", -1) == golden.facts()[name]["special_ids"]["nl"]


REFUSED = [name for name, info in golden.facts().items() if "refused" in info]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(PytokError):
        golden.model(name)


@pytest.mark.parametrize("name", golden.names())
def test_every_piece(name: str) -> None:
    tokenizer = golden.model(name)
    for what, digest in golden.facts()[name]["pieces_sha256"].items():
        hashed = hashlib.sha256()
        for id_ in range(len(tokenizer)):
            piece = tokenizer.decode_token(id_, special=what == "special")
            hashed.update(len(piece).to_bytes(4, "little") + piece)
        assert hashed.hexdigest() == digest, what


def attr_ranges(vocab: Vocab) -> dict[str, list[list[int]]]:
    """Return attribute names -> inclusive ranges of ids, of all tokens not just NORMAL."""
    ranges: dict[str, list[list[int]]] = {}
    for id_, bits in enumerate(vocab.attrs):
        if bits == Attr.NORMAL:
            continue
        found: Any = ranges.setdefault("+".join(a.name or "" for a in Attr if a & bits), [])
        if found and found[-1][1] == id_ - 1:
            found[-1][1] = id_
        else:
            found.append([id_, id_])
    return ranges
