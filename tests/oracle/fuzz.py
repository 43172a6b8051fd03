"""Look for texts that tokenize differently here and in llama.cpp.

    python tests/oracle/fuzz.py REFERENCE_PYTHON [--characters N] [--names-characters N] ...

REFERENCE_PYTHON is a Python that has xllamacpp. Each difference is shrunk and written as a
row for the corpus. Run it by `build.py fuzz`, which sets it all up.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import golden
from gguf_writer import patched
from texts_at_random import texts

from pytok import DoubledTokenWarning, Tokenizer

MODES = ((False, False), (True, True), (True, False), (False, True))
BATCH = 200
Ask = tuple[bytes, bool, bool]


class Reference:
    """llama.cpp in a child process, started again when it dies."""

    def __init__(self, python: str, model: Path) -> None:
        script = Path(__file__).with_name("reference.py")
        # Regex splitters recurse there: an unlimited stack takes them further.
        shell = f'ulimit -s unlimited 2>/dev/null; exec "{python}" "{script}" "{model}"'
        self._command = ["sh", "-c", shell]
        self._child: subprocess.Popen[str] | None = None

    def ask(self, asks: Sequence[Ask]) -> list[list[int] | None]:
        """Return the ids of each text; None where llama.cpp dies of it."""
        answer = self._exchange(asks)
        if answer is not None:
            return answer
        if len(asks) == 1:
            return [None]
        half = len(asks) // 2
        return self.ask(asks[:half]) + self.ask(asks[half:])

    def _exchange(self, asks: Sequence[Ask]) -> list[list[int] | None] | None:
        if self._child is None:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps([(data.hex(), *modes) for data, *modes in asks]) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            return None
        answer: list[list[int] | None] = json.loads(line)
        return answer

    def close(self) -> None:
        if self._child is not None:
            for stream in (self._child.stdin, self._child.stdout):
                if stream is not None:
                    stream.close()
            self._child.kill()
            self._child.wait()
            self._child = None


def ours(tokenizer: Tokenizer, ask: Ask) -> list[int]:
    data, add_special, parse_special = ask
    return tokenizer.encode(data, add_special=add_special, parse_special=parse_special)


def shrink(tokenizer: Tokenizer, reference: Reference, ask: Ask) -> Ask:
    """Return the smallest text found that still shows a difference."""

    def differs(data: bytes) -> bool:
        tried = (data, *ask[1:])
        (want,) = reference.ask([tried])
        return want is not None and want != ours(tokenizer, tried)

    data = ask[0]
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if differs(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return (data, *ask[1:])


def compare(name: str, content: bytes, python: str, characters: int, seed: int) -> dict[str, Any]:
    """Compare one model; return its figures and the rows that differ."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        path.write_bytes(content)
        tokenizer = Tokenizer.from_file(path)
        reference = Reference(python, path)
        specials = [text for text in tokenizer.added_tokens if len(text) < 60][:400]
        made = texts(seed, specials, characters)
        asks = [(data, *MODES[at % len(MODES)]) for at, data in enumerate(made)]
        batches = [asks[at : at + BATCH] for at in range(0, len(asks), BATCH)]
        rows, deaths = [], 0
        different: list[Ask] = []
        # The reference works on the next batches while we work on this one.
        with ThreadPoolExecutor(1) as pool:
            for batch, wanted in zip(batches, pool.map(reference.ask, batches), strict=True):
                for ask, want in zip(batch, wanted, strict=True):
                    deaths += want is None
                    if want is not None and want != ours(tokenizer, ask):
                        different.append(ask)
        for ask in different[:20]:
            data, add_special, parse_special = shrink(tokenizer, reference, ask)
            (want,) = reference.ask([(data, add_special, parse_special)])
            modes = {"add_special": add_special, "parse_special": parse_special}
            rows.append({"model": name, "hex": data.hex(), **modes, "ids": want})
        reference.close()
    counted = sum(len(data.decode("utf-8", "replace")) for data in made)
    return {"characters": counted, "differences": len(different), "deaths": deaths, "rows": rows}


def models(only: list[str], characters: int, of_names: int) -> list[tuple[str, bytes, int]]:
    found = [
        (name, patched(golden.facts()[name]["file"], golden.facts()[name].get("set")), characters)
        for name in golden.names()
    ]
    for base, names in golden.pre_manifest().items():
        found += [
            (f"{base}:{name}", patched(names[name]["base"], names[name]["set"]), of_names)
            for name in golden.pre_names(base)
        ]
    return [row for row in found if not only or row[0] in only]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("--characters", type=int, default=1_000_000, help="for each vocabulary")
    parser.add_argument("--names-characters", type=int, default=50_000, help="for each pre name")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a model; repeatable")
    parser.add_argument("--rows", type=Path, help="a file to append differing rows to")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DoubledTokenWarning)
    total = {"characters": 0, "differences": 0, "deaths": 0}
    for name, content, characters in models(
        options.only, options.characters, options.names_characters
    ):
        figures = compare(name, content, options.python, characters, options.seed)
        for key in total:
            total[key] += figures[key]
        for row in figures["rows"]:
            print(f"DIFFERS {json.dumps(row)}", flush=True)
            if options.rows:
                with options.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        counts = f"{figures['characters']} characters, {figures['differences']} differ"
        print(f"{name}: {counts}, {figures['deaths']} end llama.cpp", flush=True)
    print(json.dumps({**total, "seed": options.seed}))
    return 1 if total["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
