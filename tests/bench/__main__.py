"""pytok beside its peers, on this machine, in one run: `build.py bench` calls this.

Rounds are interleaved over the peers and medians are taken, so that what the machine does beside
falls on all alike. Read ratios: the figures themselves move with the machine. Prints a table in
Markdown and keeps every measurement as JSON.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import models
import samples
from browser import chromium, measure, ms_to_ids, ms_to_python, site
from memory import LibraryPage
from report import report

import build

ROOT = Path(__file__).resolve().parents[2]
PEERS = {
    "llama-bpe": ("pytok", "kitoken", "tokenizers.js", "llama3-tokenizer-js"),
    "llama-spm": ("pytok", "kitoken", "llama-tokenizer-js"),
    "gpt-2": ("pytok", "gpt-tokenizer"),
}
TEXTS = ("prose", "code", "multilingual")
# How often one character is typed into a text, to tell the 95th percentile.
EDITS = 40
Row = dict[str, Any]


def prepare(folder: Path) -> None:
    """Write the texts and what the peers read below a folder."""
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    typescript = build.NPM / "node_modules/typescript"
    for name, text in {
        "prose": samples.prose(),
        "code": samples.code(),
        "multilingual": samples.multilingual(typescript),
    }.items():
        (folder / f"texts/{name}.txt").write_text(text, "utf-8", newline="")
    models.write_all(build.LLAMA_CPP, folder / "models")


class Bench:
    """The sections of the benchmark; each appends its rows."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.rounds: int = arguments.rounds
        self.reference: Path = arguments.reference
        self.chromium: str = arguments.chromium
        self.folder = folder
        self.rows: list[Row] = []
        self.mounts = {
            "bench": Path(__file__).parent,
            "pytok": build.DIST,
            "vocabs": build.LLAMA_CPP,
            "peers": arguments.peers,
            "models": folder / "models",
            "texts": folder / "texts",
        }

    def add(self, **row: Any) -> None:
        self.rows.append(row)
        shown = {key: round(v, 2) if isinstance(v, float) else v for key, v in row.items()}
        print(" ".join(f"{key}={value}" for key, value in shown.items()), file=sys.stderr)

    def measure_each(self, wanted: Iterable[Row], vocabs: Iterable[str], **extra: Any) -> None:
        """Measure what is wanted of each peer of the vocabularies, in a new Chromium a round."""
        for number in range(self.rounds):
            with site(self.mounts) as server, chromium(self.chromium) as context:
                page = context.new_page()
                page.goto(f"{server.base}/bench/bench.html")
                for params in wanted:
                    for vocab in vocabs:
                        for peer in extra.get("peers", PEERS.get(vocab, ())):
                            answer = measure(page, vocab=vocab, peer=peer, **params)
                            found = answer.get("value", answer)
                            kept = {k: v for k, v in params.items() if k != "word"}
                            self.add(round=number, vocab=vocab, peer=peer, **{**kept, **found})

    def encode(self) -> None:
        wanted = [{"measure": "encode", "text": f"/texts/{text}.txt"} for text in TEXTS]
        self.measure_each(wanted, PEERS)

    def load(self) -> None:
        self.measure_each([{"measure": "load"}] * 3, ["llama-bpe"])
        self.measure_each([{"measure": "load"}] * 3, ["gemma-4"], peers=["pytok"])

    def edit(self) -> None:
        wanted = [
            {"measure": "edit", "text": "/texts/code.txt", "size": size, "times": EDITS}
            for size in (1_000_000, 100_000)
        ]
        self.measure_each(wanted, ["llama-bpe"], peers=["pytok"])

    def words(self) -> None:
        wanted = [
            {"measure": "word", "name": name, "word": word}
            for name, word in samples.words(100_000).items()
        ]
        self.measure_each(wanted, ["llama-bpe", "llama-spm"], peers=["pytok"])

    def start(self) -> None:
        """Time the page's start with a warm cache, beside a page that only starts Pyodide."""
        with site(self.mounts) as server, chromium(self.chromium) as context:
            for number in range(-1, 3 * self.rounds):
                for peer, time in (("pytok", ms_to_ids), ("plain Pyodide", ms_to_python)):
                    server.log.clear()
                    row: Row = {"measure": "start", "peer": peer, "time": time(context, server)}
                    if number < 0:
                        row |= {"measure": "first visit", "packed": server.packed_bytes()}
                        row |= {"requests": len(server.log)}
                    self.add(round=number, **row)

    def memory(self) -> None:
        """Look at a worker's memory after loads, encodes and many switches of the model."""
        with site(self.mounts) as server, chromium(self.chromium) as context:
            for vocab in ("llama-bpe", "gemma-4"):
                page = LibraryPage(context, server.base)
                work: dict[str, Callable[[], None]] = {
                    "load": partial(page.load, vocab),
                    "1 encode": partial(page.encode, "/texts/prose.txt", 1),
                    "1,000 encodes": partial(page.encode, "/texts/prose.txt", 999),
                    "2 switches": partial(page.switch, vocab, 2),
                    "20 switches": partial(page.switch, vocab, 18),
                }
                for after, do in work.items():
                    do()
                    wasm, heap = page.wasm_bytes(), page.heap_bytes()
                    sizes = {"wasm": wasm / 1e6, "heap": heap / 1e6}
                    self.add(measure="memory", vocab=vocab, after=after, **sizes)
                page.close()

    def native(self) -> None:
        """Time pytok and llama.cpp outside the browser, and the import."""
        script = Path(__file__).with_name("native.py")
        model = build.LLAMA_CPP / "ggml-vocab-llama-bpe.gguf"
        paths = [self.folder / f"texts/{text}.txt" for text in TEXTS]
        for number in range(self.rounds):
            for peer, python in (("pytok", sys.executable), ("llama.cpp", str(self.reference))):
                command = [python, script, peer, model, *paths]
                for line in output_of(command).splitlines():
                    self.add(round=number, vocab="llama-bpe", **json.loads(line))
            for what in ("pass", "import pytok"):
                code = f"from time import perf_counter as t; a = t(); {what}; print(t() - a)"
                time = 1000 * float(output_of([sys.executable, "-c", code]))
                self.add(round=number, measure="import", what=what, time=time)


def output_of(command: list[Any]) -> str:
    shell = f"ulimit -s unlimited 2>/dev/null; exec {shlex.join(map(str, command))}"
    return subprocess.run(
        ["sh", "-c", shell], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ).stdout


def main() -> None:
    sections = ["encode", "load", "edit", "words", "start", "memory", "native"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(sections)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, required=True, help="for texts and results")
    parser.add_argument("--peers", type=Path, required=True, help="a node_modules folder")
    parser.add_argument("--reference", type=Path, required=True, help="a Python with xllamacpp")
    parser.add_argument("--chromium", required=True)
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(sections)
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    prepare(arguments.folder)
    bench = Bench(arguments, arguments.folder)
    for section in arguments.sections or sections:
        getattr(bench, section)()
    results = arguments.folder / "results.json"
    results.write_text(json.dumps(bench.rows, indent=1))
    print(report(bench.rows))
    print(f"\nEvery measurement: {results}", file=sys.stderr)


if __name__ == "__main__":
    main()
