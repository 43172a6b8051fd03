"""`build.py serve`, run as a user runs it."""

import re
import signal
import subprocess
import sys
import time
import urllib.request

import build

SERVE = [sys.executable, str(build.ROOT / "build.py"), "serve"]


def test_it_prints_its_address_serves_and_ends_on_ctrl_c() -> None:
    started = time.monotonic()
    with subprocess.Popen(
        [*SERVE, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as serving:
        try:
            assert serving.stdout is not None
            line = serving.stdout.readline()
            # All is built: the second start does nothing but serve. Ten times what it may take.
            assert time.monotonic() - started < 20
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", line)
            with urllib.request.urlopen(address) as answer:
                assert b"<title>pytok" in answer.read()
            serving.send_signal(signal.SIGINT)
            rest = serving.stdout.read()
            assert serving.wait(timeout=20) == 0
        finally:
            serving.kill()
    assert "Traceback" not in rest


def test_a_port_that_cannot_be_used_is_one_sentence() -> None:
    done = subprocess.run([*SERVE, "--port", "99999"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("build.py: port 99999 cannot be used")
    assert done.stderr.count("\n") == 1
