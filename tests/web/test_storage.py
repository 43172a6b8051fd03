"""What the browser keeps, recent files and vocabularies; what comes in by the page's address."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from places import REAL
from playground import Playground
from playwright.sync_api import Page, expect

import build

PRELUDE = """
const { Tokenizer, Engine, clearCache, keptBytes } = await import("./lib/client.js");
const file = async (name) => (await fetch(`samples/ggml-vocab-${name}.gguf`)).arrayBuffer();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const untilKept = async (least) => { while (await keptBytes() < least) await pause(100); };
const load = async (content, engine, steps = []) => {
  const onProgress = ({ phase }) => steps.push(phase);
  const tokenizer = await Tokenizer.load(new Blob([content]), { engine, onProgress });
  return { ids: [...await tokenizer.encode("Hello world")], info: tokenizer.info,
           parsed: steps.includes("building the vocabulary") };
};
"""


def run(page: Page, site: str, script: str, arg: Any = None) -> Any:
    page.goto(f"{site}/bare.html")
    return page.evaluate(f"async (arg) => {{ {PRELUDE} {script} }}", arg)


def version() -> str:
    return str(json.loads((build.DIST / "lib/assets.json").read_text("utf-8"))["version"])


def test_a_vocabulary_is_kept_and_used_again(quiet: Page, site: str) -> None:
    first, second, cleared = run(
        quiet,
        site,
        """
        const content = await file("phi-3");
        const first = await load(content, new Engine());
        await untilKept(1);
        const second = await load(content, new Engine());
        await clearCache();
        return [first, second, [await keptBytes(), (await load(content, new Engine())).parsed]];
        """,
    )
    assert (first["parsed"], second["parsed"]) == (True, False)
    assert first["ids"] == second["ids"] == [1, 15043, 3186]
    assert first["info"] == second["info"]
    assert cleared == [0, True]


def test_another_header_or_size_is_another_file(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const content = await file("gpt-2");
        const engine = new Engine();
        await load(content, engine);
        await untilKept(1);
        // One byte of the last merge: the beginning, by which it is looked up, is the same.
        const changed = new Uint8Array(content.slice(0));
        const at = changed.length - 300;
        const other = await load(changed, engine);
        changed[at] ^= 1;
        const broken = await load(changed, engine).catch(({ name }) => ({ name, parsed: true }));
        const longer = await load(new Blob([content, "x"]), engine);
        return [other.parsed, broken.parsed, longer.parsed];
        """,
    )
    assert got == [False, True, True]


def test_entries_of_another_version_are_never_used_and_go(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const cache = await import("./lib/cache.js");
        const content = new Uint8Array(await file("gpt-2"));
        const start = await cache.digestOf(content.subarray(0, 1 << 16));
        const digest = await cache.digestOf(content);
        const old = { digest, start, headerSize: content.length, fileSize: content.length,
                      version: "old", info: {} };
        await cache.keep(old, new Uint8Array(1000));
        const { parsed, ids } = await load(content, new Engine());
        await untilKept(2000);
        const versions = (await Promise.all(["old", arg].map(
          (version) => cache.find(start, content.length, version)))).map(({ length }) => length);
        return [parsed, ids, versions];
        """,
        version(),
    )
    assert got == [True, [15496, 995], [0, 1]]


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const cache = await import("./lib/cache.js");
        const entry = (digest) => ({ digest, start: digest, headerSize: 1, fileSize: 1,
                                     version: "v", info: {} });
        for (const name of ["a", "b", "c"]) {
          await cache.keep(entry(name), new Uint8Array(20 << 20));
          await pause(5);
        }
        await cache.take((await cache.find("a", 1, "v"))[0]); // used now
        await cache.keep(entry("d"), new Uint8Array(20 << 20));
        await cache.keep(entry("e"), new Uint8Array(65 << 20)); // too large for any
        const found = [];
        for (const name of ["a", "b", "c", "d", "e"]) {
          found.push((await cache.find(name, 1, "v")).length);
        }
        return [found, await keptBytes() / 2 ** 20];
        """,
    )
    assert got == [[1, 0, 1, 1, 0], 60]


