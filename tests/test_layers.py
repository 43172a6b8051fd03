"""The import order of the house: a module imports from lower levels only."""

import ast
from pathlib import Path

import pytok

ROOT = Path(pytok.__file__).parent

# From the ground up; a folder stands for all of it unless a module of it is named.
LEVELS = (
    ("errors", "keys", "data"),
    ("unicode", "cursor", "shards", "spans", "patterns"),
    ("gguf",),
    ("tensors",),
    ("source",),
    ("vocab",),
    ("load", "saved"),
    ("special", "split", "merge", "match", "charsmap", "chunks", "piece", "word_cache"),
    tuple(f"kinds.{kind}" for kind in ("bpe", "byte", "plamo2", "rwkv", "spm", "ugm", "wpm")),
    ("kinds",),
    ("tokenizer",),
    ("stream", "incremental"),
    ("__init__",),
    ("chat", "explain", "doctor", "diff"),
    ("cli",),
    ("__main__",),
)


def level(module: str) -> int:
    names = module.split(".")
    for name in (module, names[0]):
        for index, row in enumerate(LEVELS):
            if name in row:
                return index
    raise AssertionError(f"{module} has no level in the house")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            inside = ROOT.parent / (node.module or "").replace(".", "/")
            found |= {
                f"{node.module}.{alias.name}"
                if (inside / f"{alias.name}.py").exists()
                else node.module or ""
                for alias in node.names
            }
    return found


def test_modules_import_from_lower_levels() -> None:
    paths = sorted(ROOT.rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        for name in imports(path):
            if name.split(".")[0] != "pytok":
                continue
            target = name.removeprefix("pytok").removeprefix(".") or "__init__"
            same_folder = module.split(".")[0] == target.split(".")[0] == "data"
            assert same_folder or level(target) < level(module), f"{module} imports {target}"


def test_the_engine_depends_on_the_standard_library_only() -> None:
    import sys  # noqa: PLC0415

    for path in ROOT.rglob("*.py"):
        for name in imports(path):
            top = name.split(".")[0]
            assert top == "pytok" or top in sys.stdlib_module_names, f"{path}: {name}"
            assert top != "unicodedata", "its version follows the interpreter"
