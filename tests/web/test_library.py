"""The client library as a web developer uses it, and the walls around its worker."""

import csv
import io
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import golden
import pytest
from playwright.sync_api import Browser, Page, expect

import build

# Pages of another site's making: the library, and nothing of the playground.
LOAD = """
async ([name, init]) => {
  const { Tokenizer } = await import("./lib/client.js");
  const url = new URL(`samples/ggml-vocab-${name}.gguf`, document.baseURI);
  const steps = [];
  const options = { onProgress: (step) => steps.push(step) };
  let source = url;
  if (init !== "url") {
    const buffer = await (await fetch(url)).arrayBuffer();
    source = { buffer, blob: new Blob([buffer]), file: new File([buffer], "m") }[init];
  }
  window.tokenizer = await Tokenizer.load(source, options);
  return { info: window.tokenizer.info, steps };
}
"""
ENCODE = """
async ([text, options]) => {
  const ids = await window.tokenizer.encode(text, options);
  return { ids: [...ids], typed: ids instanceof Int32Array,
           count: await window.tokenizer.countTokens(text, options),
           text: await window.tokenizer.decode(ids) };
}
"""


@pytest.fixture
def library(page: Page, site: str) -> Page:
    """A bare page of the same site, without any policy of its own."""
    page.goto(f"{site}/bare.html")
    return page


@pytest.mark.parametrize("init", ["url", "buffer", "blob", "file"])
def test_every_source_loads(library: Page, init: str) -> None:
    loaded = library.evaluate(LOAD, ["gpt-2", init])
    info = loaded["info"]
    assert (info["kind"], info["pre"], info["vocabSize"]) == ("BPE", "gpt-2", 50257)
    assert info["eogIds"] == [50256]
    phases = [step["phase"] for step in loaded["steps"]]
    assert {"starting Python", "reading"} <= set(phases)
    assert phases[-1] == "building the vocabulary"
    for row in golden.rows("vocab", "gpt-2")[::40]:
        options = {"addSpecial": row["add_special"], "parseSpecial": row["parse_special"]}
        got = library.evaluate(ENCODE, [row["text"], options])
        assert (got["ids"], got["typed"], got["count"]) == (row["ids"], True, len(row["ids"]))
        assert got["text"] == row["text"]


def test_defaults_of_encode(library: Page) -> None:
    library.evaluate(LOAD, ["phi-3", "blob"])
    ids = library.evaluate("async () => [...await window.tokenizer.encode('<s>Hi')]")
    assert ids == golden.model("phi-3").encode("<s>Hi")


def test_lone_surrogates_and_nul_cross(library: Page) -> None:
    library.evaluate(LOAD, ["gpt-2", "blob"])
    model = golden.model("gpt-2")
    for text in ("a\0b", "\ud800", "x\udc00y", "🐢"):
        script = (
            "(units) => window.tokenizer.encode(String.fromCharCode(...units)).then((i) => [...i])"
        )
        units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H").tolist()
        assert library.evaluate(script, units) == model.encode(text)


def test_errors_cross_with_name_and_message(library: Page) -> None:
    script = """
    async (content) => {
      const { Tokenizer, PytokError } = await import("./lib/client.js");
      try { await Tokenizer.load(new Blob([content])); } catch (error) {
        return { name: error.name, message: error.message, offset: error.offset,
                 ours: error instanceof PytokError };
      }
    }
    """
    error = library.evaluate(script, "no GGUF")
    assert error["name"] == "GGUFError"
    assert error["offset"] == 0
    assert error["ours"]
    assert error["message"].startswith("not a GGUF file")
    library.evaluate(LOAD, ["gpt-2", "blob"])
    bad_id = "window.tokenizer.decode([50257]).catch((error) => error.message)"
    assert library.evaluate(bad_id) == "token id 50257 is not in 0..50256"


def test_a_load_can_be_cancelled_and_another_follows(library: Page) -> None:
    script = """
    async () => {
      const { Tokenizer } = await import("./lib/client.js");
      const controller = new AbortController();
      const url = new URL("samples/ggml-vocab-qwen2.gguf", document.baseURI);
      const loading = Tokenizer.load(url, { signal: controller.signal,
        onProgress: ({ phase }) => phase === "reading" && controller.abort() });
      return loading.then(() => "loaded", (error) => error.name);
    }
    """
    assert library.evaluate(script) == "AbortError"
    assert library.evaluate(LOAD, ["gpt-2", "url"])["info"]["vocabSize"] == 50257


def test_a_missing_file_is_a_network_error(browser: Browser, site: str) -> None:
    context = browser.new_context()
    page = context.new_page()  # the console may say that the file is missing
    page.goto(f"{site}/bare.html")
    script = """
    async () => {
      const { Tokenizer } = await import("./lib/client.js");
      return Tokenizer.load("gone.gguf").catch((error) => `${error.name}: ${error.message}`);
    }
    """
    message = page.evaluate(script)
    context.close()
    said = "the server answered 404: there is no such file"
    assert message == f"NetworkError: could not read {site}/gone.gguf: {said}"


