"""`iterator.report()`: loops that are slow at a known step; and the names in a trace of JAX."""

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
from jdali._operators.record import REGISTRY, host_operator
from jdali._threads import PhaseTimer, Spent, Times, WorkerThreads, inner, timed
from jdali.engine.steps.stage import StageRunner
from jdali.fn._build import make_function
from jdali.iterator import DataIterator
from jdali.iterator.epoch_loop import WaitClock
from jdali.profiler import Recorder, Report

SAMPLES = np.zeros((4, 8, 8, 3), np.uint8)


def source(i):
    return SAMPLES


class Clock:
    """Time that goes on only where a test says so: what is measured by it is the same on a busy machine."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def passes(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """The clock by which the engine measures; processor time does not pass at all."""
    clock = Clock()
    monkeypatch.setattr("jdali._threads.timing.perf_counter", clock.perf_counter)
    monkeypatch.setattr("jdali._threads.timing.thread_time", lambda: 0.0)
    for module in (
        "engine.workers",
        "engine.steps.reader_op",
        "iterator.epoch_loop",
    ):
        monkeypatch.setattr(f"jdali.{module}.time", clock)
    return clock


def looping(define, between=lambda: None, epochs=2, steps=10, threads=1, **options):
    """The report of the last epoch of a loop that calls `between` in each of its steps.

    The pipeline does not run ahead: one thing happens after the other, so each has its own time.
    """
    pipe = jdali.Pipeline(
        **{"batch_size": 4, "num_threads": threads, "seed": 1, "exec_async": False, **options}
    )
    with pipe:
        pipe.set_outputs(define())
    with DataIterator(pipe, ["x"], size=4 * steps) as it:
        for epoch in range(epochs):
            for _ in it:
                if epoch == epochs - 1:
                    between()
        return it.report()


def brightened(samples):
    return fn.brightness(samples, brightness=2.0)


def test_a_slow_consumer(clock):
    report = looping(
        lambda: brightened(fn.external_source(source, layout="HWC")), between=lambda: clock.passes(0.1)
    )
    assert report.bound_by == "loop"
    assert report.wait_share == 0
    assert report.advice == ()
    assert report.batches == 10
    assert report.seconds == pytest.approx(1.0)
    assert "bound by the training loop" in str(report)


def test_a_slow_source(clock):
    def slow(i):
        clock.passes(0.03)
        return SAMPLES

    report = looping(
        lambda: brightened(fn.external_source(slow, layout="HWC", name="camera")),
        between=lambda: clock.passes(0.005),
    )
    assert report.bound_by == "source"
    # After the last batch the loop comes for the end: 10 waits and 10 steps.
    assert report.wait_share == pytest.approx(0.3 / 0.35)
    assert report.slowest.name == "camera"
    assert report.slowest.seconds == pytest.approx(0.03)
    assert report.slowest.cpu == 0  # it waits
    assert any("asked in one thread" in advice for advice in report.advice)
    text = str(report)
    assert re.search(r"source +30\.0 ms +86%  camera \(waits 100% of that\)", text)
    assert "verdict: bound by data: camera (source) takes" in text


def test_a_slow_function(clock):
    def slow(x):
        clock.passes(0.02)
        return x

    report = looping(lambda: brightened(fn.python_function(fn.external_source(source), function=slow)))
    assert report.bound_by == "host"
    assert report.slowest.name == "python_function"
    assert report.slowest.seconds == pytest.approx(4 * 0.02)
    assert report.slowest.busy == pytest.approx(4 * 0.02)
    assert report.slowest.tasks == 1  # a function may have effects: one sample after another
    assert not any("num_threads" in advice for advice in report.advice)
    assert any("jax_function" in advice for advice in report.advice)


@pytest.mark.parametrize(
    ("work", "kind", "advice"),
    [("decoding", "decoding", "smaller files"), ("user code", "host", "jax_function"), ("", "host", None)],
)
def test_what_an_operator_does_is_what_its_record_says(clock, work, kind, advice):
    def unpacked(data, /):
        clock.passes(0.02)
        return data

    record = host_operator(name="acme.unpack", work=work)(unpacked)
    try:
        report = looping(lambda: make_function(record)(fn.external_source(source)))
    finally:
        del REGISTRY["acme.unpack"]
    assert (report.slowest.name, report.slowest.kind) == ("acme.unpack", kind)
    assert report.slowest.user_code == (work == "user code")
    assert advice is None or any(advice in given for given in report.advice)
    assert any("jax_function" in given for given in report.advice) == (work == "user code")


def test_a_slow_reader(clock):
    pipe = pipeline(24, 2, delay=lambda index: clock.passes(0.01), pipeline_args={"exec_async": False})
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        list(it)
        report = it.report()
    assert report.bound_by == "reading"
    assert report.slowest.seconds == pytest.approx(0.02)
    assert any("wait for storage: raise num_threads (now 1)" in advice for advice in report.advice)


def test_a_slow_stage(clock, monkeypatch):
    """Its results take long to be there."""
    run = StageRunner.run

    def slow(runner, *arguments):
        clock.passes(0.0 if runner.stage.is_arguments else 0.05)
        return run(runner, *arguments)

    monkeypatch.setattr(StageRunner, "run", slow)
    report = looping(
        lambda: fn.gaussian_blur(fn.external_source(source, layout="HWC"), window_size=3), steps=5
    )
    assert report.bound_by == "stage"
    assert "gaussian_blur" in report.slowest.name
    assert report.slowest.seconds == pytest.approx(0.05)
    assert sum(part.seconds for part in report.parts if part.kind == "transfer") == 0
    assert any('device="gpu"' in advice for advice in report.advice)


def test_slow_decoding(clock, monkeypatch, tmp_path):
    import simplejpeg

    content = simplejpeg.encode_jpeg(np.ascontiguousarray(image(300, 400, seed=1)))
    files = []
    for i in range(8):
        (tmp_path / f"{i}.jpg").write_bytes(content)
        files.append(str(tmp_path / f"{i}.jpg"))
    decode = simplejpeg.decode_jpeg

    def slow(*args, **kwargs):
        clock.passes(0.01)
        return decode(*args, **kwargs)

    monkeypatch.setattr(simplejpeg, "decode_jpeg", slow)

    def define():
        encoded, _ = fn.readers.file(files=files, name="Reader")
        return fn.resize(fn.decoders.image(encoded), size=[16, 16])

    report = looping(define, steps=5)
    decoding = next(part for part in report.parts if part.kind == "decoding")
    assert decoding.name == "decoders.image"
    assert decoding.seconds == pytest.approx(4 * 0.01)
    assert decoding.busy == pytest.approx(0.01 * decoding.tasks)
    assert [part.kind for part in report.parts].count("reading") == 1
    assert report.bound_by == "decoding"
    assert any("scaled_decoding=True" in advice for advice in report.advice)


def test_compilations(clock, monkeypatch):
    """A first epoch that mostly compiles: 0.5 s a program."""
    sizes = itertools.count(8)

    class Compiling(Clock):
        def perf_counter(self):
            clock.passes(0.25)
            return clock.now

    monkeypatch.setattr("jdali.engine.steps.program.time", Compiling())

    def define():
        x = fn.external_source(lambda i: np.zeros((4, next(sizes) * 40, 8, 3), np.uint8), layout="HWC")
        return fn.warp_affine(x, matrix=[1.0, 0.1, 0.0, 0.0, 1.0, 0.0], size=[8, 8])

    report = looping(define, epochs=1, steps=3)
    assert report.programs >= 1
    assert report.compile_seconds == pytest.approx(0.5 * report.programs)
    assert report.bound_by == "compilation"
    assert "warmup" in report.advice[0]
    assert re.search(r"\d+ programs? compiled, \d", str(report))


def test_measured_by_the_real_clock():
    """Ahead, in threads: only that everything is counted, and no more time than there was."""

    def function(x):
        time.sleep(0.001)
        return x

    report = looping(
        lambda: brightened(fn.python_function(fn.external_source(source), function=function)),
        threads=2,
        exec_async=True,
    )
    assert report.batches == 10
    assert 0 < report.wait_share <= 1
    host = next(part for part in report.parts if part.kind == "host")
    assert 0.004 <= host.busy <= 2.1 * host.seconds
    assert 0 <= host.cpu <= host.busy * 1.01
    assert report.seconds > 0


def test_a_pipeline_that_does_not_run_ahead(clock):
    def slow(i):
        clock.passes(0.01)
        return SAMPLES

    report = looping(lambda: brightened(fn.external_source(slow, layout="HWC")))
    assert report.bound_by == "source"
    assert "let the pipeline run ahead" in report.advice[0]


def test_before_any_batch_and_after_a_restart():
    pipe = pipeline(8, 2)
    with DataIterator(pipe, ["x"], reader_name="Reader") as it:
        assert isinstance(it.report(), Report)
        assert str(it.report()) == "no batch was taken yet"
        next(it)
        assert it.report().batches == 1
        assert str(it.report()).startswith("1 batch in ")
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
        first = [
            (PhaseTimer("source", "order"), Spent()),
            (PhaseTimer("reading", "readers.file"), self.reading),
        ]
        second = [(PhaseTimer("stage", "resize"), self.stage), (PhaseTimer("device", "waiting"), Spent())]
        lanes = [[(part, took if self.ran else Spent()) for part, took in lane] for lane in (first, second)]
        return Times(lanes, self.programs if self.ran else 0, 2, False, self.ahead)


def reported(*pipelines, waited=0.5, first_wait=0.0):
    """The report of 10 batches in a second."""
    recorder = Recorder(pipelines, PhaseTimer("batch", "put together"))
    for pipe in pipelines:
        pipe.ran = True
    return recorder.report(10, 1.0, waited, first_wait)


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


def test_late_samples_are_decoded_and_not_copied():
    report = reported(Fake(took(0.1), took(0.9, busy=0.9, staging=0.8, decoding=0.7)))
    assert report.slowest.inner == {"staging": pytest.approx(0.01), "decoding": pytest.approx(0.07)}
    assert any("smaller files decode faster" in advice for advice in report.advice)
    assert not any("copying to padded arrays" in advice for advice in report.advice)


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
    early = reported(Fake(took(0.1), took(1.6, compiling=1.5), programs=1), waited=0.9)
    assert early.compile_seconds == early.seconds == 1.0


@pytest.mark.parametrize(
    ("waited", "first_wait", "bound_by", "verdict"),
    [
        (0.5, 0.3, "start", "bound by the start: of 0.50 s that the loop waited, 0.30 s were for the first batch"),
        (0.5, 0.2, "stage", "bound by data: resize (stage) takes"),
        (0.1, 0.08, "loop", "bound by the training loop: it waited for data 10% of the time, mostly for the first batch"),
        (0.1, 0.02, "loop", "bound by the training loop for the most part: it waited for data 10% of the time; resize"),
        (0.04, 0.04, "loop", "bound by the training loop: it waited for data 4.0% of the time"),
    ],
)  # fmt: skip
def test_the_wait_for_the_first_batch_is_told_apart(waited, first_wait, bound_by, verdict):
    """A part that takes a fraction of a batch's time is not blamed for it, and nothing is said against it."""
    report = reported(Fake(took(0.2), took(0.3)), waited=waited, first_wait=first_wait)
    assert report.bound_by == bound_by
    assert report.verdict.startswith(verdict)
    assert any("smaller pictures" in text for text in report.advice) == ("resize" in verdict)
    started = reported(FakeWorkers(took(0.9, busy=0.4), Spent()), waited=0.9, first_wait=0.8)
    assert started.bound_by == "start"
    assert "workers start and compile" in started.advice[-1]


