"""The texts that are measured: made from what the machine's own packages hold.

Prose is the English reference that comes with Python (pydoc's topics), code is Python's own
library, and the multilingual text is TypeScript's messages in twelve languages. So a text
depends on the versions of Python and TypeScript, and on nothing else.
"""

import json
import random
import sysconfig
from pathlib import Path
from pydoc_data import topics

# Bytes of each text in UTF-8; pydoc's topics hold less than that.
SIZE = 1_000_000
# Languages take turns in the multilingual text, this many characters each.
TURN = 2000


def prose() -> str:
    return _cut("\n\n".join(text for _, text in sorted(topics.topics.items())))


def code() -> str:
    library = Path(sysconfig.get_paths()["stdlib"])
    modules = [*sorted(library.glob("*.py")), *sorted((library / "asyncio").glob("*.py"))]
    return _cut("".join(path.read_text("utf-8", "replace") for path in modules))


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
