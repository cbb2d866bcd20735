"""The function of `jdali.fn` for each operator."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from jdali._operators.record import REGISTRY, Operator
from jdali._operators.surface import HIDDEN, is_deprecated, warn_of_name, with_keywords
from jdali.fn._build import finish, make_function

# Operators whose functions do more than add a node, and the module of these: it is loaded when one is asked for.
_SPECIAL = {
    "dl_tensor_python_function": "_special",
    "experimental.inputs.video": "_video_input",
    "external_source": "_special",
    "python_function": "_special",
    "readers.mix": "_special",
    "readers.paired": "_special",
    "readers.pack": "_special",
    "readers.tfrecord": "_special",
    "readers.video_resize": "_special",
}


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Makes the member of `jdali.fn` for an operator: a function, if users call it."""
    if name.startswith(HIDDEN):
        return
    if is_deprecated(name):
        yield name, lambda: deprecated(function_of(REGISTRY[name]), name)
    else:
        yield name, lambda: function_of(REGISTRY[name])


def deprecated(function: Any, name: str) -> Any:
    """Wraps a function so that it warns of the deprecated name that it is called by."""
    function = getattr(function, "__wrapped__", function)

    @functools.wraps(function)
    def warning(*inputs: Any, **kwargs: Any) -> object:
        warn_of_name(name, "fn")
        return function(*inputs, **kwargs)

    return warning


@functools.cache
def function_of(op: Operator) -> Any:
    """Returns the function of `jdali.fn` for an operator, always the same one."""
    if op.name not in _SPECIAL:
        return make_function(op)
    module = importlib.import_module(f"{__package__}.{_SPECIAL[op.name]}")
    special = finish(getattr(module, op.name.replace(".", "_")), op)
    if op.name == "external_source":
        _by_position(special, "source", "num_outputs")
    if op.name == "readers.mix":
        _by_position(special, "sources")
    if op.name == "readers.paired":
        special.__signature__ = with_keywords(inspect.signature(special))
    if op.name == "readers.pack":
        _by_position(special, "documents")
    return special


def _by_position(function: Any, *names: str) -> None:
    """Lets a function take arguments by position where DALI's does."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.name in names else p
        for p in signature.parameters.values()
    ]
    function.__signature__ = signature.replace(parameters=parameters)
