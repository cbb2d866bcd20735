"""The engine and the planner know kinds of operators by type, in one module, and no operator by name."""

import ast
import inspect
from pathlib import Path

import pytest

import jdali
from jdali._operators.record import REGISTRY

ROOT = Path(jdali.__file__).parent
ENGINE = sorted((ROOT / "engine").rglob("*.py"))
PLANNER = [ROOT / "graph" / name for name in ("plan.py", "liveness.py")]
KINDS = {"DeviceOp", "DeviceBatchOp", "HostOp", "HostBatchOp", "ReaderOp", "IndexOp"}
# Where a step gets what runs it.
CHOICE = "adapters.py"
# Modules of the room of functions that are no part of running a pipeline, and why they ask.
READS_NAMES = {"function/graph_json.py"}  # graphs in files name their operators
ASKS_FOR_KINDS = {
    "function/host.py",
    "function/one_sample.py",
    "function/part.py",
}  # of what a function may hold
# Ways of asking for a name or kind, beside showing it.
_QUESTIONS = (ast.Compare, ast.Subscript, ast.Match, ast.Dict, ast.Set)


def is_of_operator(node: ast.AST) -> bool:
    """Whether it is `op.name`, `node.op.kind` and the like."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("name", "shown_name", "kind"):
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id == "op") or (
        isinstance(owner, ast.Attribute) and owner.attr == "op"
    )


def questions_of_names(tree: ast.Module) -> list[int]:
    """Lines that ask which operator it is: a comparison, a look-up, a method of its name."""
    lines = []
    for outer in ast.walk(tree):
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute):
            asks = is_of_operator(outer.func.value) or outer.func.attr in ("get", "pop", "setdefault")
            parts = [outer.func.value, *outer.args] if asks else []
        elif isinstance(outer, ast.Compare):
            parts = [outer.left, *outer.comparators]
        elif isinstance(outer, ast.Subscript):
            parts = [outer.slice]
        elif isinstance(outer, ast.Match):
            parts = [outer.subject]
        else:
            continue
        lines += [outer.lineno for part in parts if any(map(is_of_operator, ast.walk(part)))]
    return lines


def questions_of_kinds(tree: ast.Module) -> list[int]:
    """Lines that ask for a kind: `isinstance`, `type() is` and `case` of one."""
    lines = []
    for outer in ast.walk(tree):
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "isinstance":
            asked: ast.AST = outer.args[1]
        elif isinstance(outer, (ast.MatchClass, ast.Compare)):
            asked = outer
        else:
            continue
        if any(isinstance(n, ast.Name) and n.id in KINDS for n in ast.walk(asked)):
            lines.append(outer.lineno)
    return lines


def looks_up_operators(tree: ast.Module) -> list[int]:
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "REGISTRY"]


@pytest.mark.parametrize("path", [*ENGINE, *PLANNER], ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_no_operator_is_known_by_name(path):
    tree = ast.parse(path.read_text())
    assert not questions_of_names(tree), f"{path} asks for the name of an operator"
    if path not in {ROOT / "engine" / name for name in READS_NAMES}:
        assert not looks_up_operators(tree), f"{path} looks an operator up"


@pytest.mark.parametrize("path", ENGINE, ids=lambda p: p.stem)
def test_kinds_are_told_apart_in_one_module(path):
    lines = questions_of_kinds(ast.parse(path.read_text()))
    if path.relative_to(ROOT / "engine").as_posix() in ASKS_FOR_KINDS:
        assert lines, f"{path} asks no more: take it off the list"
    elif path.name == CHOICE:
        assert len(lines) == 4  # the other two are compiled, and in stages
    else:
        assert not lines, f"{path}:{lines}: what differs by kind belongs to the kind or to its runner"


@pytest.mark.parametrize(
    "code",
    [
        'if node.op.name == "resize": pass',
        'if op.kind in ("host", "reader"): pass',
        "TIMES.get(node.op.name, 1.0)",
        "TIMES[op.name]",
        'op.name.startswith("decoders.")',
        "match op.kind:\n    case 'host': pass",
    ],
)
def test_questions_of_names_are_found(code):
    assert questions_of_names(ast.parse(code)) == [1]
    assert not questions_of_names(ast.parse('raise ValueError(f"{op.name}: no, {node.op.shown_name}")'))


@pytest.mark.parametrize(
    "code",
    ["isinstance(node.op, (HostOp, int))", "type(op) is ReaderOp", "match op:\n    case IndexOp(): pass"],
)
def test_questions_of_kinds_are_found(code):
    assert len(questions_of_kinds(ast.parse(code))) == 1
    assert not questions_of_kinds(ast.parse("def run(op: HostOp) -> None: ..."))


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_run_has_no_default_for_a_true_size(name: str) -> None:
    """The engine passes true sizes in every call; with a default their type would be one that `run` never gets."""
    op = REGISTRY[name]
    parameters = inspect.signature(op.run).parameters
    optional = [
        p for p in ("extent", "out_extent") if p in op.engine_parameters and parameters[p].default is None
    ]
    assert not optional
