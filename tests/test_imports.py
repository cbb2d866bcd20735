"""Imports point one way: surfaces → engine → graph → operators and readers → codecs → shared ideas."""

import ast
from pathlib import Path

import pytest

import jdali

ROOT = Path(jdali.__file__).parent
EXAMPLES = Path(__file__).parents[1] / "examples"

# From the lowest layer to the highest; a module may import its own layer and those before it.
LAYERS = [
    ["_*", "types", "tensors", "tfrecord", "storage", "pickling"],
    ["codecs"],
    ["ops", "readers"],
    ["graph", "data_node", "math"],
    ["engine"],
    ["pipeline", "_pipeline", "_autograph"],
    [
        "backend",
        "external_source",
        "fn",
        "dynamic",
        "iterator",
        "plugin",
        "auto_aug",
        "profiler",
        "experimental",
        "plugin_manager",
    ],
    ["cli"],
    ["__init__", "__main__"],
]


def layer(module: str) -> int:
    """Layer of "jdali.a.b": that of its first part."""
    parts = module.split(".")
    first = parts[1] if len(parts) > 1 else "__init__"
    for i, names in enumerate(LAYERS):
        if first in names:
            return i
    if first.startswith("_"):
        return 0
    raise AssertionError(f"{module} is in no layer; add it to LAYERS")


def imported(tree: ast.Module) -> list[tuple[int, str, bool]]:
    """(line, module, inside of a function) of each import of jdali."""
    found = []
    functions = [
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
    inner = {id(n) for f in functions for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "jdali":
            names = [f"jdali.{a.name}" for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        found += [
            (node.lineno, n, id(node) in inner) for n in names if n == "jdali" or n.startswith("jdali.")
        ]
    return found


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = ("jdali", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_point_one_way(path):
    own = layer(dotted(path))
    for line, module, inside in imported(ast.parse(path.read_text())):
        assert not inside, f"{path}:{line}: imports {module} inside of a function"
        assert layer(module) <= own, f"{path}:{line}: {dotted(path)} must not import {module}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_examples_use_public_names_only(path):
    for line, module, _ in imported(ast.parse(path.read_text())):
        private = [part for part in module.split(".") if part.startswith("_")]
        assert not private, f"{path}:{line}: imports {module}"


def test_the_check_can_fail():
    tree = ast.parse("def f():\n    import jdali.fn\n")
    assert imported(tree) == [(2, "jdali.fn", True)]
    assert layer("jdali.engine._stage") > layer("jdali.graph._node") > layer("jdali._operators.call")
