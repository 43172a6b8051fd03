"""What the library is told of the files beside it: their names, digests, and one version."""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path


def write_assets(library: Path, wheels: Iterable[str]) -> None:
    """Write assets.json into the built library, whose wheels are pytok's and micropip's."""
    pytok, micropip = wheels
    computing = [library / "bridge.py", library / "wheels" / pytok, library / "wheels" / micropip]
    version = hashlib.sha256(b"".join(map(digest_of, computing))).hexdigest()[:16]
    folders = [library / "pyodide", library / "wheels"]
    pinned = [path for folder in folders for path in sorted(folder.iterdir())]
    pinned += [library / "snapshot.pack", library / "bridge.py"]
    assets = {
        "version": version,
        "pytok": pytok,
        "micropip": micropip,
        "integrity": {path.relative_to(library).as_posix(): integrity_of(path) for path in pinned},
    }
    (library / "assets.json").write_text(json.dumps(assets, indent=1))


def digest_of(path: Path) -> bytes:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).digest()


def integrity_of(path: Path) -> str:
    """Return a file's digest as browsers check it (Subresource Integrity)."""
    return f"sha256-{base64.b64encode(digest_of(path)).decode()}"
