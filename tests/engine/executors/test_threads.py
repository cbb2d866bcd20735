"""Threads that call what is submitted, and hold nothing while they wait."""

import gc
import threading
import weakref

from support.faults import PATIENCE, until

from jdali.engine.executors.threads import Threads


class Owner:
    def __init__(self):
        self.done = threading.Event()

    def work(self):
        self.done.set()


def test_all_calls_are_made_before_the_end():
    threads, made = Threads(2, "some"), []
    for i in range(20):
        threads.submit(lambda i=i: made.append(i))
    assert threads.threads == ()
    threads.start()
    threads.start()
    assert len(threads.threads) == 2
    threads.end()
    assert threads.join()
    assert sorted(made) == list(range(20))
    assert threads.threads == ()


def test_a_thread_that_waits_holds_nothing_of_the_last_call():
    threads, owner = Threads(1, "one"), Owner()
    threads.start()
    threads.submit(owner.work)
    assert owner.done.wait(PATIENCE)
    known = weakref.ref(owner)
    del owner
    assert until(lambda: gc.collect() >= 0 and known() is None)
    threads.end()
    assert threads.join()


def test_who_is_busy_is_not_waited_for_beyond_the_deadline():
    threads, go_on = Threads(1, "busy"), threading.Event()
    threads.start()
    threads.submit(go_on.wait)
    threads.end()
    assert not threads.join(deadline=0.0)
    go_on.set()
    assert threads.join()
