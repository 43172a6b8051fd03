"""When things go wrong around the page: every call is answered, and the next one works."""

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import golden
import pytest
from gguf_writer import Writer
from places import REAL
from playground import Playground
from playwright.sync_api import Page, Route, expect

import build
from pytok.gguf import ValueType

GPT2 = REAL / "ggml-vocab-gpt-2.gguf"
LLAMA = REAL / "ggml-vocab-llama-spm.gguf"


def named(tmp_path: Path, name: str, writer: Writer) -> Path:
    path = tmp_path / name
    path.write_bytes(writer.bytes())
    return path


def test_a_file_chosen_before_the_samples_are_known_is_kept(page: Page, site: str) -> None:
    held: list[Route] = []
    page.route("**/samples/index.json", lambda route: held.append(route))  # noqa: PLW0108
    page.goto(site)
    playground = Playground(page)
    playground.text.fill("Hi there")
    playground.file.set_input_files(LLAMA)
    page.wait_for_timeout(300)
    held[0].continue_()
    playground.expect_ids([1, 6324, 727])
    expect(page.get_by_text(LLAMA.name, exact=True)).to_be_visible()
    expect(playground.samples.locator("option")).to_have_count(6)
    playground.expect_ids([1, 6324, 727])


def test_a_file_chosen_before_our_script_has_run_is_opened(page: Page, site: str) -> None:
    held: list[Route] = []
    page.route("**/app/main.js", lambda route: held.append(route))  # noqa: PLW0108
    page.goto(site, wait_until="commit")
    playground = Playground(page)
    playground.text.fill("Hi there")
    playground.file.set_input_files(LLAMA)
    held[0].continue_()
    playground.expect_ids([1, 6324, 727])


def test_files_that_cannot_encode_leave_the_model_before(
    playground: Playground, tmp_path: Path
) -> None:
    none = Writer().add("tokenizer.ggml.model", ValueType.STRING, "no_vocab")
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    for name, writer in (("none.gguf", none), ("empty.gguf", Writer().add_raw(b""))):
        playground.file.set_input_files(named(tmp_path, name, writer))
        expect(playground.error).to_contain_text(name)
        playground.expect_ids([15496, 995])
    expect(playground.samples).to_have_value(GPT2.name)


def test_a_failed_file_leaves_the_page_of_tokens(playground: Playground, tmp_path: Path) -> None:
    playground.text.fill("word " * 1500)
    playground.page.get_by_role("button", name="Next page").click()
    pages = playground.page.get_by_role("navigation", name="Pages")
    expect(pages).to_contain_text("of 150")
    expect(pages).to_contain_text("501")
    playground.file.set_input_files(named(tmp_path, "bad.gguf", Writer(version=9)))
    expect(playground.error).to_contain_text("version 9")
    expect(pages).to_contain_text("501")
    playground.text.fill("word")
    expect(playground.tokens.locator("li")).to_have_count(1)


def test_hostile_text_of_a_file_is_bounded(playground: Playground, tmp_path: Path) -> None:
    writer = Writer().add("general.name", ValueType.STRING, "N\u202e<b>" * 200_000)
    for number in range(3000):
        key = writer.string(f"flag.{number}") + writer.pack("IB", ValueType.BOOL, 2)
        writer.add_raw(key)
    playground.text.fill("a")
    playground.file.set_input_files(named(tmp_path, "odd.gguf", writer))
    playground.expect_ids([97])
    page = playground.page
    expect(page.get_by_role("list", name="Warnings").locator("li")).to_have_count(22)
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    assert page.locator("b").count() == 0


def test_long_pieces_are_shown_shortened(playground: Playground, tmp_path: Path) -> None:
    strings = (ValueType.STRING, ["\u200b" * 100_000, "a", "b"])
    writer = Writer().add("tokenizer.ggml.model", ValueType.STRING, "llama")
    writer.add("tokenizer.ggml.tokens", ValueType.ARRAY, strings)
    writer.add("tokenizer.ggml.bos_token_id", ValueType.UINT32, 0)
    playground.file.set_input_files(named(tmp_path, "long.gguf", writer))
    playground.text.fill("ab")
    expect(playground.tokens.locator("li").first).to_have_attribute("data-token-id", "0")
    assert playground.page.evaluate("document.querySelectorAll('*').length") < 3000


