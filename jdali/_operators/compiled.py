"""Defines the kinds of compiled operators."""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ClassVar, Literal, TypeAlias

from jdali._operators.base import Arguments, Operator, OptionalInputOptions, WholeBatch, decorator

TakesFrames: TypeAlias = Literal["first", "inputs", "arguments"]
FreePadding: TypeAlias = Literal["none", "input", "all"]
SetupNeeds: TypeAlias = "Callable[[Arguments], Iterable[str]]"

USUAL_NANOSECONDS = 1.2

# Bytecode instructions that only write local names. Every other instruction with local names reads at
# least one (`STORE_FAST_LOAD_FAST` writes one and reads one).
_WRITES = {"STORE_FAST", "STORE_FAST_STORE_FAST", "DELETE_FAST"}


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CompiledOptions(OptionalInputOptions):
    """Options of compiled operators.

    Attributes:
        setup_needs: function of the call's arguments that returns the names of the per-sample arguments whose values
            `setup` needs; None: `setup` needs all arguments in its signature. These values must be known on the host before
            the compiled program runs, so name as few as possible.
        free_padding: which padding costs no time on a CPU: "input" if the time depends on the padded size of outputs,
            but not on the padded size of inputs; "all" if the time depends on true sizes only. Few large padded shapes
            are then better than many small ones.
        whole_batch: function of the call's arguments that returns True if a sample's result, or only the size of the result,
            depends on other samples of the batch; None: it never does. Such an operator is compiled by itself, so that the
            operators around it can still run on groups of samples of similar size.
        nanoseconds: time per element read or written, on one core of a CPU, as `benchmarks/shapes.py` measures it. Set it
            only if the time is several times the default.
        wide_vectors: if True, loops use 512-bit vectors instead of 256-bit vectors, on a CPU that has them. Wide
            vectors are faster for much arithmetic per element, but slower for copies and short rows, so measure both.
    """

    setup_needs: SetupNeeds | None = None
    free_padding: FreePadding = "none"
    whole_batch: WholeBatch | None = None
    nanoseconds: float = USUAL_NANOSECONDS
    wide_vectors: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CompiledOp(Operator, CompiledOptions):
    """A pure function of `jax.Array`s, compiled together with the operators before and after it.

    The engine fills in these parameters of `run`: `extent` (true size of the input, int32 [ndim]), `out_extent` (true size
    of the output), `out_shape` (static, the padded shape to return) and `layout` (static, the input's layout). For several
    inputs or outputs they are tuples.
    """

    may_ask_for: ClassVar[tuple[str, ...]] = ("extent", "out_extent", "out_shape", "layout")

    @property
    def takes_scaled(self) -> bool:
        """True if the first input may be a picture decoded at a fraction of its size, see `scaled.py`."""
        return self.setup_sees("scaled") and "scaled" not in self.args

    @functools.cached_property
    def min_inputs(self) -> int:
        # An operator that takes any number of inputs needs at least one, because its outputs depend on the inputs.
        any_number = self.max_inputs is None
        return super().min_inputs or int(any_number)

    @functools.cached_property
    def only_for_setup(self) -> frozenset[str]:
        """The arguments that `run` never reads, such as most arguments that decide sizes.

        Their values are not compiled in, so one program, even an exported one, serves calls with any values.
        """
        read = names_read(self.run)
        return frozenset() if read is None else frozenset(self.args) - read

    def needed_by_setup(self, arguments: Arguments) -> frozenset[str]:
        if self.setup is None or self.setup_needs is None:
            return super().needed_by_setup(arguments)
        return frozenset(self.setup_needs(arguments))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOptions(CompiledOptions):
    """Options of `operator`.

    Attributes:
        layouts: layouts that `run` takes, e.g. ("HWC",). The engine transposes other orders of the same axes (CHW),
            adds a missing C and maps over frames (FHWC, CFHW). Empty: `run` takes any layout, and may have a parameter
            `layout` to get it.
        sequence: if True, `run` is mapped over axes F (only with `layouts`).
        takes_frames: which values may have an axis F: only the first input (the default), any input ("inputs"), or any input
            or argument ("arguments"). Values without F are the same for all frames of a sample, see `frames.py`.
    """

    layouts: tuple[str, ...] = ()
    sequence: bool = True
    takes_frames: TakesFrames = "first"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOp(CompiledOp, DeviceOptions):
    """A pure function of one padded sample; the engine maps it over the batch."""


operator = decorator(
    "operator",
    DeviceOp,
    DeviceOptions,
    "Makes a `DeviceOp` of a pure function of one sample, and registers it.",
)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOptions(CompiledOptions):
    """Options of `batch_operator`.

    Attributes:
        pastes: the argument that chooses the samples of the batch to paste into each output sample; None if there is none.
    """

    pastes: str | None = None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOp(CompiledOp, DeviceBatchOptions):
    """A pure function of arrays with a leading batch axis: inputs, extents and per-sample arguments.

    An argument that is the same for all samples has a batch axis of size 1, or is a plain number. Rows must not depend
    on each other unless `whole_batch` is true. If it is true, `run` gets the whole batch in one call, and rows that pad
    the batch axis have size 0.
    """

    @property
    def chosen_samples(self) -> str | None:
        return self.pastes

    def mixes_samples(self, arguments: Arguments) -> bool:
        return self.depends_on_batch(arguments)


batch_operator = decorator(
    "batch_operator",
    DeviceBatchOp,
    DeviceBatchOptions,
    "Makes a `DeviceBatchOp` of a pure function of many samples, and registers it.",
)


def names_read(function: Callable[..., object]) -> frozenset[str] | None:
    """Returns the local names that a function reads; None if its bytecode does not determine them."""
    code = getattr(function, "__code__", None)
    if (
        code is None
        or code.co_flags & inspect.CO_VARKEYWORDS
        or {"locals", "vars", "eval", "exec"} & set(code.co_names)
    ):
        return None
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.haslocal and instruction.opname not in _WRITES:
            names = instruction.argval  # some instructions of Python 3.13 have two names
            read |= {names} if isinstance(names, str) else set(names)
    return frozenset(read)
