"""Run a web server in a thread for as long as a test needs it."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer


def serving_forever(server: ThreadingHTTPServer) -> Iterator[str]:
    """Yield the server's address once, and end it afterwards."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