def test_a_folded_text_takes_commands(playground: Playground) -> None:
    page = playground.page
    page.evaluate("(text) => navigator.clipboard.writeText(text)", "word " * 60_000)
    playground.text.focus()
    page.keyboard.press("Control+V")
    expect(playground.count).to_have_text("60001 tokens")
    page.evaluate("(text) => navigator.clipboard.writeText(text)", "Hello world")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")
    expect(playground.text).to_have_value("Hello world")
    playground.expect_ids([15496, 995])


def test_copy_takes_all_ids(playground: Playground) -> None:
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    playground.page.get_by_role("button", name="Copy").click()
    expect(playground.page.get_by_role("button", name="Copied")).to_be_visible()
    assert playground.page.evaluate("navigator.clipboard.readText()") == "[15496, 995]"


@pytest.mark.parametrize(
    "broken",
    [
        "lib/worker.js*",
        "lib/bridge.py",
        "lib/wheels/pytok_gguf-*",
        "lib/wheels/micropip-*",
        "lib/pyodide/pyodide.asm.wasm",
        "lib/pyodide/python_stdlib.zip",
    ],
)
def test_a_start_that_fails_is_told_and_the_next_works(quiet: Page, site: str, broken: str) -> None:
    """A plain start, that is, which needs all of these; a snapshot that fails leads to it."""
    failing = [True]
    quiet.route(
        f"**/{broken}",
        lambda route: route.fulfill(status=503) if failing[0] else route.continue_(),
    )
    quiet.goto(f"{site}/?start=plain")
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    expect(playground.error).to_contain_text("GPT-2")
    assert "[object" not in playground.error.inner_text()
    failing[0] = False
    playground.file.set_input_files(LLAMA)
    playground.expect_ids([1, 15043, 3186])
    expect(playground.error).to_be_hidden()


PINNED = [
    "lib/bridge.py",
    "lib/wheels/pytok_gguf-*",
    "lib/wheels/micropip-*",
    "lib/pyodide/pyodide.mjs",
    "lib/pyodide/pyodide.asm.mjs",
    "lib/pyodide/pyodide.asm.wasm",
    "lib/pyodide/pyodide-lock.json",
    "lib/pyodide/python_stdlib.zip",
]


@pytest.mark.parametrize("changed", PINNED)
def test_an_asset_that_is_not_what_was_built_is_refused(
    quiet: Page, site: str, changed: str
) -> None:
    """One byte more at the end would do no harm; it is refused all the same, and named."""

    def change(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.body() + b"\n")

    quiet.route(f"**/{changed}", change)
    quiet.goto(f"{site}/?start=plain")
    error = Playground(quiet).error
    expect(error).to_contain_text(f"could not fetch {changed.removeprefix('lib/').rstrip('*')}")
    expect(error).to_contain_text("not the file that this page was built with")


@pytest.mark.parametrize("trouble", ["missing", "changed", "of another build"])
def test_a_snapshot_that_is_not_good_leads_to_a_plain_start(
    quiet: Page, site: str, trouble: str
) -> None:
    def spoil(route: Route) -> None:
        response = route.fetch()
        if trouble == "missing":
            route.fulfill(status=404)
        elif trouble == "changed":
            route.fulfill(response=response, body=response.body()[:-9] + bytes(9))
        else:
            route.fulfill(response=response, body=gzip.compress(bytes(1 << 20)))

    quiet.route("**/lib/snapshot.pack", spoil)
    quiet.goto(site)
    progress: list[str] = quiet.evaluate(
        """
        () => new Promise((resolve) => {
          const seen = [];
          const phase = document.getElementById("phase");
          new MutationObserver(() => {
            seen.push(phase.textContent);
            if (phase.textContent.startsWith("building")) resolve(seen);
          }).observe(phase, { childList: true });
        })
        """
    )
    assert any("installing pytok" in phase for phase in progress)
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])


def test_a_good_snapshot_needs_no_wheel_and_no_standard_library(page: Page, site: str) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url.removeprefix(site)))
    page.goto(site)
    playground = Playground(page)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    fetched = [url for url in requests if url.startswith("/lib/")]
    assert "/lib/snapshot.pack" in fetched
    assert not [u for u in fetched if u.startswith("/lib/wheels") or u.endswith((".zip", ".py"))]


