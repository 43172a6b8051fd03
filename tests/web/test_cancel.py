"""A cancel returns at once in every phase; a worker that dies is replaced; nothing else is lost."""

import re
from typing import Any

import pytest
from file_server import FileServer, serving
from places import REAL
from playground import Playground
from playwright.sync_api import Page, Route, expect

import build

PRELUDE = """
const { Tokenizer, Engine } = await import("./lib/client.js");
const outcome = (promise) => promise.then(
  (value) => ["value", value], ({ name, message }) => [name, message]);
const workers = [];
const startWorker = () => {
  // Only a plain start installs anything.
  const start = arg === "installing pytok" ? "?start=plain" : "";
  workers.push(new Worker(`lib/worker.js${start}`, { type: "module" }));
  return workers.at(-1);
};
const file = async (name) => (await fetch(`samples/ggml-vocab-${name}.gguf`)).blob();
const LONG = Array.from({ length: 150_000 }, (_, i) => `w${(i * 7919) % 99991}x${i}`).join(" ");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
"""
ENCODING = re.compile(r"encoding(…|: \d+ %…)")
# Bounds of tests on a loaded machine; the issue's own is 200 ms, see 008-recovery.md.
AT_ONCE = 2000


def run(page: Page, site: str, script: str, arg: Any = None) -> Any:
    page.goto(f"{site}/bare.html")
    return page.evaluate(f"async (arg) => {{ {PRELUDE} {script} }}", arg)


@pytest.mark.parametrize(
    "phase", ["starting Python", "installing pytok", "reading", "building the vocabulary"]
)
def test_a_load_is_cancelled_in_every_phase(quiet: Page, site: str, phase: str) -> None:
    name, took, ids, started = run(
        quiet,
        site,
        """
        const engine = new Engine({ startWorker });
        const controller = new AbortController();
        let aborted = 0;
        const onProgress = ({ phase }) => {
          if (phase !== arg || aborted) return;
          aborted = performance.now();
          controller.abort();
        };
        const loading = Tokenizer.load(await file("qwen2"),
          { engine, signal: controller.signal, onProgress });
        const [name] = await outcome(loading);
        const took = performance.now() - aborted;
        const next = await Tokenizer.load(await file("gpt-2"), { engine });
        return [name, took, [...await next.encode("Hello")], workers.length];
        """,
        phase,
    )
    assert name == "AbortError"
    assert took < AT_ONCE
    assert ids == [15496]
    assert started <= 2


def test_a_load_that_waits_for_a_server_is_cancelled(quiet: Page, site: str) -> None:
    import threading  # noqa: PLC0415

    data = (REAL / "ggml-vocab-gpt-2.gguf").read_bytes()
    with serving(FileServer.of(data)) as server:
        server.pause = threading.Event()
        name, took, ids = run(
            quiet,
            site,
            """
            const engine = new Engine({ startWorker });
            const controller = new AbortController();
            const loading = outcome(
              Tokenizer.load(arg, { engine, signal: controller.signal }));
            await pause(500);
            const start = performance.now();
            controller.abort();
            const [name] = await loading;
            const took = performance.now() - start;
            const next = await Tokenizer.load(await file("gpt-2"), { engine });
            return [name, took, [...await next.encode("Hello")]];
            """,
            f"{server.url}/m.gguf",
        )
    assert (name, ids) == ("AbortError", [15496])
    assert took < AT_ONCE


