"""Defines Python's operators on DataNodes and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jdali import types
from jdali._kernels.promotion import SIGNS
from jdali._numerics.constants import alone
from jdali._operators.record import REGISTRY
from jdali.graph.node import DataNode, apply


def operand(value: object) -> Any:
    """Converts an operand of an expression to a node or an array; an array with a layout or a name becomes a node."""
    if isinstance(value, types.ArrayConstant) and (value.layout or value.options):
        return constant_node(value)
    if isinstance(value, DataNode):
        return value
    if value is None or isinstance(value, (str, bytes, complex)):
        raise TypeError(f"Expected scalar value of type 'bool', 'int' or 'float', got {type(value)}.")
    array = types.constant_array(value)
    number = value.value if isinstance(value, types.ScalarConstant) else value
    if type(number) is int and array.dtype.kind in "iu" and number != array.item():
        raise OverflowError(f"arithmetic: Integer constant {number} out of range for {array.dtype}.")
    return array


def constant_node(value: object) -> DataNode:
    """Makes a node whose output is a constant. A named constant has one node in a graph, because names are unique."""
    if not isinstance(value, types.ArrayConstant) or "name" not in value.options:
        return _new_constant(value)
    if value.node is None:
        value.node = _new_constant(value)  # other graphs copy this node
    return value.node


def _new_constant(value: object) -> DataNode:
    layout, device, options = "", "cpu", {}
    if isinstance(value, types.ArrayConstant):
        layout, device, options = value.layout, value.device, value.options
    arguments = {"value": types.constant_array(alone(value)), "layout_name": layout}
    return apply("_constant", (), arguments, device=device, **options)


def expression(name: str, *operands: object) -> DataNode:
    """Makes the node of an arithmetic expression, `math.<name>`, on DataNodes and constants."""
    for i, value in enumerate(operands):
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            raise TypeError(
                f"The input {i} of operator `{SIGNS.get(name, name)}` must be a `DataNode` or a compatible "
                f"constant. Got a `{type(value).__name__}` with nested `DataNode`(s).\n"
                "Did you pass a return value of an operator producing multiple outputs?"
            )
    return apply(f"math.{name}", [operand(o) for o in operands], {})


def _python_number(value: object) -> object:
    """Converts a NumPy number: to the left of a node, it is treated as a Python number, as in DALI."""
    return value.item() if isinstance(value, np.generic) else value


BINARY_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod",
    "pow": "pow", "and": "bitand", "or": "bitor", "xor": "bitxor", "lshift": "lshift",
    "rshift": "rshift",
}  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY_OPERATORS = {"neg": "neg", "pos": "pos", "abs": "abs", "invert": "bitnot"}


def add_operators(
    cls: type, compute: Callable[..., object], converted: Callable[[object], object] = lambda value: value
) -> None:
    """Adds Python's arithmetic, comparison and bitwise operators to a class.

    Args:
        compute: takes the name of an operator, as in `math.<name>`, and its operands.
        converted: converts what is to the left of an object of the class.
    """

    def forward(name: str, *, unary: bool) -> Callable[..., object]:
        if unary:
            return lambda own: compute(name, own)
        return lambda own, other: compute(name, own, other)

    def reflected(name: str) -> Callable[..., object]:
        return lambda own, other: compute(name, converted(other), own)

    names = BINARY_OPERATORS | UNARY_OPERATORS | dict(zip(COMPARISONS, COMPARISONS, strict=True))
    for python_name, name in names.items():
        setattr(cls, f"__{python_name}__", forward(name, unary=python_name in UNARY_OPERATORS))
    for python_name, name in BINARY_OPERATORS.items():
        setattr(cls, f"__r{python_name}__", reflected(name))


add_operators(DataNode, expression, _python_number)

# NumPy's names of these operators, where they differ from Python's.
_OF_NUMPY = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "floor_divide": "floordiv", "remainder": "mod", "power": "pow",
    "bitwise_and": "bitand", "bitwise_or": "bitor", "bitwise_xor": "bitxor", "left_shift": "lshift", "right_shift": "rshift",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "negative": "neg", "positive": "pos", "absolute": "abs", "invert": "bitnot",
}  # fmt: skip
_OPERATORS = {*BINARY_OPERATORS.values(), *COMPARISONS, *UNARY_OPERATORS.values()}


def _ufunc(node: DataNode, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> DataNode:
    """Implements NumPy's operators for nodes, such as `array + node`; raises TypeError for other functions of NumPy."""
    name = _OF_NUMPY.get(ufunc.__name__, ufunc.__name__)
    left, *rest = inputs
    # After `array += node`, `array` is a node, as after `array = array + node`.
    plain = not options or (options.keys() == {"out"} and options["out"][0] is left)
    if name in _OPERATORS and method == "__call__" and plain:
        return expression(name, _python_number(left), *rest)
    ours = f"math.{name.replace('arc', 'a')}"
    known = ours in REGISTRY and name not in _OPERATORS
    where = f"jdali.{ours}" if known else "an operator of Python, or a function of jdali.math or jdali.fn"
    raise TypeError(f"numpy.{ufunc.__name__} takes no DataNode, a batch that is yet to come: use {where}")


setattr(DataNode, "__array_ufunc__", _ufunc)  # noqa: B010


add_operators(types.ArrayConstant, expression, _python_number)  # here, because `graph` imports `types`
setattr(types.ArrayConstant, "__getitem__", lambda self, key: constant_node(self)[key])  # noqa: B010  unknown to mypy
