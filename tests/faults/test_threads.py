"""Errors, ends, closing and waiting in the threads of a pipeline: nothing hangs, nothing is lost."""

import contextlib
import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from support.faults import PATIENCE, batches, first, in_thread, jdali_threads, overlapping, until
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali._threads import WorkerThreads
from jdali.engine.in_flight import IN_FLIGHT
from jdali.iterator import DataIterator

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]


def raising_at(*values):
    def function(value):
        if int(np.ravel(value)[0]) in values:
            raise ZeroDivisionError(f"{value} is right out")
        return value

    return function


def same(value):
    return value


class TestErrors:
    def test_whichever_step_fails_results_and_errors_keep_their_order(self):
        """The function after the stage fails for 3 (it sees 4), that before it for 5 and 6; all others come, in order."""
        pipe = overlapping(batches(9), raising_at(5, 6), raising_at(4))
        assert pipe.internals().window.ahead
        got = []
        for _ in range(9):
            try:
                got.append(first(pipe.run()))
            except jdali.OperatorError as error:
                got.append(type(error.__cause__).__name__)
        assert got == [1, 2, 3, "ZeroDivisionError", 5, "ZeroDivisionError", "ZeroDivisionError", 8, 9]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.close()

    @pytest.mark.parametrize("ahead", [True, False])
    def test_a_worker_that_ends_its_thread_ends_nothing_else(self, ahead):
        """What is no Exception (a library that calls `sys.exit`) comes to the user, and the next batch too."""

        def function(value):
            if value == 1:
                sys.exit(3)
            return value

        pipe = overlapping(batches(4), function, exec_async=ahead)
        assert first(pipe.run()) == 1
        with pytest.raises(jdali.OperatorError, match="SystemExit: 3"):
            pipe.run()
        assert [first(pipe.run()) for _ in range(2)] == [3, 4]
        pipe.close()

    def test_sources_stay_together_if_one_of_them_fails(self):
        class Labels:
            def __init__(self):
                self.given = -1

            def __iter__(self):
                return self

            def __next__(self):
                self.given += 1
                if self.given == 2:
                    raise OSError("the network is down")
                return np.full((2,), self.given, np.int32)

        @jdali.pipeline_def(batch_size=2, num_threads=1)
        def pipeline():
            return (
                fn.external_source(source=batches(6)),
                fn.external_source(source=Labels()),
                numbers(NumberReader(12)),
            )

        pipe, got = pipeline(), []
        for _ in range(5):
            try:
                got.append([o.as_array().ravel().tolist() for o in pipe.run()])
            except jdali.OperatorError as error:
                got.append(str(error).split("\n")[0])
        assert got[2] == "external_source: OSError: the network is down"
        assert [row for row in got if row != got[2]] == [
            [[i, i], [i, i], [2 * i, 2 * i + 1]] for i in (0, 1, 3, 4)
        ]
        pipe.close()

    def test_data_that_is_not_fed_yet_takes_nothing_from_other_sources(self):
        @jdali.pipeline_def(batch_size=2, num_threads=1)
        def pipeline():
            return (
                fn.external_source(name="a"),
                fn.external_source(name="b"),
                fn.external_source(source=batches(3)),
            )

        pipe = pipeline()
        pipe.feed_input("a", np.zeros((2, 1), np.int32))
        with pytest.raises(jdali.OperatorError, match="feed_input"):
            pipe.run()
        pipe.feed_input("b", np.ones((2, 1), np.int32))
        assert [int(o.at(0)) if o.at(0).ndim == 0 else int(o.at(0)[0]) for o in pipe.run()] == [0, 1, 0]
        pipe.close()

    def test_pipelines_of_an_iterator_stay_together_if_one_of_them_fails(self):
        def shard(number, bad=()):
            pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1)
            with pipe:
                pipe.set_outputs(numbers(NumberReader(8, shard_id=number, num_shards=2, stick=True, bad=bad)))
            return pipe

        with DataIterator([shard(0, bad=(1,)), shard(1)], ["x"], reader_name="Reader") as it:
            for _ in range(2):  # epochs
                rows, errors = [], 0
                for _ in range(4):
                    try:
                        rows.append(np.ravel(next(it)["x"]).tolist())
                    except jdali.OperatorError:
                        errors += 1
                assert (rows, errors) == ([[0, 4], [2, 6], [3, 7]], 1)
                with pytest.raises(StopIteration):
                    next(it)
                it.reset()

    def test_nan_and_infinity_go_through(self):
        values = np.array([np.nan, np.inf, -np.inf, 1e38, -0.0, 5.0], np.float32)

        @jdali.pipeline_def(batch_size=6, num_threads=1)
        def pipeline():
            x = fn.external_source(source=lambda: values)
            return x * 2.0, fn.cast(x, dtype=jdali.types.UINT8), fn.normalize(fn.expand_dims(x, axes=0))

        pipe = pipeline()
        for _ in range(3):
            doubled, saturated, _ = pipe.run()
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(doubled.as_array().ravel(), values * np.float32(2))
            # What NaN becomes as an integer is not said; the others saturate.
            assert saturated.as_array().ravel()[1:].tolist() == [255, 0, 255, 0, 5]
        pipe.close()