def test_every_asset_is_pinned() -> None:
    pinned = json.loads((build.DIST / "lib/assets.json").read_text("utf-8"))["integrity"]
    folders = ("pyodide", "wheels")
    assets = [p for folder in folders for p in (build.DIST / "lib" / folder).iterdir()]
    names = {path.relative_to(build.DIST / "lib").as_posix() for path in assets} | {
        "bridge.py",
        "snapshot.pack",
    }
    assert set(pinned) == names
    assert len(names) == len(PINNED) + 1
    for name, digest in pinned.items():
        content = (build.DIST / "lib" / name).read_bytes()
        assert digest == "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


# --- the library -------------------------------------------------------------------------

PRELUDE = """
const { Tokenizer, Engine } = await import("./lib/client.js");
const outcome = (promise) => promise.then(
  (value) => ["value", value], ({ name, message }) => [name, message]);
const within = (promise) => Promise.race([outcome(promise),
  new Promise((resolve) => setTimeout(() => resolve(["hangs"]), 20000))]);
const url = "samples/ggml-vocab-gpt-2.gguf";
"""


def run(page: Page, site: str, script: str) -> Any:
    page.goto(f"{site}/bare.html")
    return page.evaluate(f"async () => {{ {PRELUDE} {script} }}")


def test_no_call_hangs_when_the_engine_is_ended(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const first = new Engine();
        const early = within(Tokenizer.load(url, { engine: first }));
        await first.terminate();
        const second = new Engine();
        const tokenizer = await Tokenizer.load(url, { engine: second });
        const during = within(tokenizer.encode("x"));
        await second.terminate();
        return [await early, await during, await within(tokenizer.encode("x")),
                await within(Tokenizer.load(url, { engine: second }))];
        """,
    )
    assert got == [["WorkerError", "the worker was ended"]] * 4


def test_an_abort_is_never_lost(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const late = new Engine({ startWorker: () => new Promise((resolve) => setTimeout(
          () => resolve(new Worker("lib/worker.js", { type: "module" })), 300)) });
        const results = [];
        for (const wait of [0, 100]) {
          const controller = new AbortController();
          const loading = within(Tokenizer.load(url, { engine: late, signal: controller.signal }));
          if (wait) await new Promise((resolve) => setTimeout(resolve, wait));
          controller.abort();
          results.push((await loading)[0]);
        }
        const tokenizer = await Tokenizer.load(url, { engine: late });
        return [...results, [...await tokenizer.encode("Hello")]];
        """,
    )
    assert got == ["AbortError", "AbortError", [15496]]


def test_a_load_that_is_given_up_leaves_no_tokenizer_behind(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const engine = new Engine();
        for (let round = 0; round < 3; round++) {
          const controller = new AbortController();
          const onProgress = ({ phase }) => phase.startsWith("building") && controller.abort();
          await outcome(Tokenizer.load(url, { engine, signal: controller.signal, onProgress }));
        }
        const tokenizer = await Tokenizer.load(url, { engine });
        const params = { text: "x", addSpecial: true, parseSpecial: false };
        const alive = [];
        for (let handle = 1; handle <= 4; handle++) {
          alive.push((await outcome(engine.call("countTokens", { handle, ...params })))[0]);
        }
        return alive;
        """,
    )
    assert got == ["PytokError", "PytokError", "PytokError", "value"]


def test_wrong_arguments_are_named(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const tokenizer = await Tokenizer.load(url);
        const results = [];
        for (const ids of [[4294967301], ["x"], [1.7], [-1], [50257]]) {
          results.push((await outcome(tokenizer.decode(ids)))[0]);
        }
        for (const text of [null, 5, [104]]) {
          results.push((await outcome(tokenizer.encode(text)))[0]);
        }
        for (const source of [null, undefined, {}, ""]) {
          results.push((await outcome(Tokenizer.load(source)))[0]);
        }
        await tokenizer.dispose();
        results.push((await outcome(tokenizer.encode("x")))[1]);
        return results;
        """,
    )
    assert got == [
        *["TypeError"] * 3,
        *["PytokError"] * 2,
        *["TypeError"] * 7,
        "this tokenizer has been disposed of",
    ]


def test_typed_arrays_and_views_are_sources(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const buffer = await (await fetch(url)).arrayBuffer();
        const padded = new Uint8Array(buffer.byteLength + 9);
        padded.set(new Uint8Array(buffer), 9);
        const tokenizer = await Tokenizer.load(padded.subarray(9));
        return [...await tokenizer.encode("Hello world")];
        """,
    )
    assert got == golden.model("gpt-2").encode("Hello world")
