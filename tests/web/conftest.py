"""A server of the built page and a real Chromium, one of each for all tests of the web."""

import os
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playground import Playground
from playwright.sync_api import Browser, Page, expect, sync_playwright
from web_servers import serving_forever

import build
from web.serve import Handler, make_server

BARE = b"<!doctype html><link rel=icon href=data:,><title>bare</title><input type=file>"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Pyodide starts in 2 to 3 seconds; a loaded machine may need many times that.
expect.set_options(timeout=60_000)


class Bare(SimpleHTTPRequestHandler):
    """Beside the files, a page without anything: of another site's making."""

    def do_GET(self) -> None:
        if not self.path.endswith("/bare.html"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(BARE)))
        self.end_headers()
        self.wfile.write(BARE)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class SiteHandler(Bare, Handler):
    """The playground's server."""


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The playground as `build.py serve` serves it."""
    yield from serving_forever(make_server(build.DIST, handler=SiteHandler))


class PlainHandler(Bare):
    """A static host: files below a sub-path, no header of its own."""

    extensions_map = Handler.extensions_map
    prefix = "/some/where"

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(self.prefix))


@pytest.fixture(scope="session")
def plain_site() -> Iterator[str]:
    """The same files on a static host that sends no policy, under a sub-path."""
    for base in serving_forever(make_server(build.DIST, handler=PlainHandler)):
        yield base + PlainHandler.prefix


@pytest.fixture(scope="session")
def other_origin() -> Iterator[str]:
    """A server that lets any origin read what it says."""

    class Open(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    yield from serving_forever(ThreadingHTTPServer(("127.0.0.1", 0), Open))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("PYTOK_CHROMIUM") or build.chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page in a profile of its own; what it complains of fails the test."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield page
    context.close()
    assert not complaints


@pytest.fixture
def playground(page: Page, site: str) -> Playground:
    page.goto(site)
    return Playground(page)


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Page]:
    """A page whose console may complain: the tests break things on purpose."""
    context = browser.new_context()
    page = context.new_page()
    yield page
    context.close()