class TestEnds:
    @pytest.mark.parametrize("has_steps", [True, False])
    def test_the_end_is_told_again_until_the_reset(self, has_steps):
        source = batches(2)
        pipe = overlapping(source, same, cycle="raise") if has_steps else counting(source, cycle="raise")
        for _ in range(2):
            assert len(list(pipe)) == 2
            for _ in range(3):
                with pytest.raises(StopIteration):
                    in_thread(pipe.run)()
            pipe.reset()
            pipe.reset()
        assert pipe.run()
        pipe.close()

    @pytest.mark.parametrize("has_steps", [True, False])
    def test_a_source_that_cannot_begin_again_says_so(self, has_steps):
        class Tape:
            begun = 0

            def __iter__(self):
                self.begun += 1
                if self.begun == 2:
                    raise OSError("the tape is torn")
                return iter(list(batches(2)()))

        source = Tape()
        pipe = overlapping(source, same, cycle="raise") if has_steps else counting(source, cycle="raise")
        for _ in range(2):
            pipe.run()
        with pytest.raises(OSError, match="the tape is torn"):
            in_thread(pipe.run)()
        with pytest.raises(StopIteration):  # it is still at its end
            in_thread(pipe.run)()
        pipe.reset()
        assert len(list(pipe)) == 2
        pipe.close()

    def test_an_end_that_the_user_did_not_come_to_know_is_told_again(self):
        """Interrupted just when it was handed over: the next epoch begins with a reset."""
        pipe = counting([np.zeros((2,), np.int32)], cycle="raise", parallel=True)
        with DataIterator(pipe, ["x"]) as it:
            next(it)
            it._stream.wait()
            end = it._stream.take()
            it._stream.wait()
            assert end is not None
            assert it._stream.take() == end
            with pytest.raises(StopIteration):
                next(it)
            it.reset()
            assert next(it)


def counting(source, cycle=None, parallel=False, **options):
    @jdali.pipeline_def(**{"batch_size": 2, "num_threads": 2, **options})
    def pipeline():
        return fn.external_source(source=source, cycle=cycle, parallel=parallel)

    return pipeline()


class Gate:
    """A source whose batch number `at` is not there before the gate is opened."""

    def __init__(self, at=0):
        self.at, self.opened, self.reached = at, threading.Event(), threading.Event()

    def __call__(self, number):
        if number >= self.at:
            self.reached.set()
            assert self.opened.wait(PATIENCE)
        return np.full((2,), number, np.int32)

    def function(self, value):
        self(int(np.ravel(value)[0]))
        return value


