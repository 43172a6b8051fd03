"""From metadata to a vocabulary.

Everything that llama.cpp derives while it loads is derived here, by its rules; where it
only warns, a line goes to ``warnings``.

Source: llama-vocab.cpp, llama_vocab::impl::load @ pin.
"""

import difflib
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from operator import contains
from typing import NamedTuple

from pytok import keys
from pytok.data.models import MODELS, Kind, Model
from pytok.data.pretokenizers import DEFAULT, PRETOKENIZERS, Pretokenizer
from pytok.data.token_texts import (
    EOG_ROLES,
    EOG_TEXTS,
    NOT_EOG_BESIDE,
    ROLE_TEXTS,
    UNUSED_MARK,
    USER_DEFINED_TEXTS,
)
from pytok.errors import UnsupportedError, VocabError, quoted
from pytok.gguf import Strings, ValueType
from pytok.source import MetadataSource
from pytok.unicode import bytes_of
from pytok.vocab import SPECIAL_ATTRS, Attr, Vocab, byte_ids, byte_vocab, with_attr

# All bytes but those that tell whether merge lines are of the usual kind.
_ALL_BUT_SPACE_AND_NUL = bytes({*range(256)} - {0, 0x20})

# tokenizer.ggml.token_type -> attribute; any other number is UNDEFINED.
_TYPE_ATTR = {
    1: Attr.NORMAL,
    2: Attr.UNKNOWN,
    3: Attr.CONTROL,
    4: Attr.USER_DEFINED,
    5: Attr.UNUSED,
    6: Attr.BYTE,
}

# The same, for bytes.translate.
_ATTR_OF_TYPE = bytes(int(_TYPE_ATTR.get(type_, 0)) for type_ in range(256))


def load_vocab(source: MetadataSource) -> Vocab:
    """Derive a `Vocab` from metadata.

    The declared model decides the kind. Without a model, merges without scores make a BPE
    and scores an SPM vocabulary; without tokens there is only the BYTE kind.

    Raises: VocabError where the keys contradict the format or each other, UnsupportedError
    for a model or pre-tokenizer that is not known.
    """
    name = _text(source, keys.MODEL)
    if name in MODELS and MODELS[name].kind is Kind.NONE:
        return Vocab(Kind.NONE, model=name, warnings=tuple(source.warnings))
    pieces: Sequence[str] | None = source.meta_array(keys.TOKENS, ValueType.STRING)
    if not pieces:
        warning = "there is no vocabulary in this file: every byte is shown as a token"
        return replace(byte_vocab(), model=name, warnings=(*source.warnings, warning))

    warnings = list(source.warnings)
    keyed = _named(_c_strings(pieces), warnings)
    scores = _scores(source, len(keyed), warnings)
    model = _model(source, name, scores is not None)
    attrs = _attrs(source, len(keyed), warnings)
    # Only BPE has a pre-tokenizer; the others take nothing from its row.
    is_bpe = model.kind is Kind.BPE
    pre = _pretokenizer(source, model, warnings) if is_bpe else Pretokenizer(())
    pieces = _unmarked(keyed, model.marker)
    vocab = Vocab(
        kind=model.kind,
        model=name,
        pretokenizer=pre if is_bpe else None,
        pieces=pieces,
        keys=() if pieces is keyed else keyed,
        scores=scores or (),
        merges=_merges(source, pre, warnings) if is_bpe else (),
        attrs=attrs,
        types=tuple(attrs),
        charsmap=_charsmap(source) if model.kind is Kind.UGM else b"",
        remove_extra_whitespaces=_flag(source, keys.REMOVE_EXTRA_WHITESPACES, False),
        add_space_prefix=_flag(source, keys.ADD_SPACE_PREFIX, model.add_space_prefix),
        clean_spaces=pre.clean_spaces if is_bpe else model.clean_spaces,
        lowercase=(lowercase := _flag(source, keys.LOWERCASE, not pre.keep_case)),
        strip_accents=_flag(source, keys.STRIP_ACCENTS, lowercase),
    )
    if model.kind is Kind.PLAMO2:
        _check_byte_tokens(source, vocab)
    _check_duplicates(vocab, warnings)
    specials = _special_tokens(source, model, pre, vocab, attrs, warnings)
    _strip_attrs(source, vocab, attrs)
    add_bos = _flag(source, keys.ADD_BOS, model.add_bos or pre.add_bos)
    if pre.force_bos and not add_bos:
        warnings.append("BOS is added although the file says otherwise, as llama.cpp does")
    add = {"bos": add_bos or pre.force_bos, "eos": _flag(source, keys.ADD_EOS, model.add_eos)}
    if model.kind in (Kind.WPM, Kind.UGM, Kind.RWKV) and "unk" not in specials.ids:
        warnings.append("there is no token for unknown text; like llama.cpp, -1 stands for it")
    for role, wanted in add.items():
        if wanted and role not in specials.ids:
            warnings.append(f"{role.upper()} is to be added, but there is no such token")
    return vocab.with_specials(
        special_ids=specials.ids,
        eog_ids=frozenset(specials.eog),
        add_bos=add["bos"] and "bos" in specials.ids,
        add_eos=add["eos"] and "eos" in specials.ids,
        add_sep=_flag(source, keys.ADD_SEP, model.add_sep or pre.add_sep),
        warnings=tuple(warnings),
    )


