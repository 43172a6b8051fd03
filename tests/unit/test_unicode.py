"""Unicode facts against the source they were generated from, and llama.cpp's UTF-8 rules."""

import re
import sys
from itertools import pairwise

import pytest
from places import REAL

import build
from pytok.data import generate, pin
from pytok.unicode import (
    bytes_of,
    category,
    code_points,
    collapse,
    fold_white_space,
    is_white_space,
    text_of,
)

SOURCE = (REAL / "unicode-data.cpp").read_text("utf-8")


def test_category_of_every_code_point() -> None:
    block = SOURCE[SOURCE.index("unicode_ranges_flags") : SOURCE.index("unicode_set_whitespace")]
    rows = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"\{(0x\w+), (0x\w+)\}", block)]
    for (start, flag), (end, _) in pairwise(rows):
        letter = generate.CATEGORY_LETTER[flag]
        assert all(category(code) == letter for code in range(start, end))
    assert rows[-1][0] == sys.maxunicode + 1


def test_white_space() -> None:
    block = SOURCE[SOURCE.index("unicode_set_whitespace") : SOURCE.index("unicode_map_lowercase")]
    expected = {int(code, 16) for code in re.findall(r"^(0x\w+),", block, re.MULTILINE)}
    assert len(expected) == 25
    assert {code for code in range(sys.maxunicode + 1) if is_white_space(code)} == expected
    assert is_white_space(0x85)
    assert not is_white_space(0x1C)


def test_tables_are_fresh() -> None:
    assert build.UNICODE_TABLES.read_text("utf-8") == generate.unicode_tables(SOURCE)
    assert pin.UNICODE_VERSION in build.UNICODE_TABLES.read_text("utf-8")


def test_generator_refuses_another_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        generate.unicode_tables(SOURCE.replace("{0x110000, 0x0000},\n", ""))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"ok\xff\xfe!", "ok\ufffd\ufffd!"),
        (b"\xe2\x80", "\ufffd\ufffd"),
        (b"\xe2\x80x", "\ufffd\ufffdx"),
        (b"\x80\xbf", "\ufffd\ufffd"),
        (b"\xc0\x80", "\0"),
        (b"\xe0\x81\x81", "A"),
        (b"\xed\xa0\x80", "\ud800"),
        (b"\xf4\x8f\xbf\xbf", "\U0010ffff"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xf8\x88\x80\x80\x80", "\ufffd" * 5),
        ("né日🐢".encode(), "né日🐢"),
    ],
)
def test_bad_utf8_is_read_as_llama_cpp_reads_it(data: bytes, expected: str) -> None:
    assert code_points(text_of(data)) == expected


def test_text_and_bytes_determine_each_other() -> None:
    for data in (b"", b"\xff\xc3", "é".encode(), b"\xed\xa0\x80", bytes(range(256))):
        assert bytes_of(text_of(data)) == data
    assert bytes_of(text_of("a\ud800")) == b"a\xed\xa0\x80"
    assert text_of(bytearray(b"a")) == text_of(memoryview(b"a")) == "a"


def test_forms_keep_the_length() -> None:
    text = "aé\u0301 \u3000日٣€—\ue000\U0001f422\x85\x1c"
    assert collapse(text) == "a\xd2\xd4 \x0b\xd2\xd1\xd5\xd3\xd0\xd5\x0b\x1c"
    assert fold_white_space(text) == "aé\u0301 \x0b日٣€—\ue000\U0001f422\x0b\x1c"
