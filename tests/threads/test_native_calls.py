"""Calls of XLA that are under way: `wait` blocks until the last one has ended."""

import threading

from support.faults import PATIENCE, in_thread, until

from jdali._threads.native_calls import Native


def test_nothing_is_waited_for_where_nothing_is_inside():
    native = Native()
    assert not native.wait()
    with native:
        pass
    assert not native.wait()


def test_wait_returns_after_the_last_one_has_left():
    native, ends = Native(), [threading.Event(), threading.Event()]
    left = []

    def call(number):
        with native:
            assert ends[number].wait(PATIENCE)
            left.append(number)

    calls = [in_thread(lambda n=n: call(n)) for n in range(2)]
    assert until(lambda: native._inside == 2)
    waiting = in_thread(lambda: (native.wait(), list(left)))
    ends[0].set()
    calls[0]()
    ends[1].set()
    calls[1]()
    assert waiting() == (True, [0, 1])


def test_a_forked_process_has_nobody_inside():
    native = Native()
    native.__enter__()
    native.forget_parent()
    assert not native.wait()
