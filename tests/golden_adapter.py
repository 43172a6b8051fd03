"""pytok behind the interface that a golden checker asks for: ``golden_adapter:Adapter``."""

from pytok import Tokenizer


class Adapter:
    """A tokenizer by the names of llama.cpp's C API."""

    def __init__(self, path: str) -> None:
        self._tokenizer = Tokenizer.from_file(path)

    def tokenize(self, data: bytes, add_special: bool, parse_special: bool) -> list[int]:
        return self._tokenizer.encode(data, add_special=add_special, parse_special=parse_special)

    def detokenize(self, ids: list[int], remove_special: bool, unparse_special: bool) -> bytes:
        return self._tokenizer.detokenize(
            ids, remove_special=remove_special, unparse_special=unparse_special
        )
