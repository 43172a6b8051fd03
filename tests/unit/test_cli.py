"""The command line, run as a user runs it."""

import subprocess
import sys
from pathlib import Path

import hostile_files
import pytest
from hostile_files import FILES
from places import REAL, SYNTHETIC

GPT2 = str(REAL / "ggml-vocab-gpt-2.gguf")
LLAMA = str(REAL / "ggml-vocab-llama-spm.gguf")


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytok", *arguments], input=stdin, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_one_line_a_token_and_a_count() -> None:
    status, out, err = run(GPT2, "Hello 🐢\n")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        " 15496 -> 'Hello'",
        r" 12520 -> ' \xf0\x9f'",
        r"   238 -> '\x90'",
        r"    95 -> '\xa2'",
        r"   198 -> '\n'",
        "5 tokens",
    ]


def test_text_is_taken_as_it_is() -> None:
    assert run(GPT2, r"a\nb")[1].splitlines()[-1] == "3 tokens"


def test_standard_input_may_be_any_bytes() -> None:
    status, out, _ = run(GPT2, stdin=b"a\xff")
    assert status == 0
    assert out.splitlines()[-1] == "2 tokens"
    assert run(GPT2, stdin=b"")[1] == "0 tokens\n"


def test_switches() -> None:
    assert run(LLAMA, "Hi")[1].startswith("     1 -> '<s>'")
    assert run(LLAMA, "Hi", "--no-add-special")[1] == "  6324 -> ' Hi'\n1 token\n"
    assert run(GPT2, "<|endoftext|>", "--parse-special")[1].endswith("1 token\n")


@pytest.mark.parametrize("arguments", [(), (GPT2, "a", "b"), (GPT2, "--nonsense"), ("--help-me",)])
def test_wrong_arguments_get_usage_and_status_2(arguments: tuple[str, ...]) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("usage: pytok")


def test_bad_files_get_one_line(tmp_path: Path) -> None:
    real = Path(GPT2).read_bytes()
    synthetic = (SYNTHETIC / "synth-bpe-byte.gguf").read_bytes()
    assert synthetic.count(b"llama-bpe") or synthetic.count(b"gpt-2")
    bad = {
        "truncated": real[: len(real) // 2],
        "not a GGUF": b"just some text\n",
        "empty": b"",
        "unknown pre-tokenizer": real.replace(
            b"\x05\0\0\0\0\0\0\0gpt-2", b"\x05\0\0\0\0\0\0\0gpx-9", 2
        ),
    }
    for reason, content in bad.items():
        path = tmp_path / "bad.gguf"
        path.write_bytes(content)
        status, out, err = run(str(path), "a")
        assert (status, out) == (1, "")
        assert reason in err
        assert err.count("\n") == 1
    status, _, err = run(str(tmp_path / "none.gguf"), "a")
    assert (status, err.count("\n")) == (1, 1)
    assert run(str(tmp_path), "a")[0] == 1


def test_warnings_go_to_standard_error() -> None:
    status, out, err = run(str(REAL / "ggml-vocab-gpt-neox.gguf"), "a")
    assert status == 0
    assert "pytok: warning:" in err
    assert out.endswith("1 token\n")


def test_a_model_comes_by_a_pipe_too() -> None:
    status, out, err = run("/dev/stdin", "Hello", stdin=Path(GPT2).read_bytes())
    assert (status, out, err) == (0, " 15496 -> 'Hello'\n1 token\n", "")


def test_a_partial_download_and_a_later_part_are_told(tmp_path: Path) -> None:
    partial = hostile_files.write(FILES["tensor_data_missing.gguf"], tmp_path)
    status, out, err = run(str(partial), "a")
    assert (status, out) == (0, "    97 -> 'a'\n1 token\n")
    assert "tensor data is missing" in err
    later = tmp_path / "m-00002-of-00003.gguf"
    later.write_bytes(FILES["split_file.gguf"].data)
    assert "open 'm-00001-of-00003.gguf'" in run(str(later), "a")[2]


def test_directories_and_devices_get_one_line(tmp_path: Path) -> None:
    for path in (str(tmp_path), "/dev/null", "/dev/zero", str(tmp_path / "none")):
        status, out, err = run(path, "a")
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
