"""What `model_repository` writes and refuses, and its `model.py` with a process of jdali, without Triton's server."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import ENCODED, first_batch

import jdali
from jdali import fn
from jdali.plugin.triton import model_repository, pbtxt

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")

EXPORT: dict[str, Any] = {"shapes": [(64, 64)], "platforms": ["cpu"]}
OTHER = """name: "classifier" max_batch_size: {batch}
input [ {{ name: "x" data_type: {kind} dims: [ 3, {side}, 16 ] }} ]
output [ {{ name: "scores" data_type: TYPE_FP32 dims: [ 10 ] }} ]"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    pipelines.validation().export(folder, **EXPORT)
    return folder


def config_of(model: Path) -> pbtxt.Message:
    return pbtxt.read((model / "config.pbtxt").read_text())


def other(repository: Path, *, batch: int = 4, kind: str = "TYPE_FP32", side: int = -1) -> None:
    (repository / "classifier").mkdir(parents=True)
    text = OTHER.format(batch=batch, kind=kind, side=side)
    (repository / "classifier" / "config.pbtxt").write_text(text)


class TestConfiguration:
    def test_types_sizes_and_where_it_runs(self, exported: Path, tmp_path: Path):
        model = model_repository(
            exported, tmp_path, max_batch=16, max_wait_ms=2.5, instances=3, device="gpu", threads=2
        )
        config = config_of(model)
        assert config["input"] == [{"name": ["encoded"], "data_type": ["TYPE_STRING"], "dims": ["1"]}]
        assert config["output"] == [
            {"name": ["normalized"], "data_type": ["TYPE_FP32"], "dims": ["3", "16", "16"]}
        ]
        assert config["max_batch_size"] == ["16"]
        assert config["dynamic_batching"] == [{"max_queue_delay_microseconds": ["2500"]}]
        assert config["instance_group"] == [{"count": ["3"], "kind": ["KIND_GPU"]}]
        parameters = {one["key"][0]: one["value"][0]["string_value"][0] for one in config["parameters"]}
        assert parameters["fingerprint"] == jdali.load(exported).fingerprint
        assert parameters["python"] == sys.executable
        assert [path.name for path in tmp_path.iterdir()] == ["preprocess"]

    def test_a_pipeline_is_exported(self, exported: Path, tmp_path: Path):
        with pipelines.validation() as pipe:
            model = model_repository(pipe, tmp_path, name="again", **EXPORT)
        one, two = jdali.load(model / "1" / "exported"), jdali.load(exported)
        assert (one.inputs, one.outputs, one.shapes) == (two.inputs, two.outputs, two.shapes)

    def test_a_model_is_replaced(self, exported: Path, tmp_path: Path):
        model = model_repository(exported, tmp_path, max_batch=1)
        (model / "1" / "left").touch()
        model_repository(exported, tmp_path, max_batch=2)
        assert config_of(model)["max_batch_size"] == ["2"]
        assert not (model / "1" / "left").exists()

    def test_an_ensemble(self, exported: Path, tmp_path: Path):
        other(tmp_path)
        model_repository(exported, tmp_path, model="classifier")
        config = config_of(tmp_path / "preprocess_classifier")
        assert config["max_batch_size"] == ["4"]
        first, second = config["ensemble_scheduling"][0]["step"]
        assert first["model_name"] == ["preprocess"]
        assert first["output_map"] == [{"key": ["normalized"], "value": ["preprocess.normalized"]}]
        assert second["input_map"] == [{"key": ["x"], "value": ["preprocess.normalized"]}]
        assert second["output_map"] == [{"key": ["scores"], "value": ["scores"]}]
        assert (tmp_path / "preprocess_classifier" / "1").is_dir()


