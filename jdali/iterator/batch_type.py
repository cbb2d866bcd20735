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


def output_names(
    output_map: Any,
    pipelines: Sequence[Pipeline],
    *,
    mask_name: str,
    masked: bool,
    ragged: str | Sequence[str],
) -> list[str]:
    """Names of the outputs: those of a list, of the keys of a TypedDict, or those that the pipeline has itself.

    A TypedDict may declare the mask, and the sizes of ragged outputs, too: they are entries of a batch, and no outputs.

    Raises:
        ValueError: there are none, or a mask is declared and there is none.
        TypeError: `output_map` is something else.
    """
    if isinstance(output_map, str):
        raise TypeError(f"iterator: output_map is a list of names, one for each output: [{output_map!r}]")
    if output_map is not None and not isinstance(output_map, type):
        return list(output_map)
    if not pipelines or not isinstance(pipelines[0], Pipeline):
        return []  # which is another error
    if output_map is None:
        named = list(pipelines[0].output_names)
    else:
        named = list(getattr(output_map, "_fields", output_map.__annotations__))
    if not named:
        raise ValueError(
            "iterator: the outputs have no names: give output_map, as in DataIterator(pipe, ['images', 'labels']); or let "
            "the function of the pipeline return a dict, or say `-> Batch` with a TypedDict `Batch`"
        )
    if len(named) <= pipelines[0].num_outputs:
        return named
    padded = named if ragged == "pad" else [] if isinstance(ragged, str) else ragged
    beside = {f"{name}_extent" for name in padded} | {mask_name}
    if mask_name in named and not masked:
        raise ValueError(
            f"iterator: {mask_name!r} is declared, and there is no mask: give last_batch_policy=LastBatchPolicy.PAD, or "
            'on_error="mask" to the pipeline'
        )
    return [name for name in named if name not in beside]
