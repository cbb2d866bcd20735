"""Implements Python's operators on tensors and batches. They follow DALI's arithmetic, and run immediately."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from jdali.dynamic._invoke import expression
from jdali.graph import Expression, add_operators

if TYPE_CHECKING:
    from jdali.dynamic._batch import Batch
    from jdali.dynamic._tensor import Tensor

Result: TypeAlias = "Tensor | Batch"


class Arithmetic(Expression[object, "Result"]):
    """Base class with arithmetic, comparison and bitwise operators. The result is a batch if an operand is a batch."""

    __array_priority__ = 1000  # so that `numpy_array + tensor` calls the tensor's method
    __hash__ = None  # type: ignore[assignment]  # `==` compares the elements


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Arithmetic, other: object) -> Any:
        return expression(name, self, other)

    def reflected(self: Arithmetic, other: object) -> Any:
        return expression(name, other, self)

    return forward, reflected


def _unary(name: str) -> Callable[[Arithmetic], Any]:
    def function(self: Arithmetic) -> Any:
        return expression(name, self)

    return function


add_operators(Arithmetic, _binary, _unary)
