"""Result types of expressions against the real DALI, for every pair of types."""

import itertools
import operator

import numpy as np
import pytest
from support import expression, oracle

from jdali._kernels.promotion import promote

NUMBERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64"]
ALL = [*NUMBERS, "bool", "float16"]
KINDS = {
    "arithmetic": [operator.add, operator.mod],
    "multiplication": [operator.mul],
    "real": [operator.truediv],
    "comparison": [operator.lt],
    "bitwise": [operator.and_, operator.lshift],
}


def ours(kind, *dtypes):
    try:
        return promote(kind, *dtypes)
    except TypeError:
        return None


def dalis(function, *dtypes):
    try:
        (((value,),), _) = expression.run(function, [[np.ones(1, d)] for d in dtypes])
    except RuntimeError:
        return None
    return value.dtype


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_is_as_in_dali(kind):
    for function in KINDS[kind]:
        for pair in itertools.product(ALL, repeat=2):
            assert ours(kind, *pair) == dalis(function, *pair), (function.__name__, *pair)


@pytest.mark.oracle
def test_every_triple_is_as_in_dali():
    oracle.dali()
    import nvidia.dali.math as dali_math

    types = [*NUMBERS, "bool"]
    triples = [t for t in itertools.product(types, repeat=3) if t != ("bool",) * 3]
    arrays, _ = expression.run(
        lambda *nodes: [dali_math.clamp(*(nodes[types.index(d)] for d in t)) for t in triples],
        [[np.ones(1, d)] for d in types],
    )
    for triple, (value,) in zip(triples, arrays, strict=True):
        assert promote("arithmetic", *triple) == value.dtype, triple
    assert dalis(dali_math.clamp, "bool", "bool", "bool") is None
    assert ours("arithmetic", "bool", "bool", "bool") is None


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ALL)
def test_one_operand_is_as_in_dali(dtype):
    oracle.dali()
    import nvidia.dali.math as dali_math

    assert ours("arithmetic", dtype) == dalis(operator.neg, dtype) == dalis(dali_math.abs, dtype)
    assert ours("real", dtype) == dalis(dali_math.floor, dtype) == dalis(dali_math.atan, dtype)
    assert ours("bitwise", dtype) == dalis(operator.invert, dtype)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("constant", "dtype"), [(1, "int32"), (1.0, "float32"), (True, "bool")], ids=["int", "float", "bool"]
)
def test_python_constants_have_these_types(constant, dtype):
    """The graph gives constants as arrays of these types; DALI promotes them the same way."""
    for other in ALL[:-1]:
        assert dalis(lambda node: node * constant, other) == promote("multiplication", other, dtype)


@pytest.mark.parametrize(
    ("kind", "operands", "expected"),
    [
        ("arithmetic", ("uint8", "int8"), "int16"),
        ("arithmetic", ("uint16", "int8"), "int32"),
        ("arithmetic", ("uint32", "int8"), "int64"),
        ("arithmetic", ("uint64", "int64"), "int64"),
        ("arithmetic", ("int64", "float32"), "float32"),
        ("arithmetic", ("uint8", "bool"), "uint8"),
        ("multiplication", ("bool", "bool"), "bool"),
        ("real", ("int32", "int64"), "float32"),
        ("real", ("int32", "float64"), "float64"),
        ("comparison", ("bool", "bool"), "bool"),
        ("bitwise", ("uint8", "int16"), "int16"),
    ],
)
def test_documented_types(kind, operands, expected):
    assert promote(kind, *operands) == np.dtype(expected)


def test_refusals_say_what_to_do():
    with pytest.raises(TypeError, match="Operand data type not supported: float16. Cast it to float32"):
        promote("arithmetic", "float16", "float32")
    with pytest.raises(TypeError, match="cannot be booleans. Consider using bitwise operators"):
        promote("arithmetic", "bool", "bool")
    with pytest.raises(TypeError, match="must be of integral type, got float32, uint8"):
        promote("bitwise", "float32", "uint8")
