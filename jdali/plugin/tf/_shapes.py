"""Bringing a batch to the shape that the user said it has: axes of one element may be left out."""

from __future__ import annotations

from collections.abc import Sequence

Wanted = Sequence[int | None] | None


def shape_for(wanted: Wanted, shape: Sequence[int], batch_size: int, output: int) -> tuple[int, ...]:
    """Returns the shape in which a batch is delivered.

    Args:
        wanted: what the user said: a size for each axis, None for any; None: any shape.
        shape: of the batch, with the batch axis.
        batch_size: of the data set; with 1 the batch axis may be left out, too.
        output: its number, for messages.

    Raises:
        ValueError: the shape is another one, or it is not clear which axes are to be left out.
    """
    shape = tuple(shape)
    if wanted is None or (len(wanted) == len(shape) and all(map(_fits, wanted, shape))):
        return shape
    facts = f"Expected (output_shapes[{output}]): {_text(wanted)}, got from Pipeline: {_text(shape)}."
    refused = f"The shape provided for output `{output}` is not compatible with"
    if len(wanted) >= len(shape):
        raise ValueError(f"{refused} the shape returned by DALI Pipeline. {facts}")
    if batch_size != 1 and (not wanted or not _fits(wanted[0], batch_size)):
        raise ValueError(
            f"{refused} the `batch_size` argument that was specified in `DALIDataset`. Specified `batch_size`: "
            f"{batch_size}, got: {wanted[0] if wanted else 'no axis'} in shape: {_text(wanted)}."
        )
    if set(shape) == {1} and all(size == 1 for size in wanted):
        return (1,) * len(wanted)
    found = _matches(tuple(wanted), shape)
    if len(found) != 1:
        way = "in an ambiguous way" if found else "by leaving out axes of one element"
        raise ValueError(f"{refused} the shape returned by DALI Pipeline {way}. {facts}")
    return found[0]


def _fits(wanted: int | None, size: int) -> bool:
    return wanted is None or wanted == size


def _matches(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Lists the shapes that result from leaving out axes of one element so that the rest is as wanted."""
    if not shape:
        return [] if wanted else [()]
    found = []
    if wanted and _fits(wanted[0], shape[0]):
        found = [(shape[0], *rest) for rest in _matches(wanted[1:], shape[1:])]
    if shape[0] == 1:
        found += _matches(wanted, shape[1:])
    return found


def _text(shape: Wanted) -> str:
    return "unknown" if shape is None else f"[{','.join('?' if n is None else str(n) for n in shape)}]"
