"""A file of 40 GB with a real header, opened in Chromium: what is read of it is counted."""

import os
from pathlib import Path

import pytest
from places import REAL
from playground import Playground
from playwright.sync_api import Page, expect

# The library's worker, in which every slice of a file is counted before it is read.
COUNTED = """
async () => {
  const { Tokenizer, Engine } = await import("./lib/client.js");
  const told = new BroadcastChannel("slices");
  const slices = [];
  told.onmessage = ({ data }) => slices.push(data);
  const code = `
    const told = new BroadcastChannel("slices");
    const slice = Blob.prototype.slice;
    Blob.prototype.slice = function (start, end) {
      told.postMessage([start, Math.min(end, this.size)]);
      return slice.call(this, start, end);
    };
    Blob.prototype.arrayBuffer = ((whole) => function () {
      if (this.size > 1 << 26) throw new Error("the whole file is read");
      return whole.call(this);
    })(Blob.prototype.arrayBuffer);
    const early = [];
    onmessage = (event) => early.push(event);
    import("${new URL("lib/worker.js", document.baseURI)}").then(() => early.forEach(onmessage));`;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const engine = new Engine({ startWorker: () => new Worker(url, { type: "module" }) });
  const [file] = document.querySelector("input").files;
  const tokenizer = await Tokenizer.load(file, { engine });
  const ids = [...await tokenizer.encode("Hello world")];
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { ids, slices, info: tokenizer.info };
}
"""
LAST_STEP = 4 << 20


@pytest.mark.parametrize(("name", "ids"), [("gpt-2", [15496, 995]), ("llama-bpe", None)])
def test_a_40_gb_file_costs_its_header(
    page: Page, site: str, tmp_path: Path, name: str, ids: list[int] | None
) -> None:
    header = (REAL / f"ggml-vocab-{name}.gguf").read_bytes()
    path = tmp_path / "sparse.bin"
    path.write_bytes(header)
    os.truncate(path, 40 << 30)
    page.goto(f"{site}/bare.html")
    page.locator("input").set_input_files(path)
    got = page.evaluate(COUNTED)
    if ids:
        assert got["ids"] == ids
    assert got["info"]["fileSize"] == 40 << 30
    assert got["info"]["bytesRead"] <= len(header)
    read = sum(end - start for start, end in got["slices"])
    assert len(header) <= read <= len(header) + LAST_STEP
    assert max(end for _, end in got["slices"]) <= len(header) + LAST_STEP


def test_the_page_opens_one_under_any_name(playground: Playground, tmp_path: Path) -> None:
    path = tmp_path / "sha256-6a0746a1ec1aef3e7ec53868f220ff6e389f6f8ef87a01d77c96807de94ca2aa"
    path.write_bytes((REAL / "ggml-vocab-phi-3.gguf").read_bytes())
    os.truncate(path, 40 << 30)
    playground.text.fill("Hello world")
    playground.file.set_input_files(path)
    playground.expect_ids([1, 15043, 3186])
    expect(playground.page.locator("#chip")).to_contain_text("of 42.9 GB")
