"""Reads the schema of an operator from its signature: inputs, arguments, and parameters that the engine fills in.

Positional-only parameters are data inputs. Keyword-only parameters with one of these annotations are DALI's arguments:

* `PerSample[T]`: may differ by sample; traced in compiled code;
* `PerFrame[T]`: may also differ by frame of a sequence. A tensor whose layout begins with F (`fn.per_frame`) has a value of T
  for each frame, and `run` and `setup` get the value of one frame;
* `Static[T]`: one value for the batch; a compile key.

If the first parameter is named `key`, the operator is random. A parameter that only `setup` fills in (through
`Plan.params` or `Plan.static`) begins with an underscore, has one of the annotations and defaults to None. The engine
fills in keyword-only parameters without such an annotation; `may_ask_for` of each kind of operator lists them.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import functools
import inspect
import types as pytypes
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

import numpy as np

from jdali import types
from jdali._errors import InputCountError, MissingArgumentError, UnknownArgumentError
from jdali._operators.names import schema_name
from jdali._operators.static_values import alternatives, static_value
from jdali._system.devices import to_host

T = TypeVar("T")


class ArgKind(enum.Enum):
    PER_SAMPLE = "per sample"
    STATIC = "static"


_BY_FRAME = "by frame"

PerSample = Annotated[T, ArgKind.PER_SAMPLE]
PerFrame = Annotated[T, ArgKind.PER_SAMPLE, _BY_FRAME]
Static = Annotated[T, ArgKind.STATIC]

REQUIRED: Any = inspect.Parameter.empty


@dataclasses.dataclass(frozen=True)
class Arg:
    """Describes one argument of an operator."""

    name: str
    kind: ArgKind
    annotation: Any  # the T of PerSample[T], PerFrame[T] or Static[T]
    default: Any  # REQUIRED if there is none
    per_frame: bool = False

    def is_by_frame(self, layout: str) -> bool:
        """Returns True if a tensor of this layout has a value of the argument for each frame."""
        return self.per_frame and layout.startswith("F")

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def ragged(self) -> bool:
        """True if the length may differ by sample, because the argument is annotated as a list."""
        return _is_ragged(self.annotation)

    @functools.cached_property
    def ranks(self) -> frozenset[int] | None:
        """Numbers of axes that a sample's value may have; None: any number."""
        found = {_rank(option) for option in alternatives(self.annotation) if option is not pytypes.NoneType}
        return None if None in found else frozenset(r for r in found if r is not None)

    @functools.cached_property
    def is_number(self) -> bool:
        return self.ranks == frozenset({0})

    @functools.cached_property
    def is_dtype(self) -> bool:
        """True if the values are element types of tensors."""
        return any(
            np.dtype in (option, typing.get_origin(option), *typing.get_args(option))
            for option in alternatives(self.annotation)
        )

    @functools.cached_property
    def element_type(self) -> Any:
        """NumPy scalar type of the values that `setup` and `run` get; None: any type."""
        return next(iter(element_types(self.annotation)), None)

    def convert(self, value: object) -> Any:
        """Converts a value for `setup` and `run`.

        Per-sample values become NumPy arrays of the annotated element type (float → float32, int → int32, bool). Static
        values become hashable; a dtype becomes a NumPy dtype.
        """
        if value is None:
            return None
        if isinstance(value, types.ScalarConstant):
            value = value.value
        if self.kind is ArgKind.STATIC:
            return static_value(self.annotation, value)
        listed = value if isinstance(value, (list, tuple)) else ()
        if any(one is None for one in listed):  # NumPy would convert it to NaN
            raise TypeError("its values must each be a real number, not 'NoneType'")
        if isinstance(value, np.ndarray) and value.dtype == object:  # values of a `ragged` argument
            converted = np.empty(len(value), object)
            for i, one in enumerate(value):
                converted[i] = np.asarray(one, self.element_type)
            return converted
        return np.asarray(to_host(value), self.element_type)