def test_a_server_that_ignores_ranges_is_read_no_further_than_needed(
    library: Page, plain_site: str
) -> None:
    # Python's own file server answers 200 with everything.
    library.goto(f"{plain_site}/bare.html")
    assert library.evaluate(LOAD, ["phi-3", "url"])["info"]["vocabSize"] == 32064


def test_a_file_is_read_by_slices_and_only_its_header(library: Page) -> None:
    script = """
    async () => {
      const { Tokenizer } = await import("./lib/client.js");
      const header = await (await fetch("samples/ggml-vocab-gpt-2.gguf")).arrayBuffer();
      const zeros = new Uint8Array(1 << 26);
      const big = new Blob([header, ...Array(16).fill(zeros)]); // 1 GiB of tensors
      const tokenizer = await Tokenizer.load(big);
      const { bytesRead, fileSize } = tokenizer.info;
      const ids = [...await tokenizer.encode("Hello")];
      return { bytesRead, fileSize, header: header.byteLength, ids };
    }
    """
    got = library.evaluate(script)
    assert got["ids"] == [15496]
    assert got["fileSize"] == got["header"] + (1 << 30)
    assert got["bytesRead"] <= got["header"]


def test_dispose_frees_and_two_models_live_side_by_side(library: Page) -> None:
    script = """
    async () => {
      const { Tokenizer } = await import("./lib/client.js");
      const load = (name) => Tokenizer.load(`samples/ggml-vocab-${name}.gguf`);
      const [first, second] = await Promise.all([load("gpt-2"), load("phi-3")]);
      const ids = [[...await first.encode("Hi")], [...await second.encode("Hi")]];
      await first.dispose();
      const gone = await first.encode("Hi").then(() => "", (error) => error.name);
      return { ids, gone, after: [...await second.encode("Hi")] };
    }
    """
    got = library.evaluate(script)
    assert got["ids"] == [[17250], [1, 6324]]
    assert got["gone"]
    assert got["after"] == [1, 6324]


# --- the walls ---------------------------------------------------------------------------

# A worker of the same origin, in the place of ours, that tries what ours must not be able to.
PROBE = """
import { startPyodide } from "./pyodide.js";
const attempt = async (what) => {
  try { await what(); return "got through"; } catch { return "refused"; }
};
addEventListener("unhandledrejection", ({ reason }) => { throw reason; });
onmessage = async ({ data: url }) => {
  const { pyodide } = await startPyodide(() => {}, PLAIN);
  const python = (code) => attempt(() => pyodide.runPythonAsync(code));
  postMessage({
    own: await attempt(() => fetch(new URL("assets.json", import.meta.url))),
    fetch: await attempt(() => fetch(url)),
    socket: await attempt(() => new Promise((resolve, reject) => {
      const socket = new WebSocket(url.replace("http", "ws"));
      socket.onopen = resolve; socket.onerror = reject; })),
    python: await python(`import js; await js.fetch("${url}")`),
    pyfetch: await python(`from pyodide.http import pyfetch; await pyfetch("${url}")`),
    urllib: await python(`import urllib.request; urllib.request.urlopen("${url}").read()`),
    run_js: await python(`from pyodide.code import run_js; await run_js("fetch('${url}')")`),
    eval: await attempt(() => (0, eval)("1")),
    globals: pyodide.runPython("import js; ' '.join(n for n in dir(js) if n in 'fetch WebSocket "
      + "XMLHttpRequest Worker caches indexedDB navigator self globalThis postMessage'.split())"),
  });
};
"""
REFUSED = ("fetch", "socket", "python", "pyfetch", "urllib", "run_js", "eval")


def probe(page: Page, base: str, other_origin: str, start: str) -> dict[str, Any]:
    code = PROBE.replace("PLAIN", "true" if start == "plain" else "false")
    page.route("**/lib/probe.js", lambda r: r.fulfill(body=code, content_type="text/javascript"))
    page.goto(base + "/index.html")
    expect(page.get_by_role("textbox", name="Ids")).to_be_attached()
    got: dict[str, Any] = page.evaluate(
        """
        async (other) => {
          const { startGuardedWorker } = await import("./app/guarded-worker.js");
          await startGuardedWorker();
          const guard = [...document.querySelectorAll("iframe")].at(-1).contentWindow;
          const worker = await guard.startWorker(new URL("lib/probe.js", document.baseURI).href);
          worker.postMessage(other);
          return new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = (event) => reject(new Error(event.message));
          });
        }
        """,
        other_origin,
    )
    return got


