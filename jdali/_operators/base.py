"""Defines the base class of all operators, and their registry.

An operator is one decorated function, from which the functions of `fn`, `ops` and `dynamic` are derived. Each kind of
operator is a class with further options; `record.py` lists the kinds.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeAlias, TypeVar

from jdali._batches import BatchSpec, Plan
from jdali._operators.catalog import CATALOG
from jdali._operators.schema import ArgKind, Schema, read_schema

Arguments: TypeAlias = "Mapping[str, Any]"
"""Arguments of a call, by name. A value that is not known yet may be any object."""
Setup: TypeAlias = "Callable[..., BatchSpec | Plan | tuple[BatchSpec, ...]]"
Outputs: TypeAlias = "int | Callable[[Arguments], int]"
WholeBatch: TypeAlias = "Callable[[Arguments], bool]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OperatorOptions:
    """Options that every operator has.

    Attributes:
        name: DALI's dotted name, e.g. "transforms.rotation"; None takes the name of the decorated function.
        devices: the `device=` values that DALI takes.
        source: DALI's source file (and line) that the operator was checked against.
    """

    name: str | None = None
    devices: tuple[str, ...] = ("cpu", "gpu")
    source: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OutputOptions(OperatorOptions):
    """Options of operators that may have several outputs.

    Attributes:
        outputs: number of outputs, or a function of the static arguments that returns it.
    """

    outputs: Outputs = 1


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SetupOptions(OutputOptions):
    """Options of operators that plan their outputs on the host.

    Attributes:
        setup: function that plans the outputs of a whole batch with NumPy: `setup(*BatchSpec, **arguments)` returns the
            `BatchSpec` of the output (a tuple of them for several outputs), or a `Plan`. It gets the arguments in its
            signature: per-sample arguments as [N, ...] arrays (None if not passed), static arguments unchanged. For a
            `PerSample` input, it gets a [N, ...] array in place of a spec. Its signature may also have `keys`
            (`SampleKeys`) if the operator is random, and `batch_size` if the operator has no inputs. The `setup` of
            compiled operators may have three more parameters. `constants`: the inputs that are one array for all
            samples, by name. `scaled`: a `Scaled`, if the input may be decoded at reduced size. `frames`: the number of
            frames of each sequence, if rows are frames, see `frames.py`. Without `setup`, the output has the spec of
            the first input.
    """

    setup: Setup | None = None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OptionalInputOptions(SetupOptions):
    """Options of operators that may have an output for each optional input.

    Attributes:
        output_per_optional: if True, each optional input of a call adds an output.
    """

    output_per_optional: bool = False


def described(options: type) -> str:
    """Returns the descriptions of all options of a class, in the order of its fields."""
    docs = [inspect.cleandoc(cls.__doc__ or "") for cls in reversed(options.__mro__)]
    return "\n".join(doc.partition("Attributes:\n")[2].rstrip() for doc in docs if "Attributes:\n" in doc)


T = TypeVar("T")


class Registry(MutableMapping[str, T], Generic[T]):
    """Maps names to operators. If the catalog lists an operator, its module is imported on first use."""

    def __init__(self, catalog: Mapping[str, Mapping[str, str]]):
        self._records: dict[str, T] = {}
        self._modules = {name: module for module, names in catalog.items() for name in names}
        self._kinds = {name: kind for names in catalog.values() for name, kind in names.items()}

    def loaded(self) -> Mapping[str, T]:
        return dict(self._records)

    def is_built_in(self, name: str) -> bool:
        return name in self._modules

    def kind_name(self, name: str) -> str:
        """Returns the class name of an operator's kind, without loading the operator."""
        return type(self._records[name]).__name__ if name in self._records else self._kinds[name]

    def register(self, name: str, record: T, module: str) -> None:
        """Adds an operator; raises ValueError if the name is taken."""
        if self._modules.get(name, module) != module:
            importlib.import_module(self._modules[name])
        if name in self._records:
            raise ValueError(f"operator {name} is registered twice")
        self._records[name] = record

    def __getitem__(self, name: str) -> T:
        if name not in self._records and name in self._modules:
            importlib.import_module(self._modules[name])
        return self._records[name]

    def __setitem__(self, name: str, record: T) -> None:
        self._records[name] = record

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        for known in (self._records, self._modules, self._kinds):
            known.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._records or name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(list(dict.fromkeys([*self._modules, *self._records])))

    def __len__(self) -> int:
        return len(self._modules.keys() | self._records.keys())


