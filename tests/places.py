"""Where the tests find what they read."""

from pathlib import Path

import build

CORPUS = Path(__file__).parent / "corpus"
GOLDEN = CORPUS / "golden"
SYNTHETIC = CORPUS / "vocabs"
REAL = build.LLAMA_CPP


def vocab_file(name: str) -> Path:
    """Return the file that the golden data calls ``ggml-vocab-X.gguf`` or ``synthetic/X.gguf``."""
    path = Path(name)
    return SYNTHETIC / path.name if path.parent.name == "synthetic" else REAL / path.name
