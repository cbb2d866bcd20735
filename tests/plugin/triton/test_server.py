"""A model repository in the real server, asked by the real client: `make triton`."""

from __future__ import annotations

import concurrent.futures
import math
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import ENCODED, first_batch
from support.triton_server import distribution, triton_server

from jdali.plugin.triton import model_repository

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")
client_module = pytest.importorskip("tritonclient.http", reason="the client of the tests")

pytestmark = [
    pytest.mark.triton,
    pytest.mark.slow,
    pytest.mark.skipif(distribution() is None, reason="`make triton` installs the server"),
]

# A model in Triton's Python, which knows nothing of jdali: the mean of each picture, and of no other. `fsum` rounds once,
# so that another NumPy, which adds in another order, gives the same bits.
MEANS = """
import math

import numpy as np
import triton_python_backend_utils as triton

class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            pixels = triton.get_input_tensor_by_name(request, "PIXELS").as_numpy()
            planes = pixels.reshape(*pixels.shape[:2], -1)
            means = np.float32([[math.fsum(plane) / plane.size for plane in one] for one in planes])
            answers.append(triton.InferenceResponse([triton.Tensor("MEANS", means)]))
        return answers
"""
CONFIG = """
backend: "python"
max_batch_size: 8
input [ { name: "PIXELS" data_type: TYPE_FP32 dims: [ 3, 16, 16 ] } ]
output [ { name: "MEANS" data_type: TYPE_FP32 dims: [ 3 ] } ]
instance_group [ { kind: KIND_CPU } ]
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    repository = tmp_path_factory.mktemp("repository")
    means = repository / "means"
    (means / "1").mkdir(parents=True)
    (means / "1" / "model.py").write_text(MEANS)
    (means / "config.pbtxt").write_text(f'name: "means"{CONFIG}')
    export: dict[str, Any] = {"shapes": [(64, 64)], "platforms": ["cpu"]}
    model_repository(pipelines.validation(), repository, model="means", max_batch=4, **export)
    folder = tmp_path_factory.mktemp("exported")
    pipelines.speech().export(folder, shapes=[(512,)], platforms=["cpu"])
    model_repository(folder, repository, name="speech", max_batch=2, warm_up=False)
    with triton_server(repository) as (found, _):
        yield found


@pytest.fixture(scope="module")
def want() -> np.ndarray:
    return np.stack(first_batch(pipelines.validation())[0])


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    with client_module.InferenceServerClient(address, concurrency=4) as found:
        yield found


def encoded_input(*files: bytes) -> Any:
    tensor = client_module.InferInput("encoded", [len(files), 1], "BYTES")
    tensor.set_data_from_numpy(np.array(files, object)[:, None])
    return tensor


def test_metadata(client: Any):
    described = client.get_model_metadata("preprocess")
    assert described["inputs"] == [{"name": "encoded", "datatype": "BYTES", "shape": [-1, 1]}]
    assert described["outputs"] == [{"name": "normalized", "datatype": "FP32", "shape": [-1, 3, 16, 16]}]


def test_answers_have_the_bits_of_the_pipeline(client: Any, want: np.ndarray):
    result = client.infer("preprocess", [encoded_input(*ENCODED[:3])])
    np.testing.assert_array_equal(result.as_numpy("normalized"), want[:3], strict=True)


def test_a_damaged_picture_is_an_error_of_its_own_request(client: Any, want: np.ndarray):
    requests = [[ENCODED[0]], [b"damaged"], [ENCODED[1], ENCODED[2][:50]], [ENCODED[3], ENCODED[2]]]
    pending = [client.async_infer("preprocess", [encoded_input(*files)]) for files in requests]
    np.testing.assert_array_equal(pending[0].get_result().as_numpy("normalized"), want[:1])
    np.testing.assert_array_equal(pending[3].get_result().as_numpy("normalized"), want[[3, 2]])
    with pytest.raises(client_module.InferenceServerException, match=r"sample 0: decoders\.image"):
        pending[1].get_result()
    with pytest.raises(client_module.InferenceServerException, match=r"sample 1: decoders\.image"):
        pending[2].get_result()


def test_many_clients_at_once(address: str, want: np.ndarray):
    def ask(number: int) -> None:
        with client_module.InferenceServerClient(address) as client:
            for i in range(20):
                which = (number + i) % len(ENCODED)
                result = client.infer("preprocess", [encoded_input(ENCODED[which])])
                np.testing.assert_array_equal(result.as_numpy("normalized"), want[[which]], strict=True)

    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        list(clients.map(ask, range(8)))


def test_an_ensemble_with_another_model(client: Any, want: np.ndarray):
    expected = np.float32([[math.fsum(plane.ravel()) / plane.size for plane in one] for one in want])
    result = client.infer("preprocess_means", [encoded_input(*ENCODED)])
    np.testing.assert_array_equal(result.as_numpy("MEANS"), expected, strict=True)
    with pytest.raises(client_module.InferenceServerException, match=r"sample 0: decoders\.image"):
        client.infer("preprocess_means", [encoded_input(b"damaged")])


def test_arrays_and_padded_outputs(client: Any):
    """Requests with sounds of different lengths run together, each with its own sizes."""
    want = first_batch(pipelines.speech())[0]
    pending = []
    for length in (400, 500):
        sound = np.sin(np.arange(length, dtype=np.float32) / 3)
        tensor = client_module.InferInput("sounds", [1, length], "FP32")
        tensor.set_data_from_numpy(sound[None])
        pending.append(client.async_infer("speech", [tensor]))
    (name,) = [
        one["name"] for one in client.get_model_metadata("speech")["outputs"] if "_extent" not in one["name"]
    ]
    for expected, one in zip(want, pending, strict=False):
        result = one.get_result()
        assert result.as_numpy(f"{name}_extent").tolist() == [list(expected.shape)]
        np.testing.assert_array_equal(result.as_numpy(name)[0], expected, strict=True)


def test_a_process_that_is_killed_is_started_again(client: Any, want: np.ndarray):
    shown = subprocess.run(
        ["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in shown.splitlines()[1:]]
    (pid,) = [int(pid) for pid, _, text in rows if "jdali.plugin.triton.worker" in text and _is_ours(text)]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(client_module.InferenceServerException, match="ended with status -9"):
        client.infer("preprocess", [encoded_input(ENCODED[0])])
    result = client.infer("preprocess", [encoded_input(ENCODED[0])])
    np.testing.assert_array_equal(result.as_numpy("normalized"), want[:1], strict=True)


def _is_ours(command: str) -> bool:
    """True for the worker of this test's repository and of "preprocess"."""
    folder = Path(next(word for word in command.split() if word.endswith("/exported")))
    return folder.parents[1].name == "preprocess" and "repository" in folder.parents[2].name
