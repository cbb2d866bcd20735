"""Collects the names that the file of an operator imports from `_operators`.

These are a decorator for each kind of operator, the types of a signature, and helpers of `setup` and `run`.
`jdali.plugin.operators` re-exports the names for third parties.

* `@operator` (`DeviceOp`): compiled; takes one sample.
* `@batch_operator` (`DeviceBatchOp`): compiled; takes many samples.
* `@host_operator` (`HostOp`): NumPy; takes one sample, in the thread pool.
* `@host_batch_operator` (`HostBatchOp`): takes many samples and returns blocks of samples, as decoders do.
* `@reader` (`ReaderOp`): opens a reader of samples.
* `@index_operator` (`IndexOp`): selects or reorders samples, or returns their properties, without a copy.
"""

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from jdali._operators.argument_rules import Traced as Traced
from jdali._operators.argument_rules import extents_of as extents_of
from jdali._operators.argument_rules import is_traced as is_traced
from jdali._operators.argument_rules import padded as padded
from jdali._operators.argument_rules import shapes_text as shapes_text
from jdali._operators.argument_rules import wrong_length as wrong_length
from jdali._operators.base import REGISTRY as REGISTRY
from jdali._operators.base import Operator as Operator
from jdali._operators.base import is_built_in as is_built_in
from jdali._operators.compiled import CompiledOp as CompiledOp
from jdali._operators.compiled import DeviceBatchOp as DeviceBatchOp
from jdali._operators.compiled import DeviceOp as DeviceOp
from jdali._operators.compiled import batch_operator as batch_operator
from jdali._operators.compiled import operator as operator
from jdali._operators.frames import sample_of as sample_of
from jdali._operators.host import DeviceDecoding as DeviceDecoding
from jdali._operators.host import HostBatchOp as HostBatchOp
from jdali._operators.host import HostOp as HostOp
from jdali._operators.host import HostOutputs as HostOutputs
from jdali._operators.host import IndexOp as IndexOp
from jdali._operators.host import Probed as Probed
from jdali._operators.host import ReaderOp as ReaderOp
from jdali._operators.host import Share as Share
from jdali._operators.host import Workers as Workers
from jdali._operators.host import column as column
from jdali._operators.host import host_batch_operator as host_batch_operator
from jdali._operators.host import host_operator as host_operator
from jdali._operators.host import index_operator as index_operator
from jdali._operators.host import reader as reader
from jdali._operators.layout import refused_layout as refused_layout
from jdali._operators.scaled import Scaled as Scaled
from jdali._operators.scaled import ScaledDecoding as ScaledDecoding
from jdali._operators.schema import Arg as Arg
from jdali._operators.schema import ArgKind as ArgKind
from jdali._operators.schema import PerFrame as PerFrame
from jdali._operators.schema import PerSample as PerSample
from jdali._operators.schema import Static as Static

Function = TypeVar("Function", bound=Callable[..., Any])


def also_takes(*templates: Callable[..., object]) -> Callable[[Function], Function]:
    """Adds the keyword-only parameters of templates, those of the last one first, with their descriptions, to a function.

    The function takes them as `**options`, but `inspect.signature` and type hints list them. The function's own
    parameters are not replaced. The engine fills in parameters that begin with an underscore; they need no description.
    """

    def decorate(function: Function) -> Function:
        for template in reversed(templates):
            _add_parameters(function, template)
        return function

    return decorate


def _add_parameters(function: Callable[..., object], template: Callable[..., object]) -> None:
    hints = typing.get_type_hints(template, include_extras=True)
    descriptions = _descriptions(inspect.getdoc(template) or "")
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = inspect.signature(template).parameters.values()
    added = [p for p in shared if p.kind is p.KEYWORD_ONLY and p.name not in signature.parameters]
    function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    function.__annotations__ |= {p.name: hints[p.name] for p in added}
    doc = inspect.getdoc(function) or ""
    head, _, tail = doc.partition("Args:\n")
    block, separator, rest = tail.partition("\n\n")
    parts = [block.rstrip(), *(descriptions[p.name] for p in added if p.name in descriptions)]
    lines = "\n".join(part for part in parts if part)
    function.__doc__ = f"{head.rstrip()}\n\nArgs:\n{lines}{separator}{rest}"


def _descriptions(doc: str) -> dict[str, str]:
    """Returns the entry of each argument in a docstring, by its name."""
    block = doc.partition("Args:\n")[2].partition("\n\n")[0].rstrip()
    entries = re.split(r"^(?=    \w+: )", block, flags=re.MULTILINE)[1:]
    return {entry.partition(":")[0].strip(): entry.rstrip() for entry in entries}


KINDS: dict[str, type[Operator]] = {
    kind.__name__: kind for kind in (DeviceOp, DeviceBatchOp, HostOp, HostBatchOp, ReaderOp, IndexOp)
}


def kind_of(name: str) -> type[Operator]:
    """Returns the class of an operator's kind, without loading the operator."""
    return KINDS[REGISTRY.kind_name(name)]
