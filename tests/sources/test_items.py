"""A user's source: arguments, how it is called, cycles, positions that can be returned to, and sources that cannot."""

import functools
import json

import pytest

from jdali._sources.items import (
    SourceItems,
    check_source,
    cycle_mode,
    is_callback,
    is_generator_function,
    portable,
    restored,
    takes_argument,
)


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


def generate():
    yield 1


@pytest.mark.parametrize(
    ("given", "mode"),
    [(True, "quiet"), ("quiet", "quiet"), (False, "no"), (None, "no"), ("no", "no"), ("raise", "raise")],
)
def test_meanings_of_cycle(given, mode):
    assert cycle_mode(given) == mode


@pytest.mark.parametrize("given", [1, 0, "Quiet", [], {}])
def test_other_values_of_cycle_are_refused(given):
    with pytest.raises(ValueError, match="Invalid value"):
        cycle_mode(given)


@pytest.mark.parametrize("arguments", [(None, None), ([1], "quiet"), (len, None), (generate, True)])
def test_what_goes_together(arguments):
    check_source(*arguments)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((None, True), {}, ValueError, "only valid for iterable"),
        ((3, None), {}, TypeError, "must be callable, iterable .* It is int"),
        ((len, False), {}, ValueError, "It is a callback"),
        (([1], None), {"repeat_last": True}, ValueError, "repeat_last"),
    ],
)
def test_what_does_not(arguments, options, error, message):
    with pytest.raises(error, match=message):
        check_source(*arguments, **options)


def test_callbacks_are_called_for_each_item():
    assert is_callback(len)
    assert not is_callback(generate)
    assert not is_callback([1])


class Source:
    def __call__(self, index):
        return index


def test_how_a_callback_is_called():
    assert takes_argument(lambda info: info)
    assert takes_argument(Source())
    assert takes_argument(functools.partial(lambda a, info: info, 1))
    assert not takes_argument(lambda: 1)
    assert not takes_argument(lambda info=3: info)
    assert not takes_argument(functools.partial(lambda info, b: info, b=2, info=1))


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda *args: 1, r"var-positional argument `\*args`"),
        (lambda **options: 1, r"var-keyword argument `\*\*options`"),
        (lambda *, key: 1, "keyword-only argument `key`"),
        (lambda a, b: 1, "more than one positional"),
    ],
)
def test_functions_that_cannot_be_called(function, found):
    with pytest.raises(TypeError, match=found):
        takes_argument(function)
