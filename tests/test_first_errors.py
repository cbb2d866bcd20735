"""Words of the errors that a newcomer meets first, and the line that a traceback ends with."""

from __future__ import annotations

import contextlib
import json
import re
import traceback
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec

import jdali
import jdali.dynamic as jd
from jdali import fn, ops, pipeline_def, types
from jdali._storage.remote import _as_os_error
from jdali.iterator import DataIterator
from jdali.storage import Options

_IMAGE = np.zeros((4, 4, 3), np.uint8)


@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def constant():
    return fn.external_source([_IMAGE[None]], cycle=True)


def test_pictures_that_lie_flat(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"No files found.*1 lie in .* itself: put them into subfolders, one for each class"
    ):
        jd.readers.File(file_root=str(tmp_path))()


def test_a_function_that_was_not_called() -> None:
    with pytest.raises(
        TypeError, match=r"constant is a function that makes pipelines: call it, as in DataIterator\(constant"
    ):
        DataIterator(constant, ["images"])
    with pytest.raises(TypeError, match="a function that makes pipelines: call it"):
        jdali.statistics(constant)
    for method in ("run", "build", "reader_meta"):
        with pytest.raises(TypeError, match=rf"call it first, constant\(\.\.\.\)\.{method}\("):
            getattr(constant, method)()


@pytest.mark.parametrize("call", [ops.resize, jd.resize, fn.resize])
def test_arguments_by_position(call) -> None:
    with pytest.raises(
        TypeError, match=r"received 2\. All others are arguments.* by name: resize\(image, size=\.\.\.\)"
    ):
        call(_IMAGE, (8, 8))


@pytest.mark.parametrize(
    "operator", [fn.resize, fn.hsv, fn.brightness, fn.flip, fn.crop, fn.crop_mirror_normalize]
)
def test_files_that_are_not_decoded(operator, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"content")

    @pipeline_def(batch_size=1, num_threads=1)
    def encoded():
        return operator(fn.readers.file(files=[str(tmp_path / "a.jpg")])[0])

    with (
        encoded() as pipe,
        pytest.raises(ValueError, match=r"dimensions 1 .* decode them first: fn\.decoders\.image"),
    ):
        pipe.run()


def test_other_mistakes_with_files(tmp_path: Path) -> None:
    for i in range(2):
        (tmp_path / f"{i}.jpg").write_bytes(b"content" * (i + 1))

    @pipeline_def(batch_size=2, num_threads=1)
    def made(body):
        return body(fn.readers.file(files=[str(tmp_path / f"{i}.jpg") for i in range(2)]))

    with (
        made(lambda read: fn.spectrogram(read[0])) as pipe,
        pytest.raises(ValueError, match=r"decode it: fn\.decoders"),
    ):
        pipe.run()
    with (
        DataIterator(made(lambda read: read[0]), ["a"], size=2) as batches,
        pytest.raises(
            ValueError, match=r"differ in shape: \(7,\), \(14,\)\. If these are encoded files, decode them"
        ),
    ):
        next(batches)
    with (
        pytest.raises(TypeError, match="has 2 outputs of an operator: take one"),
        made(fn.decoders.image) as pipe,
    ):
        pipe.run()
    with (
        made(lambda _: fn.decoders.image(np.zeros((4, 4, 3), np.uint8))) as pipe,
        pytest.raises(RuntimeError, match="an array of 3 axes: has it been decoded already"),
    ):
        pipe.run()


def test_numpy_functions_of_a_node() -> None:
    node = fn.random.uniform()
    for function, named in ((np.sqrt, "sqrt"), (np.arcsin, "asin"), (np.log1p, "or jdali.fn")):
        with pytest.raises(
            TypeError, match=rf"numpy\.{function.__name__} takes no DataNode, .* use .*{named}$"
        ):
            function(node)
    for function in (np.asarray, np.mean, np.stack):
        with pytest.raises(
            TypeError, match="has no values, it is a batch that is yet to come.*jdali.dynamic"
        ):
            function([node] if function is np.stack else node)


def test_a_node_made_under_jit() -> None:
    with pytest.raises(TypeError, match=r"Under jit, vmap or grad use .* jdali\.ops\.flip"):
        jax.jit(lambda image: fn.flip(image, horizontal=1))(_IMAGE)


def test_numpy_operators_of_a_node() -> None:
    """Those that Python writes as signs, by either name, with the array on either side."""

    @pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        node = fn.external_source([np.float32([[1, 2, 3]])], cycle=True)
        array = total = np.float32([4, 5, 6])
        total += node
        return (
            np.subtract(node, array), np.subtract(array, node), array - node, np.float32(4) / node, np.abs(-node),
            np.less(array, 2 * node), np.float64(1) + node,
            total, np.float32(2) == node,
        )  # fmt: skip

    with pipe() as made:
        results = [np.asarray(output.as_cpu().as_array())[0].tolist() for output in made.run()]
    assert results == [
        [-3, -3, -3],
        [3, 3, 3],
        [3, 3, 3],
        [4, 2, pytest.approx(4 / 3)],
        [1, 2, 3],
        [False, False, False],
        [2, 3, 4],
        [5, 7, 9],
        [False, True, False],
    ]


