"""Choosing an augmentation for each sample."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jdali.auto_aug.core._augmentation import Augmentation
from jdali.auto_aug.core._modes import in_either_mode
from jdali.graph import choose


@in_either_mode
def select(ops: Sequence[Callable[..., Any]], selected_op_idx: Any, *op_args: Any, **op_kwargs: Any) -> Any:
    """Calls `ops[selected_op_idx](*op_args, **op_kwargs)` for each sample.

    Each operation runs once for a batch, on the samples that chose it, and not at all if there are none.

    Args:
        ops: augmentations, or other functions that call operators.
        selected_op_idx: for each sample 0 to the number of operations - 1.
        op_args, op_kwargs: arguments; batches among them are split.
    """
    if not ops:
        raise ValueError("select: there is nothing to select from")
    if len(ops) == 1:
        return ops[0](*op_args, **op_kwargs)
    return choose(selected_op_idx, [_case(op, op_args, op_kwargs) for op in ops], "select")


def _case(
    op: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
) -> Callable[[], object]:
    """Prepares one of the operations to be called in its branch.

    The parameters of all augmentations are looked up before the batch is split: in one program for all of them.
    """
    own_call = isinstance(op, Augmentation) and type(op).__call__ is Augmentation.__call__
    bound = op.bound(*args, **kwargs) if own_call else functools.partial(op, *args, **kwargs)  # type: ignore[attr-defined]

    def case() -> object:  # defined here, so that a conditional in the operation is one on its samples
        return bound()

    return case
