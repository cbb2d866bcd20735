"""DALI's result types of arithmetic expressions."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

Kind = Literal["arithmetic", "multiplication", "real", "comparison", "bitwise"]
Dtype = np.dtype

_BOOL, _FLOAT = np.dtype(np.bool_), np.dtype(np.float32)


# Operator signs, by name of the expression, for messages.
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "bitand": "&",
    "bitor": "|", "bitxor": "^", "bitnot": "~", "lshift": "<<", "rshift": ">>", "neg": "-", "pos": "+", "eq": "==",
    "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def promote(kind: Kind, *operands: DTypeLike, name: str = "") -> Dtype:
    """Returns the result type of an expression with one to three operands.

    * "arithmetic": the operands' common type; raises if all operands are booleans.
    * "multiplication": the common type; booleans give a boolean.
    * "real" (division, roots, ...): the common type if it is floating, else float32; raises if all operands are
      booleans.
    * "comparison": boolean.
    * "bitwise": the common type; raises for floating operands.

    Raises:
        TypeError: DALI does not take these types.
    """
    dtypes = [np.dtype(operand) for operand in operands]
    for dtype in dtypes:
        if dtype == np.float16 or dtype.kind not in "biuf":
            raise TypeError(f"Operand data type not supported: {dtype}. Cast it to float32 first")
    common = functools.reduce(common_type, dtypes)
    if kind == "comparison":
        return _BOOL
    sign = SIGNS.get(name, name)
    if common == _BOOL and kind in ("arithmetic", "real"):
        if len(dtypes) == 1:
            raise TypeError(
                f"Input to arithmetic operator `{sign}` cannot be a boolean. Consider using bitwise operator `~`, or "
                "cast it to a number"
            )
        raise TypeError(
            f"Inputs to arithmetic operator `{sign}` cannot be booleans. Consider using bitwise operators `|`, `&`, "
            "`^`, or cast one of the inputs to a number"
        )
    if kind == "bitwise" and common.kind == "f":
        raise TypeError(
            f"Inputs to bitwise operator `{sign}` must be of integral type, got {', '.join(map(str, dtypes))}"
        )
    if kind == "real" and common.kind != "f":
        return _FLOAT
    return common


def common_type(left: Dtype, right: Dtype) -> Dtype:
    """Returns the common type of two types.

    A boolean and another type give the other type; an integer and a floating type give the floating type. Two types of one
    kind give the wider one. A signed and an unsigned integer give the smallest signed type that holds both. The largest
    type is int64, so uint64 values from 2**63 on wrap.
    """
    if left.kind == "b":
        return right
    if right.kind == "b":
        return left
    if left.kind == right.kind:
        return left if left.itemsize >= right.itemsize else right
    if left.kind == "f" or right.kind == "f":
        return left if left.kind == "f" else right
    signed, unsigned = (left, right) if left.kind == "i" else (right, left)
    return np.dtype(f"int{8 * min(max(signed.itemsize, 2 * unsigned.itemsize), 8)}")
