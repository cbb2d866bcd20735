"""Steps of brief work: when they are, and what is different for them."""

import threading

import numpy as np
import pytest
from PIL import Image
from support.faults import PATIENCE
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.engine.steps.brief import BriefWork
from jdali.engine.workers.pool import Cost, Pool


def decided(*batches):
    """Whether the work is brief after each of the batches: (samples, processor time, seconds by the clock)."""
    work, found = BriefWork(), []
    for batch in batches:
        work.note(*batch)
        found.append(work.is_brief)
    return found


def took(cpu, busy=None, samples=100):
    """Samples that take this many microseconds each: processor time, and time by the clock."""
    return samples, samples * cpu * 1e-6, samples * (busy or cpu) * 1e-6


def test_little_processor_time_a_sample_is_brief():
    assert not BriefWork().is_brief
    assert decided(took(29)) == decided(took(29, samples=1)) == [True]
    assert decided(took(31)) == [False]


def test_work_that_waits_is_not_brief():
    assert decided(took(10, busy=39)) == [True]
    assert decided(took(10, busy=41)) == [False]


def test_it_takes_more_to_be_brief_no_more():
    assert decided(took(35), took(20), took(44), took(46), took(35)) == [False, True, True, False, False]
    assert decided(took(10), took(10, 59), took(10, 61), took(10, 59)) == [True, True, False, False]


def test_a_pool_that_is_here_takes_no_thread():
    pool, names = Pool(2), []
    try:
        here = pool.here()

        def name(i):
            names.append(threading.current_thread())
            return 2 * i

        assert list(here.executor.map(name, range(3))) == [0, 2, 4]
        assert set(names) == {threading.current_thread()}
        assert (here.threads, pool.threads) == (1, 2)
        assert (
            pool.executor.submit(threading.current_thread).result(PATIENCE) is not threading.current_thread()
        )
        with pytest.raises(ZeroDivisionError):
            here.executor.submit(lambda: 1 / 0).result()
    finally:
        pool.close()


class Quick(NumberReader):
    often_cheap = True


def two_readers(delays):
    """A pipeline of two readers, each of which calls its function with each number."""
    pipe = jdali.Pipeline(batch_size=4, num_threads=2, seed=1)
    with pipe:
        read = [numbers(Quick(40, delay=delay), name=f"reader{i}") for i, delay in enumerate(delays)]
        pipe.set_outputs(*read)
    return pipe


@pytest.mark.parametrize("brief", [True, False])
def test_brief_work_is_done_in_the_thread_that_has_the_batch(brief, monkeypatch):
    threads = set()
    monkeypatch.setattr(BriefWork, "note", lambda self, *_: setattr(self, "is_brief", brief))
    monkeypatch.setattr(Cost, "work_here", lambda *_: 0)  # else than by this rule it is the pool's
    with two_readers([lambda _: threads.add(threading.current_thread().name)] * 2) as pipe:
        pipe.run()
        threads.clear()
        for batch in range(1, 6):
            assert [o.as_array().ravel().tolist() for o in pipe.run()] == [
                list(range(4 * batch, 4 * batch + 4))
            ] * 2
        is_executor = {name.startswith("jdali-executor") for name in threads}
    assert is_executor == {brief}


def test_brief_work_takes_turns(monkeypatch):
    """Of all threads one works, whichever step and batch it is."""
    monkeypatch.setattr(BriefWork, "note", lambda *_: None)
    inside, most = [], []
    changed = threading.Condition()

    def work(_):
        with changed:
            inside.append(1)
            most.append(len(inside))
            changed.notify_all()
            changed.wait(0.002)  # room for another thread to come in
            inside.pop()

    with two_readers([work, work]) as pipe:
        for brief in pipe._building.run().engine._brief.values():
            brief.is_brief = True
        for _ in range(6):
            pipe.run()
    assert max(most) == 1


def test_other_work_overlaps(monkeypatch):
    """The first reader reads the next batch while the second one is at this one: else this would not come to an end."""
    monkeypatch.setattr(BriefWork, "note", lambda *_: None)
    begun = threading.Event()

    def first(number):
        if number == 4:
            begun.set()

    def second(number):
        if number == 0:
            assert begun.wait(PATIENCE), "the next batch was not begun"

    with two_readers([first, second]) as pipe:
        assert pipe.run()[1].as_array().ravel().tolist() == [0, 1, 2, 3]


def test_what_comes_does_not_depend_on_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    (tmp_path / "0").mkdir()
    for i in range(12):
        Image.fromarray(rng.integers(0, 255, (8, 8 + i % 3, 3), np.uint8)).save(
            tmp_path / "0" / f"{i:02}.jpg"
        )

    def pictures(brief):
        monkeypatch.setattr(BriefWork, "note", lambda self, *_: setattr(self, "is_brief", brief))
        pipe = jdali.Pipeline(batch_size=5, num_threads=2, seed=1)
        with pipe:
            jpegs, labels = fn.readers.file(file_root=str(tmp_path), random_shuffle=True)
            pipe.set_outputs(fn.decoders.image(jpegs), labels)
        with pipe:
            return [[s.tobytes() for o in pipe.run() for s in o.to_samples()] for _ in range(5)]

    assert pictures(True) == pictures(False)
