"""The hostile files of the corpus and what is expected of each, written once for a session."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import make_hostile


class HostileFile(NamedTuple):
    """A file's name and content, and its row of expected.json."""

    name: str
    data: bytes
    expected: dict[str, Any]

    @property
    def must_fail(self) -> bool:
        return bool(self.expected["expect"] == "error")


def _all() -> dict[str, HostileFile]:
    make_hostile.build()
    return {
        name: HostileFile(name, data, json.loads(json.dumps(expected)))
        for name, (data, expected) in sorted(make_hostile.FILES.items())
    }


FILES = _all()


def write(file: HostileFile, folder: Path) -> Path:
    path = folder / file.name
    path.write_bytes(file.data)
    return path
