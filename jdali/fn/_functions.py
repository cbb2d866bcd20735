"""Makes the members of `jdali.fn`."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from jdali._operators.record import REGISTRY, Operator
from jdali._operators.surface import HIDDEN, is_deprecated, warn_of_name, with_keywords
from jdali.fn._build import finish, make_function

# Modules of the functions that do more than add a node. A module is imported when its function is first used.
_SPECIAL = {
    "dl_tensor_python_function": "_special",
    "experimental.inputs.video": "_video_input",
    "external_source": "_special",
    "python_function": "_special",
    "readers.bucket": "_special",
    "readers.mix": "_special",
    "readers.paired": "_special",
    "readers.pack": "_special",
    "readers.tfrecord": "_special",
    "readers.video_resize": "_special",
}


# Arguments that a function also takes by position.
_BY_POSITION = {
    "external_source": ("source", "num_outputs"),
    "readers.bucket": ("samples",),
    "readers.mix": ("sources",),
    "readers.pack": ("documents",),
}


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields (name, loader of the function); yields nothing if the operator is hidden from users."""
    if name.startswith(HIDDEN):
        return
    if is_deprecated(name):
        yield name, lambda: deprecated(function_of(REGISTRY[name]), name)
    else:
        yield name, lambda: function_of(REGISTRY[name])


def deprecated(function: Any, name: str) -> Any:
    """Wraps a function so that each call warns of the deprecated name."""
    function = getattr(function, "__wrapped__", function)

    @functools.wraps(function)
    def warning(*inputs: Any, **kwargs: Any) -> object:
        warn_of_name(name, "fn")
        return function(*inputs, **kwargs)

    return warning


@functools.cache
def function_of(op: Operator) -> Any:
    """Returns the function of `jdali.fn` for an operator; always returns the same object."""
    if op.name not in _SPECIAL:
        return make_function(op)
    module = importlib.import_module(f"{__package__}.{_SPECIAL[op.name]}")
    special = finish(getattr(module, op.name.replace(".", "_")), op)
    signature = inspect.signature(special)
    by_position = _BY_POSITION.get(op.name, ())
    parameters = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.name in by_position else p
        for p in signature.parameters.values()
    ]
    special.__signature__ = signature.replace(parameters=parameters)
    if op.name == "readers.paired":
        special.__signature__ = with_keywords(special.__signature__)
    return special