class TestClosing:
    @pytest.mark.parametrize("where", ["before the stage", "after the stage"])
    def test_who_waits_is_told_at_once(self, where):
        """Another thread closes while `run` waits for a function that does not return."""
        gate = Gate()
        pipe = {
            "before the stage": lambda: overlapping(batches(9), gate.function),
            "after the stage": lambda: overlapping(batches(9), same, gate.function),
        }[where]()
        waiting = in_thread(pipe.run)
        assert gate.reached.wait(PATIENCE)
        closed = in_thread(pipe.close)
        with pytest.raises(RuntimeError, match="closed while a batch was awaited"):
            waiting()
        gate.opened.set()  # close waits for the user's code: it is not killed
        closed()
        with pytest.raises(RuntimeError, match="the pipeline is closed"):
            pipe.run()

    @pytest.mark.parametrize("has_steps", [True, False])
    def test_who_is_in_a_source_is_told_when_that_returns(self, has_steps):
        """Another thread closes while `run` runs the user's source, which is asked for nothing more then."""
        gate = Gate()
        pipe = overlapping(gate, same) if has_steps else counting(gate)
        waiting = in_thread(pipe.run)
        assert gate.reached.wait(PATIENCE)
        gate.reached.clear()
        closed = in_thread(pipe.close)
        assert until(lambda: pipe.internals().window.stopped)
        gate.opened.set()
        closed()
        with pytest.raises(RuntimeError, match="closed while a batch was awaited"):
            waiting()
        assert not gate.reached.is_set()

    def test_an_iterator_that_is_closed_by_another_thread(self):
        gate = Gate(at=1)
        it = DataIterator(overlapping(lambda i: np.full((2,), i, np.int32), gate.function), ["x"])
        next(it)
        waiting = in_thread(lambda: next(it))
        assert gate.reached.wait(PATIENCE)
        closed = in_thread(it.close)
        with pytest.raises(RuntimeError, match="closed"):
            waiting()
        gate.opened.set()
        closed()
        for use in (lambda: next(it), lambda: next(iter(it)), lambda: it.batch_at(0)):
            with pytest.raises(RuntimeError, match="closed"):
                in_thread(use)()
        it.close()

    def test_closing_does_not_wait_for_the_samples_that_are_not_begun(self):
        begun, gate = [], threading.Event()

        def slow(value):
            begun.append(value)
            assert gate.wait(PATIENCE)
            return value

        pipe = overlapping(batches(9, size=200), slow, batch_size=200)
        waiting = in_thread(pipe.run)
        assert until(lambda: begun)
        closed = in_thread(pipe.close)
        assert until(lambda: pipe.internals().engine.pool._workers.closed)
        gate.set()
        closed()
        with pytest.raises(RuntimeError, match="closed"):
            waiting()
        assert len(begun) <= 3  # one in the engine's thread, one in each of the pool's

    def test_without_prefetching_it_waits_for_the_iteration_of_another_thread(self):
        gate = Gate()
        pipe = counting(gate, exec_async=False)
        waiting = in_thread(pipe.run)
        assert gate.reached.wait(PATIENCE)
        closed = in_thread(pipe.close)
        gate.opened.set()
        closed()
        with pytest.raises(RuntimeError, match="closed"):
            waiting(), pipe.run()

    @pytest.mark.parametrize("after", [None, same])
    def test_a_state_is_set_while_batches_are_made(self, after):
        pipe = overlapping(lambda i: np.full((2,), i, np.int32), same, after)
        assert [first(pipe.run()) for _ in range(3)] == [1, 2, 3]
        state = pipe.get_state()
        for _ in range(10):
            assert [first(pipe.run()) for _ in range(2)] == [4, 5]
            pipe.set_state(state)
        pipe.close()

    def test_a_state_is_set_when_a_function_returns_at_last(self):
        gate = Gate(at=1)
        pipe = overlapping(batches(9), gate.function)
        state = pipe.get_state()
        assert first(pipe.run()) == 1
        assert gate.reached.wait(PATIENCE)
        setting = in_thread(lambda: pipe.set_state(state))
        gate.opened.set()
        setting()
        assert [first(pipe.run()) for _ in range(3)] == [1, 2, 3]
        pipe.close()

    @pytest.mark.parametrize("where", ["before the stage", "after the stage"])
    def test_dropped_with_a_blocked_function_it_ends_when_that_returns(self, where):
        before = jdali_threads()
        gate = Gate(at=1 if where == "before the stage" else 2)  # values are one more after the stage
        functions = (gate.function,) if where == "before the stage" else (same, gate.function)
        pipe = overlapping(batches(9), *functions)
        pipe.run()
        assert gate.reached.wait(PATIENCE)
        assert jdali_threads() - before
        del pipe
        gc.collect()
        gate.opened.set()
        assert until(lambda: not jdali_threads() - before)

    def test_dropped_in_another_thread(self):
        before, held = jdali_threads(), [overlapping(batches(99), same)]
        held[0].run()
        in_thread(held.clear)()
        gc.collect()
        assert until(lambda: not jdali_threads() - before)

    def test_dropped_at_the_end_of_a_source(self):
        before, pipe = jdali_threads(), overlapping(batches(1), same)
        assert len(list(pipe)) == 1
        del pipe
        gc.collect()
        assert until(lambda: not jdali_threads() - before)

    def test_a_thread_that_cannot_start_is_no_wait(self, monkeypatch):
        def refused(self):
            raise RuntimeError("can't start new thread")

        reading = jdali.Pipeline(batch_size=2, num_threads=1, seed=1)
        with reading:
            reading.set_outputs(numbers(NumberReader(6)))
        it = DataIterator(reading, ["x"], reader_name="Reader", prepare_first_batch=False)
        with monkeypatch.context() as context:
            context.setattr(threading.Thread, "start", refused)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                next(it)
            pipe = counting(batches(3))
            with pytest.raises(RuntimeError, match="can't start new thread"):
                pipe.run()
        assert pipe.run()  # the next one that asks tries again
        assert next(it)
        it.close()
        pipe.close()


