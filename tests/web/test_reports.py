"""Fault reports about browsers; each test is named after the report's id."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import golden
import pytest
from file_server import FileServer, serving
from places import REAL
from playground import Playground
from playwright.sync_api import Browser, Page, expect
from web_servers import serving_forever

import build
from web.serve import Handler, make_server

LOAD = """
async (url) => {
  const { Tokenizer } = await import("./lib/client.js");
  window.tokenizer = await Tokenizer.load(url);
  return [...await window.tokenizer.encode("Hello world")];
}
"""


def memory_of_children() -> int:
    """Return the bytes that all processes below this one take, shared pages shared out."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(entry.parent.name)] = int(fields[1])
    total = 0
    for pid in parents:
        ancestor = pid
        while ancestor not in (0, os.getpid()):
            ancestor = parents.get(ancestor, 0)
        if ancestor == 0 or pid == os.getpid():
            continue
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(
            int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")
        )
    return total


def sparse(tmp_path: Path, name: str, size: int) -> Path:
    path = tmp_path / f"{name}.gguf"
    path.write_bytes((REAL / f"ggml-vocab-{name}.gguf").read_bytes())
    os.truncate(path, size)
    return path


def test_br_5gb_file(playground: Playground, tmp_path: Path) -> None:
    playground.text.fill("Hello world 你好")
    expect(playground.count).to_contain_text("tokens")
    before = memory_of_children()
    playground.open(sparse(tmp_path, "qwen2", 5 << 30))
    playground.expect_ids(golden.model("qwen2").encode("Hello world 你好"))
    expect(playground.page.locator("#chip")).to_contain_text("of 5.4 GB")
    grown = memory_of_children() - before
    assert grown < 200e6


def test_br_range_200(page: Page, site: str) -> None:
    data = (REAL / "ggml-vocab-llama-bpe.gguf").read_bytes()
    server = FileServer(lambda at, size: data[at : at + size].ljust(size, b"\0"), 3 << 30)
    server.ranges = False
    page.goto(f"{site}/bare.html")
    with serving(server):
        ids = page.evaluate(LOAD, f"{server.url}/whatever")
        assert ids == golden.model("llama-bpe").encode("Hello world")
        # Twice what Chromium reads ahead of its reader, the header, and the sockets' buffers.
        assert server.sent < 250e6
        assert len(server.requests) <= 2


# --- hosts with policies of their own ----------------------------------------------------

STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"


@pytest.fixture
def strict_site() -> Iterator[str]:
    """The built page on a host that sends one strict policy with everything, and nothing else."""

    class Strict(Handler):
        def policy(self) -> str:
            return STRICT

    yield from serving_forever(make_server(build.DIST, handler=Strict))


def test_br_csp_plain_host(page: Page, strict_site: str) -> None:
    outside: list[str] = []
    page.on(
        "request",
        lambda r: None if r.url.startswith((strict_site, "blob:")) else outside.append(r.url),
    )
    page.add_init_script(
        "top.violations ??= []; addEventListener('securitypolicyviolation', "
        "(event) => top.violations.push(event.violatedDirective + event.blockedURI))"
    )
    page.goto(strict_site)
    playground = Playground(page)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    assert page.evaluate("top.violations") == []
    assert page.evaluate("crossOriginIsolated") is False
    assert page.evaluate("typeof SharedArrayBuffer") == "undefined"
    assert outside == []


def test_a_host_that_forbids_blobs_and_does_not_bind_the_worker_is_refused(quiet: Page) -> None:
    class Half(Handler):
        def policy(self) -> str | None:
            return None if self.path.startswith("/lib/") else STRICT

    for base in serving_forever(make_server(build.DIST, handler=Half)):
        quiet.goto(base)
        playground = Playground(quiet)
        expect(playground.error).to_contain_text("lets no guarded worker start")


# --- what crosses ------------------------------------------------------------------------

