"""The command line: ``python -m pytok MODEL.gguf "text"``."""

import argparse
import os
import sys
from collections.abc import Sequence

from pytok.errors import PytokError
from pytok.source import GGUFSource
from pytok.tokenizer import Tokenizer


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each token of a text, and their count; return the exit status.

    0 if all went well, 1 if the model cannot be used; wrong arguments end with 2.
    """
    parser = argparse.ArgumentParser(
        prog="pytok",
        description="Show the tokens of a text, as llama.cpp computes them from a GGUF file.",
    )
    parser.add_argument("model", metavar="MODEL.gguf", help="a GGUF file; only its header is read")
    parser.add_argument("text", nargs="?", help="taken as it is; without it, standard input")
    parser.add_argument(
        "--no-add-special",
        dest="add_special",
        action="store_false",
        help="do not add what the model wants around a text, such as BOS",
    )
    parser.add_argument(
        "--parse-special",
        action="store_true",
        help="let the texts of control tokens stand for these tokens",
    )
    options = parser.parse_args(arguments)
    try:
        # The tensor list too, so that a download that is not whole is told.
        tokenizer = Tokenizer.from_source(GGUFSource.from_file(options.model, tensors=True))
    except (PytokError, OSError) as error:
        return _fail(f"{options.model}: {_reason(error)}")
    for warning in tokenizer.warnings:
        print(f"pytok: warning: {warning}", file=sys.stderr)
    try:
        ids = tokenizer.encode(
            _input() if options.text is None else os.fsencode(options.text),
            add_special=options.add_special,
            parse_special=options.parse_special,
        )
        _print(tokenizer, ids)
    except BrokenPipeError:
        # Whoever read the output has seen enough. Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except PytokError as error:
        return _fail(f"{options.model}: {error}")
    except OSError as error:
        return _fail(_reason(error))
    except KeyboardInterrupt:
        return 130
    return 0


def _input() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read()


def _fail(message: str) -> int:
    print(f"pytok: error: {message}", file=sys.stderr)
    return 1


def _print(tokenizer: Tokenizer, ids: Sequence[int]) -> None:
    if sys.stdout is None:
        raise OSError("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    for id_ in ids:
        print(f"{id_:>6} -> {_literal(tokenizer.decode_token(id_))}")
    print(f"{len(ids)} tokens" if len(ids) != 1 else "1 token")
    sys.stdout.flush()


def _literal(piece: bytes) -> str:
    """Return bytes as a quoted literal: text if they are UTF-8, else byte by byte."""
    try:
        return repr(piece.decode())
    except UnicodeDecodeError:
        return repr(piece).removeprefix("b")


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
