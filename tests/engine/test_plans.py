"""Calls of one form: what is worked out once, what for each call, and that nothing of one shows in another."""

import threading

import numpy as np
import pytest

import jdali.dynamic as jd
from jdali import OperatorError
from jdali._errors import SampleError
from jdali.engine.eager import call as _eager
from jdali.engine.eager import compiled_programs
from jdali.engine.steps import stage_calls as _stage_calls
from jdali.engine.steps.program import CHUNK_BYTES

IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


@pytest.fixture
def planned(monkeypatch):
    """Names of the operators that were planned, in order; none was before."""
    _eager._kept_runner.cache_clear()
    names = []
    plan_call = _stage_calls.plan_call

    def counted(request):
        names.append(request.op.name)
        return plan_call(request)

    monkeypatch.setattr(_stage_calls, "plan_call", counted)
    return names


def test_other_values_are_neither_planned_nor_compiled(planned):
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    batch = jd.as_batch([IMAGE, 100 + IMAGE], layout="HWC")
    jd.brightness(jd.flip(tensor, horizontal=1), brightness=0.5)
    jd.flip(batch, horizontal=jd.as_batch([0, 1]))
    planned.clear()
    compiled = compiled_programs()
    for i in range(4):
        result = jd.brightness(jd.flip(tensor, horizontal=i % 2), brightness=float(i))
        np.testing.assert_array_equal(np.asarray(result), (IMAGE[:, ::-1] if i % 2 else IMAGE) * i)
        flags = [i % 2, i // 2]
        result = jd.flip(batch, horizontal=jd.as_batch(flags))
        for flag, given, got in zip(flags, batch, result, strict=True):
            expected = np.asarray(given)[:, ::-1] if flag else np.asarray(given)
            np.testing.assert_array_equal(np.asarray(got), expected)
    assert (planned, compiled_programs()) == ([], compiled)


def test_a_value_that_decides_the_size_is_planned_when_it_is_new(planned):
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    shapes = [jd.crop(tensor, crop=crop).shape for crop in [(2, 2), (3, 2), (2, 2), (3, 2)]]
    assert shapes == [(2, 2, 3), (3, 2, 3)] * 2
    assert planned == ["crop"] * 2


def test_what_a_call_is_planned_for(planned):
    def double(data, layout="HWC"):
        return jd.brightness(jd.as_batch(data, layout=layout), brightness=2.0)

    calls = [
        ([IMAGE], "HWC"), ([IMAGE[:, :2]], "HWC"), ([IMAGE.astype(np.float32)], "HWC"), ([IMAGE], "CHW"),
        ([IMAGE, IMAGE], "HWC"), ([IMAGE, IMAGE[:3]], "HWC"),
    ]  # fmt: skip
    for data, layout in calls * 2:
        result = double(data, layout)
        assert result.layout == layout
        for given, got in zip(data, result, strict=True):
            np.testing.assert_array_equal(np.asarray(got), given * 2)
            assert np.asarray(got).dtype == given.dtype
    assert len(planned) == len(calls)


def test_values_of_another_shape_are_planned_anew(planned):
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    means = (7, [7], [1, 2, 3], 8, [1, 2, 3], 7)
    for mean in means:
        result = jd.crop_mirror_normalize(tensor, mean=mean, output_layout="HWC")
        np.testing.assert_array_equal(np.asarray(result), IMAGE - np.float32(mean))
    assert planned == ["crop_mirror_normalize"] * 4


def test_wrong_arguments_raise_after_good_calls():
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    batch = jd.as_batch([IMAGE, IMAGE], layout="HWC")

    def check():
        with pytest.raises(SampleError, match=r"flip: .* shape \(2,\), expected one number"):
            jd.flip(batch, horizontal=jd.as_batch([[1, 0], [0, 1]]))
        with pytest.raises(TypeError, match="give a Batch"):
            jd.flip(batch, horizontal=[1, 0])
        with pytest.raises(TypeError, match='Argument "nope" is not defined'):
            jd.flip(tensor, horizontal=1, nope=1)
        with pytest.raises(TypeError, match='Not all required arguments .* "angle"'):
            jd.rotate(tensor)
        with pytest.raises(OperatorError, match="crop: .*out of bounds.*window") as caught:
            jd.crop(batch, crop=jd.as_batch([[1, 1], [9, 9]]))
        assert (caught.value.operator, caught.value.sample) == ("crop", 1)
        with pytest.raises(
            OperatorError, match="brightness and contrast: Unsupported input type: bool. It has no"
        ):
            jd.brightness(tensor > 5, brightness=1.0)

    good = [
        lambda: jd.flip(batch, horizontal=jd.as_batch([1, 0])),
        lambda: jd.flip(tensor, horizontal=1),
        lambda: jd.rotate(tensor, angle=0.0),
        lambda: jd.crop(batch, crop=jd.as_batch([[1, 1], [2, 2]])),
        lambda: jd.brightness(tensor, brightness=1.0),
    ]
    for _ in range(2):
        for call in good:
            call()
        check()


def test_results_of_earlier_calls_stay_as_they_are():
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    results = [jd.brightness(tensor, brightness=float(i)) for i in (3, 1, 2)]
    for i, result in zip((3, 1, 2), results, strict=True):
        np.testing.assert_array_equal(np.asarray(result), IMAGE * i)


def test_values_of_a_batch_in_several_calls_of_the_program():
    size = 1 << 10
    images = np.arange(5 * size * size, dtype=np.uint32).astype(np.uint8).reshape(5, size, size, 1)
    assert 2 * images.nbytes > CHUNK_BYTES["cpu"]
    batch = jd.as_batch(images, layout="HWC")
    for flags in ([0, 1, 0, 1, 1], [1, 1, 0, 0, 1]):
        result = np.asarray(jd.flip(batch, horizontal=jd.as_batch(flags)))
        for flag, given, got in zip(flags, images, result, strict=True):
            np.testing.assert_array_equal(got, given[:, ::-1] if flag else given)


def test_random_values_follow_the_generator_in_every_call():
    def drawn(seed):
        rng = jd.random.RNG(seed)
        return [jd.random.uniform(range=[0, 1], rng=rng).item() for _ in range(3)]

    alone = [drawn(5), drawn(6)]
    assert len({*alone[0], *alone[1]}) == 6
    generators = [jd.random.RNG(5), jd.random.RNG(6)]
    in_turns = [[jd.random.uniform(range=[0, 1], rng=rng).item() for rng in generators] for _ in range(3)]
    np.testing.assert_array_equal(np.transpose(in_turns), alone)


def test_threads_with_values_of_their_own():
    tensor = jd.as_tensor(IMAGE, layout="HWC")
    wrong = []

    def work(factor):
        for _ in range(30):
            if (np.asarray(jd.brightness(tensor, brightness=float(factor))) != IMAGE * factor).any():
                wrong.append(factor)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_samples_given_one_by_one_make_one_block():
    small = IMAGE[:2, :3]
    batch = jd.as_batch([IMAGE, small, jd.as_tensor(7 + IMAGE)], layout="HWC")
    assert len(batch._list.store.blocks) == 1
    rows = jd.flip(batch, horizontal=0)  # rows of larger arrays
    mixed = jd.as_batch([rows.select(1), IMAGE, rows.select(0)])
    for given, got in zip([small, IMAGE, IMAGE], mixed, strict=True):
        np.testing.assert_array_equal(np.asarray(got), given)
    for given, got in zip([IMAGE, small, 7 + IMAGE], jd.flip(batch, vertical=1), strict=True):
        np.testing.assert_array_equal(np.asarray(got), given[::-1, ::-1])
