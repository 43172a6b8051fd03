"""Models from servers of every manner: read by ranges or as a stream, never further than needed."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from file_server import FileServer, serving
from places import REAL
from playground import Playground
from playwright.sync_api import Page, expect

GPT2 = (REAL / "ggml-vocab-gpt-2.gguf").read_bytes()
LLAMA = (REAL / "ggml-vocab-llama-spm.gguf").read_bytes()
# A stream that is not read at the moment piles up in the browser, and in the sockets: Chromium
# takes up to 64 MB, here twice: before the worker is ready, and while it parses.
SLACK = 240 << 20

LOAD = """
async ([url, options]) => {
  const { Tokenizer } = await import("./lib/client.js");
  const steps = [];
  const onProgress = (step) => steps.push(step);
  try {
    const tokenizer = await Tokenizer.load(url, { onProgress, ...options });
    return { ids: [...await tokenizer.encode("Hello world")], info: tokenizer.info, steps };
  } catch ({ name, message }) {
    return { name, message, steps };
  }
}
"""


def load(page: Page, url: str, **options: Any) -> dict[str, Any]:
    got: dict[str, Any] = page.evaluate(LOAD, [url, options])
    return got


@pytest.fixture
def bare(quiet: Page, site: str) -> Page:
    quiet.goto(f"{site}/bare.html")
    return quiet


@pytest.mark.parametrize("expose", [True, False])
@pytest.mark.parametrize("ranges", [True, False])
def test_ranges_or_not_exposed_or_not(bare: Page, ranges: bool, expose: bool) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.ranges, server.expose = ranges, expose
        got = load(bare, f"{server.url}/any/name?x=1")
    assert got["ids"] == [15496, 995]
    assert got["info"]["fileSize"] == (len(GPT2) if ranges and expose else None)
    loaded = [step["loaded"] for step in got["steps"] if step["phase"] == "reading"]
    assert loaded == sorted(loaded)
    assert 0 < loaded[-1] <= len(GPT2)
    # No preflight, and nothing twice; but a stream is asked for again, once Python is ready.
    assert all(request.startswith("GET") for request in server.requests)
    starts = [int(r.split("bytes=")[1].split("-")[0]) for r in server.requests]
    assert starts == sorted(set(starts))
    assert server.sent <= len(GPT2) * (1 if ranges else 2)
    assert len(starts) <= 2 or ranges


@pytest.mark.parametrize("ranges", [True, False])
def test_of_a_40_gb_file_only_the_header_is_fetched(bare: Page, ranges: bool) -> None:
    server = FileServer(lambda at, size: GPT2[at : at + size].ljust(size, b"\0"), 40 << 30)
    with serving(server):
        server.ranges = ranges
        got = load(bare, f"{server.url}/big.gguf")
        assert got["ids"] == [15496, 995]
        time.sleep(0.5)
        sent = server.sent
        time.sleep(0.5)
        assert server.sent == sent, "the stream goes on"
    if ranges:
        assert got["info"]["fileSize"] == 40 << 30
        assert sent <= len(GPT2) + (4 << 20)
    assert sent <= len(GPT2) + SLACK


def test_redirects_are_followed(bare: Page) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.redirect_from = "/old.gguf"
        assert load(bare, f"{server.url}/old.gguf")["ids"] == [15496, 995]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, "the server answered 404: there is no such file"),
        (403, "the server answered 403: it does not let everybody read this"),
        (500, "the server answered 500"),
    ],
)
def test_refusals_are_told(bare: Page, status: int, said: str) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.status = status
        got = load(bare, f"{server.url}/m.gguf")
    assert got["name"] == "NetworkError"
    assert got["message"] == f"could not read {server.url}/m.gguf: {said}"


def test_a_server_that_lets_no_page_read_is_told_from_one_that_is_not_there(bare: Page) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.allow = False
        got = load(bare, f"{server.url}/m.gguf")
        assert got["name"] == "NetworkError"
        assert "does not let other pages read its files (CORS)" in got["message"]
    got = load(bare, f"{server.url}/m.gguf")
    assert got["name"] == "NetworkError"
    assert got["message"].endswith("the server cannot be reached")
    got = load(bare, "ftp://example.org/m.gguf")
    assert "addresses begin with https: or http:" in got["message"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_is_cut_is_taken_up_again(bare: Page, ranges: bool) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.ranges = ranges
        server.cut_after = [70_000, 100_000, 300_000] if not ranges else [65_536, 50_000, 10_000]
        got = load(bare, f"{server.url}/m.gguf")
    assert got["ids"] == [15496, 995]
    assert len(server.cut_after) == 0


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("start", "asked for byte 0, the server sent byte 1"),
        ("whole", "the server sent more than it was asked for"),
        ("size", "the file changed while it was being read"),
        ("date", "the file changed while it was being read"),
    ],
)
def test_a_server_that_lies_is_found_out(bare: Page, lie: str, said: str) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.lie = lie
        got = load(bare, f"{server.url}/m.gguf")
    assert got["name"] == "NetworkError"
    assert said in got["message"]


def test_a_connection_that_is_always_cut_ends_in_one_error(bare: Page) -> None:
    with serving(FileServer.of(GPT2)) as server:
        server.cut_after = [65_536] + [0] * 20
        got = load(bare, f"{server.url}/m.gguf")
        assert got["name"] == "NetworkError"
        assert got["message"].endswith("the connection broke off at byte 65536")
        assert 10 < len(server.cut_after) < 20
        server.cut_after = []
        assert load(bare, f"{server.url}/m.gguf")["ids"] == [15496, 995]


def test_a_truncated_file_is_named_as_such(bare: Page) -> None:
    for ranges in (True, False):
        with serving(FileServer.of(GPT2[:300_000])) as server:
            server.ranges = ranges
            got = load(bare, f"{server.url}/m.gguf")
        assert got["name"] == "GGUFError"
        assert "truncated" in got["message"]


@pytest.mark.parametrize("ranges", [True, False])
def test_an_abort_ends_the_connection(bare: Page, ranges: bool) -> None:
    server = FileServer(lambda at, size: GPT2[at : at + size].ljust(size, b"\0"), 3 << 30)
    server.pause = threading.Event()
    with serving(server):
        server.ranges = ranges
        script = """
        async (url) => {
          const { Tokenizer } = await import("./lib/client.js");
          const controller = new AbortController();
          const loading = Tokenizer.load(url, { signal: controller.signal })
            .catch(({ name }) => name);
          await new Promise((resolve) => setTimeout(resolve, 1000));
          const start = performance.now();
          controller.abort();
          return [await loading, performance.now() - start];
        }
        """
        name, took = bare.evaluate(script, f"{server.url}/m.gguf")
        assert name == "AbortError"
        assert took < 200
        server.pause.set()
        time.sleep(1)
        assert server.sent < SLACK


# --- the page, and the hub ---------------------------------------------------------------


def enter(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Address of a model").fill(text)
    page.get_by_role("button", name="Load", exact=True).click()


def test_the_page_loads_a_url_and_tells_of_one_that_fails(quiet: Page, site: str) -> None:
    quiet.goto(site)
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    with serving(FileServer.of(LLAMA)) as server:
        enter(quiet, f"{server.url}/llama.gguf")
        playground.expect_ids([1, 15043, 3186])
        server.status = 404
        enter(quiet, f"{server.url}/gone.gguf")
        expect(playground.error).to_contain_text("there is no such file")
        playground.expect_ids([1, 15043, 3186])
        server.status = 0
        quiet.get_by_role("button", name="Try again").click()
        expect(playground.error).to_be_hidden()
        playground.expect_ids([1, 15043, 3186])
        server.status = 404
        enter(quiet, f"{server.url}/{'long' * 500}")
        expect(playground.error).to_contain_text("longlong")
        assert len(playground.error.inner_text()) < 350
    enter(quiet, "http://[")
    expect(playground.error).to_contain_text("neither owner/repo nor a URL")


LISTING = [
    {"type": "directory", "path": "BF16"},
    {"type": "file", "path": "README.md", "size": 5},
    {"type": "file", "path": "mmproj-Q8_0.gguf", "size": 5},
    {"type": "file", "path": "BF16/tiny-BF16-00002-of-00002.gguf", "size": 5},
    {"type": "file", "path": "BF16/tiny-BF16-00001-of-00002.gguf", "size": 5},
    {"type": "file", "path": "tiny-Q8_0.gguf", "size": 5},
    {"type": "file", "path": "tiny q4_k_m.gguf", "size": 5},
]


class Hub:
    """A stand-in of the hub: its listing in two pages, and files of two vocabularies."""

    def __init__(self, page: Page, base: str = "https://huggingface.co") -> None:
        self.asked: list[str] = []
        self.base = base
        page.route(f"{base}/**", self.answer)

    def answer(self, route: Any) -> None:
        path = route.request.url.removeprefix(self.base)
        self.asked.append(path)
        others = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "Link, Content-Range",
        }
        if path == "/api/models/some/tiny-GGUF/tree/main?recursive=true":
            link = f'<{self.base}{path}&cursor=abc>; rel="next"'
            route.fulfill(json=LISTING[:4], headers={**others, "Link": link})
        elif path == "/api/models/some/tiny-GGUF/tree/main?recursive=true&cursor=abc":
            route.fulfill(json=LISTING[4:], headers=others)
        elif path == "/api/models/some/safetensors/tree/main?recursive=true":
            route.fulfill(json=LISTING[:2], headers=others)
        elif path.startswith("/some/tiny-GGUF/resolve/main/"):
            data = LLAMA if "00001-of-00002" in path else GPT2
            route.fulfill(body=data, headers=others)
        else:
            status = 403 if "gated" in path else 401
            route.fulfill(
                status=status, json={"error": "Invalid username or password."}, headers=others
            )


@pytest.mark.parametrize(
    ("name", "file", "ids"),
    [
        ("some/tiny-GGUF", "tiny%20q4_k_m.gguf", [15496, 995]),
        ("some/tiny-GGUF:Q8_0", "tiny-Q8_0.gguf", [15496, 995]),
        ("hf.co/some/tiny-GGUF:bf16", "BF16/tiny-BF16-00001-of-00002.gguf", [1, 15043, 3186]),
        ("https://huggingface.co/some/tiny-GGUF", "tiny%20q4_k_m.gguf", [15496, 995]),
        (
            "https://huggingface.co/some/tiny-GGUF/blob/main/tiny-Q8_0.gguf",
            "tiny-Q8_0.gguf",
            [15496, 995],
        ),
    ],
)
def test_names_on_the_hub(bare: Page, name: str, file: str, ids: list[int]) -> None:
    hub = Hub(bare)
    assert load(bare, name)["ids"] == ids
    assert hub.asked[-1] == f"/some/tiny-GGUF/resolve/main/{file}"


def test_another_hub_can_be_named(bare: Page) -> None:
    hub = Hub(bare, "https://hub.example")
    assert load(bare, "some/tiny-GGUF", hub="https://hub.example")["ids"] == [15496, 995]
    assert len(hub.asked) >= 3


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        (
            "some/tiny-GGUF:Q2_K",
            "NotFoundError",
            "has no GGUF file Q2_K; it has BF16/tiny-BF16-00001",
        ),
        ("some/safetensors", "NotFoundError", "some/safetensors on the hub has no GGUF file"),
        ("no/such", "NetworkError", "there is no public repository no/such on the hub"),
        ("some/gated", "NetworkError", "is gated"),
    ],
)
def test_what_the_hub_does_not_have(bare: Page, name: str, kind: str, said: str) -> None:
    Hub(bare)
    got = load(bare, name)
    assert got["name"] == kind
    assert said in got["message"]


def test_the_page_takes_names_on_the_hub(quiet: Page, site: str) -> None:
    Hub(quiet)
    quiet.goto(site)
    playground = Playground(quiet)
    playground.text.fill("Hello world")
    enter(quiet, "some/tiny-GGUF:BF16")
    playground.expect_ids([1, 15043, 3186])
    enter(quiet, "some/safetensors")
    expect(playground.error).to_contain_text("has no GGUF file")
    playground.expect_ids([1, 15043, 3186])


def test_a_later_part_points_to_the_first(playground: Playground, tmp_path: Path) -> None:
    from gguf_writer import Writer  # noqa: PLC0415

    from pytok.gguf import ValueType  # noqa: PLC0415

    writer = Writer().add("split.no", ValueType.UINT16, 1).add("split.count", ValueType.UINT16, 3)
    path = tmp_path / "big-00002-of-00003.gguf"
    path.write_bytes(writer.bytes())
    playground.file.set_input_files(path)
    warnings = playground.page.get_by_role("list", name="Warnings")
    expect(warnings).to_contain_text("open 'big-00001-of-00003.gguf'")
    cut = tmp_path / "big.gguf.part2of3"
    cut.write_bytes(b"the middle of a file")
    playground.file.set_input_files(cut)
    expect(playground.error).to_contain_text("open 'big.gguf.part1of3'")
