"""The table of compiled functions: what shares one, what lives on, and for how long."""

import dataclasses
import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest

from jdali._operators.call import Constant
from jdali._operators.record import REGISTRY, operator
from jdali.engine.steps.program import Program
from jdali.engine.steps.program_table import ProgramTable


class Function:
    """In place of a function of `jax.jit`."""

    def __call__(self, value):
        return value + 1


@dataclasses.dataclass(frozen=True)
class Fields:
    first: object
    second: object = None


class Pair(NamedTuple):
    first: object
    second: object = None


def test_one_function_serves_equal_keys():
    table = ProgramTable()
    first = table.get(("a", (1, 2.0)), Function)
    assert table.get(("a", (1, 2.0)), Function) is first
    assert table.get(("b", (1, 2.0)), Function) is not first
    assert first(3) == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True), (1, 1.0), (0.0, -0.0), (np.int32(1), np.int64(1)), (np.float32(0.5), 0.5), ((1, 2), Pair(1, 2)),
        (Fields(1), Fields(1.0)), (Pair(0.0), Pair(-0.0)), (0j, -0j),
    ],
)  # fmt: skip
def test_what_python_calls_equal_may_need_another_program(one, other):
    table = ProgramTable()
    assert table.get((one,), Function) is not table.get((other,), Function)
    assert table.get((one,), Function) is table.get((one,), Function)


def lives_on(key):
    table = ProgramTable()
    function = weakref.ref(table.get(key, Function))
    gc.collect()
    return function() is not None


def test_functions_of_plain_keys_live_on():
    flip, dtype = REGISTRY["flip"], np.dtype(np.uint8)
    assert lives_on((flip, Fields(dtype, (1, 0.5, "HWC", None)), Pair(Constant(np.ones(3)), np.float32(2))))


def test_functions_with_objects_of_the_user_do_not_live_on():
    class Mine:
        pass

    @operator(name="_table_of_the_user")
    def of_the_user(image, /):
        return image

    try:
        assert not lives_on((of_the_user, 1))
    finally:
        del REGISTRY["_table_of_the_user"]
    mine = Mine()
    assert not lives_on((REGISTRY["flip"], Fields(1, (lambda image: image,))))
    assert not lives_on((REGISTRY["flip"], mine))
    assert not lives_on(Constant(np.zeros(1 << 21, np.uint8)))


def test_a_function_in_use_is_shared_whatever_its_key():
    table, key = ProgramTable(), (REGISTRY["flip"], len)
    function = table.get(key, Function)
    assert table.get(key, Function) is function
    del function
    assert len(table) == 0


def test_the_least_used_go_first():
    table = ProgramTable(most=2)
    functions = {key: weakref.ref(table.get(key, Function)) for key in ("a", "b")}
    table.get("a", Function)
    table.get("c", Function)
    assert functions["a"]() is not None
    assert functions["b"]() is None
    assert len(table) == 2
    table.clear()
    assert len(table) == 0
    assert functions["a"]() is None


def test_a_function_knows_where_it_was_compiled():
    function = ProgramTable().get("a", Function)
    assert not function.compiled_for
    assert Program(function, 1, ()).first_call("cpu:0", 1) == 2
    assert function.compiled_for == {"cpu:0"}
