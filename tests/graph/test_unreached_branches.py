"""Branches that no sample of a batch takes: at every depth, wherever their values are used."""

import contextlib
import itertools

import numpy as np
import pytest
from support import oracle

import jdali
import jdali.plugin.jax as jax_plugin
from jdali import fn, types
from jdali.iterator import DataIterator

# One batch after the other: no sample takes the inner branches, some do, all do, none do again.
LEVELS = (0, None, 3, 1, 0)
BATCH_SIZES = (1, 2, 3, 8)


def levels(batch_size):
    """For each batch int32 [N]: how deep each sample goes."""
    return [
        (np.arange(batch_size) % 4 if level is None else np.full(batch_size, level)).astype(np.int32)
        for level in LEVELS
    ]


def outputs(function, batch_size, **options):
    """What a pipeline function of the level, a small picture and a float gives, batch by batch."""
    given = levels(batch_size)
    options = {"num_threads": 2, "seed": 4, "enable_conditionals": True} | options

    @jdali.pipeline_def(batch_size=batch_size, **options)
    def pipeline():
        level = fn.external_source(source=lambda i: given[i % len(given)])
        image = fn.external_source(
            source=lambda i: [image_of(v) for v in given[i % len(given)]], layout="HWC"
        )
        number = fn.external_source(source=lambda i: given[i % len(given)].astype(np.float32) + 0.5)
        return function(level, image, number)

    with pipeline() as pipe:
        return [[batch.to_samples() for batch in pipe.run()] for _ in given]


def image_of(level):
    """A picture whose size follows its level."""
    shape = (4 + int(level), 6, 3)
    return (np.arange(np.prod(shape)) + 7 * int(level)).astype(np.uint8).reshape(shape)


def check(function, expected, batch_size, **options):
    """The outputs are those of a Python function of one sample, type, values and all."""
    got = outputs(function, batch_size, **options)
    for batch, given in zip(got, levels(batch_size), strict=True):
        rows = [expected(int(v), image_of(v), np.float32(v) + np.float32(0.5)) for v in given]
        for column, samples in zip(zip(*rows, strict=True), batch, strict=True):
            for sample, wanted in zip(samples, column, strict=True):
                assert sample.dtype == np.asarray(wanted).dtype
                np.testing.assert_array_equal(sample, wanted)


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_at_every_depth(batch_size):
    def graph(level, image, number):
        if level > 0:
            if level > 1:
                if level > 2:
                    nested = number + 300
                else:
                    nested = number * 2
            else:
                nested = number - 1
        else:
            nested = number
        if level == 0:
            chain = level + 10
        elif level == 1:
            chain = level + 20
        elif level == 2:
            chain = level + 30
        else:
            chain = level + 40
        return nested, chain

    def expected(level, image, number):
        nested = {0: number, 1: number - 1, 2: number * 2, 3: number + 300}[level]
        return np.float32(nested), np.int32(level + 10 * (level + 1))

    check(graph, expected, batch_size)


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_chains_of_logic(batch_size):
    def graph(level, image, number):
        rising = level > 0 and level > 1 and level > 2
        falling = level < 1 or level < 2 or level < 3
        mixed = not (level > 0 and not (level > 1 or not level > 2))
        if level > 0 and not (level > 2 and number > 3.0):
            if not (level > 1 or number < 0.0):
                value = number + 1
            else:
                value = number + 2
        else:
            value = number
        return rising, falling, mixed, value

    def expected(level, image, number):
        value = number + {0: 0, 1: 1, 2: 2, 3: 0}[level]
        mixed = not (level > 0 and not (level > 1 or not level > 2))
        return np.bool_(level > 2), np.bool_(level < 3), np.bool_(mixed), np.float32(value)

    check(graph, expected, batch_size)


@pytest.mark.cases(2)
@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_data_and_arguments(batch_size):
    """Values of branches as data, as argument (also of `setup`) and as arithmetic, in deeper branches."""

    def graph(level, image, number):
        if level > 0:
            size = level + 1
            shade = number * 2.0
            if size > 2:
                cropped = fn.crop(image, crop_w=fn.cast(size, dtype=types.FLOAT), crop_h=2.0)
                cropped = cropped + 1
                if shade > 6.0:
                    cropped = fn.brightness(cropped, brightness=fn.cast(shade, dtype=types.FLOAT) - 5.0)
                    cropped = fn.cast(cropped, dtype=types.INT32)
            else:
                cropped = fn.crop(image, crop_w=1.0, crop_h=size * 1.0) + 0
            shape = cropped.shape(dtype=types.INT32)
        else:
            cropped = fn.cast(image, dtype=types.INT32)
            shape = image.shape(dtype=types.INT32)
        return cropped, shape

    def expected(level, image, number):
        if level == 0:
            out = image.astype(np.int32)
        elif level == 1:
            out = window(image, 2, 1).astype(np.int32)
        else:
            out = window(image, 2, level + 1).astype(np.int32) + 1
            out = out * 2 if level == 3 else out  # brightness 2 * 3.5 - 5
        return out, np.array(out.shape, np.int32)

    check(graph, expected, batch_size)


