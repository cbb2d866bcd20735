"""Writes the type stubs of the derived surfaces (`jdali.fn`, `jdali.ops`, `jdali.dynamic`).

    python tools/make_stubs.py [--check]

The functions of the surfaces are made at import from the operators' records; editors and type checkers
read these stubs. `--check` writes nothing and fails if a stub is not what would be written.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import types as pytypes
import typing
from pathlib import Path
from typing import Any

import numpy as np

import jdali
import jdali.dynamic
import jdali.fn
import jdali.ops

HEADER = '"""Made by tools/make_stubs.py from the operators\' records; do not edit."""\n'
ROOT = Path(jdali.__file__).parent
RETURNS = {
    "jdali.fn": "DataNode",
    "jdali.ops": "Array",
    "jdali.dynamic": "Any",
}
IMPORTS = {
    "jdali.fn": "from jdali.data_node import DataNode\n",
    "jdali.ops": "from jax import Array\nfrom jax.typing import ArrayLike\n",
    "jdali.dynamic": "",
}


def annotation_text(annotation: Any, surface: str) -> str:
    """An annotation as it stands in a stub."""
    if annotation is inspect.Parameter.empty or annotation is Any:
        return "Any"
    if annotation is None or annotation is type(None):
        return "None"
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, pytypes.UnionType):
        parts = list(dict.fromkeys(annotation_text(a, surface) for a in typing.get_args(annotation)))
        return "Any" if "Any" in parts else " | ".join(parts)
    if origin is tuple:
        # DALI's users give lists as often as tuples.
        inner = [annotation_text(a, surface) for a in typing.get_args(annotation) if a is not ...]
        return f"Sequence[{' | '.join(dict.fromkeys(inner))}]"
    if annotation is np.dtype or origin is np.dtype:
        return "DTypeLike"
    name = getattr(annotation, "__name__", "")
    if annotation in (int, float, bool, str) or name in ("DataNode", "Array", "ArrayLike"):
        return name
    if name.startswith("DALI"):
        return f"types.{name}"
    if "ArrayLike" in str(annotation) or "Array" in str(annotation):
        return "ArrayLike" if surface == "jdali.ops" else "Any"
    return "Any"


def default_text(default: Any) -> str:
    if isinstance(default, (bool, int, float, str, type(None))) and not hasattr(default, "name"):
        return repr(default)
    return "..."


def function_text(function: Any, surface: str) -> str:
    """`def` of one function."""
    parameters, slash, star = [], False, False
    signature = inspect.signature(function)
    values = list(signature.parameters.values())
    for i, p in enumerate(values):
        if p.kind is p.KEYWORD_ONLY and not star:
            parameters.append("*")
            star = True
        annotation = annotation_text(p.annotation, surface)
        if p.kind is p.VAR_POSITIONAL:
            parameters.append(f"*{p.name}: {annotation}")
            star = True
            continue
        if p.default is None and "None" not in annotation and annotation != "Any":
            annotation += " | None"
        text = f"{p.name}: {annotation}"
        if p.default is not p.empty:
            text += f" = {default_text(p.default)}"
        parameters.append(text)
        following = values[i + 1] if i + 1 < len(values) else None
        last_positional = following is None or following.kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and last_positional and not slash:
            parameters.append("/")
            slash = True
    op = getattr(function, "__operator__", None)
    result = RETURNS[surface] if op is not None and op.outputs == 1 else "Any"
    lines = "".join(f"    {p},\n" for p in parameters)
    return f"def {function.__name__}(\n{lines}) -> {result}: ...\n"


def module_text(module: pytypes.ModuleType, surface: str) -> tuple[str, list[pytypes.ModuleType]]:
    """Stub of one module, and its submodules that need one."""
    functions, modules = [], []
    for name, value in sorted(vars(module).items()):
        if name.startswith("_"):
            continue
        if hasattr(value, "__operator__"):
            functions.append(function_text(value, surface))
        elif isinstance(value, pytypes.ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            if any(hasattr(v, "__operator__") for v in vars(value).values()) or _has_functions(value):
                modules.append(value)
    imports = "".join(f"from {module.__name__} import {m.__name__.rpartition('.')[2]} as {m.__name__.rpartition('.')[2]}\n" for m in modules)
    head = (
        f"{HEADER}\nfrom collections.abc import Sequence\nfrom typing import Any\n\n"
        f"from numpy.typing import DTypeLike\n\nfrom jdali import types\n{IMPORTS[surface]}{imports}\n"
    )
    return head + "\n".join(functions), modules


def _has_functions(module: pytypes.ModuleType) -> bool:
    return any(
        isinstance(v, pytypes.ModuleType) and v.__name__.startswith(module.__name__ + ".")
        and any(hasattr(f, "__operator__") for f in vars(v).values())
        for v in vars(module).values()
    )  # fmt: skip


def stub_path(module: pytypes.ModuleType) -> Path:
    parts = module.__name__.split(".")[1:]
    folder = ROOT.joinpath(*parts)
    if folder.is_dir():
        return folder / "__init__.pyi"
    return folder.with_suffix(".pyi")


def all_stubs() -> dict[Path, str]:
    stubs: dict[Path, str] = {}
    pending = [(jdali.fn, "jdali.fn"), (jdali.ops, "jdali.ops"), (jdali.dynamic, "jdali.dynamic")]
    while pending:
        module, surface = pending.pop()
        text, children = module_text(module, surface)
        stubs[stub_path(module)] = text
        pending += [(child, surface) for child in children]
    return stubs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if a stub is stale")
    check = parser.parse_args().check
    stale = []
    for path, text in all_stubs().items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(ROOT.parent))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
