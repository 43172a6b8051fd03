"""Every hostile file dropped on the page, one after the other: one error each; the page lives."""

import base64
import re

import hostile_files
from hostile_files import FILES, HostileFile
from places import REAL
from playground import Playground
from playwright.sync_api import Dialog, Page, expect

GPT2 = REAL / "ggml-vocab-gpt-2.gguf"

DROP = """
([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  const target = document.getElementById("drop");
  target.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true,
                                               cancelable: true }));
}
"""
# What a page is made of; text from files may add list items, marks and isolates, nothing else.
ELEMENTS = "() => [...new Set([...document.querySelectorAll('*')].map((e) => e.localName))].sort()"


def drop(page: Page, file: HostileFile) -> None:
    page.evaluate(DROP, [file.name, base64.b64encode(file.data).decode()])


def test_all_hostile_files_dropped_one_after_the_other(playground: Playground) -> None:
    page = playground.page
    dialogs: list[str] = []
    requests: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    playground.text.fill("abc <x> \u202e(a+)+$")
    playground.file.set_input_files(GPT2)
    expect(page.locator("#chip")).to_contain_text(GPT2.name)
    elements = set(page.evaluate(ELEMENTS)) | {"bdi", "dl", "dt", "dd", "div"}
    page.on("request", lambda request: requests.append(request.url))
    page.on("framenavigated", lambda frame: requests.append(frame.url))
    errors = 0
    for name, file in FILES.items():
        drop(page, file)
        if file.must_fail:
            errors += 1
            expect(playground.error).to_contain_text(re.compile(rf"^{re.escape(name)}: "))
            text = playground.error.inner_text()
            assert len(text) <= 600
            assert text.isprintable()
        else:
            expect(page.locator("#chip").get_by_text(name, exact=True)).to_be_visible()
            expect(playground.error).to_be_hidden()
            if file.expected.get("warn"):
                assert page.get_by_role("list", name="Warnings").locator("li").count() > 0
        assert page.locator("[role=alert]:visible").count() == int(file.must_fail)
        assert set(page.evaluate(ELEMENTS)) <= elements, name
        assert page.evaluate("document.documentElement.scrollHeight") < 6000
    assert errors == 76
    playground.file.set_input_files(GPT2)
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    assert dialogs == []
    assert requests == []


def test_after_each_kind_of_bad_file_a_good_one_loads(playground: Playground) -> None:
    page = playground.page
    playground.text.fill("Hello world")
    playground.expect_ids([15496, 995])
    first_of_a_kind = {f.expected["kind"]: f for f in FILES.values() if f.must_fail}
    assert len(first_of_a_kind) >= 30
    for file in first_of_a_kind.values():
        drop(page, file)
        expect(playground.error).to_contain_text(file.name)
        # What the user had is still there.
        playground.expect_ids([15496, 995])
    playground.file.set_input_files(REAL / "ggml-vocab-phi-3.gguf")
    playground.expect_ids([1, 15043, 3186])
    expect(playground.error).to_be_hidden()


def test_names_and_text_of_files_are_marked_and_isolated(playground: Playground) -> None:
    page = playground.page
    bad = FILES["zip_file.gguf"]
    name = "in\u202eert\u2066\u200b<img src=x onerror=alert(1)>\x07.gguf"
    drop(page, hostile_files.HostileFile(name, bad.data, {}))
    expect(playground.error).to_contain_text(
        "inU+202EertU+2066U+200B<img src=x onerror=alert(1)>U+0007"
    )
    assert page.locator("#error bdi").count() == 1
    assert page.locator("img").count() == 0
    good = FILES["tokens_markup.gguf"]
    drop(page, hostile_files.HostileFile(name, good.data, {}))
    expect(page.locator("#chip")).to_contain_text("inU+202EertU+2066U+200B<img src=x")
    for hidden in ("\u202e", "\u2066", "\u200b", "\x07"):
        assert hidden not in page.locator("main").inner_text()