class TestRefused:
    def test_arguments(self, exported: Path, tmp_path: Path):
        for wrong, message in (
            ({"name": "../up"}, "must be that of a folder"), ({"device": "tpu"}, "'cpu' or 'gpu'"),
            ({"threads": 0}, "threads must be at least 1"), ({"max_wait_ms": -1}, "max_wait_ms must be at least 0"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=message):
                model_repository(exported, tmp_path, **wrong)
        with pytest.raises(TypeError, match="shapes are of an export"):
            model_repository(exported, tmp_path, shapes=[(8, 8)])
        assert not list(tmp_path.iterdir())

    def test_functions_of_the_user_and_random_operators_by_name(self, tmp_path: Path):
        def define() -> Any:
            pictures = fn.decoders.image(pipelines.encoded(), device="mixed")
            mine = fn.python_function(pictures, function=lambda x: x, name="mine")
            return fn.brightness(mine, brightness=2.0)

        with (
            pipelines.pipeline(define, exec_async=False, exec_pipelined=False) as pipe,
            pytest.raises(ValueError, match=r"(?i)python_?function.*mine"),
        ):
            model_repository(pipe, tmp_path, **EXPORT)
        with (
            pipelines.training() as pipe,
            pytest.raises(ValueError, match=r"random values are drawn in flip, left"),
        ):
            model_repository(pipe, tmp_path, deterministic=False, **EXPORT)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("changes", "inputs", "message"),
        [
            ({"kind": "TYPE_FP16"}, {}, "'x' of 'classifier' is TYPE_FP16.*'normalized'.*TYPE_FP32"),
            ({"side": 15}, {}, r"\[3, 15, 16\]"),
            ({"batch": 0}, {}, "takes no batches"),
            ({}, {"x": "pixels"}, "input 'x' of 'classifier' has no output of the pipeline.*normalized"),
            ({}, {"y": "normalized"}, "'classifier' has no input y; it has x"),
        ],
    )
    def test_models_that_do_not_fit(
        self, exported: Path, tmp_path: Path, changes: Any, inputs: Any, message: str
    ):
        other(tmp_path, **changes)
        with pytest.raises(ValueError, match=message):
            model_repository(exported, tmp_path, model="classifier", model_inputs=inputs)
        assert [path.name for path in tmp_path.iterdir()] == ["classifier"]

    def test_a_model_that_is_not_there(self, exported: Path, tmp_path: Path):
        with pytest.raises(ValueError, match=r"missing.*config\.pbtxt is missing"):
            model_repository(exported, tmp_path, model="missing")


class Tensor:
    """A tensor of Triton's."""

    def __init__(self, name: str, array: np.ndarray):
        self.name, self._array = name, array

    def as_numpy(self) -> np.ndarray:
        return self._array


def triton_utilities() -> types.ModuleType:
    """Stands for the module of this name, which exists in Triton's process only. Requests are dicts of arrays."""
    module = types.ModuleType("triton_python_backend_utils")
    vars(module).update(
        Tensor=Tensor,
        TritonError=str,
        TritonModelException=RuntimeError,
        InferenceResponse=lambda output_tensors=(), error=None: (output_tensors, error),
        get_input_tensor_by_name=lambda request, name: Tensor(name, request[name]),
    )
    return module


def files(*data: bytes) -> dict[str, np.ndarray]:
    return {"encoded": np.array(data, object)[:, None]}


def arguments(folder: Path, model: Path, **parameters: str) -> dict[str, Any]:
    """What Triton gives to `initialize`."""
    config = config_of(model)
    given = {one["key"][0]: one["value"][0] for one in config["parameters"]}
    described = {name: {"string_value": value["string_value"][0]} for name, value in given.items()}
    described |= {name: {"string_value": value} for name, value in parameters.items()}
    return {
        "model_config": json.dumps(
            {"max_batch_size": 4, "input": [{"name": "encoded"}], "parameters": described}
        ),
        "model_repository": str(folder / "preprocess"), "model_version": "1", "model_name": "preprocess",
        "model_instance_kind": "CPU", "model_instance_device_id": "0",
    }  # fmt: skip


class TestModel:
    """`model.py`, as Triton runs it."""

    @pytest.fixture
    def repository(self, exported: Path, tmp_path: Path) -> Path:
        model_repository(exported, tmp_path, max_batch=4, warm_up=False)
        return tmp_path

    @pytest.fixture
    def model(self, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setitem(sys.modules, "triton_python_backend_utils", triton_utilities())
        path = repository / "preprocess" / "1" / "model.py"
        spec = importlib.util.spec_from_file_location("model_of_triton", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = module.TritonPythonModel()
        yield found
        if hasattr(found, "_process"):
            found.finalize()
            assert found._process.returncode is not None

    def test_answers_errors_and_a_process_that_dies(self, repository: Path, model: Any):
        want = np.stack(first_batch(pipelines.validation())[0])
        model.initialize(arguments(repository, repository / "preprocess"))
        good, damaged, both = model.execute(
            [files(*ENCODED[:2]), files(ENCODED[0], b"damaged"), files(ENCODED[3])]
        )
        np.testing.assert_array_equal(good[0][0].as_numpy(), want[:2], strict=True)
        np.testing.assert_array_equal(both[0][0].as_numpy(), want[3:], strict=True)
        assert damaged[0] == ()
        assert damaged[1].startswith("sample 1: decoders.image")
        model._process.kill()
        model._process.wait()
        ((_, error),) = model.execute([files(ENCODED[0])])
        assert error == "the process of jdali ended with status -9"
        ((tensors, _),) = model.execute([files(ENCODED[0])])
        np.testing.assert_array_equal(tensors[0].as_numpy(), want[:1], strict=True)

    def test_what_cannot_be_loaded_is_an_error_of_the_model(self, repository: Path, model: Any):
        with pytest.raises(RuntimeError, match=r"FolderError.*its fingerprint is .*, not another"):
            model.initialize(arguments(repository, repository / "preprocess", fingerprint="another"))
