"""Kinds of compiled operators."""

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

# All other instructions on a local name read it, or one of their two names (`STORE_FAST_LOAD_FAST` of Python 3.13).
_WRITES = {"STORE_FAST", "STORE_FAST_STORE_FAST", "DELETE_FAST"}


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CompiledOptions(OptionalInputOptions):
    """Options of the kinds that are compiled.

    Attributes:
        setup_needs: names of the per-sample arguments whose values `setup` needs, as a function of
            the arguments of the call; None: all that its signature names. Everything named here must be
            concrete before the stage that runs the operator, so name as few as possible.
        free_padding: what padding costs no time on a CPU, so that few roomy shapes serve better than many
            tight ones: "input" if the time follows the size of the outputs and not of what they are
            taken from, "all" if it follows true sizes only.
        whole_batch: whether results for a sample depend on the others of the batch, if only in size, as
            a function of the arguments of the call; None: never. Such an operator is compiled by itself,
            so that those before and after it keep shapes by sample.
        nanoseconds: time for an element that it reads or writes, on one core of a CPU; `benchmarks/shapes.py`
            measures it. It matters only where it is several times the usual.
        wide_vectors: loops for a CPU use vectors of 512 bits, where it has them, and not 256. Those
            are faster for much arithmetic on each element, and slower for copies and short rows: measure it.
    """

    setup_needs: SetupNeeds | None = None
    free_padding: FreePadding = "none"
    whole_batch: WholeBatch | None = None
    nanoseconds: float = USUAL_NANOSECONDS
    wide_vectors: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CompiledOp(Operator, CompiledOptions):
    """A pure function of `jax.Array`s, compiled together with its neighbours.

    Its `run` may have, to be filled in: `extent` (true size of the input, int32 [ndim]; a tuple of them if there
    are several inputs), `out_extent` (true size of the output, likewise), `out_shape` (static, the padded shape to
    return; a tuple of shapes if there are several outputs) and `layout` (static, the input's layout; a tuple of
    them if there are several inputs).
    """

    may_ask_for: ClassVar[tuple[str, ...]] = ("extent", "out_extent", "out_shape", "layout")

    @property
    def takes_scaled(self) -> bool:
        """True if its first input may be a picture decoded at a fraction of its size, see `scaled.py`."""
        return self.setup_sees("scaled") and "scaled" not in self.args

    @functools.cached_property
    def min_inputs(self) -> int:
        any_number = self.max_inputs is None  # outputs are made of the first one at least
        return super().min_inputs or int(any_number)

    @functools.cached_property
    def only_for_setup(self) -> frozenset[str]:
        """The arguments that `run` never reads: most of those that decide sizes.

        A program that they are not compiled into serves calls with any values of them, and the keys of programs in
        exported folders hold none.
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
        layouts: layouts that `run` understands, e.g. ("HWC",). The engine transposes other orders
            of the same axes (CHW), adds a missing C and maps over frames (FHWC, CFHW). Empty:
            `run` takes any layout (and may ask for it with the parameter `layout`).
        sequence: axes F are mapped over (only with `layouts`).
        takes_frames: where axes F may come from: from the first input, from any input, or from any input or
            argument. What has none is the same for all frames of a sample, see `frames.py`.
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
        pastes: the argument that says which samples of the batch are pasted into each sample of the output;
            None: none are.
    """

    pastes: str | None = None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOp(CompiledOp, DeviceBatchOptions):
    """A pure function of arrays with a leading batch axis: inputs, extents and per-sample arguments.

    Of an argument that is the same for all samples, that axis is 1. Only a number that is the same for all stays a
    number. Rows must not depend on each other, except where `whole_batch` says so: then `run` gets the whole
    batch in one call, with samples of extent 0 in rows that are not used.
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
    """Returns the local names that a function reads; None where its code does not tell."""
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
            names = instruction.argval  # of some instructions of Python 3.13 two
            read |= {names} if isinstance(names, str) else set(names)
    return frozenset(read)
