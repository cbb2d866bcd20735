"""Writes the catalog of the operators, and the type stubs of `jdali.fn`, `jdali.ops` and `jdali.dynamic`.

    python tools/make_stubs.py [--check]

The functions of these three packages, called surfaces here, are generated from the operators' records on first use, so
editors and type checkers need stubs. The catalog says which module to load for an operator. `--check` writes nothing,
and fails if a file is stale.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
import types as pytypes
from pathlib import Path
from typing import Any

from stub_text import class_text, function_text, without_docstrings

import jdali
import jdali.dynamic
import jdali.fn
import jdali.ops
import jdali.readers
from jdali._operators.record import REGISTRY, Operator

HEADER = '"""Made by tools/make_stubs.py from the operators\' records; do not edit."""\n'
HEADER_OF_PACKAGE = (
    '"""Made by tools/make_stubs.py from what `jdali` imports when it is asked for; do not edit."""\n\n'
)
HEADER_OF_MATH = (
    '"""Made by tools/make_stubs.py from `jdali.math`; do not edit."""\n\n'
    "from jdali.dynamic._batch import Batch\nfrom jdali.dynamic._tensor import Tensor\n"
)
ROOT = Path(jdali.__file__).parent
LINE = 111  # maximum characters of a line, including its end
IMPORTS = {
    "jdali.fn": "from numpy.typing import ArrayLike\nfrom jdali.data_node import DataNode\n"
    "from jdali.tfrecord import Feature\n",
    "jdali.ops": "from jax import Array\nfrom jax.typing import ArrayLike\n"
    "from jdali.data_node import DataNode\nfrom jdali.fn._classes import OperatorClass\n",
    "jdali.dynamic": "from numpy.typing import ArrayLike\n"
    "from jdali.dynamic._batch import Batch\nfrom jdali.dynamic._device import Device\n"
    "from jdali.dynamic._dtype import DType\nfrom jdali.dynamic._readers import Reader\n"
    "from jdali.dynamic._rng import RNG\n"
    "from jdali.dynamic._tensor import Tensor\n",
}
COMMON_IMPORTS = (
    "import builtins\nimport typing\nfrom typing import Any\nfrom typing import Literal\nfrom typing import overload\n"
    "from numpy.typing import DTypeLike\nfrom numpy.typing import NDArray\nfrom jdali import types\n"
)


def home_of(op: Operator, surface: str) -> tuple[str, str]:
    """Returns the module of a surface that has an operator, and the operator's name in this module."""
    family, _, short = op.name.rpartition(".")
    return f"{surface}.{family}" if family else surface, short


def alias_text(module: str, name: str, home: str, short: str) -> str:
    """Returns a stub line that makes `home.short` public as `module.name`.

    Type checkers treat an import as public only if it keeps the name, so a new name needs an assignment.
    """
    if name == short:
        return f"from {home} import {short} as {name}"
    return f"{name} = {home.removeprefix(module + '.')}.{short}"


def written_exports(module: pytypes.ModuleType) -> list[str]:
    """Returns stub lines for the names that a module's source makes public: `from x import y as y`, or `name = ...`."""
    path = getattr(module, "__file__", None)
    if path is None:
        return []
    lines = []
    for node in ast.parse(Path(path).read_text()).body:
        if isinstance(node, ast.ImportFrom):
            lines += [
                f"from {node.module} import {a.name} as {a.name}" for a in node.names
                if a.name == a.asname and not _is_family(getattr(module, a.name))
            ]  # fmt: skip
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if not name.startswith("_"):
                kind = type(getattr(module, name))
                lines.append(f"{name}: {kind.__name__}")
    return lines


def _is_family(value: Any) -> bool:
    """Returns True for a package of operators, for whose functions there is a separate stub."""
    return isinstance(value, pytypes.ModuleType) and (
        value.__name__.startswith("jdali.ops") or _operators(value) or _has_functions(value)
    )


def contents(module: pytypes.ModuleType) -> dict[str, Any]:
    """Returns the members of a module by name, including those that are generated on first use."""
    return {name: getattr(module, name) for name in dir(module) if name != "__lazy__"}


def _operators(module: pytypes.ModuleType) -> bool:
    return any(hasattr(v, "__operator__") for v in contents(module).values())