def test_the_first_wait_of_each_epoch(clock):
    """The first batch takes 0.3 s, as a bad sample before it would, and each further one 0.1 s."""
    waits = WaitClock()
    for _ in range(2):
        for seconds, came in ((0.2, False), (0.1, True), (0.1, True), (0.1, True)):
            with waits.wait():
                clock.passes(seconds)
                waits.batches += came
        assert waits.first_wait == pytest.approx(0.3)
        assert waits.waited == pytest.approx(0.5)
        waits.end_epoch()


def test_threads_and_cores(monkeypatch):
    work = took(0.9, busy=1.7, tasks=80)
    monkeypatch.setattr("jdali.profiler.cpu_count", lambda: 8)
    assert "raise num_threads: it is 2 on 8 cores" in reported(Fake(work, took(0.1))).advice
    monkeypatch.setattr("jdali.profiler.cpu_count", lambda: 2)
    assert not any("num_threads" in advice for advice in reported(Fake(work, took(0.1))).advice)


@dataclasses.dataclass
class FakeWorkers(Fake):
    """The same, whose batches are made by workers: `reading` is the time of their tasks, `busy` that of all together."""

    workers: int = 4

    def times(self):
        lane = [(PhaseTimer("workers", "in workers"), self.reading if self.ran else Spent())]
        return Times([lane], 0, 1, False, self.ahead, self.workers, deaths=0, nbytes=0)


