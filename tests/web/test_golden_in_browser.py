"""Golden rows inside Pyodide in Chromium, through the built page's own library."""

from itertools import chain
from typing import Any

import golden
from gguf_writer import patched
from playwright.sync_api import Page

ROWS_PER_MODEL = 50
ROWS_PER_NAME = 32

CHECK = """
async ([url, rows]) => {
  const { Tokenizer } = await import("./lib/client.js");
  const tokenizer = await Tokenizer.load(url);
  const different = [];
  for (const { text, add_special: addSpecial, parse_special: parseSpecial, ids, pieces } of rows) {
    const got = await tokenizer.encode(text, { addSpecial, parseSpecial });
    const { bytes, ends } = await tokenizer.pieces(got);
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (got.join() !== ids.join() || hex !== pieces.join("") || ends.length !== ids.length) {
      different.push({ text, addSpecial, parseSpecial, ids, got: [...got] });
    }
  }
  await tokenizer.dispose();
  return different;
}
"""


def some(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    rows = [row for row in rows if "text" in row and "ids" in row]
    return rows[:: max(1, len(rows) // count)][:count]


def test_rows_of_every_kind_and_every_pre_tokenizer(page: Page, site: str) -> None:
    models = [
        (name, info["file"], info.get("set"), some(golden.rows("vocab", name), ROWS_PER_MODEL))
        for name, info in golden.facts().items()
        if "refused" not in info
    ]
    base = "synth-bpe-byte"
    for name in golden.pre_names(base):
        info = golden.pre_manifest()[base][name]
        rows = [row for row in golden.rows("pre", base) if row["pre"] == name]
        models.append((f"{base}:{name}", info["base"], info["set"], some(rows, ROWS_PER_NAME)))
    kinds = {golden.facts()[name]["type"] for name, _, _, _ in models if name in golden.facts()}
    assert kinds == {"SPM", "BPE", "WPM", "UGM", "RWKV", "PLAMO2"}
    assert sum(len(rows) for _, _, _, rows in models) >= 5_000

    served: list[bytes] = [b""]
    page.route("**/model.gguf*", lambda route: route.fulfill(body=served[0]))
    page.route("**/bare.html", lambda route: route.fulfill(body="<!doctype html><title>t</title>"))
    page.goto(f"{site}/bare.html")
    different = []
    for index, (name, file, changes, rows) in enumerate(models):
        served[0] = patched(file, changes)
        keys = ("text", "add_special", "parse_special", "ids", "pieces")
        sent = [{key: row[key] for key in keys} for row in rows]
        wrong = page.evaluate(CHECK, [f"model.gguf?{index}", sent])
        different += [f"{name}: {row}" for row in wrong]
    assert not different, "\n".join(chain(different[:5], [f"{len(different)} differ"]))
