"""Conditionals on DataNodes: every sample takes its own branch."""

import numpy as np
import pytest

import jdali
from jdali import fn, types

NUMBERS = np.arange(6, dtype=np.int32)


def run(function, *sources, **options):
    """Outputs of a pipeline function over external sources, as lists of arrays."""

    @jdali.pipeline_def(batch_size=6, num_threads=2, enable_conditionals=True, **options)
    def pipeline():
        return function(*(fn.external_source(source=lambda s=s: s) for s in sources))

    return [[np.asarray(out.at(i)) for i in range(len(out))] for out in pipeline().run()]


def test_each_sample_takes_its_branch():
    def function(x):
        if x > 2:
            y = x * 10
        else:
            y = x - 100
        return y

    (got,) = run(function, NUMBERS)
    assert [int(v) for v in got] == [-100, -99, -98, 30, 40, 50]


def test_values_from_outside_and_without_else():
    def function(x, image):
        if x % 2 == 1:
            image = image + x
        return image

    images = np.full((6, 2, 2), 100, np.uint8)
    (got,) = run(function, NUMBERS.astype(np.uint8), images)
    assert [int(v[0, 0]) for v in got] == [100, 101, 100, 103, 100, 105]


def test_nested_conditionals_and_elif():
    def function(x):
        if x < 2:
            if x == 0:
                y = x + 1000
            else:
                y = x + 2000
        elif x < 4:
            y = x + 3000
        else:
            y = x
        return y

    (got,) = run(function, NUMBERS)
    assert [int(v) for v in got] == [1000, 2001, 3002, 3003, 4, 5]


def test_a_branch_that_no_sample_takes_is_not_run():
    calls = []

    def note(value):
        calls.append(int(value))
        return value

    def function(x):
        if x > 100:
            y = fn.python_function(x, function=note)
        else:
            y = x
        return y

    (got,) = run(function, NUMBERS)
    assert [int(v) for v in got] == list(range(6))
    assert calls == []


def test_logical_expressions():
    def function(x):
        both = (x > 1) and (x < 4)
        either = x == 0 or x == 5
        if not both:
            y = x
        else:
            y = -x
        return both, either, y

    both, either, y = run(function, NUMBERS)
    assert [bool(v) for v in both] == [False, False, True, True, False, False]
    assert [bool(v) for v in either] == [True, False, False, False, False, True]
    assert [int(v) for v in y] == [0, 1, -2, -3, 4, 5]


def test_sizes_may_differ_by_branch():
    def function(x, image):
        if x > 2:
            image = fn.crop(image, crop=(2, 3))
        else:
            image = fn.brightness_contrast(image, brightness=2.0)
        return image

    images = np.arange(6 * 4 * 5 * 3, dtype=np.uint8).reshape(6, 4, 5, 3) // 4

    @jdali.pipeline_def(batch_size=6, num_threads=2, enable_conditionals=True)
    def pipeline():
        x = fn.external_source(source=lambda: NUMBERS)
        return function(x, fn.external_source(source=lambda: images, layout="HWC"))

    (out,) = pipeline().run()
    assert out.shape() == [(4, 5, 3)] * 3 + [(2, 3, 3)] * 3
    np.testing.assert_array_equal(out.at(1), images[1] * 2)
    np.testing.assert_array_equal(out.at(4), images[4][1:3, 1:4])


def test_random_values_of_a_sample_do_not_depend_on_who_shares_its_branch():
    def pipeline_of(threshold):
        @jdali.pipeline_def(batch_size=6, num_threads=1, enable_conditionals=True, seed=7)
        def pipeline():
            x = fn.external_source(source=lambda: NUMBERS)
            if x > threshold:
                y = fn.random.uniform(range=[0.0, 1.0])
            else:
                y = types.Constant(-1.0)
            return y

        return pipeline().run()[0].as_array()

    few, many = pipeline_of(3), pipeline_of(0)
    np.testing.assert_array_equal(few[4:], many[4:])
    assert (few[:4] == -1).all()
    assert ((many[1:] >= 0) & (many[1:] < 1)).all()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: None if x > 1 else x, "is None after the `if` branch"),
        (
            lambda x: x * 1.5 if x > 1 else x,
            "Found distinct types: int32 and float|Found distinct types: float and int32",
        ),
        (
            lambda x: 1 if fn.stack(x, x) else 2,
            "restricted to scalar .* Got a 1-d input as a condition of the `if` statement",
        ),
    ],
)
def test_what_cannot_be_merged_or_decided_is_refused(function, text):
    with pytest.raises((RuntimeError, ValueError), match=text):
        run(function, NUMBERS)


