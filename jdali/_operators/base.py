"""Base of all operators, and their registry.

An operator is one decorated function, from which every surface is derived. What else there is to say of it
depends on its kind, which is a type of its own; `record.py` lists them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, ParamSpec, Self, TypeAlias, TypeVar

from jdali._operators.catalog import CATALOG
from jdali._operators.options import Arguments, OperatorOptions, OptionalInputOptions, described
from jdali._operators.registry import Registry
from jdali._operators.schema import ArgKind, Schema, read_schema

Run: TypeAlias = "Callable[..., Any]"
"""The decorated function; its signature is the schema of the operator."""
P = ParamSpec("P")
Kind = TypeVar("Kind", bound="Operator")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Operator(Schema, OptionalInputOptions):
    """Record of one operator, whatever its kind: its options and its schema.

    The decorator of a kind takes the options of that kind; all others keep their defaults.

    Attributes:
        run: the decorated function.
    """

    run: Run

    may_ask_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that a `run` of this kind may have for the engine to fill in."""

    @classmethod
    def of(cls, run: Run, options: OperatorOptions) -> Self:
        """Makes an operator of a function, and registers it.

        Raises:
            TypeError: the signature is none of an operator of this kind.
            ValueError: there is an operator of this name.
        """
        name = options.name or run.__name__
        chosen = {f.name: getattr(options, f.name) for f in dataclasses.fields(options) if f.name != "name"}
        record = cls(run=run, **read_schema(name, run, chosen.get("setup"), cls.may_ask_for), **chosen)
        REGISTRY.register(name, record, run.__module__)
        return record

    def __repr__(self) -> str:
        return f"<jdali operator {self.name}>"

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""

    @property
    def has_effects(self) -> bool:
        """True if it does more than return its outputs, and so runs also if nobody uses them."""
        return False

    @property
    def shown_work(self) -> str:
        """Name of its work in reports of times: "decoding", "user code", or "" for any other."""
        return ""

    def depends_on_batch(self, arguments: Arguments) -> bool:
        """True if results for a sample depend on the others of the batch, if only in size."""
        return False

    def by_sample(self, arguments: Arguments) -> bool:
        """True if a sample of the outputs depends only on the sample in the same position of the inputs."""
        return not self.depends_on_batch(arguments)

    def mixes_samples(self, arguments: Arguments) -> bool:
        """True if it works on the whole batch at once, so that results for a sample alone differ from those
        in its batch.
        """
        return False

    @property
    def chosen_samples(self) -> str | None:
        """The argument that says which samples of the batch are pasted into each sample of the output; None: none are.

        A sample is named after all that are pasted into it; where the argument is left out, they are those in the
        same position of each input.
        """
        return None

    def num_outputs(self, static: Arguments, inputs: int = 0) -> int:
        """Counts the outputs for these static arguments and `inputs` inputs."""
        count = self.outputs(static) if callable(self.outputs) else self.outputs
        return count + (max(0, inputs - self.min_inputs) if self.output_per_optional else 0)

    @property
    def only_for_setup(self) -> frozenset[str]:
        """The arguments that `run` never reads: programs neither get nor depend on their values."""
        return frozenset()

    def needed_by_setup(self, arguments: Arguments) -> frozenset[str]:
        """Names of the per-sample arguments (and inputs) whose values `setup` must see."""
        if self.setup is None:
            return frozenset()
        per_sample = [a.name for a in self.args.values() if a.kind is ArgKind.PER_SAMPLE]
        wanted = [name for name in per_sample if self.setup_sees(name)]
        return frozenset(wanted + [i.name for i in self.inputs if i.argument])


REGISTRY: Registry[Operator] = Registry(CATALOG)


def is_built_in(op: Operator) -> bool:
    """True if an operator is jdali's own, and no other has taken its name."""
    return REGISTRY.is_built_in(op.name) and REGISTRY[op.name] is op


def decorator(
    name: str, kind: type[Kind], options: Callable[P, OperatorOptions], sentence: str
) -> Callable[P, Callable[[Run], Kind]]:
    """Derives the decorator of a kind from the class of its options: parameters, types, defaults and documentation.

    Args:
        name: of the decorator.
        kind: type of the records that it makes.
        options: class of the options, all keyword-only.
        sentence: first line of its documentation.
    """

    def decorate(*args: P.args, **kwargs: P.kwargs) -> Callable[[Run], Kind]:
        return functools.partial(kind.of, options=options(*args, **kwargs))

    assert isinstance(options, type)  # a class, which `Callable` says of its parameters only
    signature = inspect.signature(options)
    vars(decorate)["__signature__"] = signature.replace(return_annotation=f"Callable[[Run], {kind.__name__}]")
    decorate.__name__ = decorate.__qualname__ = name
    decorate.__module__ = kind.__module__
    decorate.__doc__ = f"{sentence}\n\nArgs:\n{described(options)}\n"
    return decorate
