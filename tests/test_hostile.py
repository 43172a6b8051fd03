"""Every hostile file natively: who must complain does, promptly and in little memory."""

import time
import tracemalloc
from pathlib import Path

import hostile_files
import pytest
from hostile_files import FILES, HostileFile

from pytok import GGUFError, GGUFSource, Kind, Tokenizer
from pytok.tensors import read_header

BAD = [name for name, file in FILES.items() if file.must_fail]
GOOD = [name for name, file in FILES.items() if not file.must_fail]
KINDS = {"spm": Kind.SPM, "bpe": Kind.BPE, "byte": Kind.BYTE}


def test_the_corpus_is_whole() -> None:
    assert (len(BAD), len(GOOD)) == (76, 39)


def attempt(file: HostileFile, path: Path) -> GGUFError:
    """Go through the stages up to the one that must fail; return its error."""
    stage = file.expected["stage"]
    if stage != "open":
        GGUFSource.from_file(path)
    if stage == "tokenizer":
        source = GGUFSource.from_file(path, tensors=True)
        with pytest.raises(GGUFError) as caught:
            Tokenizer.from_source(source)
        return caught.value
    with pytest.raises(GGUFError) as caught:
        GGUFSource.from_file(path, tensors=stage == "tensors")
    return caught.value


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_clear_error(name: str, tmp_path: Path) -> None:
    file = FILES[name]
    path = hostile_files.write(file, tmp_path)
    tracemalloc.start()
    started = time.monotonic()
    error = attempt(file, path)
    elapsed = time.monotonic() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    low, high = file.expected["offset"]
    assert error.offset is not None
    assert low <= error.offset <= high
    assert len(str(error)) <= 500
    assert str(error).isprintable()
    assert str(error).isascii()
    assert peak < 100e6
    assert elapsed < 10  # a hang guard; the figures are in pytok/design/007-hostile-files.md


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_loads(name: str, tmp_path: Path) -> None:
    file = FILES[name]
    tracemalloc.start()
    source = GGUFSource.from_file(hostile_files.write(file, tmp_path), tensors=True)
    tokenizer = Tokenizer.from_source(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert source.tensors is not None
    facts = file.expected["facts"]
    metadata = source.metadata
    got = {
        "version": metadata.version,
        "endian": metadata.byte_order,
        "n_kv": len(metadata.entries),
        "n_tensors": len(source.tensors.infos),
        "n_tokens": len(tokenizer),
        "tokenizer": next((k for k, v in KINDS.items() if v is tokenizer.kind), None),
        "has_key": facts.get("has_key") if facts.get("has_key") in metadata.entries else None,
    }
    assert {fact: got[fact] for fact in facts} == facts
    if file.expected.get("warn"):
        no_vocabulary = "there is no vocabulary in this file"
        assert [w for w in tokenizer.warnings if not w.startswith(no_vocabulary)]
    assert all(len(warning) <= 500 and warning.isprintable() for warning in tokenizer.warnings)
    if probe := file.expected.get("probe"):
        assert tokenizer.encode(probe["text"], add_special=False) == probe["ids"]
    text = "abc <x>\N{GRINNING FACE} (a+)+$"
    assert tokenizer.encode(text)


@pytest.mark.parametrize("name", [n for n in BAD if FILES[n].expected["stage"] != "tokenizer"])
def test_a_bad_file_fails_in_any_portions(name: str) -> None:
    """As a stream of unknown size that comes in small portions, it is as bad."""
    data = FILES[name].data
    reading = read_header(None)
    wanted = next(reading)

    def read_all() -> None:
        nonlocal wanted
        while True:
            wanted = reading.send(data[wanted.offset :][: min(wanted.size, 100)])

    with pytest.raises(GGUFError):
        read_all()
