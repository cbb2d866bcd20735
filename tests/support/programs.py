"""Runs programs that import `nvidia.dali`, with the real DALI or with jdali under that name.

    python -m support.programs jdali FOLDER RESULTS NAME...

runs these files of `docs/programs` in FOLDER, which has the data that they read, and pickles for each program its outcome:
the arrays that it kept, or its traceback.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import pickle
import runpy
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).parents[1] / "docs" / "programs"
ALIAS = "nvidia.dali"
# One batch's output, or an error's text.
Outcome = dict[str, list[np.ndarray]] | str


class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `nvidia.dali.X` as the module `jdali.X`: the same object under both names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == ALIAS or fullname.startswith(f"{ALIAS}."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(spec.name.replace(ALIAS, "jdali", 1))
        self._own_specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        # Importing it by its second name wrote that name's spec over its own.
        assert module.__spec__ is not None
        module.__spec__ = self._own_specs.pop(module.__spec__.name)

    def __init__(self) -> None:
        self._own_specs: dict[str, importlib.machinery.ModuleSpec | None] = {}


def install_alias() -> None:
    """Makes `import nvidia.dali` import jdali, where DALI is installed and where it is not."""
    namespace = sys.modules.setdefault("nvidia", types.ModuleType("nvidia"))
    namespace.__path__ = []
    sys.meta_path.insert(0, Alias())


def names() -> list[str]:
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def outcome(name: str) -> Outcome:
    """Runs one program as a script."""
    from support import target

    target.kept.clear()
    try:
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name=name)
    except Exception:
        return traceback.format_exc()
    return dict(target.kept)


def main(target: str, folder: str, results: str, *chosen: str) -> None:
    os.environ["PROGRAMS_TARGET"] = target  # `support.target` reads it
    if target == "jdali":
        install_alias()
    os.chdir(folder)
    with open(results, "wb") as file:
        pickle.dump({name: outcome(name) for name in chosen}, file)
    if target != "jdali":
        os._exit(0)  # DALI may wait for ever for worker processes of pipelines that were not collected


if __name__ == "__main__":
    main(*sys.argv[1:])
