"""Arguments that describe a source: meanings of `cycle`, what goes together, how a callback is called."""

import functools

import pytest

from jdali._sources.arguments import check_source, cycle_mode, takes_argument
from jdali._sources.items import is_callback


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
