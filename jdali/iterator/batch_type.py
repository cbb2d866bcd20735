"""Type of an iterator's batches, and the names of their entries."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jdali.pipeline import Pipeline

if TYPE_CHECKING:
    import jax
    from typing_extensions import TypeVar

    BatchT = TypeVar("BatchT", default=dict[str, jax.Array])
else:
    BatchT = typing.TypeVar("BatchT")


def output_names(output_map: Any, pipelines: Sequence[Pipeline]) -> list[str]:
    """Names of the outputs: those of a list, of the keys of a TypedDict, or those that the pipeline has itself.

    Raises:
        ValueError: there are none.
        TypeError: `output_map` is something else.
    """
    if isinstance(output_map, str):
        raise TypeError(f"iterator: output_map is a list of names, one for each output: [{output_map!r}]")
    if isinstance(output_map, type):
        return list(getattr(output_map, "_fields", output_map.__annotations__))
    if output_map is not None:
        return list(output_map)
    if not pipelines or not isinstance(pipelines[0], Pipeline):
        return []  # which is another error
    named = pipelines[0].output_names
    if not named:
        raise ValueError(
            "iterator: the outputs have no names: give output_map, as in DataIterator(pipe, ['images', 'labels']); or let "
            "the function of the pipeline return a dict, or say `-> Batch` with a TypedDict `Batch`"
        )
    return list(named)
