"""What the peers read instead of a GGUF: tokenizer.json, made from the same vocabularies."""

import json
from pathlib import Path
from typing import Any

from pytok import GGUFSource, keys
from pytok.gguf import ValueType

# The split patterns of Llama-3 and GPT-2 as their own tokenizer.json files have them.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL = (2, 3)  # token types UNKNOWN and CONTROL


def write_all(llama_cpp: Path, out: Path) -> None:
    """Write NAME/tokenizer.json and its tokenizer_config.json for each vocabulary."""
    for name, convert in {"llama-bpe": bpe, "gpt-2": bpe, "llama-spm": spm}.items():
        source = GGUFSource.from_file(llama_cpp / f"ggml-vocab-{name}.gguf")
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(convert(source), ensure_ascii=False))
        config = {"tokenizer_class": "PreTrainedTokenizerFast"}
        (folder / "tokenizer_config.json").write_text(json.dumps(config))


def bpe(source: GGUFSource) -> dict[str, Any]:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    is_llama3 = source.meta_str(keys.PRE) == "llama-bpe"
    split = {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False}
    stages = [split] if is_llama3 else []
    pieces = pieces_of(source)
    return {
        "version": "1.0",
        "added_tokens": added_tokens(source, pieces),
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [*stages, {**byte_level, "use_regex": not is_llama3}],
        },
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {piece: id_ for id_, piece in enumerate(pieces)},
            "merges": source.meta_array(keys.MERGES, ValueType.STRING),
            "ignore_merges": is_llama3,
        },
    }


def spm(source: GGUFSource) -> dict[str, Any]:
    """Turn scores into merges: each way to put a piece together, in the order of scores."""
    pieces = pieces_of(source)
    scores = source.meta_array(keys.SCORES, ValueType.FLOAT32)
    assert scores is not None
    ids = {piece: id_ for id_, piece in enumerate(pieces)}
    merges = []
    for piece, id_ in ids.items():
        ways = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        ways = [(left, right) for left, right in ways if left in ids and right in ids]
        merges += [(-scores[id_], ids[left], ids[right], left, right) for left, right in ways]
    return {
        "version": "1.0",
        "added_tokens": added_tokens(source, pieces),
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": ids,
            "merges": [f"{left} {right}" for *_, left, right in sorted(merges)],
        },
    }


def pieces_of(source: GGUFSource) -> list[str]:
    pieces = source.meta_array(keys.TOKENS, ValueType.STRING)
    assert pieces is not None
    return [str(piece) for piece in pieces]


def added_tokens(source: GGUFSource, pieces: list[str]) -> list[dict[str, Any]]:
    types = source.meta_array(keys.TOKEN_TYPE, ValueType.INT32)
    assert types is not None
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return [
        {"id": id_, "content": piece, "special": True, **flags}
        for id_, (piece, type_) in enumerate(zip(pieces, types, strict=True))
        if type_ in SPECIAL
    ]
