"""Provides dynamic mode for programs that use PyTorch."""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name == "nodes":  # imported on first use, because `nodes` imports PyTorch
        return importlib.import_module(f"{__name__}.nodes")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
