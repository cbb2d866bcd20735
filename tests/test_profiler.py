"""`iterator.report()`: loops that are slow in a known place; and the names in a trace of JAX."""

import glob
import gzip
import itertools
import re
import time

import jax
import numpy as np
import pytest
from support.data import image
from support.numbers import pipeline

import jdali
from jdali import fn
from jdali.engine._timing import Part, TimedPool, inner
from jdali.iterator import DataIterator
from jdali.profiler import Report

SAMPLES = np.zeros((4, 8, 8, 3), np.uint8)


def source(i):
    return SAMPLES


def looping(define, consume=0.0, epochs=2, steps=10, threads=2, **options):
    """The report of the last epoch of a loop whose step takes `consume` seconds."""
    pipe = jdali.Pipeline(batch_size=4, num_threads=threads, seed=1, **options)
    with pipe:
        pipe.set_outputs(define())
    with DataIterator(pipe, ["x"], size=4 * steps) as it:
        for _ in range(epochs):
            for _ in it:
                time.sleep(consume)
        return it.report()


def brightened(samples):
    return fn.brightness(samples, brightness=2.0)


def test_a_slow_consumer():
    report = looping(lambda: brightened(fn.external_source(source, layout="HWC")), consume=0.05)
    assert report.bound_by == "loop"
    assert report.wait_share < 0.05
    assert report.advice == ()
    assert report.batches == 10
    assert report.seconds > 0.4
    assert "bound by the training loop" in str(report)


def test_a_slow_source():
    def slow(i):
        time.sleep(0.03)
        return SAMPLES

    report = looping(lambda: brightened(fn.external_source(slow, layout="HWC", name="camera")))
    assert report.bound_by == "source"
    assert report.wait_share > 0.8
    assert report.slowest.name == "camera"
    assert 0.03 <= report.slowest.seconds < 0.06
    assert report.slowest.cpu < 0.01  # it sleeps
    assert "asked in one thread" in report.advice[0]
    text = str(report)
    assert re.search(
        r"source +3\d\.\d ms +\d+%  camera \(waits 9\d% of that\)|camera \(waits 100% of that\)", text
    )
    assert "verdict: bound by data: camera (source) takes" in text


def test_a_slow_function():
    def slow(x):
        time.sleep(0.02)
        return x

    report = looping(
        lambda: brightened(fn.python_function(fn.external_source(source), function=slow)), threads=2
    )
    assert report.bound_by == "host"
    assert report.slowest.name == "python_function"
    assert 0.04 <= report.slowest.seconds < 0.075  # 4 samples on 2 threads
    assert 0.07 <= report.slowest.busy < 0.12
    assert 3 < report.slowest.tasks <= 4  # now and then a sample is worked on elsewhere
    assert 0.5 < report.thread_share <= 1.01
    assert any("jax_function" in advice for advice in report.advice)


def test_a_slow_reader():
    pipe = pipeline(24, 2, delay=lambda index: time.sleep(0.01))
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        list(it)
        report = it.report()
    assert report.bound_by == "reading"
    assert "wait for storage: raise num_threads (now 1)" in report.advice[0]


def test_a_slow_stage():
    """Much to compute for one thread."""
    big = np.zeros((4, 256, 256, 3), np.uint8)
    report = looping(
        lambda: fn.gaussian_blur(fn.external_source(lambda i: big, layout="HWC"), window_size=31),
        threads=1,
        steps=5,
    )
    assert report.bound_by == "stage"
    assert "gaussian_blur" in report.slowest.name
    assert 0 <= sum(part.seconds for part in report.parts if part.kind == "transfer") < report.slowest.seconds
    assert any('device="gpu"' in advice for advice in report.advice)


def test_slow_decoding(tmp_path):
    import simplejpeg

    content = simplejpeg.encode_jpeg(np.ascontiguousarray(image(300, 400, seed=1)))
    files = []
    for i in range(8):
        (tmp_path / f"{i}.jpg").write_bytes(content)
        files.append(str(tmp_path / f"{i}.jpg"))

    def define():
        encoded, _ = fn.readers.file(files=files, name="Reader")
        return fn.resize(fn.decoders.image(encoded), size=[16, 16])

    report = looping(define, steps=5)
    decoding = next(part for part in report.parts if part.kind == "decoding")
    assert decoding.name == "decoders.image"
    assert 0.1 * decoding.busy < decoding.cpu <= decoding.busy * 1.01  # less where other programs run
    assert [part.kind for part in report.parts].count("reading") == 1
    if report.bound_by == "decoding":  # resizing may take longer on some machines
        assert "scaled_decoding=True" in report.advice[0]


