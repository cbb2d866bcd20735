"""Plans of stages: which batches share one, and that only values which no `setup` saw are exchanged in it."""

import threading

import numpy as np
import pytest

import jdali
from jdali import OperatorError, fn
from jdali.engine.steps import stage_calls as _stage_calls
from jdali.engine.steps.outline import Packing
from jdali.engine.steps.plan_cache import PlanCache


@pytest.fixture
def planned(monkeypatch):
    """Names of the operators that were planned in this thread, in order; pipelines of other tests may still run ahead."""
    names, here = [], threading.get_ident()
    plan_call = _stage_calls.plan_call

    def counted(request):
        if threading.get_ident() == here:
            names.append(request.op.name)
        return plan_call(request)

    monkeypatch.setattr(_stage_calls, "plan_call", counted)
    return names


def pipeline(define, batches, batch_size=2):
    """A pipeline that is given these batches, one after another."""
    given = iter(batches)
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=1, exec_async=False, exec_pipelined=False)
    with pipe:
        pipe.set_outputs(define(fn.external_source(lambda: next(given), layout="HWC")))
    return pipe


def pictures(*sizes, dtype=np.uint8):
    return [np.arange(h * w * 3).reshape(h, w, 3).astype(dtype) for h, w in sizes]


def test_batches_of_the_same_sizes_are_planned_once(planned):
    flags = iter([[0, 1], [1, 0], [1, 1]])
    batch = pictures((4, 5), (6, 3))

    def define(images):
        flag = fn.external_source(lambda: np.array(next(flags), np.int32))
        return fn.flip(images, horizontal=flag)

    pipe = pipeline(define, [batch] * 3)
    for expected in ([0, 1], [1, 0], [1, 1]):
        (result,) = pipe.run()
        for i, flag in enumerate(expected):
            np.testing.assert_array_equal(result.at(i), batch[i][:, ::-1] if flag else batch[i])
    assert planned == ["flip"]


def test_another_size_or_type_is_planned_anew(planned):
    batches = [
        pictures((4, 5), (4, 5)), pictures((4, 5), (5, 4)), pictures((5, 4), (4, 5)),
        pictures((4, 5), (4, 5), dtype=np.float32), pictures((4, 5), (4, 5)),
    ]  # fmt: skip
    given = iter(batches)

    def define(images):  # of a source all batches have one type, of a function they may have any
        images = fn.python_function(images, function=lambda _: next(given), batch_processing=True)
        return fn.flip(fn.reshape(images, layout="HWC"), horizontal=0, vertical=1)

    pipe = pipeline(define, [pictures((1, 1), (1, 1))] * len(batches))
    for batch in batches:
        (result,) = pipe.run()
        for i, image in enumerate(batch):
            np.testing.assert_array_equal(result.at(i), image[::-1])
            assert result.at(i).dtype == image.dtype
    assert planned.count("flip") == 4  # the last batch is like the first


def test_a_value_that_setup_sees_is_part_of_what_a_plan_is_for(planned):
    windows = iter([[[2, 3], [1, 1]], [[2, 3], [1, 2]], [[2, 3], [1, 1]]])
    batch = pictures((4, 5), (4, 5))

    def define(images):
        window = fn.external_source(lambda: np.array(next(windows), np.float32))
        return fn.crop(images, crop=window, crop_pos_x=0.0, crop_pos_y=0.0)

    pipe = pipeline(define, [batch] * 3)
    for expected in ([(2, 3), (1, 1)], [(2, 3), (1, 2)], [(2, 3), (1, 1)]):
        (result,) = pipe.run()
        for i, (h, w) in enumerate(expected):
            np.testing.assert_array_equal(result.at(i), batch[i][:h, :w])
    assert planned == ["crop"] * 2


def test_a_wrong_value_is_refused_after_good_ones():
    windows = iter([[2, 2], [2, 9]])

    def define(images):
        return fn.crop(images, crop=fn.external_source(lambda: [np.float32(next(windows))] * 2))

    pipe = pipeline(define, [pictures((4, 5), (4, 5))] * 2)
    pipe.run()
    with pytest.raises(OperatorError, match="crop: .*out of bounds.*window"):
        pipe.run()


def test_only_the_plans_used_last_are_kept():
    cache = PlanCache(max_batch=1024)  # room for eight
    plans = [object() for _ in range(9)]
    for number, plan in enumerate(plans[:8]):
        cache.keep(number, plan)
    assert cache.get(0) is plans[0]
    cache.keep(8, plans[8])
    assert cache.get(1) is None
    assert [cache.get(n) for n in (0, 2, 8)] == [plans[0], plans[2], plans[8]]
    cache.clear()
    assert cache.get(8) is None


def test_repacking_replaces_some_arrays_and_leaves_the_old_ones_alone():
    arrays = [np.array([[1, 2], [3, 4]], np.int32), np.float32([0.5, 1.5]), np.array([1 << 40, 2])]
    packing = Packing(arrays)
    packed, apart = packing.pack(arrays, 2)
    before = packed.copy()
    for replaced in ({1: np.float32([2.5, -0.0])}, {2: np.array([7, 8])}, {0: np.ones((2, 2), np.int32)}):
        wanted = [replaced.get(i, array) for i, array in enumerate(arrays)]
        again, apart_again = packing.repack(packed, apart, replaced)
        expected, expected_apart = packing.pack(wanted, 2)
        np.testing.assert_array_equal(again, expected)
        np.testing.assert_array_equal(apart_again, expected_apart)
        np.testing.assert_array_equal(packed, before)
        np.testing.assert_array_equal(apart, [arrays[2]])