@pytest.mark.parametrize("wrong", [None, {}, [1], "state"], ids=str)
def test_what_is_no_state(wrong) -> None:
    with (
        constant() as pipe,
        pytest.raises(ValueError, match="pipeline: this is not a state, as `get_state` gives one"),
    ):
        pipe.set_state(wrong)
    with (
        DataIterator(constant(), ["images"], size=4) as batches,
        pytest.raises(ValueError, match="iterator: this is not a state, as `get_state` gives one"),
    ):
        batches.set_state(wrong)


def test_states_are_taken_for_no_others() -> None:
    with constant() as pipe, DataIterator(constant(), ["images"], size=4) as batches:
        with pytest.raises(ValueError, match="iterator: the state is of another object, .* no 'pipelines'"):
            batches.set_state(pipe.get_state())
        with pytest.raises(ValueError, match="pipeline: the state is of another object, .* no 'seed'"):
            pipe.set_state(batches.get_state())
        with pytest.raises(ValueError, match="'graph'.* is damaged"):
            pipe.set_state({**pipe.get_state(), "graph": "c-o7"})


def test_a_state_is_the_users_own() -> None:
    with constant() as pipe, DataIterator(constant(), ["images"], size=4) as batches:
        for owner in (pipe, batches):
            before = json.dumps(owner.get_state())
            given = owner.get_state()
            owner.set_state(given)
            for state in (given, owner.get_state()):
                change(state)
            assert json.dumps(owner.get_state()) == before


def change(state: Any) -> None:
    """Empties all containers of a state."""
    for value in state.values() if isinstance(state, dict) else state:
        if isinstance(value, (dict, list)):
            change(value)
    state.clear()


@pytest.mark.parametrize(("cycle", "counts"), [(None, [3, 0]), ("quiet", [3, 3]), ("raise", [3, 3])])
def test_an_epoch_without_a_batch_is_said(cycle, counts) -> None:
    """A list that ended stays at its end, as in DALI."""

    @pipeline_def(batch_size=1, num_threads=1)
    def pipe():
        return fn.external_source([_IMAGE[None]] * 3, cycle=cycle)

    size = 3 if cycle == "quiet" else -1
    with DataIterator(pipe(), ["images"], size=size) as batches:
        assert sum(1 for _ in batches) == counts[0]
        with (
            pytest.warns(UserWarning, match='without a batch.* cycle="raise"')
            if not counts[1]
            else contextlib.nullcontext()
        ):
            assert sum(1 for _ in batches) == counts[1]


def test_a_policy_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"Give one of LastBatchPolicy\.FILL, .*LastBatchPolicy\.PARTIAL"):
        DataIterator(constant(), ["images"], size=4, last_batch_policy="drop")


@pytest.mark.parametrize("option", ["batch_size", "num_threads", "seed"])
@pytest.mark.parametrize("wrong", ["4", 2.0])
def test_options_that_are_no_integers(option, wrong) -> None:
    with pytest.raises(TypeError, match=f"Pipeline: {option} must be an integer, not {wrong!r}"):
        jdali.Pipeline(**{"batch_size": 2, "num_threads": 1, option: wrong})


def test_a_call_outside_of_a_pipeline() -> None:
    with pytest.warns(
        UserWarning, match=r"fn\.flip of an array .* computes nothing: jdali\.dynamic\.flip"
    ) as said:
        fn.flip(_IMAGE, horizontal=1)
    assert said[0].filename == __file__
    fn.flip(fn.external_source([_IMAGE[None]]), horizontal=1)  # a graph may be made outside of a pipeline


def test_one_output_taken_apart() -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        images, labels = fn.external_source(lambda: _PAIR)
        return images, labels

    with pytest.raises(TypeError, match="'DataNode' object is not iterable") as caught:
        pipe()
    assert "several with num_outputs" in caught.value.__notes__[0]


_PAIR = (np.zeros((2, 3, 1), np.float32), np.zeros(2, np.int64))


@pytest.mark.parametrize(("given", "batch"), [(_PAIR, True), (tuple(x[0] for x in _PAIR), False)])
def test_a_source_of_several_outputs(given, batch) -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe(value):
        return fn.external_source(lambda _: value, batch=batch)

    with pipe(given) as made, pytest.raises(RuntimeError, match="these are 2 outputs.*num_outputs=2"):
        made.run()
    with (
        pipe({"image": given[0]}) as made,
        pytest.raises(RuntimeError, match="give a tuple of them, .*num_outputs"),
    ):
        made.run()


