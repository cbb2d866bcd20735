"""Marks a module's pipeline function, and serializes the marked pipeline when a server loads a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from jdali.pipeline import Pipeline

__all__ = ["autoserialize", "invoke_autoserialize"]

F = TypeVar("F", bound=Callable[..., Any])


def autoserialize(dali_pipeline: F) -> F:
    """Marks a pipeline function as the one that `invoke_autoserialize` serializes.

    Args:
        dali_pipeline: a function decorated with `pipeline_def`. Only one function of a program may be marked.

    Returns: the same function.

    Raises:
        TypeError: the function is not decorated with `pipeline_def`.
    """
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise TypeError("Only `@pipeline_def` can be decorated with `@triton.autoserialize`.")
    dali_pipeline._is_autoserialize = True  # type: ignore[attr-defined]
    return dali_pipeline


def invoke_autoserialize(head_module: ModuleType, filename: str) -> None:
    """Serializes the marked pipeline of a module, or of a module that it imports, to a file.

    `Pipeline.deserialize` reads the file. NVIDIA's DALI backend of Triton cannot read it.

    Args:
        head_module: the module; modules that it imports, directly or indirectly, are searched as well.
        filename: path of the file to write.

    Raises:
        RuntimeError: no function or more than one function is marked.
    """
    marked = _marked(head_module)
    if len(marked) != 1:
        found = ", ".join(sorted(f"{f.__module__}.{f.__qualname__}" for f in marked)) or "none"
        raise RuntimeError(
            f"Precisely one autoserialize function must exist in the module {head_module.__name__!r}, found: {found}"
        )
    pipeline: Pipeline = marked.pop()()
    try:
        pipeline.serialize(filename=filename)
    finally:
        pipeline.close()


def _marked(head: ModuleType) -> set[Any]:
    found: set[Any] = set()
    seen, waiting = {head.__name__}, [head]
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            if inspect.isfunction(value) and getattr(value, "_is_autoserialize", False):
                found.add(value)
            elif inspect.ismodule(value) and value.__name__ not in seen:
                seen.add(value.__name__)
                waiting.append(value)
    return found
