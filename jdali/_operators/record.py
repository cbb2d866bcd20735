"""The record of an operator: one decorated function, from which every surface is derived.

An operator is a pure function of one sample. Its signature is the schema: positional-only
parameters are data inputs, keyword-only ones are DALI's arguments, annotated

* `PerSample[T]`: may differ per sample; traced in compiled code;
* `Static[T]`: one value for the batch; a compile key.

Four keyword parameters belong to the engine and are no arguments of the operator; a function
declares those it wants: `extent` (true size of the input, int32 [ndim]; a tuple of them if there
are several inputs), `out_extent` (true size of the output, likewise), `out_shape` (static, the
padded shape to return; a tuple of shapes if there are several outputs) and `layout` (static, the
input's layout; a tuple of them if there are several inputs). A parameter that only `setup` fills in
(through `Plan.params` or `Plan.static`) begins with an underscore, is annotated and defaults to None.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types as pytypes
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import numpy as np

from jdali import types
from jdali._batches.extent import BatchSpec, Plan
from jdali._operators.together import Made, Probed
from jdali._system.devices import to_host

T = TypeVar("T")


class ArgKind(enum.Enum):
    PER_SAMPLE = "per sample"
    STATIC = "static"


PerSample = Annotated[T, ArgKind.PER_SAMPLE]
Static = Annotated[T, ArgKind.STATIC]

ENGINE_PARAMETERS = ("extent", "out_extent", "out_shape", "layout")
REQUIRED: Any = inspect.Parameter.empty

Kind = Literal["device", "host", "reader", "regroup"]
FreePadding = Literal["none", "input", "all"]


@dataclasses.dataclass(frozen=True)
class Arg:
    """One argument of an operator."""

    name: str
    kind: ArgKind
    annotation: Any  # the T of PerSample[T] or Static[T]
    default: Any  # REQUIRED if it must be given

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def ragged(self) -> bool:
        """Whether it may have more elements in one sample than in another: annotated as a list."""
        return any(typing.get_origin(option) is list for option in alternatives(self.annotation))

    @functools.cached_property
    def ranks(self) -> frozenset[int] | None:
        """Numbers of axes that a sample's value may have by the annotation; None: any."""
        found = {_rank(option) for option in alternatives(self.annotation) if option is not pytypes.NoneType}
        return None if None in found else frozenset(r for r in found if r is not None)

    @functools.cached_property
    def is_number(self) -> bool:
        """Whether a sample's value is one number, and never a vector."""
        return self.ranks == frozenset({0})

    @functools.cached_property
    def element_type(self) -> Any:
        """NumPy scalar type in which `setup` and `run` get it; None: any."""
        return next(iter(element_types(self.annotation)), None)

    def convert(self, value: Any) -> Any:
        """The value in the form in which `setup` and `run` get it.

        Per-sample values become NumPy arrays of the annotated element type (float → float32,
        int → int32, bool); static ones become hashable (a dtype argument a NumPy dtype).
        """
        if value is None:
            return None
        if self.kind is ArgKind.STATIC:
            return _hashable(self.annotation, value)
        if isinstance(value, np.ndarray) and value.dtype == object:  # of a `ragged` argument
            converted = np.empty(len(value), object)
            for i, one in enumerate(value):
                converted[i] = np.asarray(one, self.element_type)
            return converted
        return np.asarray(to_host(value), self.element_type)


