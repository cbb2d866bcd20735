"""The operator classes of `jdali.ops`: made with some arguments, called with the inputs and the others."""

import inspect
import re

import numpy as np
import pytest
from support import oracle, refusals
from support.data import image
from support.pictures import pillow

import jdali
from jdali import fn, ops, types
from jdali._operators.record import REGISTRY

PUBLIC = sorted(n for n in REGISTRY if not n.startswith(("_", "math.")))
ROW = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)  # one line of two pixels


def run(*outputs, **options):
    with jdali.Pipeline(batch_size=2, num_threads=1, **options) as pipe:
        pipe.set_outputs(*outputs)
    with pipe:
        return [out.as_array() for out in pipe.run()]


def found(name):
    value = ops
    for part in name.split("."):
        value = getattr(value, part)
    return value


def classes():
    """The classes by the operators' names."""
    pending, by_name = [ops], {}
    while pending:
        module = pending.pop()
        for name in dir(module):
            value = getattr(module, name)
            if inspect.isclass(value) and hasattr(value, "__operator__"):
                if (module.__name__, name) == (value.__module__, value.__name__):  # else an older name
                    by_name[value.__operator__.name] = value
            elif inspect.ismodule(value) and value.__name__.startswith(f"{module.__name__}."):
                pending.append(value)
    return by_name


@pytest.mark.parametrize("name", PUBLIC)
def test_every_operator_has_a_class(name):
    made = classes()[name]
    of_call = {"readers.mix": {"sources"}, "readers.bucket": {"samples"}, "readers.pack": {"documents"}}.get(
        name, set()
    )
    wanted = {a.name for a in REGISTRY[name].public_args.values()} - of_call
    parameters = inspect.signature(made).parameters
    assert wanted <= set(parameters)
    assert {"device", "name", "preserve"} <= set(parameters)
    assert made.__doc__
    assert found(f"{made.__module__}.{made.__name__}".removeprefix("jdali.ops.")) is made


@pytest.mark.oracle
@pytest.mark.parametrize(
    "module", ["", *["readers", "decoders", "random", "transforms", "reductions", "noise"]]
)
def test_names_are_dalis(module):
    """Except for those of additions, whose help says so."""
    theirs = getattr(oracle.dali().ops, module) if module else oracle.dali().ops
    for made in classes().values():
        if made.__module__.removeprefix("jdali.ops").lstrip(".") == module:
            is_addition = re.search("DALI has no such (reader|operator)", made.__operator__.doc) is not None
            assert hasattr(theirs, made.__name__) is not is_addition, made


def test_arguments_go_to_the_constructor_or_to_the_call():
    images = ops.ExternalSource(lambda: [ROW, ROW])()
    flip = ops.Flip(horizontal=1)
    outputs = flip(images), flip(images, vertical=1), ops.Flip()(images, horizontal=0)
    for got, expected in zip(run(*outputs), (ROW[:, ::-1], ROW[:, ::-1], ROW), strict=True):
        np.testing.assert_array_equal(got, [expected] * 2)


