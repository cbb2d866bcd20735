"""Threads that hold nothing of their owner between two tasks."""

import weakref

from support.faults import PATIENCE, in_thread, until

from jdali.engine.flow.gate import Stopped
from jdali.engine.flow.loose_thread import Changes, loose_thread


class Owner:
    def __init__(self, *tasks):
        self.tasks = list(tasks)


def next_task(owner):
    """The next of its tasks; the string "stop" ends the thread."""
    task = owner.tasks.pop(0) if owner.tasks else None
    if task == "stop":
        raise Stopped
    return task


def test_tasks_are_done_in_order_up_to_the_end():
    done = []
    owner = Owner(lambda: done.append(1), lambda: done.append(2), "stop", lambda: done.append(3))
    thread = loose_thread(owner, Changes(), next_task, "jdali-test")
    assert (thread.daemon, thread.name) == (True, "jdali-test")
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert done == [1, 2]


def test_it_looks_again_when_something_has_changed():
    done, owner, changed = [], Owner(), Changes()
    thread = loose_thread(owner, changed, next_task, "jdali-test")
    thread.start()
    with changed:
        owner.tasks += [lambda: done.append(1), "stop"]
        changed.notify_all()
    thread.join(PATIENCE)
    assert done == [1]


def test_it_ends_with_its_owner():
    owner, changed = Owner(), Changes()
    gone = weakref.ref(owner)
    thread = loose_thread(owner, changed, next_task, "jdali-test")
    thread.start()
    del owner
    assert until(lambda: gone() is None)  # although the thread waits for work
    with changed:
        changed.notify_all()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_nothing_is_missed_between_a_look_and_the_wait():
    changed = Changes()
    with changed:
        changed.notify_all()
    changed.wait_beyond(0)  # was told already
    waiting = in_thread(lambda: changed.wait_beyond(1))
    with changed:
        changed.notify_all()
    waiting()
    assert changed.count == 2


def test_what_was_known_before_the_look_is_waited_beyond(monkeypatch):
    changed, looks = Changes(), []
    monkeypatch.setattr(changed, "wait_for", lambda condition: looks.append(condition()))
    changed.wait_beyond(0)
    with changed:
        changed.notify_all()
    changed.wait_beyond(0)
    changed.wait_beyond(1)
    assert looks == [False, True, False]


def test_who_takes_batches_is_not_woken_by_what_concerns_makers():
    changed, looks, may_take = Changes(), [], []

    def look():
        looks.append(changed.count)
        return may_take

    def wait():
        with changed:
            changed.wait_to_take(look)

    waiting = in_thread(wait)
    assert until(lambda: looks == [0])
    with changed:
        changed.notify_makers()
    assert not until(lambda: len(looks) > 1, seconds=0.2)
    with changed:
        may_take.append(True)
        changed.notify_all()
    waiting()
    assert looks == [0, 2]
