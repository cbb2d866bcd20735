"""Gates: batches pass them in their order, some at a time, and nobody waits once everything stops."""

import threading

import pytest
from support.faults import PATIENCE, in_thread, until

from jdali.engine.flow.gate import Gate, Stopped, Way


@pytest.mark.parametrize("at_once", [1, 2])
def test_batches_enter_in_their_order_and_so_many_at_once(at_once):
    gate, lock = Gate(at_once, lambda: False), threading.Lock()
    entered, inside, most = [], 0, 0

    def work(number):
        nonlocal inside, most
        gate.enter(number)
        with lock:
            entered.append(number)
            inside += 1
            most = max(most, inside)
        with lock:
            inside -= 1
        gate.leave()

    for done in [in_thread(lambda n=n: work(n)) for n in reversed(range(20))]:
        done()
    if at_once == 1:
        assert entered == list(range(20))
    assert sorted(entered) == list(range(20))
    assert most <= at_once


def test_the_next_batch_comes_in_beside_the_last_one():
    gate = Gate(2, lambda: False)
    gate.enter(0)
    gate.enter(1)  # does not wait
    third = in_thread(lambda: gate.enter(2))
    gate.leave()
    third()


def test_who_waits_gives_up_when_told():
    stops = threading.Event()
    gate = Gate(1, stops.is_set)
    waiting = [in_thread(lambda n=n: gate.enter(n)) for n in (1, 2, 5)]
    stops.set()
    gate.wake()
    for result in waiting:
        with pytest.raises(Stopped):
            result()


def test_a_way_goes_through_the_gates_that_it_left_out():
    gates = [Gate(1, lambda: False) for _ in range(4)]
    first, second = Way(gates, 0), Way(gates, 1)
    with first.turn(0):
        pass
    with first.turn(3):  # an error left out the steps between
        pass
    passed = []
    for index in range(4):
        with second.turn(index):
            passed.append(index)
    assert passed == [0, 1, 2, 3]


def test_an_error_inside_opens_the_gate_again():
    gates = [Gate(1, lambda: False)]
    with pytest.raises(ZeroDivisionError), Way(gates, 0).turn(0):
        raise ZeroDivisionError
    with Way(gates, 1).turn(0):
        pass


def test_one_gate_is_closed_while_the_batch_before_is_in_the_step():
    gate, opened = Gate(1, lambda: False), threading.Event()

    def slow():
        with Way([gate], 0).turn(0):
            assert opened.wait(PATIENCE)

    def fast():
        with Way([gate], 1).turn(0):
            return opened.is_set()

    first = in_thread(slow)
    assert until(lambda: gate._inside == 1)
    second = in_thread(fast)
    opened.set()
    first()
    assert second()