def test_attributes():
    resize = ops.Resize(device="gpu", size=10, name="small", preserve=True)
    assert (resize.device, resize.name, resize.preserve, resize.schema_name) == (
        "gpu",
        "small",
        True,
        "Resize",
    )
    assert repr(resize) == "jdali.ops.Resize(device='gpu', size=10, name='small', preserve=True)"
    read = ops.readers.File(file_root="pictures")
    assert (read.device, read.name, read.preserve, read.schema_name) == ("cpu", None, False, "readers__File")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.Resize(sixe=3),
            TypeError,
            'resize: Argument "sixe" is not defined for operator "Resize". Did you mean "size"',
        ),
        (lambda: ops.Resize("cpu"), TypeError, "Resize: takes 0 arguments by position, got 1"),
        (lambda: ops.ExternalSource(abs, source=abs), TypeError, "'source' was given twice"),
        (
            lambda: ops.Resize(size=3)(fn.external_source(), size=4),
            ValueError,
            "Resize: The argument `size` was already specified in __init__",
        ),
        (
            lambda: ops.Resize(size=3)(),
            TypeError,
            "resize: Operator resize expects from 1 to 1 inputs, but received 0",
        ),
        (
            lambda: ops.Cast()(fn.external_source()),
            TypeError,
            'cast: Not all required arguments were specified for op "Cast". .* "dtype"',
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.oracle
@pytest.mark.parametrize(
    "call",
    [
        lambda package: package.ops.Resize(resize_x=2)(
            np.zeros((2, 2, 3), np.uint8), resize_x=package.fn.constant(fdata=[3.0])
        ),
        lambda package: package.ops.ExternalSource(source=lambda: 1)(source=lambda: 2),
        lambda package: package.fn.external_source(lambda: 1, device="tpu"),
    ],
    ids=["argument", "source", "device"],
)
def test_dali_calls_these_errors_of_run_time(call):
    def build(package):
        with package.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            pipe.set_outputs(call(package))
        pipe.build()

    refusals.check_both(RuntimeError, "", build)
    with pytest.raises(ValueError, match="already specified in __init__|Unsupported device type"):
        build(jdali)


def test_a_required_argument_may_follow_in_the_call():
    data = ops.ExternalSource([np.int32([[1], [2]])], cycle=True)()
    (out,) = run(ops.Cast()(data, dtype=types.FLOAT))
    assert out.dtype == np.float32


def test_arguments_by_position():
    first, second = ops.ExternalSource(lambda: (np.int32([[1], [2]]), np.int32([[3], [4]])), 2)()
    assert [out.ravel().tolist() for out in run(first, second)] == [[1, 2], [3, 4]]
    with jdali.Pipeline(batch_size=2, num_threads=1) as pipe:
        doubled = ops.PythonFunction(lambda x: (x * 2, x * 3), 2)(
            ops.ExternalSource([np.int32([[1], [2]])])()
        )
        pipe.set_outputs(*doubled)
    with pipe:
        assert [out.as_array().ravel().tolist() for out in pipe.run()] == [[2, 4], [3, 6]]


def test_readers_decoders_and_names_of_the_past(tmp_path):
    (tmp_path / "picture.png").write_bytes(pillow(image(4, 5), "PNG"))
    with jdali.Pipeline(batch_size=1, num_threads=1) as pipe:
        read, decode = (
            ops.FileReader(file_root=str(tmp_path), files=["picture.png"]),
            ops.ImageDecoder(device="mixed"),
        )
        encoded, label = read(name="pictures")
        pipe.set_outputs(decode(encoded), label)
    with pipe:
        np.testing.assert_array_equal(pipe.run()[0].at(0), image(4, 5))
        assert pipe.reader_meta("pictures")["epoch_size"] == 1
    assert issubclass(ops.ImageDecoder, ops.decoders.Image)


def test_compose():
    data = ops.ExternalSource(lambda: [ROW, ROW])()
    both = ops.Compose([ops.Flip(), ops.Cast(dtype=types.FLOAT), lambda x: x + 1])
    (out,) = run(both(data))
    np.testing.assert_array_equal(out, [ROW[:, ::-1] + np.float32(1)] * 2)
    assert ops.Compose([])(data) is data


def test_compose_brings_data_to_the_accelerator():
    data = ops.ExternalSource(lambda: [ROW, ROW])()
    both = ops.Compose([ops.Flip(), ops.Copy(device="gpu")])
    assert (both.device, both(data).device) == ("cpu", "gpu")


def test_words_that_any_operator_takes():
    data = fn.external_source(lambda: [ROW, ROW])
    words = {
        "seed": None,
        "preserve": False,
        "bytes_per_sample_hint": 100,
        "memory_stats": True,
        "name": "mine",
    }
    for flipped in (fn.flip(data, **words), ops.Flip(**words)(data)):
        np.testing.assert_array_equal(run(flipped)[0], [ROW[:, ::-1]] * 2)