def _text(source: MetadataSource, key: str) -> str:
    """Return a string, "" if it is absent; llama.cpp reads strings up to a NUL."""
    return (source.meta_str(key) or "").partition("\0")[0]


def _c_strings(texts: Sequence[str]) -> Sequence[str]:
    """Cut texts at a NUL, as llama.cpp does."""
    if isinstance(texts, Strings) or not any(map(contains, texts, repeat("\0"))):
        return texts
    return [text.partition("\0")[0] for text in texts]


def _flag(source: MetadataSource, key: str, default: bool) -> bool:
    value = source.meta_bool(key)
    return default if value is None else value


def _named(pieces: Sequence[str], warnings: list[str]) -> Sequence[str]:
    """Give empty pieces the name that llama.cpp gives them."""
    if all(pieces):
        return pieces
    empty = [id_ for id_, piece in enumerate(pieces) if not piece]
    warnings.append(f"{len(empty)} tokens are empty, the first is {empty[0]}")
    pieces = list(pieces)
    for id_ in empty:
        pieces[id_] = f"[EMPTY_{id_}]"
    return pieces


def _unmarked(pieces: Sequence[str], marker: str) -> Sequence[str]:
    """Take the marker off the pieces that carry it: those behind ``<oov>``.

    Source: llama-vocab.cpp, llama_vocab::impl::load, dna_kmer_marker @ pin.
    """
    if not marker or "<oov>" not in pieces:
        return pieces
    start = pieces.index("<oov>") + 1
    return [
        *pieces[:start],
        *(piece.removesuffix(marker) if piece != marker else piece for piece in pieces[start:]),
    ]


def _scores(source: MetadataSource, count: int, warnings: list[str]) -> Sequence[float] | None:
    scores = source.meta_array(keys.SCORES, ValueType.FLOAT32, ValueType.INT32)
    if scores is None:
        return None
    _check_length(source, keys.SCORES, len(scores), count, warnings)
    # Their sum is a number only if all are; else it may still be infinity less infinity.
    if math.isnan(sum(scores)) and any(map(math.isnan, scores)):
        warnings.append("some scores are not a number; such tokens are merged last")
    return array("f", scores[:count])


def _attrs(source: MetadataSource, count: int, warnings: list[str]) -> list[int]:
    types = source.meta_array(keys.TOKEN_TYPE, ValueType.INT32)
    if types is None:
        return [int(Attr.NORMAL)] * count
    _check_length(source, keys.TOKEN_TYPE, len(types), count, warnings)
    types = types[:count]
    if min(types) >= 0 and max(types) <= max(_TYPE_ATTR):
        return [*bytes(types.tolist()).translate(_ATTR_OF_TYPE)]
    attr_of = {0: 0, **{type_: int(attr) for type_, attr in _TYPE_ATTR.items()}}
    if odd := {*types} - attr_of.keys():
        warnings.append(f"unknown token types, read as undefined: {sorted(odd)[:5]}")
        attr_of |= dict.fromkeys(odd, 0)
    return [*map(attr_of.__getitem__, types)]


