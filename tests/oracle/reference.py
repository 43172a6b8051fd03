"""llama.cpp itself, asked over a pipe: run by the Python that has xllamacpp.

    python reference.py MODEL.gguf

Each line of standard input is a JSON list of [hex, add_special, parse_special]; each gets a
line with the JSON list of their ids. A process of its own, because llama.cpp may abort or
overflow its stack.
"""

import ctypes
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

# struct llama_model_params is passed in memory, so a longer block does no harm. The one field
# that matters here is the bool vocab_only, behind seven pointers and five ints.
PARAMS_SIZE, VOCAB_ONLY = 256, 72


class Params(ctypes.Structure):
    _fields_ = [("raw", ctypes.c_uint8 * PARAMS_SIZE)]


def library() -> ctypes.CDLL:
    """Return the extension module of xllamacpp, which exports llama.cpp's C functions."""
    spec = importlib.util.find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        raise SystemExit("xllamacpp is not installed here")
    path = next(
        path
        for path in sorted(Path(spec.origin).parent.glob("xllamacpp*"))
        if path.suffix in (".so", ".pyd")
    )
    loaded = ctypes.CDLL(str(path))
    pointer, integer, boolean = ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool
    for name, result, arguments in (
        ("llama_log_set", None, [pointer, pointer]),
        ("llama_model_default_params", Params, []),
        ("llama_model_load_from_file", pointer, [ctypes.c_char_p, Params]),
        ("llama_model_get_vocab", pointer, [pointer]),
        (
            "llama_tokenize",
            integer,
            [pointer, ctypes.c_char_p, integer, pointer, integer, boolean, boolean],
        ),
    ):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def tokenizer(path: str) -> Callable[[bytes, bool, bool], list[int]]:
    """Return llama_tokenize of a model's vocabulary: (text, add_special, parse_special) -> ids."""
    os.environ["GGML_NO_BACKTRACE"] = "1"
    llama = library()
    silent = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)
    llama.llama_log_set(ctypes.cast(silent, ctypes.c_void_p), None)
    params = llama.llama_model_default_params()
    params.raw[VOCAB_ONLY] = 1
    model = llama.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise SystemExit(f"llama.cpp refuses {path}")
    vocab = llama.llama_model_get_vocab(model)

    def tokenize(data: bytes, add_special: bool, parse_special: bool) -> list[int]:
        room = len(data) + 8
        while True:
            ids = (ctypes.c_int32 * room)()
            count = llama.llama_tokenize(
                vocab, data, len(data), ids, room, add_special, parse_special
            )
            if count >= 0:
                return ids[:count]
            room = -count

    tokenize.__dict__["logger"] = silent  # it must live as long as llama.cpp may call it
    return tokenize


def main() -> None:
    tokenize = tokenizer(sys.argv[1])
    for line in sys.stdin:
        answers = [tokenize(bytes.fromhex(text), *modes) for text, *modes in json.loads(line)]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
