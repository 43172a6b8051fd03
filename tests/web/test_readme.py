"""The examples of the README do what it says."""

import re
import subprocess
import sys
from pathlib import Path

from places import REAL
from playwright.sync_api import Page

README = (Path(__file__).parent.parent.parent / "README.md").read_text("utf-8")


def example(language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert code.count("\n") <= 6
    return str(code)


def test_python_example(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes((REAL / "ggml-vocab-llama-spm.gguf").read_bytes())
    code = f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{example('python')}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1, 15043, 3186] <s> Hello world False\n"


def test_javascript_example(page: Page, site: str) -> None:
    printed: list[str] = []
    page.on("console", lambda message: printed.append(message.text))
    page.route(
        "**/example.html",
        lambda route: route.fulfill(
            content_type="text/html", body=f"<script type=module>{example('js')}</script>"
        ),
    )
    with page.expect_console_message(lambda message: message.type == "log", timeout=60_000):
        page.goto(f"{site}/example.html")
    assert printed == ["2 1 Hello world"]


def test_files_that_the_readme_names_exist() -> None:
    root = Path(__file__).parent.parent.parent
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert (root / link).exists(), link
