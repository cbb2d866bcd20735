"""The choice of threads for the samples of a step: brief work in turns, cheap samples here, others in the pool."""

import threading

import numpy as np
import pytest
from PIL import Image
from support.faults import PATIENCE
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.engine.workers import ThreadPolicy, groups_here, samples_a_task, shares


def decided(*batches):
    """Whether the work is brief after each of the batches: (samples, processor time, seconds by the clock)."""
    work, found = ThreadPolicy(may_be_brief=True), []
    for batch in batches:
        work.note_batch(*batch)
        found.append(work.is_brief)
    return found


def took(cpu, busy=None, samples=100):
    """Samples that take this many microseconds each: processor time, and time by the clock."""
    return samples, samples * cpu * 1e-6, samples * (busy or cpu) * 1e-6


def test_little_processor_time_a_sample_is_brief():
    assert not ThreadPolicy(may_be_brief=True).is_brief
    assert decided(took(29)) == decided(took(29, samples=1)) == [True]
    assert decided(took(31)) == [False]


def test_work_that_waits_is_not_brief():
    assert decided(took(10, busy=39)) == [True]
    assert decided(took(10, busy=41)) == [False]


def test_it_takes_more_to_be_brief_no_more():
    assert decided(took(35), took(20), took(44), took(46), took(35)) == [False, True, True, False, False]
    assert decided(took(10), took(10, 59), took(10, 61), took(10, 59)) == [True, True, False, False]


def test_only_what_may_be_brief_ever_is():
    policy = ThreadPolicy()
    policy.note_batch(*took(10))
    assert not policy.is_brief


def test_what_takes_less_time_is_done(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("jdali.engine.workers.time.perf_counter", lambda: now[0])

    def batch(policy, here, pooled):
        """Counts the samples out of 10 that are worked on here, if one takes so long here and so long in the pool."""

        def call(_):
            now[0] += here

        done = policy.work_here(call, [1] * 10)
        policy.note_pool((10 - done) * pooled, 10 - done)
        return done

    # The pool is slower: it is tried less and less often.
    policy = ThreadPolicy()
    done = [batch(policy, 300e-6, 900e-6) for _ in range(80)]
    assert 0 < done[0] < 10  # nothing is known of the pool yet
    assert set(done[1:]) == {0, 10}
    assert 3 <= done.count(0) <= 8
    # The pool is quicker, though calls are not expensive.
    policy = ThreadPolicy()
    done = [batch(policy, 120e-6, 30e-6) for _ in range(100)]
    assert sum(count == 0 for count in done) > 85
    # What takes long goes there, though the pool seems to be slow: others may keep the machine busy just now.
    policy = ThreadPolicy()
    assert max(batch(policy, 2e-3, 5e-3) for _ in range(100)) == 1
    # What takes nearly no time never goes there.
    policy = ThreadPolicy()
    assert [batch(policy, 20e-6, 1e-6) for _ in range(50)] == [10] * 50


def test_what_is_not_cheap_is_never_tried_here():
    called = []
    assert ThreadPolicy(tries_here=False).work_here(called.append, [1] * 5) == 0
    assert called == []


def test_the_first_sample_is_loaded_alone_here():
    assert groups_here(1) == [slice(0, 1)]
    assert groups_here(130) == [slice(0, 1), slice(1, 65), slice(65, 129), slice(129, 130)]


def test_tasks_of_single_samples_even_out():
    assert [samples_a_task(count, 2) for count in (0, 1, 16, 31, 32, 320)] == [1, 1, 1, 1, 2, 20]


def test_threads_share_what_is_enough_for_them():
    assert shares(10, 100, 4) == [slice(0, 10)]
    assert shares(10, 1 << 20, 4) == [slice(0, 5), slice(5, 10)]
    assert shares(10, 1 << 30, 4) == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 10)]
    assert shares(64, 0, 4) == [slice(0, 32), slice(32, 64)]
    assert shares(0, 0, 4) == []


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
    monkeypatch.setattr(ThreadPolicy, "note_batch", lambda self, *_: setattr(self, "is_brief", brief))
    monkeypatch.setattr(ThreadPolicy, "work_here", lambda *_: 0)  # else than by this rule it is the pool's
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
    monkeypatch.setattr(ThreadPolicy, "note_batch", lambda *_: None)
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
        for runner in pipe.internals().engine.runners:
            runner.policy.is_brief = True
        for _ in range(6):
            pipe.run()
    assert max(most) == 1


def test_other_work_overlaps(monkeypatch):
    """The first reader reads the next batch while the second one is at this one: else this would not come to an end."""
    monkeypatch.setattr(ThreadPolicy, "note_batch", lambda *_: None)
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
        monkeypatch.setattr(ThreadPolicy, "note_batch", lambda self, *_: setattr(self, "is_brief", brief))
        pipe = jdali.Pipeline(batch_size=5, num_threads=2, seed=1)
        with pipe:
            jpegs, labels = fn.readers.file(file_root=str(tmp_path), random_shuffle=True)
            pipe.set_outputs(fn.decoders.image(jpegs), labels)
        with pipe:
            return [[s.tobytes() for o in pipe.run() for s in o.to_samples()] for _ in range(5)]

    assert pictures(True) == pictures(False)
