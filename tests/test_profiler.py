"""`iterator.report()`: loops that are slow in a known place; and the names in a trace of JAX."""

import dataclasses
import glob
import gzip
import itertools
import re
import time
from collections import Counter

import jax
import numpy as np
import pytest
from support.data import image
from support.numbers import pipeline

import jdali
from jdali import fn
from jdali.engine._report import Times
from jdali.engine._timing import Part, Spent, TimedPool, inner
from jdali.iterator import DataIterator
from jdali.profiler import Recorder, Report

SAMPLES = np.zeros((4, 8, 8, 3), np.uint8)


def source(i):
    return SAMPLES


def looping(define, consume=0.0, epochs=2, steps=10, threads=2, **options):
    """The report of the last epoch of a loop whose step takes `consume` seconds."""
    pipe = jdali.Pipeline(batch_size=4, num_threads=threads, seed=1, **options)
    with pipe:
        pipe.set_outputs(define())
    with DataIterator(pipe, ["x"], size=4 * steps) as it:
        for epoch in range(epochs):
            for _ in it:
                time.sleep(consume if epoch == epochs - 1 else 0)
        return it.report()


def brightened(samples):
    return fn.brightness(samples, brightness=2.0)


def test_a_slow_consumer():
    report = looping(lambda: brightened(fn.external_source(source, layout="HWC")), consume=0.1)
    assert report.bound_by == "loop"
    assert report.wait_share < 0.05
    assert report.advice == ()
    assert report.batches == 10
    assert report.seconds >= 0.9
    assert "bound by the training loop" in str(report)


def test_a_slow_source():
    def slow(i):
        time.sleep(0.03)
        return SAMPLES

    report = looping(lambda: brightened(fn.external_source(slow, layout="HWC", name="camera")))
    assert report.bound_by == "source"
    assert report.wait_share > 0.8
    assert report.slowest.name == "camera"
    assert report.slowest.seconds >= 0.03
    assert report.slowest.cpu < 0.02  # it sleeps
    assert "asked in one thread" in report.advice[0]
    text = str(report)
    assert re.search(r"source +\d+\.\d ms +\d+%  camera \(waits \d+% of that\)", text)
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
    assert report.slowest.seconds >= 0.04  # 4 samples on 2 threads
    assert 0.07 <= report.slowest.busy <= 2.1 * report.slowest.seconds
    assert 3 < report.slowest.tasks <= 4  # now and then a sample is worked on elsewhere
    assert 0.3 < report.thread_share < 1.3
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
    assert re.search(r"\d+ programs? compiled, \d", str(report))


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


# --- verdicts from counters given by hand -----------------------------------------------------------
@dataclasses.dataclass
class Fake:
    """A pipeline with one reader and one stage, of a pool of two threads; it has spent nothing until `ran`."""

    reading: Spent
    stage: Spent
    programs: int = 0
    ahead: bool = True
    ran: bool = False

    def times(self):
        first = [(Part("source", "order"), Spent()), (Part("reading", "readers.file"), self.reading)]
        second = [(Part("stage", "resize"), self.stage), (Part("device", "waiting"), Spent())]
        lanes = [[(part, took if self.ran else Spent()) for part, took in lane] for lane in (first, second)]
        return Times(lanes, self.programs if self.ran else 0, 2, False, self.ahead)


def reported(*pipelines, waited=0.5):
    """The report of 10 batches in a second."""
    recorder = Recorder(pipelines, Part("batch", "put together"))
    for pipe in pipelines:
        pipe.ran = True
    return recorder.report(10, 1.0, waited)


def took(seconds, busy=None, tasks=10, **inner):
    """What a part has taken for 10 batches."""
    busy = seconds if busy is None else busy
    return Spent(10, tasks, seconds, busy, busy, Counter(inner))


def test_several_pipelines_are_taken_together():
    report = reported(Fake(took(0.8), took(0.1)), Fake(took(0.4), took(0.3)))
    shown = [(part.kind, part.seconds) for part in report.parts if part.seconds]
    assert shown == [("reading", pytest.approx(0.06)), ("stage", pytest.approx(0.02))]
    assert report.bound_by == "reading"


def test_lanes_run_side_by_side():
    """0.6 s of reading beside 0.7 s of a stage in 1 s."""
    report = reported(Fake(took(0.6), took(0.7, busy=1.2, tasks=40, staging=0.9)))
    assert report.bound_by == "stage"
    assert report.slowest.name == "resize"
    assert report.slowest.inner == {"staging": pytest.approx(0.09)}
    assert report.thread_share == pytest.approx(0.6)
    assert any("copying to padded arrays" in advice for advice in report.advice)
    text = str(report)
    assert "10 batches in 1.00 s, 100.0 ms a batch; the loop waited for data 50% of the time" in text
    assert "stage       70.0 ms   70%  resize (4 calls, 2 threads 60% busy with it; staging 90.0 ms)" in text


def test_nothing_is_busy_all_the_time():
    assert "raise prefetch_queue_depth" in reported(Fake(took(0.2), took(0.3))).advice[-1]
    busy = reported(Fake(took(0.2), took(0.9)))
    assert not any("prefetch_queue_depth" in advice for advice in busy.advice)


def test_compilation_is_told_apart():
    """Of 0.9 s in a stage 0.8 s went into compiling."""
    report = reported(Fake(took(0.5), took(0.9, compiling=0.8), programs=3), waited=0.9)
    assert report.verdict == "bound by compilation: 3 programs took 0.8 s"
    assert {part.name: part.seconds for part in report.parts}["resize"] == pytest.approx(0.01)
    late = reported(Fake(took(0.95), took(0.02, compiling=0.01), programs=1), waited=0.9)
    assert late.bound_by == "reading"


def test_threads_and_cores(monkeypatch):
    work = took(0.9, busy=1.7, tasks=80)
    monkeypatch.setattr("os.sched_getaffinity", lambda of: set(range(8)), raising=False)
    assert "raise num_threads: it is 2 on 8 cores" in reported(Fake(work, took(0.1))).advice
    monkeypatch.setattr("os.sched_getaffinity", lambda of: {0, 1}, raising=False)
    assert not any("num_threads" in advice for advice in reported(Fake(work, took(0.1))).advice)


# --- counting ----------------------------------------------------------------------------------------
def test_counters_of_a_part():
    part = Part("host", "work")
    pool = TimedPool(2)
    for _ in range(3):
        with part.lap(), inner("waiting"):
            list(pool.map(lambda i: time.sleep(0.01), range(4)))
    pool.submit(time.sleep, 0.05).result()  # of nobody
    pool.shutdown()
    total = part.spent()
    assert (total.count, total.tasks) == (3, 12)
    assert total.seconds >= 0.06
    assert 0.12 <= total.busy <= 2.1 * total.seconds
    assert total.cpu < total.busy / 2
    assert total.inner["waiting"] == pytest.approx(total.seconds, rel=0.1)
    assert (total - total).busy == 0


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
