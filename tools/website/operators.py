"""Finds facts about operators in their records: families, summaries, names, differences from DALI."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import jdali
import jdali.dynamic
import jdali.fn
from jdali._operators.record import REGISTRY, CompiledOp, Operator
from jdali._operators.surface import ALIASES, class_name

ROOT = Path(__file__).resolve().parents[2]

# Families in the order of the site, with their titles.
FAMILIES = {
    "readers": "Readers",
    "decoders": "Decoders",
    "image": "Images",
    "noise": "Noise",
    "audio": "Audio",
    "text": "Texts",
    "sequence": "Video and sequences",
    "bbox": "Boxes",
    "segmentation": "Segmentation",
    "transforms": "Transforms",
    "tensor": "Tensors",
    "reductions": "Reductions",
    "random": "Random values",
    "flow": "Batches and Python",
}
_PACKAGES = {"io": "readers"}


def public_operators() -> list[Operator]:
    """Lists the operators that users call, by name."""
    return [op for name, op in sorted(REGISTRY.items()) if not name.startswith(("_", "math."))]


def family(op: Operator) -> str:
    """Returns an operator's key in `FAMILIES`: the first part of the operator's name, or else its package."""
    parts = op.name.split(".")
    if parts[0] == "experimental":
        parts = parts[1:]
    if len(parts) > 1 and parts[0] in FAMILIES:
        return parts[0]
    package = op.run.__module__.split(".")
    found = package[2] if package[:2] == ["jdali", "ops"] and len(package) > 3 else "readers"
    found = _PACKAGES.get(found, found)
    if found not in FAMILIES:
        raise KeyError(f"{op.name}: its package {found!r} is in no family of tools/website/operators.py")
    return found


def by_family() -> dict[str, list[Operator]]:
    """Groups the public operators by family, in the order of `FAMILIES`."""
    groups: dict[str, list[Operator]] = {name: [] for name in FAMILIES}
    for op in public_operators():
        groups[family(op)].append(op)
    return {name: members for name, members in groups.items() if members}


def function(op: Operator) -> Any:
    """Returns the function of an operator in `jdali.fn`."""
    return functools.reduce(getattr, op.name.split("."), jdali.fn)


def summary(op: Operator) -> str:
    """Returns the first paragraph of an operator's docstring on one line."""
    return " ".join(op.doc.partition("\n\n")[0].split())


def names(op: Operator) -> list[tuple[str, str]]:
    """Lists rows (description, name) of an operator's names, and of its devices and source in DALI."""
    rows = [("in a pipeline", f"jdali.fn.{op.name}"), ("as a class", f"jdali.ops.{class_name(op.name)}")]
    for name in (op.name, class_name(op.name)):
        if _has(jdali.dynamic, name):
            rows.append(("dynamic mode", f"jdali.dynamic.{name}"))
            break
    if isinstance(op, CompiledOp):
        rows.append(("as a pure function", f"jdali.ops.{op.name}"))
    rows += [
        ("deprecated alias", f"jdali.fn.{old}") for old, new in sorted(ALIASES.items()) if new == op.name
    ]
    if "DALI has no such reader" not in op.doc:
        rows.append(("DALI's devices", ", ".join(op.devices)))
    if op.source:
        rows.append(("DALI's source", op.source))
    return rows


def _has(module: ModuleType, name: str) -> bool:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@functools.cache
def _rows_of_differences() -> list[tuple[frozenset[str], str, str]]:
    """Returns the rows of docs/differences.md: names in the first column, what differs, why."""
    found = []
    for line in (ROOT / "docs" / "differences.md").read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and not set(cells[0]) <= {"-", ":"}:
            words = frozenset(re.findall(r"`([\w.]+)", cells[0]))
            found.append((words, f"{cells[0]}: {cells[1]}", cells[2]))
    return found


def differences(op: Operator) -> list[tuple[str, str]]:
    """Lists the rows of docs/differences.md that name an operator: what differs, and why."""
    return [(what, why) for words, what, why in _rows_of_differences() if op.name in words]
