"""Base of all operators, and their registry.

An operator is one decorated function, from which every surface is derived. What else there is to say of it
depends on its kind, which is a type of its own; `record.py` lists them.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeAlias

from jdali._batches.extent import BatchSpec, Plan
from jdali._operators.catalog import CATALOG
from jdali._operators.registry import Registry
from jdali._operators.schema import ArgKind, Schema, read_schema

Given: TypeAlias = "Mapping[str, Any]"
"""Arguments of a call, by name; a value that is not yet known may be any object."""
Setup: TypeAlias = "Callable[..., BatchSpec | Plan | tuple[BatchSpec, ...]]"
Outputs: TypeAlias = "int | Callable[[Given], int]"
WholeBatch: TypeAlias = "Callable[[Given], bool]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Operator(Schema):
    """Record of one operator, whatever its kind. Decorators take these fields as their options.

    Attributes:
        run: the decorated function.
        setup: NumPy, vectorised over the batch: `setup(*BatchSpec, **arguments)` returns the
            `BatchSpec` of the output (a tuple of them for several outputs), or a `Plan`. It gets
            those arguments that its signature names: per-sample ones as [N, ...] arrays (None if
            not given), static ones as they are; a `PerSample` input arrives as a [N, ...] array.
            A random operator's setup may take `keys` (`SampleKeys`), one without inputs `batch_size`,
            that of a compiled operator `constants`: inputs that are one array for all samples, by name, and what
            is agreed on offers that it uses. Where the samples that it sees are frames of sequences (`frames.py`),
            `frames` is how many each sequence has. None: the output has the spec of the first input.
        outputs: number of outputs, or a function of the static arguments that gives it.
        output_per_optional: each optional input that is given adds an output.
        devices: the `device=` values DALI takes.
        source: DALI's source file (and line) that this operator was checked against.
    """

    run: Callable[..., Any]
    setup: Setup | None = None
    outputs: Outputs = 1
    output_per_optional: bool = False
    devices: tuple[str, ...] = ("cpu", "gpu")
    source: str = ""

    may_ask_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that a `run` of this kind may have for the engine to fill in."""

    @classmethod
    def of(cls, run: Callable[..., Any], name: str | None, **options: Any) -> Self:
        """Makes an operator of a function, and registers it.

        Args:
            run: the function.
            name: DALI's dotted name; None: the function's.
            options: fields of the kind.

        Raises:
            TypeError: the signature is none of an operator of this kind.
            ValueError: there is an operator of this name.
        """
        name = name or run.__name__
        filled_in = (*cls.may_ask_for, *(offer.parameter for offer in options.get("offers", ())))
        record = cls(run=run, **read_schema(name, run, options.get("setup"), filled_in), **options)
        REGISTRY.register(name, record, run.__module__)
        return record

    def __repr__(self) -> str:
        return f"<jdali operator {self.name}>"

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""

    @property
    def has_effects(self) -> bool:
        """True if it does more than give its outputs, and so runs also if nobody uses them."""
        return False

    @property
    def shown_work(self) -> str:
        """Name of its work in reports of times: "decoding", "user code", or "" for any other."""
        return ""

    def depends_on_batch(self, given: Given) -> bool:
        """True if results for a sample depend on the others of the batch, if only in size."""
        return False

    def by_sample(self, given: Given) -> bool:
        """True if a sample of the outputs depends only on the sample in the same position of the inputs."""
        return not self.depends_on_batch(given)

    def mixes_samples(self, given: Given) -> bool:
        """True if it works on the whole batch at once, so that results for a sample alone differ from those
        in its batch.
        """
        return False

    @property
    def chosen_samples(self) -> str | None:
        """The argument that says which samples of the batch are pasted into each sample of the output; None: none are.

        A sample is named after all that are pasted into it; where the argument is not given, they are those in the
        same position of each input.
        """
        return None

    def num_outputs(self, static: Given, inputs: int = 0) -> int:
        """Counts the outputs for these static arguments and `inputs` inputs."""
        count = self.outputs(static) if callable(self.outputs) else self.outputs
        return count + (max(0, inputs - self.min_inputs) if self.output_per_optional else 0)

    def needed_by_setup(self, given: Given) -> frozenset[str]:
        """Names of the per-sample arguments (and inputs) whose values `setup` must see."""
        if self.setup is None:
            return frozenset()
        per_sample = [a.name for a in self.args.values() if a.kind is ArgKind.PER_SAMPLE]
        wanted = [name for name in per_sample if self.setup_sees(name)]
        return frozenset(wanted + [i.name for i in self.inputs if i.argument])


REGISTRY: Registry[Operator] = Registry(CATALOG)
