"""Provides DALI's `fn._conditional`, which splits and merges batches explicitly, as `if` does implicitly.

true, false = fn._conditional.split(images, predicate=chosen)
images = fn._conditional.merge(fn.rotate(true, angle=30.0), false, predicate=chosen)
"""

from __future__ import annotations

from jdali.data_node import DataNode
from jdali.graph import current_branches


def split(value: object, /, *, predicate: DataNode) -> tuple[DataNode, DataNode]:
    """Splits a batch into the samples for which `predicate` is true and the samples for which it is false.

    Args:
        value: a batch, or a constant.
        predicate: a scalar for each sample; numbers are true unless they are 0.

    Returns: two batches, each in the order of `value`. Their sizes are known only when the pipeline runs. An operator on one
        of the batches runs only on the samples in it.
    """
    return current_branches("fn._conditional.split").split(value, predicate)


def merge(if_true: object, if_false: object, /, *, predicate: DataNode) -> DataNode:
    """Merges results for the two parts of a `split`, in the order of the batch that was split.

    Args:
        if_true: results for the samples for which `predicate` is true.
        if_false: results for the other samples, with the same type, number of axes, layout and device.
        predicate: predicate of the `split`.
    """
    return current_branches("fn._conditional.merge").merge_by_hand(if_true, if_false, predicate)


def not_(value: DataNode, /) -> DataNode:
    """Negates each sample; the result is true if the scalar is 0."""
    return current_branches("fn._conditional.not_").not_(value)


def validate_logical(value: DataNode, /, *, expression_name: str, expression_side: str = "") -> DataNode:
    """Checks that the samples are scalars and, except for "not", booleans; returns the batch unchanged.

    Args:
        value: an operand of a logical expression.
        expression_name: "and", "or" or "not", for messages.
        expression_side: "left" or "right", for messages.
    """
    branches = current_branches("fn._conditional.validate_logical")
    return branches.validated(value, expression_name, expression_side)