def test_what_is_no_sharding() -> None:
    mesh = Mesh(np.array(jax.devices()[:1]), "batch")
    for wrong in (mesh, PartitionSpec("batch")):
        with pytest.raises(
            TypeError, match=r"instance of `jax.sharding.Sharding`.*sharding=NamedSharding\(mesh, P\("
        ):
            DataIterator(constant(), ["images"], sharding=wrong)


def test_an_array_of_a_device() -> None:
    with (
        constant_on_device() as batch,
        pytest.raises(AttributeError, match=r"batch\.as_cpu\(\)\.as_array\(\)"),
    ):
        batch.as_array()
    assert not hasattr(batch, "as_array")  # as in DALI


class constant_on_device:
    def __enter__(self):
        return constant().run()[0].to_device("gpu")

    def __exit__(self, *exception: object) -> None:
        pass


def test_a_bucket_that_is_not_there() -> None:
    missing = FileNotFoundError("The specified bucket does not exist")
    error = _as_os_error("s3://mine/a.jpg", missing, 1, Options())
    assert "there is no bucket 'mine'" in str(error)


def test_dynamic_mode_under_jit() -> None:
    with pytest.raises(TypeError, match=r"use the pure function jdali\.ops\.resize there"):
        jax.jit(lambda image: jd.resize(image, size=[2, 2]))(_IMAGE)


def test_a_type_that_there_is_not() -> None:
    for wrong in ("flaot", np.complex64):
        with pytest.raises(TypeError, match=r"types\.UINT8, .*types\.FLOAT, "):
            fn.cast(_IMAGE, dtype=wrong)


def test_a_key_where_a_seed_belongs() -> None:
    with pytest.raises(TypeError, match=r"seed is a JAX key, and must be an integer.*Pipeline.function take"):
        constant(seed=jax.random.key(0))
    with pytest.raises(
        TypeError, match=r"A pipeline draws from its seed=; jdali.ops and jdali.dynamic take keys"
    ):
        fn.random.uniform(key=jax.random.key(0))


def test_an_if_on_a_node() -> None:
    with pytest.raises(TypeError, match="conditional context") as caught:
        bool(fn.random.coin_flip())
    assert "write @pipeline_def(enable_conditionals=True) above the function" in caught.value.__notes__[0]


def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "dog.jpg").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    here = re.escape(str(tmp_path))
    with pytest.raises(
        RuntimeError, match=rf"cannot read {here}/train/dgo\.jpg: .* \(there is {here}/train/dog\.jpg\)"
    ):
        jd.imread("train/dgo.jpg")
    with pytest.raises(FileNotFoundError, match=rf"the working directory is {here}; there is train\)"):
        jd.readers.File(file_root="trian")()
    (tmp_path / "broken").symlink_to("gone")
    text = rf"No such file or directory \({here}/broken is a link to gone, which does not exist\)"
    with pytest.raises(FileNotFoundError, match=text):
        jd.readers.File(file_root=f"{tmp_path}/broken")()


def test_a_batch_in_a_function_of_one_sample() -> None:
    with pytest.raises(
        ValueError, match=r"Functions of jdali\.ops take one sample: map them over a batch with jax\.vmap"
    ):
        ops.resize(np.zeros((2, 2, 4, 4, 4, 3), np.uint8), size=[2, 2])
    with pytest.raises(ValueError, match="permutation of input layout") as raised:
        ops.crop_mirror_normalize(np.zeros((2, 4, 4, 3), np.uint8), crop=(2, 2))
    assert "with jax.vmap" in "".join(raised.value.__notes__)


def _frames(error: BaseException) -> list[str]:
    return [
        f.filename for one in (error, error.__cause__) if one for f in traceback.extract_tb(one.__traceback__)
    ]


def _wrong(value):
    raise KeyError("mine")


@pytest.mark.parametrize("mode", ["", "full"])
def test_the_users_line_is_last(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDALI_TRACEBACK", mode)

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def mistaken(wrong: bool):
        image = fn.external_source([_IMAGE[None]], cycle=True)
        return fn.resize(image, sise=3) if wrong else fn.python_function(image, function=_wrong)

    calls = [
        lambda: mistaken(True),
        lambda: mistaken(False).run(),
        lambda: next(DataIterator(mistaken(False), ["image"])),
        lambda: ops.resize(_IMAGE, sise=3),
        lambda: jd.resize(_IMAGE, sise=3),
        lambda: fn.resize(types.Constant(1), sise=3),
    ]
    for call in calls:
        with pytest.raises(Exception, match=r"mine|sise") as caught:
            call()
        files = _frames(caught.value)
        assert (
            files[-1].startswith(str(Path(jdali.__file__).parent))
            or mode == ""
            or "mine" in str(caught.value)
        )
        if mode == "":
            assert set(files) == {__file__}
