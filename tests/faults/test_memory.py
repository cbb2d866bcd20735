"""Batches that are kept do not change, and neither memory, threads nor open files grow."""

import gc
import os
import sys
import threading

import jax
import numpy as np
import pytest
from support.data import image
from support.faults import jdali_threads, until
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali._batches.slabs import SMALLEST
from jdali.iterator import DataIterator
from jdali.iterator import stream as _stream

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]

# Larger than the smallest memory that is leased, as a batch and as a sample.
PIXELS = (2 * SMALLEST // 4,)
BATCH = 4


def stage(value):
    return value + np.float32(0.5)


def copied(value):
    """A stage that gives what it takes."""
    return fn.copy(value)


def decoded(value):
    """What a user's function makes, with no stage behind it: put together by the iterator."""
    return fn.python_function(value, function=np.copy)


def taken(value):
    """As the source gives it."""
    return value


def filled(work, size=None):
    def source(number):
        return [np.full(PIXELS, BATCH * number + i, np.float32) for i in range(BATCH)]

    pipe = jdali.Pipeline(batch_size=BATCH, num_threads=2, seed=1)
    with pipe:
        pipe.set_outputs(work(fn.external_source(source=source)))
    return pipe


def kept_as(kind, array):
    """(object to keep, function that gives its values) for one output of an iterator."""
    if kind == "jax":
        return array, lambda: np.asarray(array)
    if kind == "numpy view":
        view = np.asarray(array)
        return view, lambda: view
    if kind == "piece of a view":
        piece = np.asarray(array)[1:3, ::7]
        return piece, lambda: piece
    if kind == "jax slice":
        piece = array[2]
        return piece, lambda: np.asarray(piece)
    if kind == "numpy by dlpack":
        view = np.from_dlpack(array)
        return view, lambda: view
    if kind == "torch":
        tensor = pytest.importorskip("torch").from_dlpack(array)
        return tensor, lambda: tensor.numpy()
    if kind == "torch slice":
        piece = pytest.importorskip("torch").from_dlpack(array)[3, 5:]
        return piece, lambda: piece.numpy()
    if kind == "buffer":
        buffer = memoryview(np.asarray(array)[0])
        return buffer, lambda: np.frombuffer(buffer, np.float32)
    raise AssertionError(kind)


KINDS = [
    "jax", "numpy view", "piece of a view", "jax slice", "numpy by dlpack", "torch", "torch slice", "buffer",
]  # fmt: skip


@pytest.mark.parametrize("work", [stage, copied, decoded, taken])
def test_batches_that_are_kept_do_not_change(work):
    """Every second batch is kept in one of many ways, the others are let go of, so memory is used again."""
    kept = []
    with DataIterator(filled(work), ["x"]) as it:
        for step in range(4 * len(KINDS)):
            array = next(it)["x"]
            if step % 2:
                holder, values = kept_as(KINDS[step // 2 % len(KINDS)], array)
                kept.append((step, values, np.array(values()), holder))
                del holder
            del array
        for _ in range(8):
            next(it)
    del it
    gc.collect()
    for step, values, then, _ in kept:
        np.testing.assert_array_equal(values(), then)
        offset = 0.5 if work is stage else 0.0
        assert set(np.unique(then)) <= {BATCH * step + i + offset for i in range(BATCH)}


@pytest.mark.parametrize("work", [stage, copied, decoded, taken])
def test_outputs_of_a_pipeline_that_are_kept_do_not_change(work):
    pipe = filled(work)
    offset = 0.5 if work is stage else 0.0
    kept = []
    for step in range(12):
        (output,) = pipe.run()
        if step % 3 == 0:
            kept.append((step, [np.asarray(output.at(i)) for i in range(BATCH)]))
        if step % 3 == 1:
            kept.append((step, list(np.asarray(output.as_array()))))
    pipe.close()
    for step, samples in kept:
        for i, sample in enumerate(samples):
            assert (sample == BATCH * step + i + offset).all()


@pytest.mark.parametrize("work", [stage, copied, decoded, taken])
def test_a_consumer_that_overwrites_its_batches(work):
    """Through DLPack a consumer can write where it should not: no other batch has its values."""
    torch = pytest.importorskip("torch")
    offset = 0.5 if work is stage else 0.0
    with DataIterator(filled(work), ["x"]) as it:
        for step in range(16):
            tensor = torch.from_dlpack(next(it)["x"])
            values = tensor.numpy().copy()
            tensor.fill_(-7.0)
            for i in range(BATCH):
                assert (values[i] == BATCH * step + i + offset).all()


def test_a_source_that_reuses_its_array():
    """A user's own array is copied when it is given: the next batch may be written into it."""
    shared = np.zeros((BATCH, *PIXELS), np.float32)

    def source(number):
        shared[:] = number
        return shared

    pipe = jdali.Pipeline(batch_size=BATCH, num_threads=2)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source))
    with DataIterator(pipe, ["x"]) as it:
        kept = [next(it)["x"] for _ in range(8)]
    assert [float(x.min()) for x in kept] == [float(x.max()) for x in kept] == list(range(8))


# --- nothing grows ----------------------------------------------------------------------------------
def resident() -> int:
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel, by /proc")


@pytest.fixture
def pictures(tmp_path):
    import simplejpeg

    for i in range(8):
        encoded = simplejpeg.encode_jpeg(np.ascontiguousarray(image(24 + i, 32, seed=i)))
        (tmp_path / f"{i}.jpg").write_bytes(encoded)
    return tmp_path


def reading(folder, **options):
    @jdali.pipeline_def(**{"batch_size": 4, "num_threads": 2, "seed": 1, **options})
    def pipeline():
        encoded, labels = fn.readers.file(
            files=[str(folder / f"{i}.jpg") for i in range(8)], random_shuffle=True, name="Reader"
        )
        pictures = fn.decoders.image(encoded)
        return fn.crop_mirror_normalize(pictures, crop=(20, 20), mirror=fn.random.coin_flip()), labels

    return pipeline()


@on_linux
def test_200_times_opened_and_closed(pictures):
    def once(steps):
        with DataIterator(
            reading(pictures), ["x", "label"], reader_name="Reader", prepare_first_batch=False
        ) as it:
            for _ in range(steps):
                next(it)

    def rounds(count):
        for i in range(count):
            once(1 if i % 20 == 0 else 0)
        gc.collect()
        jax.clear_caches()
        gc.collect()

    before = jdali_threads()
    rounds(20)
    threads, files, memory = threading.active_count(), open_files(), resident()
    rounds(180)
    assert until(lambda: not jdali_threads() - before)
    assert threading.active_count() <= threads
    assert open_files() <= files
    # The programs of 9 pipelines are compiled and let go of; what XLA keeps of each is not ours to free.
    assert resident() - memory < 100 << 20


@on_linux
def test_100_epochs(pictures):
    with DataIterator(reading(pictures, on_error="skip"), ["x", "label"], reader_name="Reader") as it:
        for _ in range(20):
            assert sum(1 for _ in it) == 2
        gc.collect()
        threads, files, memory = jdali_threads(), open_files(), resident()
        for _ in range(100):
            assert sum(1 for _ in it) == 2
        gc.collect()
        assert jdali_threads() == threads
        assert until(lambda: open_files() <= files)  # what is read ahead is open for a moment
        assert resident() - memory < 16 << 20


def test_what_is_kept_for_replaying_has_a_limit(monkeypatch):
    """A source that begins again in each epoch leaves something to remember; not for ever."""
    monkeypatch.setattr(_stream, "MOST_ANCHORS", 8)
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1)
    with pipe:
        drawn = fn.random.uniform(range=(0, 1))
        pipe.set_outputs(fn.external_source([np.zeros((2, 1), np.float32)] * 3, cycle="raise") + drawn)
    with DataIterator(pipe, ["x"], auto_reset=True) as it:
        seen = [np.ravel(batch["x"]).tolist() for _ in range(20) for batch in it]
        assert len(seen) == 60
        assert len(it._stream.anchors) <= 8
        for step in range(len(seen) - 6, len(seen)):
            assert np.ravel(it.batch_at(step)["x"]).tolist() == seen[step]
        with pytest.raises(ValueError, match="is forgotten"):
            it.batch_at(3)


def test_bad_samples_leave_nothing_to_remember():
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, on_error="skip")
    with pipe:
        pipe.set_outputs(numbers(NumberReader(40, bad=(1, 7, 8, 20))))
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        seen = [np.ravel(batch["x"]).tolist() for batch in it]
        assert len(it._stream.anchors) == 1
        assert [np.ravel(it.batch_at(step)["x"]).tolist() for step in range(40)] == seen


def test_every_sample_of_a_batch_is_bad():
    """Others stand in for them, which come where they belong, too."""
    for on_error in ("skip", "mask"):
        pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, on_error=on_error)
        with pipe:
            pipe.set_outputs(numbers(NumberReader(8, bad=(2, 3))))
        with DataIterator(pipe, ["x"], reader_name="Reader") as it:
            batches = list(it)
        rows = [np.ravel(batch["x"]).tolist() for batch in batches]
        assert rows == [[0, 1], [0, 4], [4, 5], [6, 7]]
        if on_error == "mask":
            assert [batch["mask"].all() for batch in batches] == [True, False, True, True]
            assert not batches[1]["mask"].any()
