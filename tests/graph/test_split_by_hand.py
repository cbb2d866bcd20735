"""`fn._conditional`: batches split and merged without `if`."""

import contextlib

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn, types
from jdali.iterator import DataIterator

CHOSEN = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)  # one row a batch
SIZE = CHOSEN.shape[1]


def run(package, function, conditionals=False, **options):
    """What a function of `fn`, the data and the predicate gives: samples by batch and output.

    Args:
        package: jdali, or the real DALI.
        function: makes the outputs.
        conditionals: `if` works as well.
        options: of the pipeline.
    """
    maker = package.fn

    @package.pipeline_def(
        batch_size=SIZE, num_threads=1, device_id=None, seed=4, enable_conditionals=conditionals, **options
    )
    def pipeline():
        data = maker.external_source(
            lambda info: np.full((2, 1 + info.idx_in_batch), info.idx_in_epoch, np.float32), batch=False
        )
        chosen = maker.external_source(
            lambda info: CHOSEN[info.iteration % len(CHOSEN), info.idx_in_batch], batch=False
        )
        return function(maker, data, chosen)

    pipe = pipeline()
    pipe.build()
    batches = [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in CHOSEN]
    if package is jdali:
        pipe.close()
    return batches


def there_and_back(fn, data, chosen):
    true, false = fn._conditional.split(data, predicate=chosen)
    return fn._conditional.merge(true * 2.0, false + 100.0, predicate=chosen), data


def parts_as_outputs(fn, data, chosen):
    true, false = fn._conditional.split(data, predicate=chosen)
    return true + 1.0, false


def nested(fn, data, chosen):
    true, false = fn._conditional.split(data, predicate=chosen)
    large = fn.reductions.max(true) > 6.0
    more, less = fn._conditional.split(true, predicate=large)
    true = fn._conditional.merge(more + 0.5, less - 0.5, predicate=large)
    return fn._conditional.merge(true, false, predicate=chosen), true


def of_an_argument(fn, data, chosen):
    by, _ = fn._conditional.split(fn.reductions.max(data), predicate=chosen)
    _, false = fn._conditional.split(data, predicate=chosen)
    drawn = fn.transforms.rotation(angle=by)
    other = fn.transforms.rotation(angle=fn.reductions.min(false))
    return fn._conditional.merge(drawn, other, predicate=chosen)


def logic(fn, data, chosen):
    checked = fn._conditional.validate_logical(chosen, expression_name="or", expression_side="right")
    return fn._conditional.not_(chosen), checked, fn._conditional.not_(fn.reductions.max(data))


WAYS = [there_and_back, parts_as_outputs, nested, of_an_argument, logic]
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.mark.cases(3)
@pytest.mark.oracle
@ways
def test_equals_dali(way):
    dali = oracle.dali()
    for got, want in zip(run(jdali, way), run(dali, way), strict=True):
        for mine, expected in zip(got, want, strict=True):
            assert len(mine) == len(expected)
            for g, w in zip(mine, expected, strict=True):
                assert g.dtype == w.dtype
                np.testing.assert_allclose(g, w, atol=1e-6)  # sines and cosines of another library


@ways
def test_debug_mode_and_conditionals_give_the_same(way):
    want = run(jdali, way)
    for options in ({"conditionals": True}, {"debug": True}):
        got = run(jdali, way, **options)
        for one, other in zip(got, want, strict=True):
            for mine, expected in zip(one, other, strict=True):
                assert [m.tolist() for m in mine] == [e.tolist() for e in expected]


def test_random_operators_between_draw_what_they_draw_in_an_if():
    def by_hand(fn, data, chosen):
        true, false = fn._conditional.split(data, predicate=chosen)
        return fn._conditional.merge(fn.noise.gaussian(true, seed=9), false, predicate=chosen)

    def in_an_if(fn, data, chosen):
        if chosen:
            data = fn.noise.gaussian(data, seed=9)
        return data

    want = run(jdali, in_an_if, conditionals=True)
    for one, other in zip(run(jdali, by_hand), want, strict=True):
        for mine, expected in zip(one[0], other[0], strict=True):
            np.testing.assert_array_equal(mine, expected)


def test_a_value_of_the_whole_batch_and_a_constant_are_split_where_they_are_merged():
    def merged(fn, data, chosen):
        true, _ = fn._conditional.split(data, predicate=chosen)
        return (
            fn._conditional.merge(true, data + 1000.0, predicate=chosen),
            fn._conditional.merge(np.float32(3), fn.reductions.max(data), predicate=chosen),
        )

    for i, (whole, constant) in enumerate(run(jdali, merged)):
        numbers = np.arange(SIZE) + SIZE * i
        assert [v.max() for v in whole] == np.where(CHOSEN[i], numbers, numbers + 1000).tolist()
        assert [float(v) for v in constant] == np.where(CHOSEN[i], 3, numbers).tolist()


def test_saved_and_restored_pipelines():
    def define(fn, data, chosen):
        return there_and_back(fn, data, chosen)[0]

    @jdali.pipeline_def(batch_size=4, num_threads=1, seed=4)
    def pipeline():
        data = fn.random.uniform(range=[0.0, 1.0], shape=[3])
        return define(fn, data, fn.random.coin_flip(dtype=types.BOOL))

    pipe = pipeline()
    copy = jdali.Pipeline.deserialize(pipe.serialize())
    with contextlib.closing(pipe), contextlib.closing(copy):
        for _ in range(3):
            for one, other in zip(pipe.run()[0].to_samples(), copy.run()[0].to_samples(), strict=True):
                np.testing.assert_array_equal(one, other)


def test_an_iterator_takes_merged_batches():
    @jdali.pipeline_def(batch_size=4, num_threads=1, seed=4)
    def pipeline():
        data = fn.external_source(lambda info: np.float32([info.idx_in_epoch]), batch=False)
        return there_and_back(fn, data, data[0] > 2.0)[0]

    with DataIterator(pipeline(), ["x"]) as batches:
        assert next(batches)["x"].ravel().tolist() == [100, 101, 102, 6]


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (
            lambda fn, data, chosen: fn._conditional.merge(
                *fn._conditional.split(data, predicate=chosen), predicate=fn._conditional.not_(chosen)
            ),
            "the parts have 3 and 2 samples, but the predicate is true for 2 and false for 3",
        ),
        (
            lambda fn, data, chosen: fn._conditional.split(data, predicate=data)[0],
            r"restricted to scalar \(0-d tensors\) inputs, that are placed on CPU. Got a 2-d input as a condition",
        ),
        (
            lambda fn, data, chosen: fn._conditional.validate_logical(
                data, expression_name="or", expression_side="left"
            ),
            r"scalar \(0-d tensors\) inputs of `bool` type, that are placed on CPU. Got a 2-d input as the left argument",
        ),
    ],
    ids=["another predicate", "no scalar", "no boolean"],
)  # fmt: skip
def test_wrong_calls(way, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        run(jdali, way)
    assert "test_split_by_hand.py" in str(caught.value)  # the user's line


def test_sides_of_two_splits_do_not_mix():
    def mixed(fn, data, chosen):
        true, _ = fn._conditional.split(data, predicate=chosen)
        _, false = fn._conditional.split(data, predicate=chosen)
        return true + false

    with pytest.raises(RuntimeError, match="used outside of it"):
        run(jdali, mixed)


def test_needs_a_pipeline():
    with pytest.raises(
        RuntimeError, match=r"fn\._conditional\.not_: called outside of a pipeline definition"
    ):
        fn._conditional.not_(fn.random.coin_flip())