@dataclasses.dataclass(frozen=True)
class Input:
    """One positional input. `optional` inputs may be left out, `variadic` ones repeated."""

    name: str
    optional: bool = False
    variadic: bool = False
    argument: bool = False  # annotated PerSample: `setup` wants its values, not only its spec


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    """What jdali knows of one operator; see the module's docstring."""

    name: str
    run: Callable[..., Any]
    setup: Callable[..., BatchSpec | Plan | tuple[BatchSpec, ...]] | None
    kind: Kind
    inputs: tuple[Input, ...]
    args: Mapping[str, Arg]
    layouts: tuple[str, ...]
    random: bool
    batched: bool
    sequence: bool
    outputs: int | Callable[..., int]
    output_per_optional: bool
    setup_needs: Callable[[Mapping[str, Any]], Iterable[str]] | None
    devices: tuple[str, ...]
    probe: Callable[..., Probed] | None
    together: Callable[..., Made | None] | None
    effects: bool
    output_layouts: Callable[[Mapping[str, Any]], tuple[str, ...]] | None
    free_padding: FreePadding
    whole_batch: Callable[[Mapping[str, Any]], bool] | None
    source: str
    engine_parameters: frozenset[str]
    setup_parameters: frozenset[str] | None

    def __repr__(self) -> str:
        return f"<jdali operator {self.name}>"

    @property
    def shown_name(self) -> str:
        """The name in messages: that of a variant of an operator is that of the operator."""
        return self.name.removeprefix("_")

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""

    @functools.cached_property
    def public_args(self) -> dict[str, Arg]:
        """DALI's arguments; those that only `setup` fills in begin with an underscore."""
        return {name: arg for name, arg in self.args.items() if not name.startswith("_")}

    @functools.cached_property
    def min_inputs(self) -> int:
        return sum(not (i.optional or i.variadic) for i in self.inputs)

    @functools.cached_property
    def max_inputs(self) -> int | None:
        """None if any number may be given."""
        return None if any(i.variadic for i in self.inputs) else len(self.inputs)

    def input(self, index: int) -> Input:
        """Description of the positional input at `index` (the last one repeats if variadic)."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def num_outputs(self, static: Mapping[str, Any], inputs: int = 0) -> int:
        """How many outputs it has with these static arguments and so many inputs."""
        count = self.outputs(static) if callable(self.outputs) else self.outputs
        return count + (max(0, inputs - self.min_inputs) if self.output_per_optional else 0)

    def needed_by_setup(self, given: Mapping[str, Any]) -> frozenset[str]:
        """Names of the per-sample arguments (and inputs) whose values `setup` must see.

        Args:
            given: the arguments passed; a value that is not yet known may be any object.
        """
        if self.setup is None:
            return frozenset()
        if self.setup_needs is not None:
            return frozenset(self.setup_needs(given))
        per_sample = [a.name for a in self.args.values() if a.kind is ArgKind.PER_SAMPLE]
        wanted = [name for name in per_sample if self.setup_sees(name)]
        return frozenset(wanted + [i.name for i in self.inputs if i.argument])

    def setup_sees(self, name: str) -> bool:
        """Whether `setup` gets the value of an argument, needed or not."""
        return self.setup_parameters is not None and name in self.setup_parameters

    def bind(self, given: Mapping[str, Any], *, private: bool = False) -> dict[str, Any]:
        """All arguments, defaults filled in; says clearly which are missing or unknown.

        Args:
            given: by name.
            private: arguments that the engine fills in are allowed too.
        """
        allowed = self.args if private else self.public_args
        unknown = sorted(name for name in given if name not in allowed)
        if unknown:
            raise TypeError(
                f"{self.name}: unknown argument {', '.join(map(repr, unknown))}; "
                f"it takes {', '.join(sorted(self.public_args))}"
            )
        missing = sorted(a.name for a in self.args.values() if a.required and given.get(a.name) is None)
        if missing:
            raise TypeError(f"{self.name}: required argument {', '.join(map(repr, missing))} not given")
        bound = {}
        for name, arg in self.args.items():
            value = given.get(name)
            # DALI: an argument given as None is not given at all.
            bound[name] = arg.default if value is None and not arg.required else value
        return bound


REGISTRY: dict[str, Operator] = {}


def operator(
    *,
    setup: Callable[..., Any] | None = None,
    name: str | None = None,
    kind: Kind = "device",
    layouts: tuple[str, ...] = (),
    sequence: bool = True,
    batched: bool = False,
    outputs: int | Callable[..., int] = 1,
    output_per_optional: bool = False,
    setup_needs: Callable[[Mapping[str, Any]], Iterable[str]] | None = None,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    probe: Callable[..., Probed] | None = None,
    together: Callable[..., Made | None] | None = None,
    effects: bool = False,
    output_layouts: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None,
    free_padding: FreePadding = "none",
    whole_batch: Callable[[Mapping[str, Any]], bool] | None = None,
    source: str = "",
) -> Callable[[Callable[..., Any]], Operator]:
    """Makes an `Operator` of a pure function and registers it.

    Args:
        setup: NumPy, vectorised over the batch: `setup(*BatchSpec, **arguments)` returns the
            `BatchSpec` of the output (a tuple of them for several outputs), or a `Plan`. It gets
            those arguments that its signature names: per-sample ones as [N, ...] arrays (None if
            not given), static ones as they are; a `PerSample` input arrives as a [N, ...] array.
            A random operator's setup may take `keys` (`SampleKeys`), one without inputs `batch_size`,
            that of a compiled operator `constants`: inputs that are one array for all samples, by name.
            None: the output has the spec of the first input.
        name: DALI's dotted name, e.g. "transforms.rotation"; None: the function's name.
        kind: "device": pure and compiled; "host": one sample at a time in the thread pool, NumPy
            in and out; "reader": makes samples; "regroup": only picks samples of the batch.
        layouts: layouts that `run` understands, e.g. ("HWC",). The engine transposes other orders
            of the same axes (CHW), adds a missing C and maps over leading sequence axes F. Empty:
            `run` takes any layout (and may ask for it with the parameter `layout`).
        sequence: whether leading F axes are mapped over (only with `layouts`).
        batched: `run` and its arrays have a leading batch axis (for operators that mix samples): inputs,
            extents and per-sample arguments; of an argument that is the same for all, 1. Only a
            number that is the same for all stays a number. Not with `layouts`. Rows must not
            depend on each other unless `whole_batch`.
        outputs: number of outputs, or a function of the static arguments that gives it.
        output_per_optional: each optional input that is given adds an output.
        setup_needs: names of the per-sample arguments whose values `setup` needs, as a function of
            the arguments given; None: all that its signature names. Everything named here must be
            concrete before the stage that runs the operator, so name as few as possible.
        devices: the `device=` values DALI takes.
        probe: of a host operator: `probe(samples, **static arguments)` reads the headers of some
            encoded samples. `setup` then gets the spec of the contents in place of that of the encoded bytes, and
            its `Plan.params` and `Plan.static` (and a `Plan.outputs`) are known before anything is decoded.
            `run` gets the `header` of its sample.
        together: of a host operator with one input: `together(samples, share=..., **arguments)` returns what `run`
            would for all samples of a batch, or None if they have to be worked on one by one. It does its
            work in calls of `share`. A per-sample argument is a [n, ...] array, or one value for all; with a `probe`
            there are `headers`.
        effects: it may do more than give its outputs: it runs also if nobody uses them, and, if it works on
            one sample at a time, on the samples in their order, never on two at once.
        output_layouts: of a host operator without `setup`: the layout of each output ("" for none), as a
            function of the static arguments; None: no output has a layout.
        free_padding: what padding costs no time on a CPU, so that few roomy shapes serve better than many
            tight ones: "input" if the time follows the size of the outputs and not of what they are
            taken from, "all" if it follows true sizes only.
        whole_batch: whether results for a sample depend on the others of the batch, if only in size, as
            a function of the arguments given; None: never. Such an operator is compiled by itself,
            so that those before and after it keep shapes by sample. If it is `batched` too, `run` gets
            the whole batch in one call, with samples of extent 0 in rows that are not used.
        source: DALI's source file (and line) that this operator was checked against.
    """

    def decorate(run: Callable[..., Any]) -> Operator:
        full_name = name or run.__name__
        if batched and layouts:
            raise TypeError(f"{full_name}: layouts are adapted sample by sample, so not if batched")
        signature = inspect.signature(run)
        hints = typing.get_type_hints(run, include_extras=True)
        inputs: list[Input] = []
        args: dict[str, Arg] = {}
        engine: set[str] = set()
        random = False
        for parameter in signature.parameters.values():
            hint = hints.get(parameter.name, Any)
            arg_kind = _arg_kind(hint)
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                if parameter.name == "key" and not inputs:
                    random = True
                    continue
                variadic = parameter.kind is parameter.VAR_POSITIONAL
                optional = parameter.default is not parameter.empty
                inputs.append(Input(parameter.name, optional, variadic, arg_kind is not None))
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                raise TypeError(f"{full_name}: {parameter.name} must be keyword-only or positional-only")
            elif arg_kind is not None:
                args[parameter.name] = Arg(
                    parameter.name, arg_kind, typing.get_args(hint)[0], parameter.default
                )
            elif parameter.name in ENGINE_PARAMETERS or kind != "device":
                engine.add(parameter.name)
            else:
                raise TypeError(f"{full_name}: {parameter.name} is neither PerSample nor Static")
        setup_parameters: frozenset[str] | None = None
        if setup is not None:
            parameters = inspect.signature(setup).parameters
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                setup_parameters = frozenset(parameters)
            else:  # **_ swallows the rest: only the named ones count as needed
                setup_parameters = frozenset(p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
        record = Operator(
            full_name, run, setup, kind, tuple(inputs), args, layouts, random, batched,
            sequence, outputs, output_per_optional, setup_needs, devices, probe, together,
            effects, output_layouts, free_padding, whole_batch, source,
            frozenset(engine), setup_parameters,
        )  # fmt: skip
        if full_name in REGISTRY:
            raise ValueError(f"operator {full_name} is registered twice")
        REGISTRY[full_name] = record
        return record

    return decorate


def _arg_kind(hint: Any) -> ArgKind | None:
    if typing.get_origin(hint) is Annotated:
        return next((m for m in typing.get_args(hint)[1:] if isinstance(m, ArgKind)), None)
    return None


@functools.cache
def alternatives(annotation: Any) -> tuple[Any, ...]:
    """Members of a union, or the annotation alone."""
    if typing.get_origin(annotation) in (typing.Union, pytypes.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _rank(option: Any) -> int | None:
    if typing.get_origin(option) in (tuple, list):
        inner = _rank(typing.get_args(option)[0])
        return None if inner is None else 1 + inner
    numbers = alternatives(option)
    return (
        0 if all(isinstance(n, type) and issubclass(n, (int, float, np.integer)) for n in numbers) else None
    )


@functools.cache
def element_types(annotation: Any) -> tuple[Any, ...]:
    """NumPy scalar types that a tensor given for a PerSample argument may have; empty: any.

    The first is that in which `setup` and `run` get it. `float` stands for float32, `int` for int32, and
    `int | np.integer` for int32 made of integers of any width.
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
    return tuple(found)


def _hashable(annotation: Any, value: Any) -> Hashable:
    options = alternatives(annotation)
    if np.dtype in options or any(typing.get_origin(o) is np.dtype for o in options):
        if isinstance(value, (list, tuple)):
            return tuple(types.to_dtype(v) for v in value)
        return types.to_dtype(value)
    for option in options:
        if isinstance(option, type) and issubclass(option, enum.IntEnum):
            return option(value)
    if isinstance(value, np.generic):
        value = value.item()
    if float in options and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return _freeze(value)


def _freeze(value: Any) -> Hashable:
    return tuple(_freeze(v) for v in value) if isinstance(value, (list, np.ndarray)) else value
