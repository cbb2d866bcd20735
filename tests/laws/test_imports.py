"""Imports point one way: the contracts of pyproject.toml, run by import-linter, and what it cannot see."""

import ast
import functools
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import jdali

ROOT = Path(jdali.__file__).parent
PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "examples"

# Modules that load another one of jdali by its name while they run, with the reason.
LOADED_BY_NAME = {
    "jdali.ops._shown": "the classes of `ops` stand on the graph, which stands on the operators beside them",
    "jdali.fn._functions": "functions of `fn` that need more than the record are loaded when they are asked for",
    "jdali._system.lazy": "attributes of modules that are made when they are first asked for",
    "jdali._operators.base": "operators are loaded when they are first looked up",
    "jdali.dynamic.pytorch": "needs PyTorch",
    "jdali.cli._serve": "serving needs Starlette, the other commands do not",
    "jdali.cli._view": "the viewer is an extra",
}


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yields each import, and whether it is inside of a function. Expressions are not looked at: they import nothing."""
    nodes: list[tuple[ast.AST, bool]] = [(tree, False)]
    while nodes:
        node, inside = nodes.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, inside
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        nodes += [
            (child, inside)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))
        ]


def imported(tree: ast.Module) -> list[tuple[int, str, bool]]:
    """(line, module, inside of a function) of each import of jdali."""
    found = []
    for node, inside in imports(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "jdali":
            names = [node.module or ""]
        else:
            names = [a.name if isinstance(node, ast.Import) else f"jdali.{a.name}" for a in node.names]
        found += [(node.lineno, n, inside) for n in names if n == "jdali" or n.startswith("jdali.")]
    return found


def loads_by_name(tree: ast.Module) -> bool:
    """Calls `import_module` or `__import__` with something other than the name of a foreign package."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in ("import_module", "__import__"):
            continue
        name = node.args[0]
        if not (isinstance(name, ast.Constant) and not str(name.value).startswith("jdali")):
            return True
    return False


def dotted(path: Path) -> str:
    parts = ("jdali", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path) for path in ROOT.rglob("*.py")}
CONTRACTS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
DOORS = sorted(door for contract in CONTRACTS for door in contract.get("allowed_importers", ()))


