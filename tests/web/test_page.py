"""The built page in Chromium: real files, by the file chooser and by drop, and golden ids."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import golden
import pytest
from places import REAL, SYNTHETIC
from playground import NUMBER, Playground
from playwright.sync_api import Page, Route, expect

DROP = """
([name, data]) => {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer });
    document.getElementById("drop").dispatchEvent(event);
  }
}
"""


def drop(page: Page, path: Path) -> None:
    page.evaluate(DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])


def golden_rows(name: str, count: int) -> list[dict[str, Any]]:
    """Return rows, of all switches, that can be typed: a text area knows no carriage return."""
    rows = golden.rows("vocab", name)
    rows = [row for row in rows if "ids" in row and not {"\r", "\0"} & set(row["text"])]
    step = max(1, len(rows) // count)
    return rows[::step][:count]


def check_rows(playground: Playground, rows: list[dict[str, Any]]) -> None:
    assert rows
    for row in rows:
        playground.add_special.set_checked(row["add_special"])
        playground.parse_special.set_checked(row["parse_special"])
        playground.text.fill(row["text"])
        playground.expect_ids(row["ids"])


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("llama-bpe", REAL / "ggml-vocab-llama-bpe.gguf"),
        ("phi-3", REAL / "ggml-vocab-phi-3.gguf"),
        ("synth-spm", SYNTHETIC / "synth-spm.gguf"),
    ],
)
def test_a_chosen_file_gives_llama_cpps_ids(playground: Playground, name: str, path: Path) -> None:
    playground.open(path)
    check_rows(playground, golden_rows(name, 25))
    ids = json.loads(playground.ids.input_value())
    assert playground.shown_ids() == ids[:500]


def test_a_dropped_file_gives_llama_cpps_ids(playground: Playground) -> None:
    path = REAL / "ggml-vocab-aquila.gguf"
    drop(playground.page, path)
    expect(playground.page.get_by_text(path.name, exact=True)).to_be_visible()
    check_rows(playground, golden_rows("aquila", 25))


def test_samples_come_with_their_licences(playground: Playground) -> None:
    expect(playground.samples.locator("option")).to_have_count(6)
    labels = playground.samples.locator("option").all_inner_texts()[1:]
    assert labels[:3] == ["GPT-2 (MIT)", "Phi-3 (MIT)", "Qwen2 (Apache-2.0)"]
    for sample, name in (("Qwen2", "qwen2"), ("Phi-3", "phi-3"), ("GPT-2", "gpt-2")):
        playground.choose(sample)
        check_rows(playground, golden_rows(name, 4))
    playground.choose("Bytes")
    playground.text.fill("é\n")
    playground.expect_ids([0xC3, 0xA9, 10])
    expect(playground.page.get_by_role("list", name="Warnings")).to_contain_text("no vocabulary")


def test_a_first_visitor_sees_tokens_without_choosing(playground: Playground) -> None:
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])


def test_typing_is_accepted_before_python_is_there(page: Page, site: str) -> None:
    # The one file that Python cannot start without is held back until we let it go.
    held: list[Route] = []
    page.route("**/pyodide.asm.wasm", lambda route: held.append(route))  # noqa: PLW0108
    page.goto(site)
    playground = Playground(page)
    playground.text.fill("Hello")
    expect(page.get_by_role("status", name="Progress")).to_have_text("starting Python…")
    expect(playground.count).to_have_text("")
    while not held:
        page.wait_for_timeout(100)
    assert playground.text.input_value() == "Hello"
    for route in held:
        route.continue_()
    playground.expect_ids([15496])
    expect(page.get_by_role("status", name="Progress")).to_have_text("")


BAD = {
    "truncated.gguf": "file is truncated",
    "text.gguf": "not a GGUF file",
    "empty.gguf": "the file is empty",
    "unknown-pre.gguf": "unknown pre-tokenizer 'gpx-2'; did you mean 'gpt-2'",
}


def bad_file(name: str, folder: Path) -> Path:
    real = (REAL / "ggml-vocab-gpt-2.gguf").read_bytes()
    length = b"\x05\0\0\0\0\0\0\0"
    content = {
        "truncated.gguf": real[: len(real) // 2],
        "text.gguf": b"<b>only text</b>\n" * 9,
        "empty.gguf": b"",
        "unknown-pre.gguf": real.replace(length + b"gpt-2", length + b"gpx-2"),
    }[name]
    path = folder / name
    path.write_bytes(content)
    return path


def test_bad_files_get_one_sentence_and_the_next_good_one_loads(
    playground: Playground, tmp_path: Path
) -> None:
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    for name, reason in BAD.items():
        playground.file.set_input_files(bad_file(name, tmp_path))
        expect(playground.error).to_contain_text(reason)
        expect(playground.error).to_contain_text(name)
        assert playground.error.inner_text().endswith((".", "?"))
        # Nothing is lost: the text, and the model from before.
        playground.expect_ids([15496, 995])
    playground.open(REAL / "ggml-vocab-llama-spm.gguf")
    expect(playground.error).to_be_hidden()
    playground.expect_ids([1, 15043, 3186])


def test_a_megabyte_of_text(playground: Playground) -> None:
    """No main-thread task over 100 ms, few elements, and the count is right."""
    page = playground.page
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    line = "The quick brown fox doesn't jump over 1234 lazy dogs; naïve café — 日本語 🐢.\n"
    text = line * (1_000_000 // len(line.encode()) + 1)
    expected = golden.model("gpt-2").encode(text)
    page.evaluate(
        """() => {
          window.longTasks = [];
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
          }).observe({ type: "longtask" });
        }"""
    )
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    playground.text.focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")
    expect(playground.count).to_have_text(f"{len(expected)} tokens")
    page.wait_for_timeout(500)
    assert [task for task in page.evaluate("window.longTasks") if task > 100] == []
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    assert json.loads(playground.ids.input_value()) == expected

    shown = playground.shown_ids()
    assert shown == expected[: len(shown)]
    page.get_by_role("button", name="Next page").click()
    expect(playground.tokens.locator("li").first).to_have_attribute(
        "data-token-id", str(expected[len(shown)])
    )
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text(re.compile("501.1000 of"))

    # A long text is folded; typing on opens it, at its end.
    assert playground.text.input_value() == text
    page.get_by_role("button", name="Open what is folded").first.focus()
    page.keyboard.type("!")
    expect(playground.count).to_have_text(f"{len(expected) + 1} tokens")
    assert playground.text.input_value() == text + "!"


def test_pieces_are_shown_whole_and_visible(playground: Playground) -> None:
    playground.text.fill("a b\n\u202e🐢<script>")
    expect(playground.count).to_have_text(NUMBER)
    shown = [item.locator(".piece").inner_text() for item in playground.tokens.locator("li").all()]
    assert shown[:3] == ["a", "·b", "⏎"]
    assert "E2 80" in "".join(shown)  # U+202E comes as bytes, it is split
    assert "script" in shown
    assert playground.page.locator("script").count() == 1


def test_special_tokens_look_special(playground: Playground) -> None:
    playground.choose("Phi-3")
    playground.text.fill("<|user|>hi")
    playground.parse_special.check()
    playground.expect_ids([1, 32010, 7251])
    expect(playground.tokens.locator("li.special")).to_have_count(2)


def test_the_default_sample_never_wins_over_a_choice(page: Page, site: str) -> None:
    page.goto(site)
    playground = Playground(page)
    playground.text.fill("Hi there")
    playground.open(REAL / "ggml-vocab-llama-spm.gguf")
    playground.expect_ids([1, 6324, 727])
    page.wait_for_timeout(500)
    playground.expect_ids([1, 6324, 727])


def test_contract_of_accessible_names(playground: Playground) -> None:
    page = playground.page
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_editable()
    expect(page.get_by_label("Open a GGUF file")).to_have_attribute("type", "file")
    expect(page.get_by_role("combobox", name="Sample models")).to_be_visible()
    expect(page.get_by_role("switch", name="add_special", exact=True)).to_be_checked()
    expect(page.get_by_role("switch", name="parse_special", exact=True)).not_to_be_checked()
    expect(page.get_by_role("status", name="Token count")).to_be_attached()
    expect(page.get_by_role("list", name="Tokens")).to_be_attached()
    expect(page.get_by_role("textbox", name="Ids", exact=True)).not_to_be_editable()
    for label in ("Text", "Ids", "Sample models", "add_special", "parse_special"):
        expect(page.get_by_label(label, exact=True)).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_screen(playground: Playground, scheme: Any, width: int) -> None:
    page = playground.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    playground.text.fill("<|a-very-long-word|>" * 20 + "日本語" * 50)
    expect(playground.count).to_have_text(NUMBER)
    expect(playground.tokens.locator("li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
