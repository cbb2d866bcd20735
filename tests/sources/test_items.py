"""Items of a user's source: cycles, positions that can be returned to, and sources that cannot."""

import functools
import json

import pytest

from jdali._sources.items import SourceItems, is_generator_function, portable, restored


def counted():
    yield from range(4)


def take(items, count):
    return [items.next() for _ in range(count)]


@pytest.mark.parametrize(
    "source", [range(4), [0, 1, 2, 3], counted], ids=["range", "list", "generator function"]
)
class TestThatBeginsAgain:
    def test_its_end_is_told_again_and_again(self, source):
        items = SourceItems(source)
        assert take(items, 4) == [0, 1, 2, 3]
        for _ in range(2):
            with pytest.raises(StopIteration):
                items.next()

    def test_quietly(self, source):
        assert take(SourceItems(source, "quiet"), 6) == [0, 1, 2, 3, 0, 1]

    def test_after_an_end(self, source):
        items = SourceItems(source, "raise")
        take(items, 4)
        with pytest.raises(StopIteration):
            items.next()
        assert items.next() == 0

    def test_held_at_its_end(self, source):
        items = SourceItems(source, "raise", held=True)
        take(items, 4)
        for _ in range(2):
            with pytest.raises(StopIteration):
                items.next()
        items.restart()
        assert items.next() == 0

    def test_goes_back_and_forth(self, source):
        items = SourceItems(source)
        take(items, 2)
        state = json.loads(json.dumps(items.get_state()))
        take(items, 2)
        items.set_state(state)
        assert take(items, 2) == [2, 3]
        other = SourceItems(source)
        other.set_state(state)
        assert other.next() == 2

    def test_the_rest_of_an_epoch_is_left_out(self, source):
        items = SourceItems(source, "quiet")
        take(items, 1)
        state = items.get_state()
        take(items, 2)
        items.leave_epoch(state, 2)
        assert items.next() == 3
        items.leave_epoch(state, None)
        assert items.next() == 0


def test_a_sequence_can_be_had_twice_and_skipped():
    items = SourceItems([0, 1, 2, 3], "quiet")
    take(items, 3)
    twin = items.twin()
    twin.skip(2)  # 3 + 2 is 1 of the next round
    assert twin.next() == 1
    assert items.next() == 3
    with pytest.raises(ValueError, match="it has 4 items, item 5 does not exist"):
        SourceItems([0, 1, 2, 3]).skip(5)


def test_a_generator_cannot_go_back_cycle_or_be_had_twice():
    items = SourceItems(counted())
    take(items, 2)
    with pytest.raises(ValueError, match="has given 2 items and cannot go back to item 1"):
        items.set_state({"taken": 1})
    with pytest.raises(ValueError, match="it ended before item 9"):
        items.set_state({"taken": 9})
    with pytest.raises(RuntimeError, match="gives each item once"):
        items.twin()
    with pytest.raises(TypeError, match="Cannot cycle through a generator"):
        SourceItems(counted(), "quiet")


class WithState:
    def __init__(self):
        self.at = 0

    def __call__(self):
        self.at += 1
        return self.at

    def get_state(self):
        return bytes([self.at])

    def set_state(self, state):
        (self.at,) = state


def test_a_callback_has_its_own_state():
    source = WithState()
    items = SourceItems(source)
    take(items, 2)
    state = json.loads(json.dumps(items.get_state()))
    assert take(items, 2) == [3, 4]
    items.set_state(state)
    assert items.next() == 3
    with pytest.raises(ValueError, match="without get_state and set_state"):
        items.set_state({"taken": 1})
    with pytest.raises(ValueError, match="with get_state and set_state"):
        SourceItems([1]).set_state(state)


def test_states_are_made_for_json():
    for state in (b"\x00\xff", {"a": 1}, [1], {"base64": "AA==", "more": 1}):
        assert restored(json.loads(json.dumps(portable(state)))) == state


class Generates:
    def __call__(self):
        yield 1


def test_generator_functions_in_their_forms():
    for source in (counted, functools.partial(counted), Generates(), functools.partial(Generates())):
        assert is_generator_function(source)
    for source in (counted(), len, [1], WithState()):
        assert not is_generator_function(source)
