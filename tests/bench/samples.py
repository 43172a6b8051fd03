"""The texts that are measured: made from what the machine's own packages hold.

Prose is the English reference that comes with Python (pydoc's topics) and the documentation of
its modules, code is Python's own library, and the multilingual text is TypeScript's messages in
thirteen languages. So a text depends on the versions of Python and TypeScript, and on nothing
else.
"""

import ast
import json
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

# Bytes of each text in UTF-8.
SIZE = 1_000_000
# Languages take turns in the multilingual text, this many characters each.
TURN = 2000


def prose() -> str:
    chapters = [text for _, text in sorted(topics.topics.items())]
    return _cut("\n\n".join([*chapters, *_docstrings()]))


def _docstrings() -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in _modules():
        nodes = ast.walk(ast.parse(path.read_bytes()))
        yield from filter(None, (ast.get_docstring(n) for n in nodes if isinstance(n, kinds)))


def code() -> str:
    return _cut("".join(path.read_text("utf-8", "replace") for path in _modules()))


def _modules() -> list[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    return [*sorted(library.glob("*.py")), *sorted(library.glob("[a-z]*/*.py"))]


def multilingual(typescript: Path) -> str:
    files = sorted((typescript / "lib").glob("*/diagnosticMessages.generated.json"))
    texts = ["\n".join(json.loads(path.read_text("utf-8")).values()) for path in files]
    turns = range(0, max(map(len, texts)), TURN)
    return _cut("".join(text[start : start + TURN] for start in turns for text in texts))


def words(count: int) -> dict[str, str]:
    """Return texts of one word each, of ``count`` characters."""
    letters = random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=count)
    return {
        "a": "a" * count,
        "letters": "".join(letters),
        "signs": "=" * count,
        "han": "字" * count,
        "spaces": " " * count,
        "newlines": "\n" * count,
    }


def _cut(text: str) -> str:
    return text.encode("utf-8", "replace")[:SIZE].decode("utf-8", "ignore")
