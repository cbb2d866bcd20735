"""Operators that DALI has deprecated work, and warn of their names as DALI does."""

import warnings

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn, ops, tfrecord
from jdali._operators.catalog import CATALOG
from jdali._operators.names import IN_FAVOUR_OF
from jdali._operators.surface import ALIASES, is_deprecated, schema_name

NAMES = sorted({*ALIASES, *(name for names in CATALOG.values() for name in names if name[0] != "_")})


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_what_is_deprecated_is_so_in_dali(name):
    oracle.dali()
    from nvidia.dali import backend

    schema = backend.TryGetSchema(schema_name(name))
    if schema is None:  # an operator or a name that DALI does not have
        assert not is_deprecated(name)
        return
    assert is_deprecated(name) == schema.IsDeprecated()
    new = IN_FAVOUR_OF.get(name)
    assert schema.DeprecatedInFavorOf() == (schema_name(new) if new else "")


@pytest.mark.oracle
def test_all_that_dali_has_deprecated_is_known():
    oracle.dali()
    from nvidia.dali import backend

    known = {schema_name(name) for name in NAMES if is_deprecated(name)}
    schemas = map(backend.GetSchema, [*backend.RegisteredCPUOps(), *backend.RegisteredMixedOps()])
    assert {s.Name() for s in schemas if s.IsDeprecated()} - {"_TFRecordReader"} <= known


def warnings_of(function):
    with warnings.catch_warnings(record=True) as caught, jdali.Pipeline(2, 1):
        warnings.simplefilter("always")
        function()
    assert all(w.category is DeprecationWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("name", "call", "instead"),
    [
        ("fn.transform_translation", lambda: fn.transform_translation(offset=(0, 0)), "transforms.translation"),
        ("ops.TransformTranslation", lambda: ops.TransformTranslation(offset=(0, 0))(), "transforms.translation"),
        ("fn.coin_flip", lambda: fn.coin_flip(), "random.coin_flip"),
        ("ops.CoinFlip", lambda: ops.CoinFlip()(), "random.coin_flip"),
        ("fn.file_reader", lambda: fn.file_reader(files=["a"]), "readers.file"),
        (
            "fn.tfrecord_reader",
            lambda: fn.tfrecord_reader(
                path="a", index_path="b", features={"x": tfrecord.FixedLenFeature((), tfrecord.int64, 0)}
            ),
            "readers.tfrecord",
        ),
        (
            "fn.experimental.equalize",
            lambda: fn.experimental.equalize(np.zeros((2, 2, 3), np.uint8)),
            "equalize",
        ),
        (
            "ops.experimental.Equalize",
            lambda: ops.experimental.Equalize()(np.zeros((2, 2, 3), np.uint8)),
            "equalize",
        ),
        (
            "fn.sequence_reader",
            lambda: fn.sequence_reader(file_root="a", sequence_length=1),
            "readers.sequence",
        ),
    ],
)  # fmt: skip
def test_a_call_warns_once_at_its_line(name, call, instead):
    assert warnings_of(call) == [
        f"WARNING: `jdali.{name}` is now deprecated. Use `jdali.fn.{instead}` instead."
    ]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("fn.shapes", lambda: fn.shapes(np.zeros(3))),
        ("ops.Shapes", lambda: ops.Shapes()(np.zeros(3))),
        ("fn.readers.sequence", lambda: fn.readers.sequence(file_root="a", sequence_length=1)),
    ],
)
def test_without_a_successor(name, call):
    (text,) = warnings_of(call)
    assert text.startswith(f"WARNING: `jdali.{name}` is now deprecated.\n")


def test_what_is_not_deprecated_does_not_warn():
    def function():
        fn.random.coin_flip()
        ops.random.CoinFlip()()
        ops.CoinFlip()  # made, not called
        fn.constant(idata=1).shape()
        fn.experimental.resize(np.zeros((2, 2, 3), np.uint8), size=[1, 1])

    assert warnings_of(function) == []


def test_the_name_makes_the_same_operator():
    def values(flip):
        pipe = jdali.Pipeline(8, 1, seed=3)
        with pipe:
            pipe.set_outputs(flip())
        return pipe.run()[0].as_array().tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert values(fn.coin_flip) == values(lambda: ops.CoinFlip()()) == values(fn.random.coin_flip)
    assert isinstance(ops.CoinFlip(), ops.random.CoinFlip)
    assert ops.CoinFlip.__name__ == "CoinFlip"