def module_text(module: pytypes.ModuleType, surface: str) -> tuple[str, list[pytypes.ModuleType]]:
    """Returns the stub of a module, and the submodules that need stubs, too."""
    functions, modules, aliases = [], [], []
    for name, value in sorted(contents(module).items()):
        if name.startswith("_"):
            continue
        if inspect.isclass(value) and hasattr(value, "__operator__"):
            home, short = value.__module__, value.__name__
            if (module.__name__, name) == (home, short):
                functions.append(class_text(value, surface))
            else:
                aliases.append(alias_text(module.__name__, name, home, short))
        elif not hasattr(value, "__operator__") and name in vars(module).get("__lazy__", ()):
            aliases.append(alias_text(module.__name__, name, value.__module__, value.__name__))
        elif hasattr(value, "__operator__"):
            home, short = home_of(value.__operator__, surface)
            if (module.__name__, name) == (home, short):
                functions.append(function_text(value, surface))
            else:  # a deprecated alias
                aliases.append(alias_text(module.__name__, name, home, short))
        elif (
            isinstance(value, pytypes.ModuleType)
            and value.__name__ == f"{module.__name__}.{name}"
            and (_operators(value) or _has_functions(value))
        ):
            modules.append(value)
    names = [m.__name__.rpartition(".")[2] for m in modules]
    exports = [f"from {module.__name__} import {name} as {name}" for name in names]
    # Imports come first, because an assignment may use an imported name.
    exports = sorted(
        dict.fromkeys(exports + written_exports(module) + aliases), key=lambda e: not e.startswith("from ")
    )
    body = "\n".join(functions)
    text = without_docstrings(body) + "\n".join(exports)
    imports = [
        line for line in (COMMON_IMPORTS + IMPORTS[surface]).splitlines() if _is_used(line, text, exports)
    ]
    return "\n".join([HEADER, *imports, *exports, "", body]), modules


def _is_used(line: str, text: str, exports: list[str]) -> bool:
    """Returns True if a stub needs an import: the text uses its name, and no export already imports the name."""
    name = line.split()[-1]
    exported = any(e.startswith("from") and e.endswith(f" {name}") for e in exports)
    return not exported and re.search(rf"\b{name}\b", text) is not None


def _has_functions(module: pytypes.ModuleType) -> bool:
    return any(
        isinstance(v, pytypes.ModuleType) and v.__name__.startswith(module.__name__ + ".")
        and any(hasattr(f, "__operator__") for f in contents(v).values())
        for v in contents(module).values()
    )  # fmt: skip


def stub_path(module: pytypes.ModuleType, is_package: bool) -> Path:
    parts = module.__name__.split(".")[1:]
    folder = ROOT.joinpath(*parts)
    if is_package or (folder / "__init__.py").exists():
        return folder / "__init__.pyi"
    return folder.with_suffix(".pyi")


def all_stubs() -> dict[Path, str]:
    stubs: dict[Path, str] = {}
    pending = [(jdali.fn, "jdali.fn"), (jdali.ops, "jdali.ops"), (jdali.dynamic, "jdali.dynamic")]
    while pending:
        module, surface = pending.pop()
        text, children = module_text(module, surface)
        stubs[stub_path(module, bool(children))] = text
        pending += [(child, surface) for child in children]
    return stubs


CATALOG_HEADER = '''"""Module and kind of each operator. Written by tools/make_stubs.py; do not edit."""

CATALOG: dict[str, dict[str, str]] = {
'''


def catalog_text() -> str:
    """Returns the text of the catalog: for each module that defines operators, their names and kinds."""
    for package in (jdali.ops, jdali.readers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    by_module: dict[str, dict[str, str]] = {}
    for name, op in sorted(REGISTRY.loaded().items()):
        if op.run.__module__.startswith((f"{jdali.ops.__name__}.", f"{jdali.readers.__name__}.")):
            by_module.setdefault(op.run.__module__, {})[name] = type(op).__name__
    lines = []
    for module_name, names in sorted(by_module.items()):
        entries = [f'"{name}":\xa0"{kind}"' for name, kind in names.items()]  # not broken by `fill`
        line = f'    "{module_name}": {{{", ".join(entries)}}},'
        lines.append(textwrap.fill(line, LINE, subsequent_indent=" " * 8).replace("\xa0", " ") + "\n")
    return CATALOG_HEADER + "".join(lines) + "}\n"


def math_text() -> str:
    """Returns the stub of `jdali.dynamic.math`, which has the same functions as `jdali.math`."""
    functions = [
        node for node in ast.parse((ROOT / "math.py").read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    lines = [HEADER_OF_MATH]
    for function in functions:
        arguments, words = ast.unparse(function.args), ast.get_docstring(function)
        lines.append(f'def {function.name}({arguments}) -> Tensor | Batch:\n    """{words}"""\n')
    return "\n".join(lines)


def package_text() -> str:
    """Returns the stub of `jdali` itself, whose names are imported on first use."""
    lines = [HEADER_OF_PACKAGE]
    for name, module in vars(jdali)["_WHERE"].items():
        parent = "jdali" if module == f"jdali.{name}" else module
        lines.append(f"from {parent} import {name} as {name}\n")
    return "".join([*lines, "\n__git_sha__: str\n__version__: str\n"])


def stale_files(files: dict[Path, str]) -> dict[Path, str]:
    return {path: text for path, text in files.items() if not path.exists() or path.read_text() != text}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if a file is stale")
    check = parser.parse_args().check
    catalog = stale_files({ROOT / "_operators" / "catalog.py": catalog_text()})
    stale = catalog or stale_files(
        {ROOT / "__init__.pyi": package_text(), ROOT / "dynamic" / "math.pyi": math_text(), **all_stubs()}
    )
    for path, text in stale.items():
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT.parent)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if catalog and not check:  # this process has loaded the old catalog, so a new process writes the stubs
        return subprocess.call([sys.executable, *sys.argv])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