def modules_imported(tree: ast.Module) -> set[str]:
    """Modules of jdali that a program imports, `from package import module` among them."""
    found = {module for _, module, _ in imported(tree)}
    for node, _ in imports(tree):
        if isinstance(node, ast.ImportFrom):
            found |= MODULES & {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def lint(folder: Path) -> subprocess.CompletedProcess:
    """Runs the contracts of the project on the package in a folder."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    return subprocess.run(
        [*command, "--no-logo", "--no-cache", "--config", str(PROJECT / "pyproject.toml")],
        cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_contracts_hold():
    outcome = lint(PROJECT)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


# Imports that break the layers of packages and of the rooms of the engine, or close a circle.
PLANTED = {
    "jdali._batches.store": "jdali._operators.base",
    "jdali.graph.node": "jdali.engine.failure",
    "jdali.engine.cursor": "jdali.engine.window",
    "jdali._storage.remote": "jdali._storage.files",  # which imports `remote`
}
IN_A_CIRCLE = ("jdali._storage.remote", "jdali._storage.files")
# Modules of packages with a door that others may import beside the door itself, with the reason.
ENTRIES = {
    "jdali._operators.argument_rules": "a library of functions, known by its name",
    "jdali._operators.call": "how an operator is called",
    "jdali._operators.pure": "an operator in the user's program",
    "jdali._operators.random_key": "the JAX key of a call that draws",
    "jdali._operators.record": "what an operator is",
    "jdali._operators.surface": "the public functions",
    "jdali._storage.files": "a library of functions, known by its name",
    "jdali._workers.callbacks": "needs JAX",
    "jdali._workers.on_ray": "needs Ray",
    "jdali.engine.eager": "a door of its own",
    "jdali.engine.function": "a door of its own",
    "jdali.engine.report": "a library of functions, known by its name",
}


def test_the_contracts_see_planted_imports(tmp_path):
    """`jdali.__main__`, which may import all packages, imports every module of those that have a door."""
    shutil.copytree(ROOT, tmp_path / "jdali", ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    behind = sorted(m for door in DOORS for m in MODULES if m.startswith(f"{door}."))
    for module, lines in {**{m: [line] for m, line in PLANTED.items()}, "jdali.__main__": behind}.items():
        path = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        path.write_text("\n".join([path.read_text(), *(f"import {line}" for line in lines)]))
    outcome = lint(tmp_path)
    assert outcome.returncode == 1
    broken = set(re.findall(r"^(.*) BROKEN$", outcome.stdout, re.MULTILINE))
    assert broken == {contract["name"] for contract in CONTRACTS}
    seen = set(re.findall(r"([\w.]+) -> ([\w.]+)", outcome.stdout))
    assert seen >= PLANTED.items() - {IN_A_CIRCLE}
    assert "- .remote -> .files (1 import)" in outcome.stdout
    assert {line for module, line in seen if module == "jdali.__main__"} == {*behind} - ENTRIES.keys()


def test_no_import_is_hidden_in_a_function():
    for path in sorted(ROOT.rglob("*.py")):
        tree = parsed(path)
        hidden = [(line, module) for line, module, inside in imported(tree) if inside]
        assert not hidden, f"{path}: imports inside of a function: {hidden}"


def test_modules_that_are_loaded_by_name_have_a_reason():
    foreign = {
        "jdali.plugin_manager",
        "jdali.graph.records",
        "jdali.cli._named",
    }  # load the user's modules
    found = {dotted(p) for p in sorted(ROOT.rglob("*.py")) if loads_by_name(parsed(p))}
    assert found == LOADED_BY_NAME.keys() | foreign


# Tests that import modules behind the door of a package that they do not test, with the reason.
BEHIND_A_DOOR = {
    "tests/engine/test_slabs.py": "counts slabs, so it knows the size of the smallest one",
    "tests/faults/test_memory.py": "counts slabs, so it knows the size of the smallest one",
    "tests/faults/test_threads.py": "counts the engine's threads",
    "tests/laws/test_compiling.py": "compiles the programs of exported functions",
    "tests/laws/test_lowering.py": "lowers the engine's own programs for other platforms",
    "tests/readers/test_names.py": "watches what is asked of hosts",
    "tests/readers/test_storage.py": "asks for a part of a file alone, without its size",
    "tests/support/contract.py": "compiles operators with the engine's options of XLA",
    "tests/support/shared_programs.py": "counts and empties the table of programs, and gives small batches rows of their own",
    "tests/support/settled.py": "has the index cache keep indexes of new files",
    "tests/system/test_devices.py": "plants a copy over the host",
    "tests/system/test_regular_file.py": "lets memory run out",
    "tests/test_first_errors.py": "makes the error of a bucket that no test may ask for",
    "tests/test_profiler.py": "makes a stage slow",
}


def test_tests_enter_packages_by_their_doors():
    """Those of a package, in `tests/<its name>`, know its modules."""
    found = set()
    for file in sorted((PROJECT / "tests").rglob("*.py")):
        name = file.relative_to(PROJECT).as_posix()
        own = f"jdali.{name.split('/')[1]}", f"jdali._{name.split('/')[1]}"
        doors = tuple(f"{door}." for door in DOORS if door not in own)
        modules = {m for m in modules_imported(parsed(file)) if m.startswith(doors)}
        if modules - ENTRIES.keys():
            found.add(name)
    assert found == BEHIND_A_DOOR.keys()


def test_no_test_reaches_into_a_pipeline():
    """`Pipeline.internals` has what tests ask for."""
    private = {"_config", "_definition", "_pipelines", "_window"}
    for file in sorted((PROJECT / "tests").rglob("*.py")):
        nodes = ast.walk(parsed(file))
        reached = [n.lineno for n in nodes if isinstance(n, ast.Attribute) and n.attr in private]
        assert not reached, f"{file}: lines {reached}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_examples_use_public_names_only(path):
    for line, module, _ in imported(parsed(path)):
        private = [part for part in module.split(".") if part.startswith("_")]
        assert not private, f"{path}:{line}: imports {module}"


def test_the_checks_can_fail():
    assert imported(ast.parse("def f():\n    import jdali.fn\n")) == [(2, "jdali.fn", True)]
    assert loads_by_name(ast.parse("importlib.import_module('jdali.fn')"))
    assert not loads_by_name(ast.parse("importlib.import_module('av')"))


# Surfaces that are derived from the records; all other modules of `ops` are operators.
SURFACES = {"__init__.py", "_pure.py", "_shown.py"}


@pytest.mark.parametrize("folder", ["ops", "_kernels"])
def test_operators_import_what_an_operator_is_from_one_module(folder: str) -> None:
    """Third parties have that module too, as `jdali.plugin.operators`: both write operators the same way."""
    others = {
        f"{file.relative_to(ROOT)}:{line} {module}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        if file.parent.name != "ops" or file.name not in SURFACES
        for line, module, _ in imported(parsed(file))
        if module.startswith("jdali._operators") and module != "jdali._operators.record"
    }
    assert not others
