"""Members of `jdali.dynamic` for each operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jdali._operators.record import REGISTRY, ReaderOp, kind_of
from jdali._operators.surface import HIDDEN, class_name
from jdali.dynamic._build import make_function
from jdali.dynamic._readers import make_reader

# Beside parts of expressions, what only a graph needs: where operators run at once, a source is an object
# (`ExternalSource`), and a Python function is called directly.
_ONLY_IN_GRAPHS = (
    "external_source",
    "python_function",
    "dl_tensor_python_function",
    "experimental.inputs.",
)


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields the function, or the class of a reader, for a name."""
    if name.startswith(HIDDEN + _ONLY_IN_GRAPHS):
        return
    if issubclass(kind_of(name), ReaderOp):
        yield class_name(name), lambda: make_reader(REGISTRY[name])
    else:
        yield name, lambda: make_function(REGISTRY[name])
