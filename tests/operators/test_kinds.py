"""Kinds of operators: each is a type, has just its fields, and refuses what belongs to the others."""

import dataclasses
import inspect
import re

import pytest

from jdali._kernels.image_decoding import SCALED_DECODING
from jdali._operators import record
from jdali._operators.record import (
    REGISTRY,
    CompiledOp,
    DeviceBatchOp,
    DeviceOp,
    HostBatchOp,
    HostOp,
    IndexOp,
    PerSample,
    ReaderOp,
    Static,
    batch_operator,
    host_batch_operator,
    host_operator,
    index_operator,
    operator,
    reader,
)
from jdali._operators.schema import Schema

KINDS = {
    operator: DeviceOp,
    batch_operator: DeviceBatchOp,
    host_operator: HostOp,
    host_batch_operator: HostBatchOp,
    reader: ReaderOp,
    index_operator: IndexOp,
}
# Options of each kind, beside a name, the devices and the source.
OPTIONS = {
    operator: {
        "setup", "setup_needs", "layouts", "sequence", "takes_frames", "outputs", "output_per_optional", "free_padding",
        "whole_batch", "nanoseconds", "wide_vectors",
    },
    batch_operator: {
        "setup", "setup_needs", "outputs", "output_per_optional", "free_padding", "whole_batch", "nanoseconds", "wide_vectors",
        "pastes",
    },
    host_operator: {"setup", "outputs", "output_per_optional", "effects", "output_layouts", "work"},
    host_batch_operator: {
        "setup", "outputs", "probe", "effects", "whole_batch", "in_place", "joins", "scales", "on_device", "work",
    },
    reader: {"outputs"},
    index_operator: {"same_samples"},
}  # fmt: skip
EVERY_OPTION = set().union(*OPTIONS.values())


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = set(REGISTRY)
    yield
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


@pytest.mark.parametrize("decorator", KINDS)
def test_options_of_other_kinds_are_refused(decorator):
    assert set(inspect.signature(decorator).parameters) == OPTIONS[decorator] | {"name", "devices", "source"}
    for option in EVERY_OPTION - OPTIONS[decorator]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
            decorator(**{option: None})


@pytest.mark.parametrize(("decorator", "kind"), KINDS.items())
def test_options_are_fields_with_the_same_defaults(decorator, kind):
    fields = {f.name: f for f in dataclasses.fields(kind)}
    for name, parameter in inspect.signature(decorator).parameters.items():
        assert name in fields
        if name != "name":  # that of the function
            assert parameter.default == fields[name].default, name
    taken = set(inspect.signature(decorator).parameters)
    read_off = {f.name for f in dataclasses.fields(Schema)} | {"run"}
    common = {"setup", "outputs", "output_per_optional", "effects", "work", "whole_batch"}
    assert set(fields) - taken - read_off <= common


@pytest.mark.parametrize(("decorator", "kind"), KINDS.items())
def test_the_documentation_describes_each_option_in_order(decorator, kind):
    doc = inspect.getdoc(decorator) or ""
    head, _, args = doc.partition("Args:\n")
    assert re.match(rf"Makes an? `{kind.__name__}` ", head)
    assert re.findall(r"^    (\w+): \S", args, re.MULTILINE) == list(inspect.signature(decorator).parameters)
    assert (decorator.__name__, decorator.__module__) == (
        next(name for name, value in vars(record).items() if value is decorator),
        kind.__module__,
    )


@pytest.mark.parametrize(("decorator", "kind"), KINDS.items())
def test_what_a_decorator_makes(decorator, kind):
    def made_up(data, /, *, size: Static[int] = 3, angle: PerSample[float] = 0.0): ...

    op = decorator(name="test.made_up", source="here")(made_up)
    assert type(op) is kind
    assert REGISTRY["test.made_up"] is op
    assert (op.run, op.source, [i.name for i in op.inputs]) == (made_up, "here", ["data"])
    assert list(op.args) == ["size", "angle"]
    assert isinstance(op, CompiledOp) == (decorator in (operator, batch_operator))
    with pytest.raises(ValueError, match=r"operator test\.made_up is registered twice"):
        decorator(name="test.made_up")(made_up)


def with_parameter(name):
    """A function with a parameter that is no argument, as `run` is written."""
    scope = {}
    exec(f"def made_up(data, /, *, {name}=None): ...", scope)
    return scope["made_up"]


FILLED_IN = {
    operator: {"extent", "out_extent", "out_shape", "layout"},
    batch_operator: {"extent", "out_extent", "out_shape", "layout"},
    host_operator: set(),
    host_batch_operator: {"workers", "device", "headers", "scaled"},
    reader: set(),
    index_operator: set(),
}


@pytest.mark.parametrize("decorator", KINDS)
@pytest.mark.parametrize("name", sorted(set().union(*FILLED_IN.values()) | {"wave"}))
def test_a_function_asks_for_what_its_kind_gets(decorator, name):
    if name in FILLED_IN[decorator]:
        options = {"headers": {"probe": lambda samples: None}, "scaled": {"scales": SCALED_DECODING}}.get(
            name, {}
        )
        assert decorator(**options)(with_parameter(name)).engine_parameters == {name}
        return
    with pytest.raises(TypeError, match=f"made_up: {name} is neither PerSample nor Static"):
        decorator()(with_parameter(name))
    assert "made_up" not in REGISTRY


def test_what_does_not_go_together_is_refused():
    with pytest.raises(TypeError, match="made_up: headers are of a probe, and it has none"):
        host_batch_operator()(with_parameter("headers"))
    with pytest.raises(TypeError, match="a probe reads samples on the host, so not with in_place"):
        host_batch_operator(probe=lambda samples: None, in_place=True)(with_parameter("workers"))  # type: ignore[return-value]
    with pytest.raises(TypeError, match="scales go with the parameter `scaled`"):
        host_batch_operator(scales=SCALED_DECODING)(with_parameter("workers"))
    with pytest.raises(TypeError, match="scales go with the parameter `scaled`"):
        host_batch_operator()(with_parameter("scaled"))
    assert "made_up" not in REGISTRY


def test_every_operator_is_of_one_of_the_kinds():
    assert {type(op) for op in REGISTRY.values()} == set(KINDS.values())
    assert {name for name in vars(record) if name.endswith("Op")} == {k.__name__ for k in KINDS.values()} | {
        "CompiledOp"
    }