def test_a_plain_pipeline_refuses_a_condition():
    @jdali.pipeline_def(batch_size=1)
    def pipeline():
        x = fn.external_source(source=lambda: NUMBERS)
        return x if x else 1

    with pytest.raises(TypeError, match="enable_conditionals") as caught:
        pipeline()
    assert "write @pipeline_def(enable_conditionals=True)" in caught.value.__notes__[0]


def test_a_condition_where_nothing_is_converted():
    class Holder:
        def __init__(self, value):
            self.value = value if value else 1

    with pytest.raises(TypeError, match="conditional context") as caught:
        run(lambda x: Holder(x).value, NUMBERS)
    assert "conditionals are enabled, but not in this code: a constructor" in caught.value.__notes__[0]


@pytest.mark.oracle
def test_equal_to_dali():
    dali = pytest.importorskip("nvidia.dali", reason="the oracle is not installed")

    def build(root, functions):
        @root.pipeline_def(batch_size=6, num_threads=1, device_id=None, enable_conditionals=True)
        def pipeline():
            x = functions.external_source(source=lambda: NUMBERS, batch=True)
            if x > 1 and x < 4:
                y = x * 3
                z = x / 2
            elif not x == 5:  # noqa: SIM201  `not` is what is tested
                y = x + 7
                z = x * 1.5
            else:
                y = -x
                z = x / 4
            return y, z

        pipe = pipeline()
        pipe.build()
        return [np.asarray(o.as_array()) for o in pipe.run()]

    import nvidia.dali.fn as dali_fn

    for got, want in zip(build(jdali, fn), build(dali, dali_fn), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_operands_of_logic_must_be_boolean_scalars():
    with pytest.raises(
        RuntimeError, match="Logical expression `and` .* of `bool` type.* Got an input of type `int32`"
    ):
        run(lambda x: x and x > 1, NUMBERS)
    with pytest.raises(
        RuntimeError, match="Logical expression `not` is restricted to scalar .* Got a 1-d input"
    ):
        run(lambda x: not fn.stack(x, x), NUMBERS)


def test_array_constants_keep_their_layout_and_can_be_indexed():
    def function(x):
        table = types.Constant(np.int32([[10, 20]]), layout="AB")
        column = types.Constant(np.int32(1), device="cpu")
        return table + x, table[0, column] + x

    tables, elements = run(function, NUMBERS)
    np.testing.assert_array_equal(tables[2], [[12, 22]])
    assert [int(v) for v in elements] == [20, 21, 22, 23, 24, 25]

    @jdali.pipeline_def(batch_size=1)
    def pipeline():
        return types.Constant(np.int32([[1, 2]]), layout="AB") + 1

    assert pipeline().run()[0].layout() == "AB"


@pytest.mark.parametrize("integer", [np.int64, np.uint64])
def test_numpy_integers_have_32_bits_as_in_dali(integer):
    (found,) = run(lambda x: integer(7) if x > 1 else types.Constant(integer(5), device="cpu"), NUMBERS)
    assert np.stack(found).tolist() == [5, 5, 7, 7, 7, 7]
    assert {sample.dtype for sample in found} == {np.dtype(integer.__name__.replace("64", "32"))}


def test_what_is_no_batch_raises_the_type_that_dali_raises():
    with pytest.raises(TypeError, match="Unexpected type <class 'object'> after a branch of a conditional"):
        run(lambda x: object() if x > 1 else x, NUMBERS)
