"""Python's operators on tensors and batches: DALI's arithmetic, done now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jdali.dynamic._invoke import expression

if TYPE_CHECKING:
    from jdali.dynamic._batch import Batch
    from jdali.dynamic._tensor import Tensor


class Arithmetic:
    """Arithmetic, comparison and bitwise operators; a batch if one of the operands is a batch."""

    __array_priority__ = 1000  # so that `numpy_array + tensor` asks the tensor

    def __add__(self, other: object) -> Tensor | Batch:
        return expression("add", self, other)

    def __radd__(self, other: object) -> Tensor | Batch:
        return expression("add", other, self)

    def __sub__(self, other: object) -> Tensor | Batch:
        return expression("sub", self, other)

    def __rsub__(self, other: object) -> Tensor | Batch:
        return expression("sub", other, self)

    def __mul__(self, other: object) -> Tensor | Batch:
        return expression("mul", self, other)

    def __rmul__(self, other: object) -> Tensor | Batch:
        return expression("mul", other, self)

    def __truediv__(self, other: object) -> Tensor | Batch:
        return expression("div", self, other)

    def __rtruediv__(self, other: object) -> Tensor | Batch:
        return expression("div", other, self)

    def __floordiv__(self, other: object) -> Tensor | Batch:
        return expression("floordiv", self, other)

    def __rfloordiv__(self, other: object) -> Tensor | Batch:
        return expression("floordiv", other, self)

    def __mod__(self, other: object) -> Tensor | Batch:
        return expression("mod", self, other)

    def __rmod__(self, other: object) -> Tensor | Batch:
        return expression("mod", other, self)

    def __pow__(self, other: object) -> Tensor | Batch:
        return expression("pow", self, other)

    def __rpow__(self, other: object) -> Tensor | Batch:
        return expression("pow", other, self)

    def __and__(self, other: object) -> Tensor | Batch:
        return expression("bitand", self, other)

    def __rand__(self, other: object) -> Tensor | Batch:
        return expression("bitand", other, self)

    def __or__(self, other: object) -> Tensor | Batch:
        return expression("bitor", self, other)

    def __ror__(self, other: object) -> Tensor | Batch:
        return expression("bitor", other, self)

    def __xor__(self, other: object) -> Tensor | Batch:
        return expression("bitxor", self, other)

    def __rxor__(self, other: object) -> Tensor | Batch:
        return expression("bitxor", other, self)

    def __lshift__(self, other: object) -> Tensor | Batch:
        return expression("lshift", self, other)

    def __rlshift__(self, other: object) -> Tensor | Batch:
        return expression("lshift", other, self)

    def __rshift__(self, other: object) -> Tensor | Batch:
        return expression("rshift", self, other)

    def __rrshift__(self, other: object) -> Tensor | Batch:
        return expression("rshift", other, self)

    def __eq__(self, other: object) -> Tensor | Batch:  # type: ignore[override]
        return expression("eq", self, other)

    def __ne__(self, other: object) -> Tensor | Batch:  # type: ignore[override]
        return expression("ne", self, other)

    def __lt__(self, other: object) -> Tensor | Batch:
        return expression("lt", self, other)

    def __le__(self, other: object) -> Tensor | Batch:
        return expression("le", self, other)

    def __gt__(self, other: object) -> Tensor | Batch:
        return expression("gt", self, other)

    def __ge__(self, other: object) -> Tensor | Batch:
        return expression("ge", self, other)

    __hash__ = None  # type: ignore[assignment]  # `==` compares the elements

    def __neg__(self) -> Tensor | Batch:
        return expression("neg", self)

    def __pos__(self) -> Tensor | Batch:
        return expression("pos", self)

    def __abs__(self) -> Tensor | Batch:
        return expression("abs", self)

    def __invert__(self) -> Tensor | Batch:
        return expression("bitnot", self)