REPEAT = """
async ([text, repeats]) => {
  let count = 0;
  for (let round = 0; round < repeats; round++) {
    const ids = await window.tokenizer.encode(text);
    count += ids.length;
    const spans = await window.tokenizer.spans(text, ids);
    const pieces = await window.tokenizer.pieces(ids);
    for (const array of [ids, spans, pieces.bytes, pieces.ends, pieces.attrs]) {
      // A view on wasm memory would drag all of that along.
      if (array.buffer.byteLength !== array.byteLength) throw new Error("not a copy");
      structuredClone(array.buffer, { transfer: [array.buffer] });
    }
  }
  return count / repeats;
}
"""


def test_br_worker_clone(page: Page, site: str) -> None:
    page.goto(f"{site}/bare.html")
    page.evaluate(LOAD, "samples/ggml-vocab-gpt-2.gguf")
    text = "The quick brown fox jumps over the lazy dog, again and again. " * 17_000
    assert len(text) > 1_000_000
    ids = golden.model("gpt-2").encode(text)
    assert page.evaluate(REPEAT, [text, 3]) == len(ids)
    small = text[:20_000]
    session = page.context.new_cdp_session(page)

    def used() -> float:
        session.send("HeapProfiler.collectGarbage")
        return float(session.send("Runtime.getHeapUsage")["usedSize"])

    page.evaluate(REPEAT, [small, 10])
    before, memory_before = used(), memory_of_children()
    page.evaluate(REPEAT, [small, 200])
    assert used() - before < 20e6
    grown = memory_of_children() - memory_before
    assert grown < 20e6


def units(text: str, start: int, end: int) -> str:
    """Cut a str as JavaScript cuts a string."""
    raw = text.encode("utf-16-le")[2 * start : 2 * end]
    return raw.decode("utf-16-le")


@pytest.mark.parametrize("name", ["llama-bpe", "llama-spm"])
def test_br_utf16_offsets(page: Page, site: str, name: str, browser: Browser) -> None:
    text = "a\U0001f422b \U0001f3f3\ufe0f\u200d\U0001f308 c e\u0301"
    page.goto(f"{site}/bare.html")
    with serving(FileServer.of((REAL / f"ggml-vocab-{name}.gguf").read_bytes())) as server:
        page.evaluate(LOAD, f"{server.url}/m.gguf")
    script = """
    async (text) => {
      const ids = await window.tokenizer.encode(text);
      const { bytes, ends } = await window.tokenizer.pieces(ids);
      return { ids: [...ids], bytes: [...bytes], ends: [...ends],
               spans: [...await window.tokenizer.spans(text, ids)] };
    }
    """
    got: dict[str, Any] = page.evaluate(script, text)
    model = golden.model(name)
    assert got["ids"] == model.encode(text)
    spans = list(zip(got["spans"][::2], got["spans"][1::2], strict=True))
    assert len(spans) == len(got["ids"])
    shown = ""
    reached = 0
    for id_, (start, end) in zip(got["ids"], spans, strict=True):
        piece = model.decode_token(id_)
        part = units(text, start, end)
        if id_ == model.vocab.special_ids["bos"]:
            assert (start, end) == (0, 0)
        elif piece.strip(b" ") and part.encode() != piece.lstrip(b" "):
            # Part of a character: its span is the whole one, which holds these bytes.
            assert piece.lstrip(b" ") in part.encode() or part.encode() == piece
        if end > reached:
            assert start <= reached
            shown += units(text, reached, end)
            reached = end
    assert shown == text

    # And on the page: the chips' bytes are the tokens', never a torn character.
    context = browser.new_context()
    other = context.new_page()
    other.goto(site)
    playground = Playground(other)
    playground.text.fill(text)
    playground.open(REAL / f"ggml-vocab-{name}.gguf")
    playground.expect_ids(got["ids"])
    chips = other.locator("#tokens .piece").all_inner_texts()
    assert len(chips) == len(got["ids"])
    assert not any("\ufffd" in chip for chip in chips)
    context.close()