def test_compilations():
    """A first epoch that mostly compiles."""
    sizes = itertools.count(8)

    def define():
        x = fn.external_source(lambda i: np.zeros((4, next(sizes) * 40, 8, 3), np.uint8), layout="HWC")
        return fn.warp_affine(fn.color_twist(x, hue=20.0), matrix=[1.0, 0.1, 0.0, 0.0, 1.0, 0.0], size=[8, 8])

    report = looping(define, epochs=1, steps=3)
    assert report.programs >= 1
    assert report.compile_seconds > 0
    assert report.bound_by == "compilation"
    assert "warmup" in report.advice[0]
    assert "programs compiled" in str(report)


def test_a_pipeline_that_does_not_run_ahead():
    def slow(i):
        time.sleep(0.01)
        return SAMPLES

    report = looping(lambda: brightened(fn.external_source(slow, layout="HWC")), exec_async=False)
    assert report.bound_by == "source"
    assert "let the pipeline run ahead" in report.advice[0]


def test_before_any_batch_and_after_a_restart():
    pipe = pipeline(8, 2)
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        assert isinstance(it.report(), Report)
        assert str(it.report()) == "no batch was taken yet"
        next(it)
        assert it.report().batches == 1
        it.set_state(it.get_state())
        assert it.report().batches == 0
        assert len(list(it)) == it.report().batches == 3


def test_several_pipelines_are_taken_together():
    slow = {"delay": lambda index: time.sleep(0.005)}
    pipes = [pipeline(16, 2, shard_id=i, num_shards=2, **slow) for i in range(2)]
    with DataIterator(pipes, ["x"], reader_name="Reader") as it:
        list(it)
        report = it.report()
    reading = next(part for part in report.parts if part.kind == "reading")
    assert 0.01 <= reading.seconds < 0.02  # of one pipeline


def test_counters_of_a_part():
    part = Part("host", "work")
    pool = TimedPool(2)
    for _ in range(3):
        with part.lap(), inner("waiting"):
            list(pool.map(lambda i: time.sleep(0.01), range(4)))
    pool.submit(time.sleep, 0.05).result()  # of nobody
    pool.shutdown()
    spent = part.spent()
    assert (spent.count, spent.tasks) == (3, 12)
    assert 0.06 <= spent.seconds < 0.1
    assert 0.12 <= spent.busy < 0.2
    assert spent.cpu < 0.03
    assert spent.inner["waiting"] == pytest.approx(spent.seconds, rel=0.1)
    assert (spent - spent).busy == 0


def test_names_in_a_trace(tmp_path):
    files = []
    for i in range(4):
        (tmp_path / f"{i}.bin").write_bytes(bytes(8))
        files.append(str(tmp_path / f"{i}.bin"))
    pipe = jdali.Pipeline(batch_size=2, num_threads=2, seed=1)
    with pipe:
        data, _ = fn.readers.file(files=files, name="Reader")
        pipe.set_outputs(fn.python_function(data, function=lambda x: x) + 1.0)
    with jax.profiler.trace(str(tmp_path / "trace")), DataIterator(pipe, ["x"], reader_name="Reader") as it:
        list(it)
    (found,) = glob.glob(f"{tmp_path}/trace/**/*.trace.json.gz", recursive=True)
    with gzip.open(found, "rt") as file:
        text = file.read()
    for name in (
        "jdali reading: readers.file", "jdali host: python_function", "jdali stage:", "jdali staging",
        "jdali wait for data", "jdali batch:", "jdali source:",
    ):  # fmt: skip
        assert name in text, name


def test_what_it_costs():
    """A lap, with a task and a name, is some microseconds."""
    part, pool = Part("host", "work"), TimedPool(1)
    best = []
    for _ in range(5):
        start = time.thread_time()
        for _ in range(200):
            with part.lap() as lap:
                lap.task(int)()
                with inner("staging"):
                    pass
        best.append((time.thread_time() - start) / 200)
    pool.shutdown()
    assert min(best) < 1e-4  # 10 us on an idle machine
