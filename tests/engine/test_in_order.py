"""Steps that batches go through in the order of their numbers."""

import pytest
from support.faults import in_thread

from jdali.engine.in_order import InOrder, Stopped


def test_a_batch_waits_for_those_before_it():
    order, entered = InOrder([1]), []

    def enter(number):
        with order.turn(number, 1):
            entered.append(number)

    ends = [in_thread(lambda number=number: enter(number)) for number in (2, 1)]
    with order.turn(2, 0):  # another step
        assert not entered
    enter(0)
    for end in ends:
        end()
    assert entered == [0, 1, 2]


def test_a_batch_that_leaves_is_waited_for_no_longer():
    order, entered = InOrder([0, 3]), []
    order.leave(1)
    order.leave(0)
    order.leave(0)
    for step in (0, 3):
        with order.turn(2, step):
            entered.append(step)
        with order.turn(2, step):  # a later attempt
            entered.append(step)
    with order.turn(3, 0):
        entered.append(4)
    assert entered == [0, 0, 3, 3, 4]


def test_an_error_in_a_step_lets_the_next_batch_in():
    order = InOrder([0])
    with pytest.raises(ValueError, match="bad"), order.turn(0, 0):
        raise ValueError("bad")
    with order.turn(1, 0):
        pass


def test_who_waits_gives_up_when_told():
    order = InOrder([0])

    def enter():
        with pytest.raises(Stopped), order.turn(1, 0):
            pass

    end = in_thread(enter)
    order.stop()
    end()
    order.clear()
    with order.turn(0, 0):
        pass