class TestTwoAtOnce:
    def test_two_pipelines_in_two_threads(self):
        def work(start):
            with DataIterator(
                overlapping(lambda i: np.full((2,), start + i, np.int32), same, batch_size=2), ["x"]
            ) as it:
                return [int(next(it)["x"][0]) for _ in range(60)]

        results = [in_thread(lambda s=start: work(s)) for start in (0, 1000, 2000)]
        for start, result in zip((1, 1001, 2001), results, strict=True):
            assert result() == list(range(start, start + 60))

    def test_one_pipeline_in_several_threads_gives_each_batch_once(self):
        pipe, got = overlapping(batches(60), same), []

        def work():
            while len(got) < 60:
                try:
                    got.append(first(pipe.run()))
                except StopIteration:
                    return

        for done in [in_thread(work) for _ in range(4)]:
            done()
        assert sorted(got) == list(range(1, 61))
        assert len([t for t in jdali_threads() if t.name == "jdali-executor"]) == IN_FLIGHT
        pipe.close()


class TestLettingGo:
    """Nothing keeps a pipeline, or a batch, alive but who uses it: here no garbage collector runs."""

    @pytest.fixture(autouse=True)
    def _no_collector(self):
        gc.collect()
        gc.disable()
        yield
        gc.enable()

    @pytest.mark.parametrize("after", [None, same])
    def test_a_pipeline_whose_error_was_handled(self, after):
        before = jdali_threads()

        def loop():
            pipe = overlapping(batches(4), raising_at(1), after)
            for _ in range(3):
                with contextlib.suppress(jdali.OperatorError):
                    pipe.run()
            return weakref.ref(pipe.internals().window)

        executor = loop()
        assert until(lambda: executor() is None, 20)
        assert until(lambda: not jdali_threads() - before, 20)

    def test_an_iterator_whose_error_was_handled(self):
        before = jdali_threads()

        def loop():
            it = DataIterator(overlapping(batches(4), raising_at(1)), ["x"])
            next(it)
            with pytest.raises(jdali.OperatorError):
                next(it)

        loop()
        gc.collect()  # of pytest's own
        assert until(lambda: not jdali_threads() - before, 20)

    def test_samples_of_a_batch_with_bad_ones(self):
        """An error holds frames, and they the batch; the error goes when it was handled."""
        decoded, most = [], 0

        def decode(value):
            if value % 4 == 1:
                raise jdali.SampleError("bad")
            picture = np.zeros(100, np.uint8)
            decoded.append(weakref.ref(picture))
            return picture

        pipe = overlapping(
            lambda number: np.arange(8, dtype=np.int32), decode, same,
            batch_size=8, on_error="mask", exec_async=False,
        )  # fmt: skip
        for _ in range(6):
            pipe.run()
            most = max(most, sum(picture() is not None for picture in decoded))
        assert most <= 8
        assert len(decoded) >= 6 * 6
        pipe.close()


