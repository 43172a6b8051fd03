"""The playground as an outside test sees it: by accessible names."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

NUMBER = re.compile(r"\d")


class Playground:
    """The page by its accessible names, which outside tests rely on too."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.text = page.get_by_role("textbox", name="Text", exact=True)
        self.file = page.get_by_label("Open a GGUF file")
        self.samples = page.get_by_label("Sample models")
        self.add_special = page.get_by_label("add_special", exact=True)
        self.parse_special = page.get_by_label("parse_special", exact=True)
        self.count = page.get_by_role("status", name="Token count")
        self.tokens = page.get_by_role("list", name="Tokens")
        self.ids = page.get_by_role("textbox", name="Ids", exact=True)
        self.error = page.get_by_role("alert")

    def open(self, path: Path) -> None:
        self.file.set_input_files(path)
        expect(self.page.get_by_text(path.name, exact=True)).to_be_visible()

    def choose(self, sample: str) -> None:
        option = self.samples.locator("option", has_text=sample)
        self.samples.select_option(label=option.inner_text())
        expect(self.page.locator("#chip").get_by_text(sample).first).to_be_visible()

    def expect_ids(self, ids: list[int]) -> None:
        expect(self.ids).to_have_value(f"[{', '.join(map(str, ids))}]")
        noun = "token" if len(ids) == 1 else "tokens"
        expect(self.count).to_have_text(f"{len(ids)} {noun}")

    def shown_ids(self) -> list[int]:
        items = self.tokens.locator("li")
        return [int(i.get_attribute("data-token-id") or -1) for i in items.all()]
