r"""One row for each pre-tokenizer name: how text is cut into words before merging.

``stages`` are applied one after the other, each inside the pieces that the one before left.
A stage is a pattern for Python's ``re``, over what llama.cpp lets it see:

* a pattern with ``\p{..}`` sees *collapsed* text, in which a non-ASCII code point is only
  its class (`pytok.unicode.collapse`); every ``\p{Lu}``, ``\p{Ll}``.. is any letter there;
* any other pattern sees code points, with non-ASCII white space as U+000B.

Some of llama.cpp's patterns are replaced there by hand-written splitters (unicode.cpp,
unicode_regex_split_custom_*). Those see real code points, but ask only for classes that
collapsed text keeps apart, so a pattern says the same; it is written here as they behave.
Digit groups, which no pattern cuts in linear time, are a stage of their own kind.

Where a pattern differs from llama.cpp's text it matches the same; it is written so that it
takes linear time here, and a property test holds it against the plain text.

Source: llama-vocab.cpp, llm_tokenizer_bpe and llama_vocab::impl::load @ pin.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class DigitGroups:
    """A stage that cuts runs of digits into groups of three, counted from the right.

    The first group of a run has one to three digits. ``before`` cuts in front of a run too if
    its first group is a whole one, ``after`` cuts behind each run.
    """

    run: str
    before: bool = False
    after: bool = False


Stage = str | DigitGroups


@dataclass(frozen=True, slots=True)
class Pretokenizer:
    """A way to cut text into words, and what its name implies beside."""

    stages: tuple[Stage, ...]
    ignore_merges: bool = False
    """A word that is itself a piece is taken whole, without merging."""
    add_bos: bool = False
    """BOS is added unless the metadata says otherwise."""
    force_bos: bool = False
    """BOS is added whatever the metadata says."""
    add_sep: bool = False
    """SEP is added unless the metadata says otherwise."""
    no_default_bos: bool = False
    """Without an id in the metadata there is no BOS."""
    clean_spaces: bool = True
    """`detokenize` removes spaces before punctuation and some contractions."""
    raw: bool = False
    """Words are merged as they are, not spelled in the byte alphabet; bytes are ``<0xNN>``."""
    escape_spaces: bool = False
    """Spaces become U+2581 before the text is cut."""
    whole_newlines: bool = False
    """A run of newlines that is itself a piece is taken whole."""
    merges_optional: bool = False
    """The file may come without merges."""
    keep_case: bool = False
    """Models that lower-case their text do so only if the metadata says so."""


# --- patterns ----------------------------------------------------------------------------

_CONTRACTION = r"'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
_SPACES = r"\s+(?!\S)|\s+"
_LINES = r"\s*[\r\n]+"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKED_WORD = r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+"
_SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"


def _any(*patterns: str) -> str:
    return "|".join(patterns)


# llama.cpp: unicode_regex_split_custom_gpt2; its pattern's text lacks the last alternative.
_GPT2 = _any(r"'(?:[stmd]|re|ve|ll)", r" ?\p{L}+", r" ?\p{N}+", r" ?[^\s\p{L}\p{N}]+", _SPACES)
_LLAMA3 = _any(_CONTRACTION, _WORD, r"\p{N}{1,3}", _SIGNS, _LINES, _SPACES)
_QWEN2 = _any(_CONTRACTION, _WORD, r"\p{N}", _SIGNS, _LINES, _SPACES)
_QWEN35 = _any(
    _CONTRACTION, _MARKED_WORD, r"\p{N}", r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*", _LINES, _SPACES
)
# llama.cpp: unicode_regex_split_custom_kimi_k2, whose pattern's text is only \p{Han}+.
_KIMI_K2 = _any(
    r"\p{Han}+",
    rf"[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+(?:{_CONTRACTION})?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}\p{HanLetter}]+[\r\n]*",
    _LINES,
    _SPACES,
)
# Here nothing but the run's own start can be followed by a newline that is still to be found,
# so it is looked for there only: else a run cut into pieces would be searched from each.
_JAIS2 = _any(
    _CONTRACTION,
    _WORD,
    r"\p{N}{1,3}",
    _SIGNS,
    r"(?<![^\S\r\n])" + _LINES,
    *(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4)),
    r"\s{1,2}(?!\S)",
    r"\s",
)

# In collapsed text U+00D2 is any letter beyond ASCII, U+00D4 any mark: they have no case, and
# count as upper and as lower at once.
_UPPER, _LOWER = "[A-Z\xd2]", "[a-z\xd2]"
_GPT4O_TAIL = (r" ?[^\s\p{L}\p{N}]+[\r\n/]*", _LINES, _SPACES)


def _cased(upper: str, lower: str, tail: str) -> tuple[str, str]:
    before = r"[^\r\n\p{L}\p{N}]?"
    return f"{before}{upper}*{lower}+{tail}", f"{before}{upper}+{lower}*{tail}"


_TEKKEN = _any(*_cased(_UPPER, _LOWER, ""), r"\p{N}", *_GPT4O_TAIL)
_GPT4O = _any(*_cased(_UPPER, _LOWER, f"(?:{_CONTRACTION})?"), r"\p{N}{1,3}", *_GPT4O_TAIL)
_GRANITE_MULTI = _any(
    *_cased("[A-Z\xd2\xd4]", "[a-z\xd2\xd4]", f"(?:{_CONTRACTION})?"), r"\p{N}{1,3}", *_GPT4O_TAIL
)
# llama.cpp: its \p{Lu} and \p{Ll} are both any letter, so both halves of a word are alike.
_CASELESS = rf"{_MARKED_WORD}(?:{_CONTRACTION})?"
_TINY_AYA = _any(_CASELESS, r"\p{N}{1,3}", *_GPT4O_TAIL)
_YOUTU = _any(_CASELESS, r"\p{N}", *_GPT4O_TAIL)

_ASCII_SIGN_WORD = r"[!-/:-@\[-`{-~][A-Za-z]+"
_PLAIN_WORD = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_DEEPSEEK3 = _any(_ASCII_SIGN_WORD, _PLAIN_WORD, r" ?[\p{P}\p{S}]+[\r\n]*", _LINES, _SPACES)
_SPARK = _any(_ASCII_SIGN_WORD, _PLAIN_WORD, r" ?[\p{P}\p{S}]+", r"[\r\n]", _SPACES)
_BAILING = _any(_CONTRACTION, _WORD, r"\p{N}", _SIGNS, r"\s*[\r\n]", _SPACES)
_SEED_CODER = _any(_CONTRACTION, _WORD, r"\p{N}", r" ?[^\s\p{L}\p{N}\r\n]+", _LINES, _SPACES)
_UFAKZEKA = _any(_WORD, r"\p{N}", _SIGNS, _LINES, _SPACES)
_MINICPM5 = _any(_CONTRACTION, _WORD, r"\p{N}+", _SIGNS, _LINES, _SPACES)
# llama.cpp: (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+, which has one way to match; a word may hold spaces.
_EXAONE_MOE = _any(
    _CONTRACTION,
    r"[^\r\n\p{L}\p{N}]?\p{L}[\p{L}\p{M}]*+(?: \p{L}[\p{L}\p{M}]*+)*+",
    r"\p{N}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]?",
    r"\s*[\r\n]",
    _SPACES,
)

_NEWLINES = r"\n+"
_SIGN_RUN = r"[\p{P}\$\+<=>\^~\|]+"
_THREE_DIGITS = r"[0-9][0-9][0-9]"
_CJK_KANA = r"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_CJK_HANGUL = r"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_NO_SENTENCE_SIGN = r" ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_LETTERS = (
    r"A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293"
    r"\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c"
    r"\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5"
    r"\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    r"\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59"
    r"\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc"
    r"\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
    r"\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    r"\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee"
    r"\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e"
    r"\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    r"\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    r"\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_ASIAN_SCRIPTS = (
    r"[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f"
    r"\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f"
    r"\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
)
_YOUTU_SCRIPTS = _any(
    r"[\uac00-\ud7a3\u3131-\u318e]+",
    r"[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+",
    r"[\u3105-\u312f]+",
    _CJK_KANA,
)

# --- rows --------------------------------------------------------------------------------

DEFAULT = "default"

_default = Pretokenizer((_SIGN_RUN, _GPT2, r"\p{N}+", _THREE_DIGITS))
_gpt2 = Pretokenizer((_GPT2,))
_gpt2_kept = replace(_gpt2, clean_spaces=False)
_digits_gpt2 = Pretokenizer((r"\p{N}", _GPT2))
_digits_gpt2_kept = replace(_digits_gpt2, clean_spaces=False)
_llama3 = Pretokenizer((_LLAMA3,))
_qwen2 = Pretokenizer((_QWEN2,))
_qwen2_kept = replace(_qwen2, clean_spaces=False)
_deepseek3 = Pretokenizer((r"\p{N}{1,3}", _CJK_KANA, _DEEPSEEK3), clean_spaces=False)
_gpt4o = Pretokenizer((_GPT4O,), clean_spaces=False)
# llama.cpp: unicode_regex_split_custom_afmoe cuts behind groups only, so what stands before a
# run stays with its first group.
_afmoe_digits = DigitGroups(r"\p{N}+", after=True)
_gemma4 = Pretokenizer(
    (_NEWLINES,), force_bos=True, raw=True, escape_spaces=True, whole_newlines=True
)

_ROWS = {
    "default": _default,
    "minicpm5": Pretokenizer((r"\p{N}{1,3}", _MINICPM5), ignore_merges=True),
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": replace(
        _llama3, ignore_merges=True, add_bos=True
    ),
    "deepseek-llm": Pretokenizer(
        (
            r"[\r\n]",
            rf"\s?[{_LETTERS}]+",
            r"\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
            r"(?<!\s)\s+\Z",
            _CJK_HANGUL,
            r"\p{N}+",
        ),
        clean_spaces=False,
    ),
    "deepseek-coder": Pretokenizer(
        (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK_HANGUL, r"\p{N}"), clean_spaces=False
    ),
    "deepseek-v3 hunyuan-dense hy_v4 joyai-llm": _deepseek3,
    "spark2_5": Pretokenizer((r"\p{N}{1,3}", _CJK_KANA, _SPARK, r"\p{N}"), clean_spaces=False),
    "youtu": Pretokenizer((_YOUTU_SCRIPTS, _YOUTU), ignore_merges=True, clean_spaces=False),
    "falcon": Pretokenizer((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, _THREE_DIGITS)),
    "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert": _gpt2,
    "mpt olmo jais exaone4": _gpt2,
    "trillion granite-docling": _gpt2_kept,
    "jina-v1-en jina-v2-code roberta-bpe": replace(_gpt2, add_sep=True),
    "starcoder refact codeshell exaone minerva-7b mellum2": _digits_gpt2,
    "command-r smollm": _digits_gpt2_kept,
    "jais-2": Pretokenizer((_JAIS2,)),
    "gemma4 granite-embed-multi-311m": _gemma4,
    "sarvam-moe": Pretokenizer((_NEWLINES,), clean_spaces=False, raw=True, escape_spaces=True),
    "whitespace": Pretokenizer((r"\S+",), raw=True, keep_case=True),
    "stablelm2 megrez": _qwen2,
    "qwen2 deepseek-r1-qwen kormo f2llmv2 hunyuan solar-open grok-2": _qwen2_kept,
    "qwen35": Pretokenizer((_QWEN35,), clean_spaces=False),
    "dbrx smaug-bpe": _llama3,
    "chatglm-bpe": replace(_llama3, no_default_bos=True),
    "glm4 glm5": replace(_llama3, no_default_bos=True, ignore_merges=True),
    "bloom gpt3-finnish": Pretokenizer((_NO_SENTENCE_SIGN,)),
    "poro-chat": Pretokenizer((_NO_SENTENCE_SIGN,), clean_spaces=False),
    "viking": Pretokenizer((_NO_SENTENCE_SIGN, r"\p{N}"), clean_spaces=False),
    "tekken": Pretokenizer((_TEKKEN,), ignore_merges=True, add_bos=True, clean_spaces=False),
    "exaone-moe": Pretokenizer((_EXAONE_MOE,)),
    "chameleon": Pretokenizer(
        (
            r"<sentinel:[0-9]+>",
            r"IMGIMG[A-I]{1,4}Z",
            r"[\t\n]|    |  ",
            r"\p{N}",
            r"[\p{P}!-/:-@\[-`{-~]",
            _GPT2,
        ),
        add_bos=True,
        clean_spaces=False,
    ),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _gpt4o,
    "granite-embed-multi-97m": Pretokenizer(
        (_GRANITE_MULTI,), ignore_merges=True, clean_spaces=False
    ),
    "tiny_aya cohere2moe": Pretokenizer((_afmoe_digits, _TINY_AYA), clean_spaces=False),
    "superbpe": Pretokenizer((r"\p{N}+", DigitGroups(r"[0-9]+", before=True)), clean_spaces=False),
    "bailingmoe bailingmoe2 llada-moe": Pretokenizer((_BAILING,), clean_spaces=False),
    "seed-coder": Pretokenizer((_SEED_CODER,), clean_spaces=False),
    "kimi-k2": Pretokenizer((_KIMI_K2,), clean_spaces=False, merges_optional=True),
    "ufakzeka": Pretokenizer((_UFAKZEKA,), clean_spaces=False),
    "afmoe": Pretokenizer((_afmoe_digits, _ASIAN_SCRIPTS, _DEEPSEEK3), clean_spaces=False),
    "laguna": Pretokenizer((_NEWLINES, _QWEN2), clean_spaces=False),
}

PRETOKENIZERS = {name: row for names, row in _ROWS.items() for name in names.split()}
