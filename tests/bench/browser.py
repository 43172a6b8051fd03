"""Measure in Chromium: each measurement in a worker of its own, on a server of this machine."""

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright
from web_servers import serving_forever

from web.serve import Handler, make_server

HERE = Path(__file__).resolve().parent
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# How long a peer may take for one measurement, in ms.
LIMIT = 60_000


class Site:
    """The server's address, and what it has served since the log was cleared."""

    def __init__(self, base: str, log: list[tuple[str, Path]]) -> None:
        self.base = base
        self.log = log

    def packed_bytes(self) -> int:
        """Return the size of all that was served, as a host would pack it."""
        return sum(packed_size(path) for _, path in self.log)


@cache
def packed_size(path: Path) -> int:
    data = path.read_bytes()
    return min(len(data), len(gzip.compress(data, 9)))


@contextmanager
def site(mounts: dict[str, Path]) -> Iterator[Site]:
    """Serve each folder below its name; what a browser has seen it need not ask for again."""
    log: list[tuple[str, Path]] = []

    class Mounted(Handler):
        def translate_path(self, path: str) -> str:
            name, _, rest = path.split("?", maxsplit=1)[0].lstrip("/").partition("/")
            below = mounts.get(name, HERE) / rest
            return str(below / "index.html" if below.is_dir() else below)

        def policy(self) -> None:
            return None  # pages state theirs; the one of guard.html comes with it

        def send_header(self, keyword: str, value: str) -> None:
            is_caching = keyword == "Cache-Control"
            super().send_header(keyword, "max-age=3600" if is_caching else value)

        def do_GET(self) -> None:  # noqa: N802
            path = Path(self.translate_path(self.path))
            if path.is_file():
                log.append((self.path, path))
            super().do_GET()

    for base in serving_forever(make_server(HERE, handler=Mounted)):
        yield Site(base, log)


@contextmanager
def chromium(path: str) -> Iterator[BrowserContext]:
    """Start a Chromium with a new profile, whose HTTP cache is kept on disk."""
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, headless=True, args=ARGUMENTS
        )
        yield context
        context.close()


def measure(page: Page, limit: int = LIMIT, **params: Any) -> dict[str, Any]:
    """Measure in a worker of bench.html; the answer has a ``value`` or an ``error``."""
    answer: dict[str, Any] = page.evaluate(
        "([params, limit]) => measure(params, limit)", [params, limit]
    )
    return answer


def ms_to_ids(context: BrowserContext, site: Site) -> float:
    """Return how long the playground takes from nothing to the tokens of its first sample."""
    page = context.new_page()
    page.add_init_script("localStorage.clear()")
    page.goto(f"{site.base}/pytok/index.html#text=Hello+world")
    script = """() => new Promise((resolve) => {
        const look = () => document.querySelector("#tokens li") ? resolve(performance.now())
            : requestAnimationFrame(look);
        look();
    })"""
    time: float = page.evaluate(script)
    page.close()
    return time


def ms_to_python(context: BrowserContext, site: Site) -> float:
    """Return how long a page takes that plainly loads Pyodide and evaluates 1 + 1."""
    page = context.new_page()
    page.goto(f"{site.base}/bench/plain.html")
    page.wait_for_function("globalThis.done")
    time: float = page.evaluate("done")
    page.close()
    return time
