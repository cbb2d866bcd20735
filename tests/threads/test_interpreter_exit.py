"""Errors of the exit: every thread sees them, but daemon threads that would only print them."""

import threading
import types

import pytest
from support.faults import PATIENCE, in_thread

from jdali._threads import native_calls


@pytest.fixture
def exiting(monkeypatch):
    """The event in which the module notes the exit, one of this test's own."""
    event = threading.Event()
    monkeypatch.setattr(native_calls, "_EXITING", event)
    return event


def fail():
    with native_calls.until_exit():
        raise ValueError("closed")


def test_errors_pass_before_the_exit(exiting):
    with pytest.raises(ValueError, match="closed"):
        in_thread(fail)()  # a daemon thread


def test_errors_pass_in_the_main_thread_also_at_the_exit(exiting):
    native_calls.begin_exit()
    assert exiting.is_set()
    with pytest.raises(ValueError, match="closed"):
        fail()


def test_a_daemon_thread_waits_for_its_end_in_place_of_an_error(exiting, monkeypatch):
    waits, over = threading.Event(), threading.Event()

    class Forever:
        def wait(self):
            waits.set()
            assert over.wait(PATIENCE)

    names = types.SimpleNamespace(Event=Forever, current_thread=threading.current_thread)
    monkeypatch.setattr(native_calls, "threading", names)
    native_calls.begin_exit()
    result = in_thread(fail)
    assert waits.wait(PATIENCE)
    over.set()  # in a program there is no such end
    with pytest.raises(ValueError, match="closed"):
        result()