@dataclasses.dataclass(frozen=True)
class InputSpec:
    """Describes a positional input. `optional` inputs may be left out, `variadic` inputs may be repeated."""

    name: str
    optional: bool = False
    variadic: bool = False
    argument: bool = False  # True: annotated PerSample, so `setup` gets the input's values, not its spec
    ragged: bool = False  # True: `argument` is True too, and the length may differ by sample


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Schema:
    """The schema of an operator, read from the signatures of its `run` and `setup`.

    Attributes:
        random: True if `run` takes a key.
        setup_parameters: names of the parameters of `setup`; None if there is no `setup`.
    """

    name: str
    inputs: tuple[InputSpec, ...]
    args: Mapping[str, Arg]
    random: bool
    engine_parameters: frozenset[str]
    setup_parameters: frozenset[str] | None

    @property
    def shown_name(self) -> str:
        """Name for messages. A variant `_name` of an operator is shown as `name`."""
        return self.name.removeprefix("_")

    @functools.cached_property
    def public_args(self) -> dict[str, Arg]:
        """The arguments that users may pass: all except those that begin with an underscore, which `setup` fills in."""
        return {name: arg for name, arg in self.args.items() if not name.startswith("_")}

    @functools.cached_property
    def _required(self) -> list[str]:
        return [arg.name for arg in self.args.values() if arg.required]

    @functools.cached_property
    def min_inputs(self) -> int:
        return sum(not (i.optional or i.variadic) for i in self.inputs)

    @functools.cached_property
    def max_inputs(self) -> int | None:
        """Largest number of inputs; None if any number is allowed."""
        return None if any(i.variadic for i in self.inputs) else len(self.inputs)

    def input(self, index: int) -> InputSpec:
        """Returns the positional input at `index`. If the last input is variadic, it is also returned for larger indices."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def counted(self, inputs: Iterable[object]) -> list[Any]:
        """Drops missing optional inputs (None) at the end of a call, and checks the number of inputs."""
        passed = list(inputs)
        while passed and passed[-1] is None and len(passed) > self.min_inputs:
            passed.pop()
        least, most = self.min_inputs, self.max_inputs
        if len(passed) < least or (most is not None and len(passed) > most):
            span = f"at least {least}" if most is None else f"from {least} to {most}"
            raise InputCountError(
                f"{self.shown_name}: Operator {self.shown_name} expects {span} inputs, but received {len(passed)}."
                + (self._by_name() if most is not None and len(passed) > most else ""),
                operator=self.shown_name,
            )
        return passed

    def _by_name(self) -> str:
        """Returns a hint to pass arguments by name, for a call with too many positional arguments."""
        first = next(
            (a.name for a in self.public_args.values() if a.required), next(iter(self.public_args), None)
        )
        if first is None:
            return ""
        inputs = [i.name for i in self.inputs]
        call = f"{self.shown_name}({', '.join([*inputs, f'{first}=...'])})"
        return f" All others are arguments, which are given by name: {call}"

    def setup_sees(self, name: str) -> bool:
        """Returns True if `setup` gets the value of an argument."""
        return self.setup_parameters is not None and name in self.setup_parameters

    def bind(self, arguments: Mapping[str, object], *, private: bool = False) -> dict[str, Any]:
        """Fills in the defaults of the arguments of a call.

        Args:
            private: if True, arguments that the engine fills in are also allowed.
        """
        allowed = self.args if private else self.public_args
        unknown = sorted(name for name in arguments if name not in allowed)
        if unknown:
            near = difflib.get_close_matches(unknown[0], self.public_args, n=1)
            keys = "A pipeline draws from its seed=; jdali.ops and jdali.dynamic take keys. "
            raise UnknownArgumentError(
                f'{self.shown_name}: Argument "{unknown[0]}" is not defined for operator "{schema_name(self.shown_name)}". '
                + (keys if self.random and unknown[0] == "key" else "")
                + (f'Did you mean "{near[0]}"? ' if near else "")
                + f"It takes {', '.join(sorted(self.public_args))}. {self.shown_name.rpartition('.')[2]}() got an unexpected "
                f"keyword argument '{unknown[0]}'",
                operator=self.shown_name,
            )
        missing = sorted(name for name in self._required if arguments.get(name) is None)
        if missing:
            names = ", ".join(f'"{name}"' for name in missing)
            raise MissingArgumentError(
                f'{self.shown_name}: Not all required arguments were specified for op "{schema_name(self.shown_name)}". '
                f"Please specify values for arguments: {names}",
                operator=self.shown_name,
            )
        # As in DALI, None means the default.
        return {
            name: arg.default if (value := arguments.get(name)) is None else value
            for name, arg in self.args.items()
        }


def read_schema(
    name: str,
    run: Callable[..., object],
    setup: Callable[..., object] | None,
    engine_parameters: tuple[str, ...],
) -> dict[str, Any]:
    """Reads the fields of `Schema` from two signatures.

    Raises:
        TypeError: a parameter is not of a kind that the module's docstring lists.
    """
    hints = typing.get_type_hints(run, include_extras=True)
    inputs: list[InputSpec] = []
    args: dict[str, Arg] = {}
    engine: set[str] = set()
    random = False
    for parameter in inspect.signature(run).parameters.values():
        arg_kind = _arg_kind(hint := hints.get(parameter.name, Any))
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            if parameter.name == "key" and not inputs:
                random = True
                continue
            variadic = parameter.kind is parameter.VAR_POSITIONAL
            optional = parameter.default is not parameter.empty
            ragged = arg_kind is not None and _is_ragged(typing.get_args(hint)[0])
            inputs.append(InputSpec(parameter.name, optional, variadic, arg_kind is not None, ragged))
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            raise TypeError(f"{name}: {parameter.name} must be keyword-only or positional-only")
        elif arg_kind is not None:
            annotation = typing.get_args(hint)[0]
            by_frame = _BY_FRAME in typing.get_args(hint)[1:]
            args[parameter.name] = Arg(parameter.name, arg_kind, annotation, parameter.default, by_frame)
        elif parameter.name in engine_parameters:
            engine.add(parameter.name)
        else:
            known = f", and not of the engine ({', '.join(engine_parameters)})" if engine_parameters else ""
            raise TypeError(f"{name}: {parameter.name} is neither PerSample nor Static{known}")
    return {
        "name": name, "inputs": tuple(inputs), "args": args, "random": random,
        "engine_parameters": frozenset(engine), "setup_parameters": _setup_parameters(setup),
    }  # fmt: skip


def _setup_parameters(setup: Callable[..., object] | None) -> frozenset[str] | None:
    if setup is None:
        return None
    parameters = inspect.signature(setup).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):  # `**_` takes all other parameters
        return frozenset(p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
    return frozenset(parameters)


def _arg_kind(hint: object) -> ArgKind | None:
    if typing.get_origin(hint) is Annotated:
        return next((m for m in typing.get_args(hint)[1:] if isinstance(m, ArgKind)), None)
    return None


def _is_ragged(annotation: object) -> bool:
    return any(typing.get_origin(option) is list for option in alternatives(annotation))


def _rank(option: object) -> int | None:
    if typing.get_origin(option) in (tuple, list):
        inner = _rank(typing.get_args(option)[0])
        return None if inner is None else 1 + inner
    numbers = alternatives(option)
    return (
        0 if all(isinstance(n, type) and issubclass(n, (int, float, np.integer)) for n in numbers) else None
    )


@functools.cache
def element_types(annotation: object) -> tuple[Any, ...]:
    """Returns the NumPy scalar types that a tensor for a PerSample argument may have; empty: any type.

    `setup` and `run` get the first of the types. `float` means float32 and `int` means int32. `int | np.integer` takes
    integers of any width and converts them to int32, and so does an enum.
    """
    known = {bool: np.bool_, float: np.float32, int: np.int32, np.integer: np.integer}
    found: dict[Any, None] = {}
    pending = [annotation]
    while pending:
        option = pending.pop(0)
        if typing.get_args(option):
            pending = [*typing.get_args(option), *pending]
        elif option in known:
            found[known[option]] = None
        elif isinstance(option, type) and issubclass(option, enum.IntEnum):
            found |= dict.fromkeys(element_types(int | np.integer))
    return tuple(found)
