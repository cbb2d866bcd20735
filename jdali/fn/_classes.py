"""Makes the operator classes of `jdali.ops`, DALI's older interface: a program constructs an operator and then calls it.

Each class is derived from the function of the same operator in `jdali.fn`. The pure functions in `jdali.ops` have lower-case
names.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from jdali._errors import OperatorError
from jdali._operators.record import Operator
from jdali._operators.surface import class_name, schema_name, warn_of_name
from jdali.fn._build import IGNORED, NOT_USED, RENAMED
from jdali.fn._functions import function_of
from jdali.graph import DataNode

# Arguments that DALI's constructors also take by position.
_BY_POSITION = {
    "external_source": ("source", "num_outputs"),
    "python_function": ("function", "num_outputs", "device", "batch_processing"),
    "readers.tfrecord": ("path", "index_path", "features"),
}


class _WithSignature(type):
    """Builds a class's signature on first access, because most signatures are never read."""

    @property
    def __signature__(cls) -> inspect.Signature:
        arguments = [
            p.replace(default=None) if p.kind is p.KEYWORD_ONLY and p.default is p.empty else p
            for p in inspect.signature(cls._function).parameters.values()  # type: ignore[attr-defined]
            if p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) or p.name in cls._by_position  # type: ignore[attr-defined]
        ]
        by_name = {p.name: p for p in arguments}
        first = [
            by_name.pop(name).replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in cls._by_position  # type: ignore[attr-defined]
        ]
        return inspect.Signature([*first, *by_name.values()])


class OperatorClass(metaclass=_WithSignature):
    """Stores arguments of an operator. A call takes the inputs and further arguments, and adds a node to the pipeline.

    Args:
        args, kwargs: arguments of the operator's function in `jdali.fn`.

    Raises:
        TypeError: an argument is unknown to the operator.
    """

    _function: ClassVar[Callable[..., Any]]
    _by_position: ClassVar[tuple[str, ...]]
    __operator__: ClassVar[Operator]

    def __init__(self, *args: Any, **kwargs: Any):
        if len(args) > len(self._by_position):
            raise TypeError(
                f"{self.schema_name}: takes {len(self._by_position)} arguments by position, got {len(args)}"
            )
        arguments = dict(zip(self._by_position, args, strict=False))
        if twice := sorted(arguments.keys() & kwargs.keys()):
            raise TypeError(f"{self.schema_name}: argument {twice[0]!r} was given twice")
        self._arguments = arguments | kwargs
        self._check(self._arguments)

    def _check(self, arguments: dict[str, object]) -> None:
        parameters = inspect.signature(self._function).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return  # any keyword may be valid, so the call checks it
        known = {*parameters, *IGNORED, *RENAMED, *NOT_USED}
        self.__operator__.bind(
            {k: v for k, v in arguments.items() if k not in known}
            # Required arguments may also be passed to `__call__`.
            | {a.name: a for a in self.__operator__.args.values() if a.required}
        )

    @property
    def schema_name(self) -> str:
        """Returns DALI's name of the operator, with family and class, such as "readers__File"."""
        return schema_name(self.__operator__.name)

    @property
    def device(self) -> str:
        """Returns the argument `device`. Without it, returns "cpu", although the operator then runs where its inputs are."""
        return self._arguments.get("device") or "cpu"

    @property
    def name(self) -> str | None:
        """Returns the argument `name`, or None."""
        return self._arguments.get("name")

    @property
    def preserve(self) -> bool:
        """Returns True if the operator runs even if nothing uses its outputs."""
        return bool(self._arguments.get("preserve")) or self.__operator__.effects

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r:.60}" for name, value in self._arguments.items())
        return f"{type(self).__module__}.{type(self).__name__}({arguments})"

    def __call__(self, *inputs: object, **kwargs: object) -> Any:
        """Adds a node; see the operator's function in `jdali.fn`.

        Raises:
            OperatorError: an argument was already given to the constructor; it is a ValueError, too.
        """
        for name, value in kwargs.items():
            if name != "name" and value is not None and self._arguments.get(name) is not None:
                error = ValueError(
                    f"{self.schema_name}: The argument `{name}` was already specified in __init__."
                )
                raise OperatorError.of(error, self.schema_name)
        return type(self)._function(*inputs, **{**self._arguments, **kwargs})


class Compose:
    """Chains operators; each operator gets the outputs of the one before.

    Args:
        op_list: operators, or functions of DataNodes. Inputs of an operator with `device="gpu"` are moved to the
            accelerator.
    """

    def __init__(self, op_list: Sequence[Callable[..., Any]]):
        self._ops = list(op_list)

    def __repr__(self) -> str:
        return f"jdali.ops.Compose({self._ops!r})"

    @property
    def device(self) -> str | None:
        """Returns the device of the first operator."""
        return getattr(self._ops[0], "device", None) if self._ops else None

    def __call__(self, *inputs: object) -> Any:
        values: Any = inputs
        for op in self._ops:
            if getattr(op, "device", "cpu") == "gpu":
                values = [_on_accelerator(value) for value in values]
            result = op(*values)
            values = result if isinstance(result, (tuple, list)) else (result,)
        return values[0] if len(values) == 1 else values


def _on_accelerator(value: object) -> object:
    if isinstance(value, list):
        return [_on_accelerator(v) for v in value]
    return value.gpu() if isinstance(value, DataNode) else value


def make_class(op: Operator) -> type[OperatorClass]:
    function = function_of(op)
    family, _, name = class_name(op.name).rpartition(".")
    body = {
        "__doc__": function.__doc__,
        "__module__": f"jdali.ops.{family}" if family else "jdali.ops",
        "__operator__": op,
        "_by_position": _BY_POSITION.get(op.name, ()),
        "_function": staticmethod(function),
    }
    return cast(type[OperatorClass], _WithSignature(name, (OperatorClass,), body))


def deprecated_class(made: type[OperatorClass], name: str) -> type[OperatorClass]:
    """Makes a subclass of an operator's class; its calls warn that `name`, a name in `jdali.fn`, is deprecated."""
    if hasattr(made.__call__, "__wrapped__"):  # `made` itself warns of another deprecated name
        made = cast(type[OperatorClass], made.__base__)
    call = made.__call__

    def warning(self: Any, *inputs: Any, **kwargs: Any) -> object:
        warn_of_name(name, "ops")
        return call(self, *inputs, **kwargs)

    functools.update_wrapper(warning, call)
    body = {"__doc__": made.__doc__, "__module__": made.__module__, "__call__": warning}
    return cast(type[OperatorClass], _WithSignature(made.__name__, (made,), body))
