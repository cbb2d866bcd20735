"""Options of operators: each is declared once, for the record of its kind and for the decorator.

A kind has two classes: its options, and its record, which inherits them and adds what the signatures of `run` and
`setup` say. `decorator` in `base.py` derives the decorator of the kind from the options. The classes here
hold the options that several kinds share, each on top of the one above it; a kind inherits from the last one that it supports.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from jdali._batches import BatchSpec, Plan

Arguments: TypeAlias = "Mapping[str, Any]"
"""Arguments of a call, by name; a value that is not yet known may be any object."""
Setup: TypeAlias = "Callable[..., BatchSpec | Plan | tuple[BatchSpec, ...]]"
Outputs: TypeAlias = "int | Callable[[Arguments], int]"
WholeBatch: TypeAlias = "Callable[[Arguments], bool]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OperatorOptions:
    """Options of every kind.

    Attributes:
        name: DALI's dotted name, e.g. "transforms.rotation"; None: that of the decorated function.
        devices: the `device=` values DALI takes.
        source: DALI's source file (and line) that this operator was checked against.
    """

    name: str | None = None
    devices: tuple[str, ...] = ("cpu", "gpu")
    source: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OutputOptions(OperatorOptions):
    """Options of kinds whose operators may have several outputs.

    Attributes:
        outputs: number of outputs, or a function of the static arguments that returns it.
    """

    outputs: Outputs = 1


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SetupOptions(OutputOptions):
    """Options of kinds that plan their outputs on the host.

    Attributes:
        setup: NumPy, vectorised over the batch: `setup(*BatchSpec, **arguments)` returns the
            `BatchSpec` of the output (a tuple of them for several outputs), or a `Plan`. It gets
            those arguments that its signature names: per-sample ones as [N, ...] arrays (None if
            left out), static ones as they are; a `PerSample` input arrives as a [N, ...] array.
            A random operator's setup may take `keys` (`SampleKeys`), one without inputs `batch_size`,
            that of a compiled operator `constants`: inputs that are one array for all samples, by name, and
            `scaled` (`Scaled`), if its input may be decoded at a fraction of its size. Where samples are frames of
            sequences (`frames.py`), `frames` is how many each sequence has. None: the output has the spec of the
            first input.
    """

    setup: Setup | None = None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class OptionalInputOptions(SetupOptions):
    """Options of kinds whose outputs may follow the optional inputs.

    Attributes:
        output_per_optional: each optional input of a call adds an output.
    """

    output_per_optional: bool = False


def described(options: type) -> str:
    """Collects the descriptions of all options, in the order of the parameters."""
    docs = [inspect.cleandoc(cls.__doc__ or "") for cls in reversed(options.__mro__)]
    return "\n".join(doc.partition("Attributes:\n")[2].rstrip() for doc in docs if "Attributes:\n" in doc)
