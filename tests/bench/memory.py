"""How much memory pytok takes in Chromium: wasm memory, which only grows, and JavaScript heaps."""

import json
from typing import Any

from playwright.sync_api import BrowserContext


class LibraryPage:
    """A page that uses the library, and the DevTools protocol's session with its one worker."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self._page = context.new_page()
        self._session = context.new_cdp_session(self._page)
        self._id = ""
        self._answers: dict[int, dict[str, Any]] = {}
        self._session.on("Target.attachedToTarget", self._attached)
        self._session.on("Target.receivedMessageFromTarget", self._received)
        # Not flat: Playwright keeps the sessions that are so to itself.
        watch = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
        self._session.send("Target.setAutoAttach", watch)
        self._page.goto(f"{base}/bench/bench.html")

    def close(self) -> None:
        self._page.close()

    def load(self, vocab: str) -> None:
        """Load a model, and let go of the one before."""
        script = """async (url) => {
            const { Engine, Tokenizer } = await import("/pytok/lib/client.js");
            const startWorker = () => new Worker("/bench/watched.js", { type: "module" });
            globalThis.engine ??= new Engine({ startWorker });
            const before = globalThis.tokenizer;
            const file = await (await fetch(url)).blob();
            globalThis.tokenizer = await Tokenizer.load(file, { engine });
            await tokenizer.encode("Hello");
            await before?.dispose();
        }"""
        self._page.evaluate(script, f"/vocabs/ggml-vocab-{vocab}.gguf")

    def switch(self, vocab: str, times: int) -> None:
        """Load another small model and the first one in turn."""
        for count in range(times):
            self.load(vocab if count % 2 else "gpt-2")

    def encode(self, url: str, times: int) -> None:
        """Encode as many parts of a text, of 20,000 characters each."""
        script = """async ([url, times]) => {
            const text = await (await fetch(url)).text();
            for (let count = 0; count < times; count++) {
                const start = (count * 997) % (text.length - 20_000);
                await tokenizer.encode(text.slice(start, start + 20_000));
            }
        }"""
        self._page.evaluate(script, [url, times])

    def wasm_bytes(self) -> int:
        """Return the size of all WebAssembly memories in the worker: they only grow."""
        script = """() => new Promise((resolve) => {
            const channel = new BroadcastChannel("wasm");
            channel.onmessage = ({ data }) => {
                channel.close();
                resolve(data);
            };
            channel.postMessage("size");
        })"""
        return int(self._page.evaluate(script))

    def heap_bytes(self) -> int:
        """Return what the worker's JavaScript holds, after a collection."""
        self._send("HeapProfiler.collectGarbage")
        return int(self._send("Runtime.getHeapUsage")["usedSize"])

    def _attached(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "worker":
            self._id = event["sessionId"]

    def _received(self, event: dict[str, Any]) -> None:
        answer = json.loads(event["message"])
        if "id" in answer:
            self._answers[answer["id"]] = answer

    def _send(self, method: str, **params: Any) -> dict[str, Any]:
        number = len(self._answers) + 1
        message = json.dumps({"id": number, "method": method, "params": params})
        to = {"sessionId": self._id, "message": message}
        self._session.send("Target.sendMessageToTarget", to)
        while number not in self._answers:
            self._page.wait_for_timeout(5)
        result: dict[str, Any] = self._answers[number]["result"]
        return result
