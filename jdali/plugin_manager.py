"""Loads Python modules that register custom operators (docs/custom_operators.md)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from jdali import dynamic, fn, ops
from jdali._operators.record import REGISTRY
from jdali._operators.surface import place

__all__ = ["load_directory", "load_library"]

_NATIVE = (".so", ".dll", ".dylib")


def load_library(library_path: str | Path, global_symbols: bool = False) -> None:
    """Imports a module and adds the operators that it registers to `jdali.fn`, `jdali.ops` and `jdali.dynamic`.

    A module that is already loaded is not imported again.

    Args:
        library_path: a Python file, the folder of a package, or the dotted name of an importable module.
        global_symbols: without effect.

    Raises:
        RuntimeError: the module does not exist, is a compiled library (C++ operators of DALI cannot run), or fails while it
            is imported. A failed import registers no operator.
    """
    path = Path(library_path)
    if path.suffix in _NATIVE:
        raise RuntimeError(
            f"load_library: {str(library_path)!r} is a compiled library. Operators that were written in C++ for DALI "
            "cannot run in jdali, whose operators are Python modules: write them with jdali.plugin.operators, or call "
            "the library from fn.python_function"
        )
    before = set(REGISTRY)
    try:
        if path.exists():
            _import_from(path)
        elif path.suffix == ".py" or len(path.parts) > 1:
            raise ImportError("there is no such file or folder")
        else:
            importlib.import_module(str(library_path))
    except Exception as error:
        for name in REGISTRY.keys() - before:
            del REGISTRY[name]
        raise RuntimeError(f"load_library: {str(library_path)!r} cannot be loaded: {error}") from error
    for name in [name for name in REGISTRY if name not in before]:
        for surface in (ops, fn, dynamic):
            for path, make in surface._shown(name):
                place(surface, path, make())


def load_directory(plugin_dir_path: str | Path, global_symbols: bool = False) -> None:
    """Loads the Python files and packages in a folder, in the order of their names.

    Args:
        plugin_dir_path: the folder. Names that begin with "_" or "." are skipped.
        global_symbols: without effect.

    Raises:
        RuntimeError: `plugin_dir_path` is not a folder, or a module cannot be loaded, see `load_library`.
    """
    folder = Path(plugin_dir_path)
    if not folder.is_dir():
        raise RuntimeError(f"load_directory: {str(plugin_dir_path)!r} is not a folder")
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(("_", ".")) and (path.suffix == ".py" or _is_package(path)):
            load_library(path)


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


def _import_from(path: Path) -> ModuleType:
    """Imports a Python file or the folder of a package by its path; the module is named after the file or folder."""
    if path.is_dir():
        if not _is_package(path):
            raise ImportError("the folder has no __init__.py; load_directory loads all modules of a folder")
        name, file, within = path.name, path / "__init__.py", [str(path)]
    else:
        if path.suffix != ".py":
            raise ImportError("it is neither a Python file nor a package")
        name, file, within = path.stem, path, None
    known = sys.modules.get(name)
    if known is not None:
        if Path(known.__file__ or "").resolve() == file.resolve():
            return known
        raise ImportError(f"there is another module named {name!r}: {known.__file__}")
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=within)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        for loaded in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
            del sys.modules[loaded]
        raise
    return module
