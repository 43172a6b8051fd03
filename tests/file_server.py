"""A server of one file, as servers in the world are: without ranges, hiding, cutting, moving."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# (offset, size) -> bytes, fewer at the file's end
Read = Callable[[int, int], bytes]
PART = 1 << 16


class FileServer:
    """What is served how; ``sent`` counts the body's bytes, ``requests`` the ranges asked for."""

    def __init__(self, read: Read, size: int) -> None:
        self.read = read
        self.size = size
        self.ranges = True
        self.expose = True  # Content-Range and the rest, to pages of other origins
        self.allow = True  # other origins at all
        self.status = 0  # of every answer, if not 0
        self.cut_after: list[int] = []  # bytes after which an answer's connection is cut
        self.redirect_from = ""
        self.lie = ""  # "start", "whole", "size" or "date": what is wrong with each part
        self.pause: threading.Event | None = None  # waited for before each body
        self.sent = 0
        self.requests: list[str] = []
        self.url = ""

    @classmethod
    def of(cls, data: bytes) -> "FileServer":
        return cls(lambda offset, size: data[offset : offset + size], len(data))


def handler_of(server: FileServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def headers_for_others(self) -> None:
            if server.allow:
                self.send_header("Access-Control-Allow-Origin", "*")
            if server.allow and server.expose:
                self.send_header("Access-Control-Expose-Headers", "Content-Range, ETag")

        def empty(self, status: int, **headers: str) -> None:
            self.send_response(status)
            self.headers_for_others()
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_HEAD(self) -> None:
            self.empty(200)

        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            server.requests.append(f"{self.command} {self.path} {asked}")
            if server.status:
                self.empty(server.status)
            elif self.path == server.redirect_from:
                self.empty(302, Location=server.url + "/moved.gguf")
            else:
                self.send_file(asked)

        def send_file(self, asked: str) -> None:
            start, end = 0, server.size
            if server.ranges and asked:
                first, _, last = asked.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last) + 1, server.size)
                if start >= server.size:
                    self.empty(416)
                    return
                self.send_response(206)
                start, end = self.lie_about(start, end)
            else:
                self.send_response(200)
            self.headers_for_others()
            self.send_header("Content-Length", str(end - start))
            self.end_headers()
            cut = start + server.cut_after.pop(0) if server.cut_after else end
            try:
                while start < min(end, cut):
                    if server.pause:
                        server.pause.wait(60)
                    part = server.read(start, min(PART, end - start, cut - start))
                    self.wfile.write(part)
                    server.sent += len(part)
                    start += len(part)
            except OSError:  # the reader has had enough
                self.close_connection = True
            if start < end:
                self.close_connection = True

        def lie_about(self, start: int, end: int) -> tuple[int, int]:
            """Tell which part is sent, or not quite; return what is sent."""
            count = len(server.requests)
            if server.lie == "whole":
                return 0, server.size
            if server.lie == "date":
                self.send_header("Last-Modified", f"Tue, {count:02} Dec 2026 00:00:00 GMT")
            told = start + (server.lie == "start")
            size = server.size + (count if server.lie == "size" else 0)
            self.send_header("Content-Range", f"bytes {told}-{end - 1}/{size}")
            return start, end

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    return Handler


@contextmanager
def serving(server: FileServer) -> Iterator[FileServer]:
    """Serve on a free port of this machine, of another origin than any page."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(server))
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    yield server
    if server.pause:
        server.pause.set()
    http.shutdown()
    http.server_close()
    thread.join()