def test_an_encode_is_cancelled_and_its_worker_replaced(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const engine = new Engine({ startWorker });
        const [one, two] = await Promise.all(
          ["qwen2", "gpt-2"].map(async (name) => Tokenizer.load(await file(name), { engine })));
        const controller = new AbortController();
        const text = Array(12).fill(LONG).join(" ").replaceAll(" ", ""); // no place to stop at
        const encoding = outcome(one.encode(text, { signal: controller.signal }));
        await pause(300);
        const bystander = outcome(two.encode("Hello"));
        const start = performance.now();
        controller.abort();
        const [name] = await encoding;
        const took = performance.now() - start;
        const [kind, ids] = await bystander;
        return { name, took, bystander: [kind, [...ids]], started: workers.length,
                 again: [...await one.encode("Hello world")], generation: engine.generation };
        """,
    )
    assert got["name"] == "AbortError"
    assert got["took"] < AT_ONCE
    assert got["bystander"] == ["value", [15496]]
    assert got["again"] == [9707, 1879]
    assert (got["started"], got["generation"]) == (2, 2)


def test_a_long_encode_tells_how_far_it_is_and_listens(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const engine = new Engine({ startWorker });
        const tokenizer = await Tokenizer.load(await file("gpt-2"), { engine });
        const controller = new AbortController();
        const steps = [];
        const onProgress = ({ phase, loaded, total }) => steps.push([phase, loaded / total]);
        const encoding = outcome(
          tokenizer.encode(LONG, { signal: controller.signal, onProgress }));
        await pause(400);
        controller.abort();
        const again = outcome(tokenizer.encode(LONG, { onProgress: () => {} }));
        const [name] = await encoding;
        const [kind, ids] = await again;
        return { name, kind, count: ids.length, steps, expected: await tokenizer.countTokens(LONG),
                 started: workers.length };
        """,
    )
    assert got["name"] == "AbortError"
    assert (got["kind"], got["started"]) == ("value", 1)
    assert got["count"] == got["expected"] > 900_000
    assert {phase for phase, _ in got["steps"]} == {"encoding"}
    shares = [share for _, share in got["steps"]]
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] < 1


def test_a_worker_that_is_idle_is_not_replaced_by_a_cancel(quiet: Page, site: str) -> None:
    got = run(
        quiet,
        site,
        """
        const engine = new Engine({ startWorker });
        const tokenizer = await Tokenizer.load(await file("gpt-2"), { engine });
        const controller = new AbortController();
        const encoding = outcome(tokenizer.encode("Hello", { signal: controller.signal }));
        controller.abort();
        const [name] = await encoding;
        await pause(1500);
        return [name, workers.length, [...await tokenizer.encode("Hello")]];
        """,
    )
    assert got == ["AbortError", 1, [15496]]


@pytest.mark.parametrize("when", ["encoding", "idle"])
def test_a_worker_that_is_killed_is_replaced(quiet: Page, site: str, when: str) -> None:
    got = run(
        quiet,
        site,
        """
        const engine = new Engine({ startWorker });
        const tokenizer = await Tokenizer.load(await file("gpt-2"), { engine });
        const encoding = arg === "encoding" ? outcome(tokenizer.encode(LONG)) : ["none"];
        await pause(100);
        workers[0].terminate(); // behind the engine's back
        const told = await encoding;
        await pause(200);
        const again = [...await tokenizer.encode("Hello")];
        await tokenizer.dispose();
        return [told, again, workers.length, await outcome(tokenizer.encode("x"))];
        """,
        when,
    )
    told, again, count, disposed = got
    assert told == (["WorkerError", "the worker has died"] if when == "encoding" else ["none"])
    assert (again, count) == ([15496], 2)
    assert disposed == ["PytokError", "this tokenizer has been disposed of"]


def test_a_python_that_breaks_down_is_replaced(quiet: Page, site: str) -> None:
    """Reading far out of memory is a trap of WebAssembly: nothing in it is to be trusted then."""
    broken = [True]
    source = (build.ROOT / "web/lib/bridge.py").read_text("utf-8")
    source += "\nimport ctypes\ndef Encoding(*args):\n    return ctypes.string_at(0xFFFF0000, 10)\n"

    def assets(route: Route) -> None:
        response = route.fetch()
        content = response.json()
        del content["integrity"]["bridge.py"]
        route.fulfill(json=content)

    def bridge(route: Route) -> None:
        if broken:
            broken.clear()
            route.fulfill(body=source)
        else:
            route.continue_()

    quiet.route("**/lib/assets.json", assets)
    quiet.route("**/lib/bridge.py", bridge)
    first, again = run(
        quiet,
        site,
        """
        const startPlain = () => new Worker("lib/worker.js?start=plain", { type: "module" });
        const engine = new Engine({ startWorker: startPlain });
        const tokenizer = await Tokenizer.load(await file("gpt-2"), { engine });
        return [await outcome(tokenizer.encode("Hello")), [...await tokenizer.encode("Hello")]];
        """,
    )
    assert first[0] == "WorkerError"
    assert "Python has broken down" in first[1]
    assert again == [15496]


