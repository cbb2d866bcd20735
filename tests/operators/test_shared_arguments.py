"""Arguments declared once for several operators."""

import inspect

import pytest

from jdali._operators.record import REGISTRY, ArgKind, PerSample, Static, also_takes, host_operator


def template(*, size: Static[int] = 3, share: PerSample[float] = 0.5) -> None:
    """Arguments.

    Args:
        size: of it.
        share: of what
            there is.
    """


@also_takes(template)
def function(
    value: int, /, *, own: Static[bool] = False, share: Static[int] = 7, **options: object
) -> object:
    """Does it.

    Args:
        own: its own.
        share: another one.

    Returns: what it got.
    """
    return value, own, share, options


def test_signature_and_call():
    parameters = inspect.signature(function).parameters
    assert list(parameters) == ["value", "own", "share", "size"]
    assert parameters["size"].default == 3
    assert parameters["share"].default == 7  # its own declaration counts
    assert function(1, size=5) == (1, False, 7, {"size": 5})


def test_record():
    try:
        record = host_operator(name="test.shared")(function)
        assert set(record.public_args) == {"own", "share", "size"}
        assert record.args["size"].kind is ArgKind.STATIC
        assert record.args["size"].annotation is int
        assert not record.engine_parameters
    finally:
        REGISTRY.pop("test.shared", None)


def test_docs():
    @also_takes(template)
    def no_arguments_of_its_own(**options: object) -> None:
        """Does nothing."""

    assert inspect.getdoc(function) == (
        "Does it.\n\nArgs:\n    own: its own.\n    share: another one.\n    size: of it.\n\n"
        "Returns: what it got."
    )
    assert inspect.getdoc(no_arguments_of_its_own) == (
        "Does nothing.\n\nArgs:\n    size: of it.\n    share: of what\n        there is."
    )


def test_unknown_arguments_are_refused_by_the_record():
    with pytest.raises(
        TypeError, match=r'readers\.file: Argument "sise" is not defined for operator "readers__File"'
    ):
        REGISTRY["readers.file"].bind({"sise": 1})