Run: TypeAlias = "Callable[..., Any]"
"""The decorated function; its signature is the schema of the operator."""
P = ParamSpec("P")
Kind = TypeVar("Kind", bound="Operator")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Operator(Schema, OptionalInputOptions):
    """Describes one operator of any kind by its options and its schema.

    Options keep their defaults if the decorator of the operator's kind does not take them.

    Attributes:
        effects: True if `run` may have side effects, so it runs even if its outputs are not used.
        work: kind of work, for reports of times: "decoding", "user code", or "" for any other.
    """

    run: Run
    effects: bool = False
    work: str = ""
    whole_batch: WholeBatch | None = None

    may_ask_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that the engine may fill in for a `run` of this kind."""

    @classmethod
    def of(cls, run: Run, options: OperatorOptions) -> Self:
        """Makes an operator from a function, and registers it; raises TypeError if the signature does not fit the kind."""
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

    def depends_on_batch(self, arguments: Arguments) -> bool:
        """Returns True if a sample's result, or only the size of the result, depends on other samples of the batch."""
        return self.whole_batch is not None and self.whole_batch(arguments)

    def mixes_samples(self, arguments: Arguments) -> bool:
        """Returns True if the values of a sample's result, not only its size, depend on other samples of the batch."""
        return False

    @property
    def chosen_samples(self) -> str | None:
        """The argument that selects which samples of the batch are pasted into each output sample.

        Messages name an output sample by the samples pasted into it. None: the operator pastes no samples. "": the
        operator makes output sample i of sample i of every input, as it does in a call without the argument.
        """
        return None

    def num_outputs(self, static: Arguments, inputs: int = 0) -> int:
        """Counts the outputs for these static arguments and `inputs` inputs."""
        count = self.outputs(static) if callable(self.outputs) else self.outputs
        return count + (max(0, inputs - self.min_inputs) if self.output_per_optional else 0)

    @property
    def only_for_setup(self) -> frozenset[str]:
        """The arguments that `run` never reads. Compiled programs do not depend on their values."""
        return frozenset()

    def needed_by_setup(self, arguments: Arguments) -> frozenset[str]:
        """Returns the names of the per-sample arguments and inputs whose values `setup` needs."""
        if self.setup is None:
            return frozenset()
        per_sample = [a.name for a in self.args.values() if a.kind is ArgKind.PER_SAMPLE]
        wanted = [name for name in per_sample if self.setup_sees(name)]
        return frozenset(wanted + [i.name for i in self.inputs if i.argument])


REGISTRY: Registry[Operator] = Registry(CATALOG)


def is_built_in(op: Operator) -> bool:
    """Returns True if an operator is part of jdali, and is still the one that is registered under its name."""
    return REGISTRY.is_built_in(op.name) and REGISTRY[op.name] is op


def decorator(
    name: str, kind: type[Kind], options: Callable[P, OperatorOptions], sentence: str
) -> Callable[P, Callable[[Run], Kind]]:
    """Makes the decorator of one kind of operator. The decorator's parameters are the fields of the class `options`."""

    def decorate(*args: P.args, **kwargs: P.kwargs) -> Callable[[Run], Kind]:
        return functools.partial(kind.of, options=options(*args, **kwargs))

    assert isinstance(options, type)  # annotated as `Callable` to give `decorate` its parameters
    signature = inspect.signature(options)
    vars(decorate)["__signature__"] = signature.replace(return_annotation=f"Callable[[Run], {kind.__name__}]")
    decorate.__name__ = decorate.__qualname__ = name
    decorate.__module__ = kind.__module__
    decorate.__doc__ = f"{sentence}\n\nArgs:\n{described(options)}\n"
    return decorate