# --- on the page -------------------------------------------------------------------------

# Workers of all frames, so that a test can kill one.
NOTE_WORKERS = """
const Plain = Worker;
top.workers ??= [];
window.Worker = class extends Plain {
  constructor(...args) { super(...args); top.workers.push(this); }
};
"""


@pytest.fixture
def playing(quiet: Page, site: str) -> Playground:
    quiet.add_init_script(NOTE_WORKERS)
    quiet.goto(site)
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    return playground


def paste(page: Page, repeats: int) -> None:
    """Put a long text of words that do not repeat where a person would paste it.

    As long as it is there, elements are found by id and clicked by an event: with megabytes in
    the page Playwright takes seconds to compute names for roles, and to see what a click hits.
    """
    page.evaluate(
        """
        (repeats) => {
          const text = document.getElementById("text");
          text.value = Array.from({ length: repeats }, (_, i) => `w${(i * 7919) % 99991}x${i}`)
            .join(" ");
          text.dispatchEvent(new InputEvent("input"));
        }
        """,
        repeats,
    )


def test_killing_the_worker_mid_encode_recovers(playing: Playground) -> None:
    page = playing.page
    paste(page, 150_000)
    expect(page.locator("#phase")).to_have_text(ENCODING)
    page.evaluate("top.workers[0].terminate()")
    expect(page.locator("#error")).to_have_text("the worker has died.")
    assert page.evaluate("document.getElementById('text').value.length") > 1_000_000
    page.locator("#retry").dispatch_event("click")
    expect(page.locator("#count")).to_contain_text("tokens", timeout=30_000)
    expect(page.locator("#error")).to_be_hidden()
    assert page.evaluate("top.workers.length") == 2
    expect(page.locator("#chip")).to_contain_text("GPT-2")


def test_a_long_encode_can_be_cancelled(playing: Playground) -> None:
    page = playing.page
    playing.parse_special.check()
    paste(page, 150_000)
    expect(page.locator("#phase")).to_have_text(ENCODING)
    page.locator("#cancel").dispatch_event("click")
    expect(page.locator("#error")).to_have_text("Cancelled.")
    expect(page.locator("#cancel")).to_be_hidden()
    # Any change of the text is a wish for tokens.
    page.locator("#text").fill("Hello world")
    playing.expect_ids([15496, 995])
    expect(playing.parse_special).to_be_checked()
    expect(playing.error).to_be_hidden()
    assert page.evaluate("top.workers.length") == 1  # it listens now and then


def test_a_load_can_be_cancelled_and_the_model_before_stays(playing: Playground) -> None:
    import threading  # noqa: PLC0415

    page = playing.page
    with serving(FileServer.of((REAL / "ggml-vocab-llama-spm.gguf").read_bytes())) as server:
        server.pause = threading.Event()
        page.get_by_role("textbox", name="Address of a model").fill(f"{server.url}/m.gguf")
        page.get_by_role("button", name="Load", exact=True).click()
        page.get_by_role("button", name="Cancel").click()
        expect(playing.error).to_contain_text("cancelled")
        playing.expect_ids([15496, 995])
        server.pause.set()
        page.get_by_role("button", name="Try again").click()
        playing.expect_ids([1, 15043, 3186])
    assert page.evaluate("top.workers.length") == 1