def _check_length(
    source: MetadataSource, key: str, length: int, count: int, warnings: list[str]
) -> None:
    if length < count:
        raise VocabError(
            f"{length} items for {count} tokens", offset=source.meta_offset(key), key=key
        )
    if length > count:
        warnings.append(f"{quoted(key)} has {length} items for {count} tokens")


def _model(source: MetadataSource, name: str, has_scores: bool) -> Model:
    if name in MODELS:
        return MODELS[name]
    if name:
        reason = f"unknown tokenizer model {_with_near(name, MODELS)}"
        offset = source.meta_offset(keys.MODEL)
        raise UnsupportedError(reason, name=name, offset=offset, key=keys.MODEL)
    if has_scores:
        return MODELS["llama"]
    if source.meta_array(keys.MERGES, ValueType.STRING):
        return MODELS["gpt2"]
    raise VocabError(
        "no tokenizer model is declared, and there are neither merges nor scores to tell it by",
        offset=source.meta_offset(keys.TOKENS),
        key=keys.MODEL,
    )


def _with_near(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name[:100], known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"{quoted(name)}{hint}"


def _merges(source: MetadataSource, pre: Pretokenizer, warnings: list[str]) -> Sequence[str]:
    merges: Sequence[str] | None = source.meta_array(keys.MERGES, ValueType.STRING)
    if merges is None and pre.merges_optional:
        return ()
    if merges is None:
        raise VocabError(
            "a BPE vocabulary needs merges, there are none",
            offset=source.meta_offset(keys.MODEL),
            key=keys.MERGES,
        )
    # A rule is cut at the first space after its first character; more spaces, or none, make
    # a rule that no two symbols can ever meet. Usual are two pieces with one between them.
    joined = merges.joined if isinstance(merges, Strings) else bytes_of("\0".join(merges))
    joined = b"\0%b\0" % joined
    signs = joined.translate(None, _ALL_BUT_SPACE_AND_NUL)
    if signs == b"\0 " * len(merges) + b"\0" and not (b"\0 " in joined or b" \0" in joined):
        return merges
    merges = _c_strings(merges)
    odd = [rank for rank, line in enumerate(merges) if line.count(" ", 1) != 1 or line[-1:] == " "]
    if odd:
        warnings.append(f"{len(odd)} merges are not two pieces, the first has rank {odd[0]}")
    return merges


def _pretokenizer(source: MetadataSource, model: Model, warnings: list[str]) -> Pretokenizer:
    name = model.pre or _text(source, keys.PRE)
    if not name:
        warnings.append(
            f"{quoted(keys.PRE)} is missing: llama.cpp's {DEFAULT!r} pre-tokenizer is used, "
            "which may not be the model's own"
        )
        return PRETOKENIZERS[DEFAULT]
    if name not in PRETOKENIZERS:
        shown = _with_near(name, PRETOKENIZERS)
        reason, offset = f"unknown pre-tokenizer {shown}", source.meta_offset(keys.PRE)
        raise UnsupportedError(reason, name=name, offset=offset, key=keys.PRE)
    return PRETOKENIZERS[name]


def _charsmap(source: MetadataSource) -> bytes:
    items = source.meta_array(keys.CHARSMAP, ValueType.INT8, ValueType.UINT8)
    if items is None:
        return b""
    blob = bytes(items) if items.typecode == "B" else items.tobytes()
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 4 or 4 + size >= len(blob):
        reason = f"the character map claims {size} bytes of {len(blob)}"
        raise VocabError(reason, offset=source.meta_offset(keys.CHARSMAP), key=keys.CHARSMAP)
    return blob


def _check_byte_tokens(source: MetadataSource, vocab: Vocab) -> None:
    found = byte_ids(vocab)
    for byte in range(256):
        if not found.get(byte):  # llama.cpp: id 0 counts as none
            reason = f"there is no token for the byte 0x{byte:02X}"
            raise VocabError(reason, offset=source.meta_offset(keys.TOKENS), key=keys.TOKENS)


def _check_duplicates(vocab: Vocab, warnings: list[str]) -> None:
    if len(vocab.ids) == len(vocab.pieces):
        return
    extra = [id_ for id_, piece in enumerate(vocab.pieces) if vocab.ids[piece] != id_]
    first = vocab.pieces[extra[0]]
    warnings.append(
        f"{len(extra)} pieces appear twice, the first is {quoted(first)} "
        f"with ids {vocab.ids[first]} and {extra[0]}; text finds the lower id"
    )


class _Specials(NamedTuple):
    ids: dict[str, int]
    eog: set[int]


def _special_tokens(
    source: MetadataSource,
    model: Model,
    pre: Pretokenizer,
    vocab: Vocab,
    attrs: list[int],
    warnings: list[str],
) -> _Specials:
    """Find the special tokens, and set the attributes that follow from their texts."""
    defaults = dict(model.special_ids)
    if pre.no_default_bos:
        del defaults["bos"]
    ids = _declared_ids(source, defaults, len(vocab), warnings)

    def find(texts: frozenset[str] | tuple[str, ...]) -> list[int]:
        return sorted(vocab.ids[text] for text in texts if text in vocab.ids)

    for role, texts in ROLE_TEXTS.items():
        found = find(texts)
        if role not in ids and found:
            ids[role] = found[0]
            attrs[found[0]] |= Attr.CONTROL
    for id_ in with_attr(attrs, int(Attr.CONTROL)):
        if UNUSED_MARK in vocab.pieces[id_]:
            attrs[id_] |= int(Attr.UNUSED)
    for id_ in find(EOG_TEXTS):
        attrs[id_] |= Attr.CONTROL
    for id_ in find(USER_DEFINED_TEXTS):
        attrs[id_] = int(Attr.USER_DEFINED)

    eog = {ids[role] for role in EOG_ROLES if role in ids} | set(find(EOG_TEXTS))
    for text, companies, attr_name in NOT_EOG_BESIDE:
        eog_texts = {vocab.pieces[id_] for id_ in eog}
        if text in eog_texts and any(company <= eog_texts for company in companies):
            eog.discard(vocab.ids[text])
            attrs[vocab.ids[text]] = int(Attr[attr_name])
    return _Specials(ids, eog)


def _declared_ids(
    source: MetadataSource, defaults: dict[str, int], count: int, warnings: list[str]
) -> dict[str, int]:
    """Return the special ids that the metadata or the model's defaults give, in range."""
    ids = {}
    for role, role_keys in keys.SPECIAL_IDS.items():
        id_ = defaults.get(role)
        if id_ is not None and id_ >= count:
            id_ = None
        for key in role_keys:
            declared = source.meta_int(key)
            if declared is not None and declared >= count:
                warnings.append(
                    f"{quoted(key)} is {declared}, but there are {count} tokens; it is ignored"
                )
            elif declared is not None:
                id_ = declared
        if id_ is not None:
            ids[role] = id_
    return ids


def _strip_attrs(source: MetadataSource, vocab: Vocab, attrs: list[int]) -> None:
    """Set LSTRIP and RSTRIP, which llama.cpp derives from names: no file can carry them."""
    pre = _text(source, keys.PRE)
    arch = _text(source, keys.ARCHITECTURE)
    # llama.cpp lower-cases by byte, which touches ASCII only.
    name = _text(source, keys.NAME).encode("utf-8", "surrogateescape").lower()
    if any(part in pre for part in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
        part in arch for part in ("nomic-bert-moe", "jina-bert-v3")
    ):
        _add_attr(vocab, attrs, "<mask>", Attr.LSTRIP)
    elif b"phi-3" in name or b"phi3" in name:
        for id_, attr in enumerate(attrs):
            if attr & SPECIAL_ATTRS:
                attrs[id_] |= Attr.RSTRIP
        for text in ("</s>", "<unk>", "<s>", "<|endoftext|>"):
            if text not in vocab.ids:
                reason = f"the model's name says phi-3, but its token {text!r} is missing"
                raise VocabError(reason, offset=source.meta_offset(keys.NAME), key=keys.NAME)
            attrs[vocab.ids[text]] &= ~Attr.RSTRIP
        _add_attr(vocab, attrs, "</s>", Attr.RSTRIP)
    elif b"modern-bert" in name:
        _add_attr(vocab, attrs, "[MASK]", Attr.LSTRIP)


def _add_attr(vocab: Vocab, attrs: list[int], text: str, attr: Attr) -> None:
    if text in vocab.ids:
        attrs[vocab.ids[text]] |= attr
