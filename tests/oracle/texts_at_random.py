"""Random texts: a seeded generator for each kind of trouble."""

import random
from collections.abc import Callable, Sequence

SCRIPTS = (
    (0x41, 0x5B), (0x61, 0x7B), (0xC0, 0x250), (0x370, 0x400), (0x400, 0x500), (0x5D0, 0x5EB),
    (0x620, 0x6D4), (0x900, 0x980), (0xE01, 0xE5C), (0x1000, 0x10A0), (0x1100, 0x1200),
    (0x1780, 0x1800), (0x3040, 0x3100), (0x3105, 0x3130), (0x4E00, 0x5100), (0xAC00, 0xAE00),
    (0x10330, 0x1034B), (0x10400, 0x10450), (0x1E900, 0x1E944), (0x20000, 0x20100),
)  # fmt: skip
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000\x1c\x1f"
MARKS = "\u0300\u0301\u0308\u093c\u094d\u0e31\u0e48\u05b0\u064b\u20dd\ufe0f\u200d"
SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡§«·»¿‘’“”…、。！？：；（）€£¥©®™±×÷→∞≠≤"  # noqa: RUF001
DIGITS = "0123456789٠١٢३४५０１２²³½Ⅷ一二"  # noqa: RUF001
EMOJI = ("🐢", "👩‍💻", "🏳️‍🌈", "👍🏽", "🇩🇪", "❤️", "☃", "1️⃣", "🫠")
ODD = "\0\x01\x7f\u00ad\u200b\u200e\u202e\u2060\ufeff\ufffd\ufffe\ue000\u0378\U000e0041\U0010ffff"
WORDS = """
the of and to in is that it was for on are with as his they be at one have this from or
had by hot but some what there we can out other were all your when up use word how said an
each she which do their time if will way about many then them would write like so these
Internationalization HTTPServer getElementById snake_case_name CamelCase x1 y2 I'm they're
we'll I'D YOU'RE it's Straße naïve façade Übergröße éléphant Привет мир こんにちは 世界
안녕하세요 สวัสดี नमस्ते שלום مرحبا γειά lambda return def class import function const
""".split()  # noqa: SIM905

Make = Callable[[random.Random, int], str]


def _pick(alphabet: Sequence[str]) -> Make:
    return lambda rng, size: "".join(rng.choice(alphabet) for _ in range(size))


def _runs(alphabet: Sequence[str]) -> Make:
    def make(rng: random.Random, size: int) -> str:
        parts: list[str] = []
        while size > 0:
            run = min(size, rng.choice((1, 1, 2, 3, 4, 8, 17, 40)))
            parts.append(rng.choice(alphabet) * run)
            size -= run
        return "".join(parts)

    return make


def _scripts(rng: random.Random, size: int) -> str:
    parts = []
    while size > 0:
        start, end = rng.choice(SCRIPTS)
        run = min(size, rng.randrange(1, 9))
        parts.append("".join(chr(rng.randrange(start, end)) for _ in range(run)))
        parts.append(rng.choice(("", "", " ", "'", rng.choice(MARKS), rng.choice(SPACES))))
        size -= run + 1
    return "".join(parts)


def _anything(rng: random.Random, size: int) -> str:
    codes = (rng.choice((0x80, 0x800, 0x3000, 0x10000, 0x110000)) for _ in range(size))
    return "".join(chr(rng.randrange(code)) for code in codes)


def _words(rng: random.Random, size: int) -> str:
    parts: list[str] = []
    while size > 0:
        word = rng.choice(WORDS)
        word = rng.choice((word, word, word, word.upper(), word.capitalize()))
        parts += [word, rng.choice((" ", " ", " ", ", ", ". ", "\n", "  ", "-", "", "'s ", "\n\n"))]
        size -= len(word) + 1
    return "".join(parts)


APOSTROPHES = ("'", "\u2019", *"sSdxMT1é ", "ll", "VE", "re")


KINDS: dict[str, Make] = {
    "spaces": _runs(SPACES + "ab"),
    "newlines": _runs(" \n\r\ta"),
    "digits": _runs(DIGITS + "a ."),
    "apostrophes": _pick(APOSTROPHES),
    "marks": _pick(MARKS + "aeé ก日"),
    "signs": _runs(SIGNS + "a "),
    "scripts": _scripts,
    "emoji": _pick((*EMOJI, " ", "a")),
    "odd": _pick(ODD + "a "),
    "anything": _anything,
    "words": _words,
    "cases": _pick("aAbBzZéÉß\u1e9e\u0130\u0131\u017f\u212a 1"),
}


def texts(seed: int, specials: Sequence[str], characters: int) -> list[bytes]:
    """Return texts of about so many characters, of every kind, and mixtures of them."""
    rng = random.Random(seed)
    made: list[bytes] = []
    left = characters
    names = [*KINDS, *["specials", "broken", "mixture"]]
    while left > 0:
        name = rng.choice(names)
        size = rng.choice((1, 3, 10, 30, 100, 300))
        if name == "specials" and specials:
            text = _around_specials(rng, specials, size)
        elif name in KINDS:
            text = KINDS[name](rng, size)
        else:
            text = "".join(rng.choice(list(KINDS.values()))(rng, 1 + size // 4) for _ in range(4))
        data = text.encode("utf-8", "surrogatepass")
        made.append(_broken(rng, data) if name == "broken" else data)
        left -= len(text)
    return made


def _around_specials(rng: random.Random, specials: Sequence[str], size: int) -> str:
    parts: list[str] = []
    for _ in range(1 + size // 10):
        special = rng.choice(specials)
        cut = rng.randrange(len(special) + 1)
        parts.append(rng.choice((special, special, special[:cut], special[cut:], special * 2)))
        parts.append(rng.choice(("", " ", "\n", "  ", "a", " hello ", "<", "|")))
    return "".join(parts)


def _broken(rng: random.Random, data: bytes) -> bytes:
    broken = bytearray(data)
    for _ in range(1 + len(broken) // 8):
        at = rng.randrange(len(broken) + 1)
        if rng.random() < 0.5:
            broken[at : at + 1] = b""
        else:
            broken[at:at] = bytes([rng.choice((0x80, 0xBF, 0xC0, 0xC3, 0xE2, 0xED, 0xF0, 0xFF))])
    return bytes(broken)
