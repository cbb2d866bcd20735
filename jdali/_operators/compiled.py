"""Base of the two kinds of compiled operators."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import ClassVar, Literal, TypeAlias

from jdali._operators.base import Operator
from jdali._operators.names_read import names_read
from jdali._operators.offers import Offer
from jdali._operators.options import Arguments, OptionalInputOptions, WholeBatch

FreePadding: TypeAlias = Literal["none", "input", "all"]
SetupNeeds: TypeAlias = "Callable[[Arguments], Iterable[str]]"

USUAL_NANOSECONDS = 1.2


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
        uses: offers of the producer of its first input that it may use.
    """

    setup_needs: SetupNeeds | None = None
    free_padding: FreePadding = "none"
    whole_batch: WholeBatch | None = None
    nanoseconds: float = USUAL_NANOSECONDS
    wide_vectors: bool = False
    uses: tuple[type[Offer], ...] = ()


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CompiledOp(Operator, CompiledOptions):
    """A pure function of `jax.Array`s, compiled together with its neighbours.

    Its `run` may have, to be filled in: `extent` (true size of the input, int32 [ndim]; a tuple of them if there
    are several inputs), `out_extent` (true size of the output, likewise), `out_shape` (static, the padded shape to
    return; a tuple of shapes if there are several outputs) and `layout` (static, the input's layout; a tuple of
    them if there are several inputs).
    """

    may_ask_for: ClassVar[tuple[str, ...]] = ("extent", "out_extent", "out_shape", "layout")

    def __post_init__(self) -> None:
        for offer in self.uses:
            if not self.setup_sees(offer.parameter):
                raise TypeError(
                    f"{self.name}: uses {offer.__name__}, so its setup must take {offer.parameter}"
                )

    @functools.cached_property
    def min_inputs(self) -> int:
        any_number = self.max_inputs is None  # outputs are made of the first one at least
        return super().min_inputs or int(any_number)

    @functools.cached_property
    def only_for_setup(self) -> frozenset[str]:
        """The arguments that `run` never reads."""
        read = names_read(self.run)
        return frozenset() if read is None else frozenset(self.args) - read

    def needed_by_setup(self, arguments: Arguments) -> frozenset[str]:
        if self.setup is None or self.setup_needs is None:
            return super().needed_by_setup(arguments)
        return frozenset(self.setup_needs(arguments))

    def depends_on_batch(self, arguments: Arguments) -> bool:
        return self.whole_batch is not None and self.whole_batch(arguments)
