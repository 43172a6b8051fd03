"""Time one native tokenizer in a process of its own; prints a JSON line for each text.

python native.py pytok|llama.cpp MODEL.gguf TEXT...
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any


def opened(peer: str, model: str) -> Callable[[bytes], list[int]]:
    if peer == "llama.cpp":
        sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))
        from reference import tokenizer  # noqa: PLC0415

        tokenize = tokenizer(model)
        return lambda data: tokenize(data, False, False)
    from pytok import Tokenizer  # noqa: PLC0415

    encode = Tokenizer.from_file(model).encode
    return lambda data: encode(data.decode(), add_special=False)


def main() -> None:
    peer, model, *paths = sys.argv[1:]
    for path in map(Path, paths):
        start = perf_counter()
        encode = opened(peer, model)
        row: dict[str, Any] = {
            "measure": "native",
            "peer": peer,
            "text": path.stem,
            "load": perf_counter() - start,
        }
        data = path.read_bytes()
        row |= {"bytes": len(data)}
        for name in ("first", "second"):
            start = perf_counter()
            ids = encode(data)
            row[name] = perf_counter() - start
        row["ids"] = len(ids)
        row |= {key: row[key] * 1000 for key in ("load", "first", "second")}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