@pytest.mark.parametrize(
    ("busy", "waited", "cores", "advice"),
    [
        (3.9, 0.5, 8, "add workers: there are 4 on 8 cores"),
        (3.9, 0.5, 4, None),  # there is no core for one more
        (1.2, 0.5, 8, "workers wait for what is drawn or settled in this process"),
        (1.1, 0.01, 8, "2 of the 4 workers are enough: remove some"),
        (0.1, 0.01, 8, "1 of the 4 workers are enough: remove some"),
        (2.3, 0.01, 8, None),  # with three, 77 % of their time would be work
    ],
)
def test_how_many_workers(busy, waited, cores, advice, monkeypatch):
    """Four workers have been busy for some seconds of the four that they had."""
    monkeypatch.setattr("jdali.profiler.cpu_count", lambda: cores)
    report = reported(FakeWorkers(took(0.9, busy=busy), Spent()), waited=waited)
    assert report.bound_by == ("loop" if waited < 0.05 else "workers")
    said = [text for text in report.advice if "workers" in text]
    assert len(said) == (advice is not None)
    assert advice is None or said[0].startswith(advice)


# --- counting ----------------------------------------------------------------------------------------
def test_counters_of_a_part(clock):
    part = PhaseTimer("host", "work")
    pool = WorkerThreads(1)
    for _ in range(3):
        with part.lap(), inner("waiting"):
            list(pool.map(timed(lambda i: clock.passes(0.01)), range(4)))
    pool.submit(clock.passes, 0.05).result()  # of nobody
    pool.shutdown()
    total = part.spent()
    assert (total.count, total.tasks) == (3, 12)
    assert total.seconds == total.busy == total.inner["waiting"] == pytest.approx(0.12)
    assert total.cpu == 0
    assert (total - total).busy == 0


def test_a_program_counts_when_its_time_does(clock):
    part = PhaseTimer("stage", "work")
    with part.lap():
        with inner("compiling"):
            clock.passes(0.5)
        assert (part.spent().programs, part.spent().inner["compiling"]) == (0, 0)
        with inner("computing"):
            clock.passes(0.1)
    spent = part.spent()
    assert (spent.programs, spent.inner["compiling"]) == (1, pytest.approx(0.5))
    assert (spent - spent).programs == 0


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


def test_what_it_costs(monkeypatch):
    """Clocks are read ten times for a lap with a task and a name, however long they take."""
    read = []
    for name in ("perf_counter", "thread_time"):
        monkeypatch.setattr(f"jdali._threads.timing.{name}", lambda name=name: read.append(name) or 0.0)
    with PhaseTimer("host", "work").lap() as lap:
        with inner("staging"):
            pass
        lap.task(int)("0")
    assert Counter(read) == {"perf_counter": 6, "thread_time": 4}
    with inner("staging"):  # in no lap
        pass
    assert len(read) == 10