def test_the_exception_of_a_loop_keeps_a_pipeline_only_while_it_lives():
    before = jdali_threads()

    def loop():
        with_frames = DataIterator(overlapping(batches(9), same), ["x"])
        for batch in with_frames:
            raise KeyError(float(batch["x"][0]))

    with pytest.raises(KeyError) as caught:
        loop()
    assert jdali_threads() - before  # the frame of `loop` holds it
    del caught
    gc.collect()
    assert until(lambda: not jdali_threads() - before)


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts, also where the tests were started in the background and would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("where", ["source", "function"])
def test_keyboard_interrupt_in_the_loop_and_on(interruptible, where):
    """Interrupted while it waits and while the loop's body runs: the next batch is the next one."""
    gate = Gate(at=3 if where == "source" else 2)  # the source is asked for one more than is taken
    pipe = overlapping(gate, same) if where == "source" else overlapping(batches(9), gate.function)
    with DataIterator(pipe, ["x"]) as it:
        got = []
        try:
            for batch in it:
                got.append(int(batch["x"][0]))
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        got.append(int(next(it)["x"][0]))
        interrupt = threading.Timer(0.3, _interrupt_main)
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            next(it)  # for ever
        interrupt.join()
        gate.opened.set()
        got += [int(next(it)["x"][0]) for _ in range(3)]
        assert got == [1, 2, 3, 4, 5]


def _interrupt_main():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_early_breaks_and_on():
    with DataIterator(overlapping(batches(9), same, cycle="raise"), ["x"], size=18) as it:
        got = []
        for _ in range(20):
            for batch in it:
                got.append(int(batch["x"][0]))
                break
        assert got == [*range(1, 10), *range(1, 10), 1, 2]


class TestWorkerThreads:
    def test_results_errors_and_order(self):
        pool = WorkerThreads(3, "jdali-test")
        assert list(pool.map(lambda x: x * x, range(50))) == [x * x for x in range(50)]
        with pytest.raises(ZeroDivisionError):
            list(pool.map(lambda x: 1 // x, range(-3, 3)))
        assert pool.submit(divmod, 7, 2).result() == (3, 1)
        assert len([t for t in jdali_threads() if t.name.startswith("jdali-test")]) <= 3
        pool.shutdown()
        pool.shutdown(cancel_futures=True)
        assert not [t for t in jdali_threads() if t.name.startswith("jdali-test")]
        with pytest.raises(RuntimeError, match="closed"):
            pool.submit(int)

    def test_what_is_not_begun_is_cancelled(self):
        pool, gate = WorkerThreads(1, "jdali-test"), threading.Event()
        running = pool.submit(gate.wait, PATIENCE)
        assert until(running.running)
        waiting = [pool.submit(int) for _ in range(5)]
        pool.shutdown(wait=False, cancel_futures=True)
        assert all(future.cancelled() for future in waiting)
        gate.set()
        assert running.result() is True
        pool.shutdown()

    def test_dropped_its_threads_end(self):
        pool = WorkerThreads(2, "jdali-dropped")
        list(pool.map(lambda _: time.sleep(0.01), range(4)))
        del pool
        gc.collect()
        assert until(lambda: not [t for t in jdali_threads() if t.name.startswith("jdali-dropped")])
