"""What becomes of a pipeline that nobody uses any more: it is closed, or what is left of it."""

import queue
import types
import weakref

import pytest

from jdali.engine.flow.keeper import Abandon, Remains, keep
from jdali.engine.flow.loose_thread import Changes


class Noted:
    """Notes the calls of its methods."""

    def __init__(self, calls, name, methods):
        for method in methods:
            setattr(self, method, lambda method=method: calls.append(f"{name} {method}"))


class Owner(Noted):
    def __init__(self, calls, *, stopped):
        super().__init__(calls, "runtime", ["close"])
        self.stopped = lambda: stopped


@pytest.mark.parametrize("stopped", [False, True])
def test_a_runtime_that_lives_is_closed_once(stopped):
    calls, abandon = [], Abandon()
    owner = Owner(calls, stopped=stopped)
    abandon()
    keep(abandon.orders, weakref.ref(owner), Noted(calls, "remains", ["close"]))
    assert calls == ([] if stopped else ["runtime close"])


def test_what_is_left_of_one_that_was_collected_is_closed():
    calls, orders = [], queue.SimpleQueue()
    owner = Owner(calls, stopped=False)
    gone = weakref.ref(owner)
    orders.put(None)
    del owner
    assert gone() is None
    keep(orders, gone, Noted(calls, "remains", ["close"]))
    assert calls == ["remains close"]


def test_remains_are_interrupted_before_any_is_waited_for():
    calls, changed = [], Changes()
    pool = Noted(calls, "pool", ["interrupt", "close"])
    readers = [Noted(calls, "plain", ["interrupt"]), Noted(calls, "reader", ["interrupt", "close"])]
    workers = Noted(calls, "workers", ["interrupt", "close"])
    elsewhere = types.SimpleNamespace(workers=workers)
    engine = types.SimpleNamespace(pool=pool, readers=dict(enumerate(readers)), elsewhere=elsewhere)
    Remains(engine, changed).close()
    assert calls == [
        "pool interrupt", "workers interrupt", "plain interrupt", "reader interrupt", "workers close", "pool close",
        "reader close",
    ]  # fmt: skip
    assert changed.count == 1  # the threads look again
