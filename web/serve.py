"""The development server: files of a folder, with the pages' own policies as headers."""

import functools
import http.server
import os
import re
import sys
from pathlib import Path
from typing import Any


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, with the policy that a page states as its header, and single byte ranges."""

    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".wasm": "application/wasm",
        ".svg": "image/svg+xml",
        "": "application/octet-stream",
    }

    def end_headers(self) -> None:
        policy = self.policy()
        if policy:
            self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'self'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def policy(self) -> str | None:
        """Return the policy that a page states in its <meta>; the worker has its guard's."""
        path = Path(self.translate_path(self.path))
        page = {".html": path, "": path / "index.html"}.get(path.suffix)
        root = Path(self.directory)
        if path == root / "lib/worker.js":
            page = root / "guard.html"
        if page is None or not os.path.isfile(page):
            return None
        meta = r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"'
        found = re.search(meta, page.read_text("utf-8"))
        return " ".join(found[1].split()) if found else None

    def do_GET(self) -> None:
        wanted = re.fullmatch(r"bytes=(\d{1,15})-(\d{0,15})", self.headers.get("Range", ""))
        if "%00" in self.path:
            self.send_error(404)
            return
        path = Path(self.translate_path(self.path))
        if not (wanted and os.path.isfile(path)):
            super().do_GET()
            return
        size = path.stat().st_size
        start, end = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
        if start > end:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        with path.open("rb") as file:
            file.seek(start)
            self.wfile.write(file.read(end - start + 1))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the browser shows what it fetched."""


class Server(http.server.ThreadingHTTPServer):
    """A server that does not mind when a browser has heard enough."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def make_server(
    folder: Path, port: int = 0, handler: type[http.server.SimpleHTTPRequestHandler] = Handler
) -> http.server.ThreadingHTTPServer:
    """Return a server of a folder on this machine's loopback; port 0 takes a free one."""
    bound = functools.partial(handler, directory=str(folder))
    return Server(("127.0.0.1", port), bound)
