"""The golden corpus: which models it covers, their rows, and their tokenizers."""

import gzip
import json
import warnings
from functools import cache
from typing import Any

from places import GOLDEN, vocab_file

from pytok import DoubledTokenWarning, GGUFSource, Tokenizer
from pytok.gguf import Entry, ValueType


@cache
def names() -> list[str]:
    """Return the models whose every row must agree: all that llama.cpp loads."""
    return [name for name, info in facts().items() if "refused" not in info]


@cache
def pre_names(base: str) -> list[str]:
    """Return the pre-tokenizer names of a base whose every row must agree: those of the pin."""
    return [
        name
        for name, info in pre_manifest()[base].items()
        if info["accepted"] and not info.get("newer_than_source")
    ]


@cache
def facts() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((GOLDEN / "vocab_facts.json").read_text("utf-8"))
    return loaded


@cache
def pre_manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((GOLDEN / "pre_manifest.json").read_text("utf-8"))
    return loaded


@cache
def rows(kind: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of one file, none if it does not exist."""
    path = GOLDEN / kind / f"{name}.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def source(file: str, changes: dict[str, Any] | None = None) -> GGUFSource:
    """Return a vocabulary's metadata with some keys changed; None deletes a key."""
    made = GGUFSource.from_file(vocab_file(file))
    entries = dict(made.entries)
    types = {str: ValueType.STRING, bool: ValueType.BOOL, int: ValueType.UINT32}
    for key, value in (changes or {}).items():
        entries.pop(key, None)
        if value is not None:
            entries[key] = Entry(types[type(value)], value)
    made.entries = entries
    return made


def model(name: str) -> Tokenizer:
    info = facts()[name]
    return Tokenizer.from_source(source(info["file"], info.get("set")))


def pre_model(base: str, pre: str) -> Tokenizer:
    info = pre_manifest()[base][pre]
    return Tokenizer.from_source(source(info["base"], info["set"]))


def any_model(label: str) -> Tokenizer:
    """Return the tokenizer of NAME or of BASE:PRE."""
    base, _, pre = label.partition(":")
    return pre_model(base, pre) if pre else model(base)


def differences(tokenizer: Tokenizer, rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each row whose ids, pieces or bytes are not as expected."""
    found = []
    for row in rows:
        if "bytes" in row:
            options = {key: row[key] for key in ("remove_special", "unparse_special")}
            got: Any = tokenizer.detokenize(row["ids"], **options).hex()
            want: Any = row["bytes"]
        else:
            text = bytes.fromhex(row["hex"]) if "hex" in row else row["text"]
            options = {key: row[key] for key in ("add_special", "parse_special")}
            with warnings.catch_warnings(action="ignore", category=DoubledTokenWarning):
                ids = tokenizer.encode(text, **options)
            if "error" in row:
                continue  # it did not raise, that is all there is to ask
            got = [ids, [tokenizer.decode_token(id_).hex() for id_ in ids]]
            want = [row["ids"], row["pieces"]]
        if got != want:
            found.append(f"{row}\n  got {got}")
    return found
