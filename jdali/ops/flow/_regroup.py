"""Operators that only select, merge or move the samples of a batch, and compute no values."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._operators.record import PerSample, Static, index_operator
from jdali.tensors import TensorList
from jdali.types import type_name


@index_operator(name="_transfer", same_samples=True)
def transfer(batch: TensorList, /, *, to: Static[str] = "gpu") -> TensorList:
    """Returns the same batch on another device. A sample is moved only when it is used.

    Args:
        to: "cpu" or "gpu".
    """
    return batch.to_device(to)


@index_operator(same_samples=True)
def copy(batch: TensorList, /) -> TensorList:
    """Returns a batch that shares the memory of the input. Values never change, so no copy is needed.

    Example: boxes = fn.copy(boxes)
    """
    return batch


@index_operator(name="_conditional.split")
def split(batch: TensorList, predicate: TensorList, /, *, branch: Static[bool | int] = True) -> TensorList:
    """Selects the samples that take a branch.

    Args:
        branch: True for the `if` branch, False for the `else` branch. If the predicate is an index that chooses one of
            several cases: the index of the case.
    """
    return batch.select(positions(predicate, branch))


@index_operator(name="_conditional.merge")
def merge(if_true: TensorList, if_false: TensorList, predicate: TensorList, /) -> TensorList:
    """Merges the results of the two branches of a conditional in the order of the original batch."""
    holds = predicate_values(predicate)
    taken = [np.flatnonzero(holds), np.flatnonzero(~holds)]
    if (len(if_true), len(if_false)) != (len(taken[0]), len(taken[1])):
        raise RuntimeError(
            f"merge: the parts have {len(if_true)} and {len(if_false)} samples, but the predicate is true for "
            f"{len(taken[0])} and false for {len(taken[1])}: it is another one than that of their split"
        )
    return TensorList.merge([if_true, if_false], taken)


@index_operator(name="_conditional.join")
def join(*parts: TensorList, index: PerSample[int | np.integer]) -> TensorList:
    """Merges the results of all cases of a choice in the order of the original batch.

    Args:
        index: for each sample of the original batch, the index of the part that contains it.
    """
    numbers = _indices(index)
    outside = (numbers < 0) | (numbers >= len(parts))
    if outside.any():
        # Not a `SampleError`, because a sample has different indices in `index` and in the parts.
        i = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"choice of {len(parts)} cases: the index of sample {i} is {numbers[i]}, not 0 to {len(parts) - 1}"
        )
    return TensorList.merge(parts, [np.flatnonzero(numbers == i) for i in range(len(parts))])


def positions(predicate: TensorList, branch: bool | int) -> np.ndarray:
    """Returns the positions of the samples that take a branch, int [n]; see `Domain`."""
    if isinstance(branch, bool):
        return np.flatnonzero(predicate_values(predicate) == branch)
    return np.flatnonzero(_indices(predicate) == branch)


def predicate_values(predicate: TensorList) -> np.ndarray:
    """Converts a batch of scalars to bool [N]; numbers are true unless they are 0."""
    check_predicate(predicate.spec.ndim)
    true: np.ndarray = predicate.as_numpy() != 0
    return true


def check_predicate(ndim: int) -> None:
    """Raises RuntimeError if a condition has axes."""
    if ndim != 0:
        raise RuntimeError(
            "Conditions inside `if` statements are restricted to scalar (0-d tensors) inputs, that are placed on CPU. "
            f"Got a {ndim}-d input as a condition of the `if` statement. Reduce it with fn.reductions."
        )


def _indices(batch: Any) -> np.ndarray:
    if batch.spec.ndim != 0:
        raise RuntimeError(
            "choice: the index must be a scalar in each sample, got samples of shape "
            f"{batch.shape()[0] if len(batch) else ()}; reduce it with fn.reductions first"
        )
    values: np.ndarray = batch.as_numpy()
    return values


@index_operator(name="_conditional.validate_logical")
def validate_logical(
    value: TensorList, /, *, expression_name: Static[str] = "and", expression_side: Static[str] = ""
) -> TensorList:
    """Checks that the samples of an operand are scalars and, for `and` and `or`, booleans; returns the operand.

    Args:
        expression_name: "and", "or" or "not", for the message.
        expression_side: "left" or "right", for the message.
    """
    check_logical(value.spec, expression_name, expression_side)
    return value


@index_operator(name="_conditional.not_")
def not_(value: TensorList, /) -> TensorList:
    """Returns True where a sample, a scalar of any type, is 0."""
    check_logical(value.spec, "not", "")
    return TensorList.from_dense(value.as_numpy() == 0, "", value.device, value.provenance)


def check_logical(spec: BatchSpec, expression_name: str, expression_side: str) -> None:
    """Raises RuntimeError unless samples are scalars, and booleans for `and` and `or`."""
    needs_bool = expression_name != "not"
    got = f"a {spec.ndim}-d input" if spec.ndim else f"an input of type `{type_name(spec.dtype)}`"
    if spec.ndim or (needs_bool and spec.dtype != np.bool_):
        of_type = " of `bool` type" if needs_bool else ""
        where = f" as the {expression_side} argument" if expression_side else ""
        raise RuntimeError(
            f"Logical expression `{expression_name}` is restricted to scalar (0-d tensors) inputs{of_type}, that are "
            f"placed on CPU. Got {got}{where} in logical expression. Reduce it with fn.reductions, or cast it with "
            "fn.cast."
        )


@index_operator()
def get_property(batch: TensorList, /, *, key: Static[str]) -> TensorList:
    """Returns a property of each sample, as a tensor.

    Args:
        key: "source_info" (origin of the sample) or "layout".

    Returns: uint8 [length], text as bytes.

    Example: layout = fn.get_property(images, key="layout")
    """
    if key == "source_info":
        texts = batch.source_info()
    elif key == "layout":
        texts = [batch.layout()] * len(batch)
    else:
        raise ValueError(f'get_property: Unsupported property key: {key}. It takes "source_info" or "layout"')
    samples = [np.frombuffer(text.encode(), np.uint8) for text in texts]
    return TensorList.from_samples(samples, "", batch.device, batch.provenance)


@index_operator()
def permute_batch(batch: TensorList, /, *, indices: PerSample[int | tuple[int, ...]]) -> TensorList:
    """Reorders the samples of the batch; a sample may be taken several times or not at all.

    Args:
        indices: for each output sample, the index of an input sample.

    Example: images = fn.permute_batch(images, indices=fn.batch_permutation())
    """
    chosen: Any = indices
    if isinstance(chosen, TensorList):
        chosen = chosen.as_numpy().reshape(-1)
    order = np.atleast_1d(np.asarray(chosen, np.int64))
    if len(order) != len(batch):
        raise ValueError(
            f"permute_batch: The number of sample indices {len(order)} does not match the current batch size, which is "
            f"{len(batch)}"
        )
    outside = (order < 0) | (order >= len(batch))
    check_samples(
        outside,
        lambda i: (
            f"permute_batch: Sample index out of range. indices[{i}] = {order[i]} is not a valid index for an input batch of "
            f"{len(batch)} tensors."
        ),
    )
    return batch.select(order)
