"""The surfaces agree: one record of each operator gives the functions of fn, ops and dynamic."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import jdali
import jdali.dynamic
import jdali.fn
import jdali.ops
from jdali._operators.record import REGISTRY, ArgKind, CompiledOp, ReaderOp

PUBLIC = sorted(n for n in REGISTRY if not n.startswith(("_", "math.")))
COMPILED = sorted(n for n in REGISTRY if isinstance(REGISTRY[n], CompiledOp) and not n.startswith("_"))


DYNAMIC = sorted(
    n
    for n in PUBLIC
    if not isinstance(REGISTRY[n], ReaderOp)
    and n not in ("external_source", "python_function", "dl_tensor_python_function")
)
FED = ("external_source", "experimental.inputs.video")  # by the user, in a pipeline only
READERS = sorted(n for n in PUBLIC if isinstance(REGISTRY[n], ReaderOp) and n not in FED)


def found(surface, name):
    for part in name.split("."):
        surface = getattr(surface, part)
    return surface


def contents(module):
    return {name: getattr(module, name) for name in dir(module)}


def documented(doc: str) -> list[str]:
    """Names listed under "Args:" of a docstring; "a, b: ..." lists two."""
    _, _, args = doc.partition("\nArgs:\n")
    names = []
    for line in args.splitlines():
        if line and not line.startswith(" "):
            break
        if match := re.match(r"^    ([\w*][\w*, ]*):", line):
            names += [n.strip().lstrip("*") for n in match.group(1).split(",")]
    return names


@pytest.mark.parametrize("name", PUBLIC)
def test_fn_has_the_record_s_signature(name):
    op = REGISTRY[name]
    parameters = inspect.signature(found(jdali.fn, name)).parameters
    for arg in op.public_args.values():
        parameter = parameters[arg.name]
        assert parameter.default is (inspect.Parameter.empty if arg.required else arg.default)
    assert {"device", "name"} <= set(parameters)
    assert found(jdali.fn, name).__doc__


@pytest.mark.parametrize("name", COMPILED)
def test_ops_has_the_record_s_signature(name):
    op = REGISTRY[name]
    function = found(jdali.ops, name)
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    expected = ["key"] * op.random + [i.name for i in op.inputs] + list(op.public_args)
    assert names[: len(expected)] == expected
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters if p.name in op.public_args)


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_has_the_record_s_signature(name):
    op = REGISTRY[name]
    function = found(jdali.dynamic, name)
    parameters = inspect.signature(function).parameters
    inputs = [i.name for i in op.inputs]
    arguments = [a for a in op.public_args if a != "seed"]
    generic = [a for a in ("batch_size", "device") if a not in op.public_args]
    assert list(parameters) == inputs + generic + arguments + ["rng", "key"] * op.random
    for arg in op.public_args.values():
        if arg.name != "seed":
            default = inspect.Parameter.empty if arg.required else arg.default
            assert parameters[arg.name].default is default
            assert parameters[arg.name].kind is inspect.Parameter.KEYWORD_ONLY
    assert set(generic) <= set(documented(function.__doc__))


@pytest.mark.parametrize("surface", [jdali.fn, jdali.dynamic, jdali.ops], ids=lambda module: module.__name__)
def test_a_signature_is_shown_with_a_line_for_each_argument(surface):
    lines = str(inspect.signature(surface.random.uniform)).splitlines()
    parameters = inspect.signature(surface.random.uniform).parameters
    shown = [re.match(r"[*]{0,2}(\w+)", line.strip()) for line in lines]
    assert [match[1] for match in shown if match] == list(parameters)
    assert any(line.endswith("(-1.0, 1.0),") for line in lines)


@pytest.mark.parametrize("name", READERS)
def test_dynamic_has_a_class_of_each_reader(name):
    op = REGISTRY[name]
    scope = found(jdali.dynamic, name.rpartition(".")[0])
    classes = [c for c in contents(scope).values() if getattr(c, "__operator__", None) is op]
    assert len(classes) == 1
    parameters = inspect.signature(classes[0]).parameters
    arguments = {k: p for k, p in parameters.items() if k in op.public_args}
    assert list(arguments) == list(op.public_args)
    for key, arg in op.public_args.items():
        assert arguments[key].default is (inspect.Parameter.empty if arg.required else arg.default)
    assert {"next_epoch", "get_metadata", "get_state", "set_state"} <= set(dir(classes[0]))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_docstring_lists_just_the_arguments(name):
    op = REGISTRY[name]
    listed = documented(op.doc)
    missing = set(op.public_args) - set(listed)
    unknown = set(listed) - set(op.args) - {i.name for i in op.inputs}
    assert not missing, f"{name}: arguments not described: {sorted(missing)}"
    assert not unknown, f"{name}: described, but no arguments: {sorted(unknown)}"
    assert op.doc.splitlines()[0].endswith((".", ":")), f"{name}: the first line says what the operator does"


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_arguments_are_keyword_only_and_defaults_convert(name):
    op = REGISTRY[name]
    for parameter in inspect.signature(op.run).parameters.values():
        assert parameter.kind is not parameter.POSITIONAL_OR_KEYWORD, f"{name}: {parameter.name}"
    for arg in op.args.values():
        if not arg.required and arg.default is not None and arg.kind is ArgKind.PER_SAMPLE:
            assert arg.convert(arg.default).dtype.kind != "O", f"{name}: {arg.name}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("audio_decoder", "decoders.audio"),
        ("caffe_reader", "readers.caffe"),
        ("caffe2_reader", "readers.caffe2"),
        ("coco_reader", "readers.coco"),
        ("coin_flip", "random.coin_flip"),
        ("experimental.audio_resample", "audio_resample"),
        ("experimental.decoders.image_slice", "decoders.image_slice"),
        ("experimental.inflate", "decoders.inflate"),
        ("experimental.peek_image_shape", "peek_image_shape"),
        ("file_reader", "readers.file"),
        ("image_decoder", "decoders.image"),
        ("image_decoder_random_crop", "decoders.image_random_crop"),
        ("mxnet_reader", "readers.mxnet"),
        ("nemo_asr_reader", "readers.nemo_asr"),
        ("normal_distribution", "random.normal"),
        ("numpy_reader", "readers.numpy"),
        ("sequence_reader", "readers.sequence"),
        ("tfrecord_reader", "readers.tfrecord"),
        ("transform_translation", "transforms.translation"),
        ("uniform", "random.uniform"),
        ("video_reader", "readers.video"),
        ("video_reader_resize", "readers.video_resize"),
    ],
)
def test_names_of_the_past_are_the_same_functions(old, new):
    older, newer = (inspect.unwrap(found(jdali.fn, name)) for name in (old, new))  # what warns of a name
    assert older is newer


@pytest.mark.parametrize("module", ["jdali.fn", "jdali.fn.experimental", "jdali.fn.experimental.decoders"])
def test_stubs_have_names_of_the_past_too(module):
    path = Path(jdali.__file__).parent.parent / module.replace(".", "/")
    stub = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    named = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            named.add(node.name)
        elif isinstance(node, ast.ImportFrom):  # public only so
            named |= {alias.name for alias in node.names if alias.name == alias.asname}
        elif isinstance(node, ast.Assign):
            named.add(node.targets[0].id)
    functions = {
        name
        for name, value in contents(importlib.import_module(module)).items()
        if hasattr(value, "__operator__") and not name.startswith("_")
    }
    assert functions - named == set()


def test_names_that_dali_has_in_several_modules():
    import jdali.pipeline.experimental

    assert jdali.pipeline.experimental.pipeline_def is jdali.pipeline_def
    assert jdali.types.SampleInfo(3, 1, 0, 2).idx_in_epoch == 3
    assert jdali.types.BatchInfo(4, 1).iteration == 4
