"""The tables of a benchmark run, in Markdown: medians over the rounds."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import PurePath
from statistics import median, quantiles
from typing import Any

Row = dict[str, Any]
PASSES = ("first", "second", "count", "decode")


def report(rows: list[Row]) -> str:
    """Return a table for each section that was measured."""
    by_measure = grouped(rows, lambda row: str(row["measure"]))
    tables = [make(by_measure[name]) for name, make in TABLES.items() if name in by_measure]
    failed = [row for row in rows if "error" in row]
    notes = [f"Failed: {row['peer']} with {row['vocab']}: {row['error']}" for row in failed]
    return "\n\n".join([*tables, *notes])


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    rule = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))


def middle(rows: list[Row], name: str) -> float | None:
    found = [row[name] for row in rows if name in row]
    return median(found) if found else None


def speed(rows: list[Row], name: str) -> str:
    """Return megabytes of text in a second; "-" where a peer cannot do it."""
    time = middle(rows, name)
    return "-" if time is None else f"{rows[0]['bytes'] / 1000 / time:.1f}"


def text_of(row: Row) -> str:
    return PurePath(row["text"]).stem


def encodes(rows: list[Row]) -> str:
    whole = [row for row in rows if "error" not in row]
    texts = list(grouped(whole, text_of))
    lines = []
    for (vocab, peer), found in grouped(whole, lambda row: (row["vocab"], row["peer"])).items():
        by_text = grouped(found, text_of)
        cells = [" / ".join(speed(by_text[text], name) for name in PASSES) for text in texts]
        lines.append([vocab, peer, *cells])
    for vocab, text in {(row["vocab"], text_of(row)) for row in whole}:
        same = {row["sum"] for row in whole if (row["vocab"], text_of(row)) == (vocab, text)}
        if len(same) > 1:
            lines.append([vocab, "**the peers' ids differ**", text, "", ""])
    head = [f"{text}, {' / '.join(PASSES)} (MB/s)" for text in texts]
    return table(["vocabulary", "tokenizer", *head], lines)


def times(name: str, *labels: str) -> Callable[[list[Row]], str]:
    """Return a maker of tables with one time in ms for each combination of labels."""

    def make(rows: list[Row]) -> str:
        whole = [row for row in rows if name in row]
        groups = grouped(whole, lambda row: tuple(str(row[label]) for label in labels))
        return table(
            [*labels, "ms"], [[*key, f"{middle(found, name):.0f}"] for key, found in groups.items()]
        )

    return make


def edits(rows: list[Row]) -> str:
    lines = []
    for size, found in grouped(rows, lambda row: row["size"]).items():
        times = [time for row in found for time in row["edits"]]
        second = middle(found, "second") or 0
        share = f"{100 * median(times) / second:.0f} %"
        worst = f"{quantiles(times, n=20)[-1]:.0f}"
        lines.append([f"{size:,}", f"{second:.0f}", f"{median(times):.1f}", share, worst])
    head = ["characters", "second pass (ms)", "an edit (ms)", "share", "95th percentile (ms)"]
    return table(head, lines)


def memories(rows: list[Row]) -> str:
    lines = [
        [row["vocab"], row["after"], f"{row['wasm']:.0f}", f"{row['heap']:.0f}"] for row in rows
    ]
    return table(["vocabulary", "after", "wasm memory (MB)", "worker's JS heap (MB)"], lines)


def natives(rows: list[Row]) -> str:
    lines = []
    for (peer, text), found in grouped(rows, lambda row: (row["peer"], row["text"])).items():
        load = f"{middle(found, 'load'):.0f}"
        lines.append([peer, text, load, speed(found, "first"), speed(found, "second")])
    return table(["tokenizer", "text", "load (ms)", "first (MB/s)", "second (MB/s)"], lines)


def visits(rows: list[Row]) -> str:
    lines = [[row["peer"], f"{row['packed'] / 1e6:.1f}", str(row["requests"])] for row in rows]
    return table(["first visit of", "MB, packed", "requests"], lines)


TABLES: dict[str, Callable[[list[Row]], str]] = {
    "encode": encodes,
    "load": times("load", "vocab", "peer"),
    "edit": edits,
    "word": times("time", "vocab", "name"),
    "start": times("time", "peer"),
    "first visit": visits,
    "memory": memories,
    "native": natives,
    "import": times("time", "what"),
}