def test_a_broken_entry_or_no_storage_at_all_does_no_harm(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const cache = await import("./lib/cache.js");
        const content = new Uint8Array(await file("gpt-2"));
        const start = await cache.digestOf(content.subarray(0, 1 << 16));
        const digest = await cache.digestOf(content);
        await cache.keep({ digest, start, headerSize: content.length, fileSize: content.length,
                           version: arg, info: {} }, new TextEncoder().encode('{"kind": "SPM"}'));
        const withBroken = await load(content, new Engine());
        const code = `Object.defineProperty(self, "indexedDB", { value: undefined });
          const early = []; onmessage = (event) => early.push(event);
          import("${new URL("lib/worker.js", document.baseURI)}")
            .then(() => early.forEach(onmessage));`;
        const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const startWorker = () => new Worker(url, { type: "module" });
        const without = await load(content, new Engine({ startWorker }));
        return [withBroken.ids, without.ids];
        """,
        version(),
    )
    assert got == [[15496, 995], [15496, 995]]


# --- recent files ------------------------------------------------------------------------

# A handle of the browser's own file system is as good as one of the disk, and a test can make
# one. What the picker would show, and what the person answers, is the test's.
HANDLES = """
window.pickable = null;
window.showOpenFilePicker = async () => {
  if (!window.pickable) throw new DOMException("thought better of it", "AbortError");
  return [window.pickable];
};
window.answers = ["granted"];
FileSystemHandle.prototype.requestPermission = async function () {
  window.asked = (window.asked ?? 0) + 1;
  return window.answers.length > 1 ? window.answers.shift() : window.answers[0];
};
"""
MAKE = """
async ([name, url]) => {
  const root = await navigator.storage.getDirectory();
  window.pickable = await root.getFileHandle(name, { create: true });
  const writable = await window.pickable.createWritable();
  await writable.write(await (await fetch(url)).arrayBuffer());
  await writable.close();
}
"""


@pytest.fixture
def handy(quiet: Page, site: str) -> Playground:
    quiet.add_init_script(HANDLES)
    quiet.goto(site)
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    return playground


def test_recent_files_are_opened_again_after_a_reload(handy: Playground) -> None:
    page = handy.page
    recent = page.get_by_role("group", name="Opened before")
    pick = page.get_by_role("button", name="Open and remember")
    pick.click()  # thought better of it
    expect(handy.error).to_be_hidden()
    page.evaluate(MAKE, ["mine.gguf", "samples/ggml-vocab-phi-3.gguf"])
    pick.click()
    handy.expect_ids([1, 15043, 3186])
    expect(recent.get_by_role("button", name="mine.gguf")).to_be_visible()

    page.reload()
    handy.text.fill("Hello world")
    handy.expect_ids([15496, 995])
    assert page.evaluate("window.asked") is None  # nothing is asked for before it is wanted
    page.evaluate("window.answers = ['denied', 'granted']")
    again = recent.get_by_role("button", name="mine.gguf")
    again.click()
    expect(handy.error).to_have_text("mine.gguf: the browser was not allowed to read it again.")
    handy.expect_ids([15496, 995])
    again.click()
    handy.expect_ids([1, 15043, 3186])
    expect(handy.error).to_be_hidden()

    page.evaluate("async () => (await navigator.storage.getDirectory()).removeEntry('mine.gguf')")
    again.click()
    expect(handy.error).to_have_text("mine.gguf: it is not there any more.")
    recent.get_by_role("button", name="Clear").click()
    expect(again).to_be_hidden()
    page.reload()
    handy.text.fill("Hello world")
    handy.expect_ids([15496, 995])
    expect(again).to_be_hidden()


def test_kept_vocabularies_are_cleared_by_one_button(handy: Playground) -> None:
    page = handy.page
    kept = "async () => (await import('./lib/client.js')).keptBytes()"
    handy.file.set_input_files(REAL / "ggml-vocab-phi-3.gguf")
    handy.expect_ids([1, 15043, 3186])
    for _ in range(100):
        if page.evaluate(kept):
            break
        page.wait_for_timeout(100)
    handy.choose("Qwen2")
    clear = page.get_by_role("button", name="Clear, also")
    expect(clear).to_contain_text("MB of kept vocabularies")
    clear.click()
    expect(clear).to_be_hidden()
    assert page.evaluate(kept) == 0


def test_an_address_that_was_loaded_is_listed(handy: Playground) -> None:
    page = handy.page
    url = f"{page.url}samples/ggml-vocab-phi-3.gguf"
    page.get_by_role("textbox", name="Address of a model").fill(url)
    page.keyboard.press("Enter")
    handy.expect_ids([1, 15043, 3186])
    page.reload()
    handy.text.fill("Hello world")
    handy.expect_ids([15496, 995])
    page.get_by_role("group", name="Opened before").get_by_role("button", name=url).click()
    handy.expect_ids([1, 15043, 3186])


# --- the address of the page -------------------------------------------------------------


def test_a_link_brings_text_switches_and_a_sample(page: Page, site: str) -> None:
    page.goto(
        f"{site}/#text={quote('<s>Hello world')}&parse_special=1&add_special=0"
        "&sample=ggml-vocab-phi-3.gguf"
    )
    playground = Playground(page)
    playground.expect_ids([1, 15043, 3186])
    expect(playground.parse_special).to_be_checked()
    expect(playground.add_special).not_to_be_checked()
    page.evaluate("location.hash = 'text=Hello&parse_special=maybe'")
    expect(playground.text).to_have_value("Hello")
    playground.expect_ids([15043])
    expect(playground.parse_special).to_be_checked()


def test_a_link_makes_the_page_ask_no_other_server(page: Page, site: str) -> None:
    outside: list[str] = []
    page.on(
        "request",
        lambda r: None if r.url.startswith((site, "blob:")) else outside.append(r.url),
    )
    hostile = quote("<img src=x onerror=alert(1)>")
    page.goto(
        f"{site}/#model=https://elsewhere.example/m.gguf&text={hostile}&sample={hostile}"
        "&add_special=constructor&__proto__=1"
    )
    playground = Playground(page)
    expect(playground.count).to_contain_text("tokens")
    expect(playground.text).to_have_value("<img src=x onerror=alert(1)>")
    expect(page.locator("#address")).to_have_value("https://elsewhere.example/m.gguf")
    expect(playground.add_special).to_be_checked()
    assert page.locator("img").count() == 0
    assert outside == []


def test_a_link_that_is_too_long_is_ignored_and_told(page: Page, site: str) -> None:
    page.goto(f"{site}/#text={'a' * 20_000}")
    playground = Playground(page)
    expect(playground.error).to_contain_text("carries 20,006 characters, at most 16,384 are read")
    expect(playground.text).to_have_value("")
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])


def test_a_file_that_changes_or_goes_while_it_is_open_is_told(
    quiet: Page, site: str, tmp_path: Path
) -> None:
    quiet.goto(f"{site}/bare.html")
    path = tmp_path / "m.gguf"
    path.write_bytes((REAL / "ggml-vocab-gpt-2.gguf").read_bytes())
    quiet.locator("input").set_input_files(path)
    path.write_bytes(b"something else")
    script = """
    async () => {
      const { Tokenizer } = await import("./lib/client.js");
      const [file] = document.querySelector("input").files;
      return Tokenizer.load(file).catch(({ name, message }) => [name, message]);
    }
    """
    name, message = quiet.evaluate(script)
    assert name == "NotReadableError"
    assert message == "the file cannot be read any more: it was moved, deleted or changed"
