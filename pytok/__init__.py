"""Tokenize as llama.cpp does, from the vocabulary inside a GGUF file.

>>> Tokenizer.byte_tokenizer().decode([104, 105])
'hi'
"""

from pytok.data.models import Kind
from pytok.errors import (
    DoubledTokenWarning,
    GGUFError,
    PytokError,
    TemplateError,
    UnsupportedError,
    VocabError,
)
from pytok.source import DictSource, GGUFSource, MetadataSource
from pytok.stream import StreamDecoder
from pytok.tokenizer import Tokenizer
from pytok.vocab import Attr, Vocab

__version__ = "0.1.0"

__all__ = [
    "Attr",
    "DictSource",
    "DoubledTokenWarning",
    "GGUFError",
    "GGUFSource",
    "Kind",
    "MetadataSource",
    "PytokError",
    "StreamDecoder",
    "TemplateError",
    "Tokenizer",
    "UnsupportedError",
    "Vocab",
    "VocabError",
]
