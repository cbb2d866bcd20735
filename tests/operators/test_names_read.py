"""Which of its parameters a function reads decides what its compiled programs depend on."""

import functools

import pytest

from jdali._operators.compiled import names_read
from jdali._operators.record import REGISTRY


def body(image, /, *, size, mode="stretch", dtype=None, out_shape):
    del mode
    rows = [row for row in image]  # noqa: C416
    return rows, lambda: dtype, out_shape


def overwritten(image, size):
    size = 3
    image += size
    return image


@pytest.mark.parametrize(
    ("function", "unread"),
    [
        (body, {"size", "mode"}),
        (lambda image, size: image, {"size"}),
        (lambda image, size: (image, size), set()),
        (lambda image, size: lambda: (image, size), set()),  # in closures
        (lambda image, size: [size for _ in image], set()),
    ],
)
def test_parameters_that_are_never_loaded(function, unread):
    parameters = set(
        function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    )
    assert parameters - names_read(function) == unread


def test_a_name_that_is_loaded_counts_as_read_even_if_it_was_overwritten():
    assert names_read(overwritten) >= {"image", "size"}


def test_functions_whose_code_does_not_tell_read_everything():
    assert names_read(lambda **arguments: arguments) is None
    assert names_read(lambda image, size: locals()) is None
    assert names_read(functools.partial(body, size=2)) is None
    assert names_read(abs) is None


def test_arguments_that_decide_sizes_alone_are_no_part_of_programs():
    resize = REGISTRY["resize"]
    assert {"size", "resize_x", "mode", "interp_type", "roi_start"} <= resize.only_for_setup
    assert not {"dtype", "save_attrs", "_filters", "_reach"} & resize.only_for_setup
    assert not REGISTRY["brightness"].only_for_setup
    assert not REGISTRY["readers.file"].only_for_setup