@pytest.mark.parametrize("start", ["snapshot", "plain"])
@pytest.mark.parametrize("host", ["site", "plain_site"])
def test_nothing_in_the_worker_reaches_another_origin(
    browser: Browser, host: str, start: str, other_origin: str, request: pytest.FixtureRequest
) -> None:
    context = browser.new_context()
    page = context.new_page()
    got = probe(page, request.getfixturevalue(host), other_origin, start)
    # The same fetch from the page goes through: it is the policy that stops the worker.
    assert page.evaluate("(url) => fetch(url).then((r) => r.text())", other_origin) == "ok"
    context.close()
    assert got.pop("own") == "got through"
    assert got.pop("globals") == ""
    assert got == dict.fromkeys(REFUSED, "refused")


def test_headers_carry_the_policies_that_the_pages_state(page: Page, site: str) -> None:
    for path, directive in {
        "/": "trusted-types 'none'",
        "/index.html": "require-trusted-types-for 'script'",
        "/guard.html": "worker-src 'self' blob:",
        "/lib/worker.js": "connect-src 'self';",
    }.items():
        headers = page.request.get(site + path).headers
        policy = headers["content-security-policy"]
        assert directive in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy
        assert "'unsafe-" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    for path, kind in {
        "/lib/client.js": "text/javascript",
        "/lib/pyodide/pyodide.mjs": "text/javascript",
        "/lib/pyodide/pyodide.asm.wasm": "application/wasm",
    }.items():
        assert page.request.get(site + path).headers["content-type"].startswith(kind)


def test_pages_hold_no_script_or_style_of_their_own() -> None:
    """Nothing for which a policy would need 'unsafe-inline' or 'unsafe-eval'."""

    class Markup(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names = dict(attrs)
            assert tag != "style"
            assert tag != "script" or names.get("src")
            assert not [name for name in names if name.startswith("on") or name == "style"]
            for name in ("src", "href"):
                assert ":" not in (names.get(name) or ""), "every asset is of this origin"

    pages = sorted(build.DIST.glob("*.html"))
    assert [page.name for page in pages] == ["guard.html", "index.html"]
    for page in pages:
        text = page.read_text("utf-8")
        Markup().feed(text)
        assert "unsafe-inline" not in text
        assert "'unsafe-eval'" not in text


def test_the_page_works_on_a_static_host_under_a_sub_path(page: Page, plain_site: str) -> None:
    outside: list[str] = []

    def note(url: str) -> None:
        if not url.startswith((plain_site, "blob:")):
            outside.append(url)

    page.on("request", lambda request: note(request.url))
    page.goto(f"{plain_site}/index.html")
    page.get_by_role("textbox", name="Text", exact=True).fill("Hello world")
    expect(page.get_by_role("textbox", name="Ids")).to_have_value("[15496, 995]")
    assert outside == []


def test_the_server_answers_names_that_no_file_can_have(page: Page, site: str) -> None:
    for headers in ({}, {"Range": "bytes=0-3"}):
        assert page.request.get(f"{site}/{'a' * 3000}", headers=headers).status == 404


def test_the_server_answers_ranges(page: Page, site: str) -> None:
    url = f"{site}/samples/ggml-vocab-gpt-2.gguf"
    size = (build.DIST / "samples/ggml-vocab-gpt-2.gguf").stat().st_size
    part = page.request.get(url, headers={"Range": "bytes=0-3"})
    assert (part.status, part.body()) == (206, b"GGUF")
    assert part.headers["content-range"] == f"bytes 0-3/{size}"
    assert page.request.get(url, headers={"Range": f"bytes={size}-"}).status == 416


def test_micropip_installed_the_wheel_just_built(library: Page, tmp_path: Path) -> None:
    """Ask the Python inside the page's worker where its pytok comes from."""
    probe_code = """
    import { startPyodide } from "./pyodide.js";
    const { pyodide } = await startPyodide(() => {}, true);
    postMessage(pyodide.runPython(
      "import importlib.metadata as m, json, pytok; d = m.distribution('pytok-gguf'); "
      + "json.dumps([d.read_text('INSTALLER').strip(), d.read_text('RECORD'), pytok.__file__])"));
    """
    library.route(
        "**/lib/installed.js",
        lambda r: r.fulfill(body=probe_code, content_type="text/javascript"),
    )
    installer, record, file = library.evaluate(
        """
        () => new Promise((resolve, reject) => {
          const worker = new Worker("lib/installed.js", { type: "module" });
          worker.onmessage = ({ data }) => resolve(JSON.parse(data));
          worker.onerror = (event) => reject(new Error(event.message));
        })
        """
    )
    assert installer == "micropip"
    assert file.endswith("site-packages/pytok/__init__.py")

    def digests(text: str) -> dict[str, str]:
        return {row[0]: row[1] for row in csv.reader(io.StringIO(text)) if row[0].endswith(".py")}

    wheel = build.wheel()
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("RECORD")]
        assert digests(record) == digests(archive.read(name).decode())
        names = archive.namelist()
    assert "pytok/py.typed" in names
    assert not [name for name in names if "design" in name or "generate" in name]