def window(image, height, width):
    """The window in the middle, half a pixel rounded away from zero."""
    top = int(np.floor((image.shape[0] - height) / 2 + 0.5))
    left = int(np.floor((image.shape[1] - width) / 2 + 0.5))
    return image[top : top + height, left : left + width]


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_callbacks(batch_size):
    """A Python function in a branch that no sample takes is not called, and what follows is not either."""
    sizes = []

    def whole(batch):
        sizes.append(len(batch))
        return [sample * 2 for sample in batch]

    def on_arrays(batch):
        sizes.append(len(batch))
        return batch + 5

    def graph(level, image, number):
        if level > 0:
            value = fn.python_function(number, function=lambda v: v + 1)
            if value > 2.0:
                value = fn.python_function(value, function=whole, batch_processing=True)
                if value > 6.5:
                    value = jax_plugin.fn.jax_function(on_arrays)(value)
            else:
                value = value + 0.25
        else:
            value = number
        return value

    def expected(level, image, number):
        return (np.float32([0.5, 2 * 2.5, 2 * 3.5 + 5, 2 * 4.5 + 5][level]),)

    check(graph, expected, batch_size)
    assert sizes
    assert 0 not in sizes


@pytest.mark.cases(1)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_random_values(batch_size):
    """A random operator gives a sample the same value in a branch as outside of it."""

    def graph(level, image, number):
        outside = fn.random.uniform(range=[0.0, 1.0], seed=5)
        if level > 0:
            if level > 1:
                value = fn.random.uniform(range=[0.0, 1.0], seed=5)
                if value > 2.0:
                    value = value + fn.random.uniform(range=[0.0, 1.0], seed=5)
            else:
                value = fn.random.uniform(range=[0.0, 1.0], seed=5) + 1.0
        else:
            value = outside - 1.0
        return value, outside

    for batch, given in zip(outputs(graph, batch_size), levels(batch_size), strict=True):
        values, outside = np.array(batch[0]), np.array(batch[1])
        np.testing.assert_array_equal(values, outside + np.float32([-1, 1, 0, 0])[given])


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_sources_used_in_branches(batch_size, tmp_path):
    """A reader or a source called in a branch gives each sample of the batch its own, as in DALI."""
    for i in range(24):
        np.save(tmp_path / f"{i:02}.npy", np.full(2, i, np.float32))
    given = levels(batch_size)

    @jdali.pipeline_def(batch_size=batch_size, num_threads=1, enable_conditionals=True)
    def pipeline():
        level = fn.external_source(source=lambda i: given[i])
        if level > 0:
            if level > 1:
                value = fn.readers.numpy(file_root=str(tmp_path))
            else:
                value = fn.external_source(
                    source=lambda i: np.arange(2 * batch_size, dtype=np.float32).reshape(-1, 2)
                )
        else:
            value = fn.cast(fn.stack(level, level), dtype=types.FLOAT)
        return value

    with pipeline() as pipe:
        counter = itertools.count()
        for batch in given:
            (got,) = pipe.run()
            for i, level in enumerate(batch):
                number = next(counter) % 24
                wanted = [level, level] if level == 0 else [2 * i, 2 * i + 1] if level == 1 else [number] * 2
                np.testing.assert_array_equal(got.at(i), wanted)


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
@pytest.mark.parametrize("depth", [0, 2])
def test_through_an_iterator(batch_size, depth):
    given = levels(batch_size)

    @jdali.pipeline_def(
        batch_size=batch_size, num_threads=1, enable_conditionals=True, prefetch_queue_depth=max(depth, 1)
    )
    def pipeline():
        level = fn.external_source(source=given, cycle="raise")
        if level > 1 and level > 2:
            if not (level > 5):
                level = level * 10
            elif level > 6:
                level = level * 100
        return level

    pipe = pipeline(**({"exec_async": False, "exec_pipelined": False} if not depth else {}))
    with DataIterator(pipe, output_map=["level"], auto_reset=True, size=-1) as batches:
        for _ in range(2):
            got = [np.asarray(batch["level"]) for batch in batches]
            assert len(got) == len(given)
            for have, level in zip(got, given, strict=True):
                np.testing.assert_array_equal(have, np.where(level == 3, 30, level))


@pytest.mark.oracle
@pytest.mark.parametrize("limit", [-1, 1, 100])
def test_types_and_layouts_as_dali(limit):
    """The type and layout are those of the branch that has samples; if both have, they must agree."""
    dali = oracle.dali()
    numbers = [np.float32(0), np.float32(2)]

    def make(package):
        fn, types = package.fn, package.types

        @package.pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
        def pipeline():
            x = fn.external_source(source=lambda: numbers, batch=True)
            if x > limit:
                if x > limit + 50:
                    y = fn.reshape(fn.cast(x, dtype=types.UINT8), shape=[1], layout="X")
                else:
                    y = fn.reshape(fn.cast(x, dtype=types.INT32), shape=[1, 1], layout="HW")
            else:
                y = x
            return y

        pipe = pipeline()
        pipe.build()
        return pipe

    def facts(pipe):
        try:
            (out,) = pipe.run()
        except RuntimeError as error:
            return "Divergent data" in str(error)
        return str(out.dtype), out.layout(), [np.array(out.at(i)).tolist() for i in range(2)]

    import nvidia.dali.fn  # noqa: F401

    with contextlib.closing(make(jdali)) as ours:
        assert facts(ours) == facts(make(dali))


def test_a_source_in_a_branch_takes_no_values_of_it(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 4), np.float32))

    @jdali.pipeline_def(batch_size=2, num_threads=1, enable_conditionals=True)
    def pipeline():
        level = fn.external_source(source=lambda: np.arange(2, dtype=np.int32))
        if level > 0:
            start = level + 1
            value = fn.readers.numpy(file_root=str(tmp_path), rel_roi_start=fn.stack(start, start))
        else:
            value = fn.readers.numpy(file_root=str(tmp_path))
        return value

    with pytest.raises(RuntimeError, match="in one branch of a conditional and used outside of it"):
        pipeline().build()
