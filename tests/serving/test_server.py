"""`jdali.serving`, called by the real client of Triton over HTTP."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import json
import sys
import threading
import types
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import ENCODED, first_batch

import jdali
from jdali.cli import main

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")
pytest.importorskip("starlette", reason="the server is an application of Starlette")
uvicorn = pytest.importorskip("uvicorn", reason="it runs the server")
client_module = pytest.importorskip("tritonclient.http", reason="the client of the tests")

from jdali import serving  # noqa: E402

LIMITS = serving.ServerLimits(max_batch=8, max_wait_ms=20, max_waiting=64, max_request_bytes=1 << 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("served")
    pipelines.validation().export(target, shapes=[(64, 64)], platforms=["cpu"])
    return target


@pytest.fixture(scope="module")
def want() -> np.ndarray:
    return np.stack(first_batch(pipelines.validation())[0])


@contextlib.contextmanager
def running(model: serving.ServedModel, limits: serving.ServerLimits = LIMITS) -> Iterator[str]:
    """The address of a server that answers for a model."""
    config = uvicorn.Config(
        serving.application(model, limits), port=0, log_level="error", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with running(serving.ServedModel(jdali.load(folder))) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    with client_module.InferenceServerClient(address, concurrency=4) as found:
        yield found


def encoded_input(*files: bytes) -> Any:
    tensor = client_module.InferInput("encoded", [len(files)], "BYTES")
    tensor.set_data_from_numpy(np.array(files, object))
    return tensor


def test_health_and_metadata(client: Any):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("preprocess")
    assert not client.is_model_ready("another")
    assert client.get_server_metadata()["name"] == "jdali"
    described = client.get_model_metadata("preprocess")
    assert described["inputs"] == [{"name": "encoded", "datatype": "BYTES", "shape": [-1]}]
    assert described["outputs"] == [{"name": "normalized", "datatype": "FP32", "shape": [-1, 3, 16, 16]}]


@pytest.mark.parametrize("binary", [True, False])
def test_answers_have_the_bits_of_the_pipeline(client: Any, want: np.ndarray, binary: bool):
    asked = [client_module.InferRequestedOutput("normalized", binary_data=binary)]
    result = client.infer("preprocess", [encoded_input(*ENCODED[:3])], outputs=asked, request_id="7")
    np.testing.assert_array_equal(result.as_numpy("normalized"), want[:3], strict=True)
    assert result.get_response()["id"] == "7"


def test_json_alone(address: str, want: np.ndarray):
    data = [base64.b64encode(one).decode() for one in ENCODED[:2]]
    tensor = {
        "name": "encoded",
        "shape": [2],
        "datatype": "BYTES",
        "data": data,
        "parameters": {"content_type": "base64"},
    }
    status, answer = post(address, json.dumps({"inputs": [tensor]}).encode())
    assert status == 200
    (output,) = answer["outputs"]
    np.testing.assert_array_equal(np.float32(output["data"]).reshape(output["shape"]), want[:2])


def test_a_damaged_picture_is_an_error_of_its_own_request(client: Any, want: np.ndarray):
    """Sent at the same time as others, which get their answers."""
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
            for i in range(6):
                which = (number + i) % len(ENCODED)
                result = client.infer("preprocess", [encoded_input(ENCODED[which])])
                np.testing.assert_array_equal(
                    result.as_numpy("normalized"), want[which : which + 1], strict=True
                )

    with concurrent.futures.ThreadPoolExecutor(4) as clients:
        list(clients.map(ask, range(4)))
    text = metrics_of(address)
    counted = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert int(counted['jdali_requests_total{code="200"}']) >= 24
    batches = int(counted["jdali_batch_samples_count"])
    assert batches <= float(counted["jdali_batch_samples_sum"])
    assert counted['jdali_batch_samples_bucket{le="+Inf"}'] == str(batches)


def metrics_of(address: str) -> str:
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        return str(answer.read(), "utf-8")


def post(
    address: str, body: bytes, path: str = "v2/models/preprocess/infer", **headers: str
) -> tuple[int, Any]:
    request = urllib.request.Request(f"http://{address}/{path}", body, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def named(**changes: Any) -> bytes:
    tensor = {"name": "encoded", "shape": [1], "datatype": "BYTES", "data": ["x"]} | changes
    return json.dumps({"inputs": [tensor]}).encode()


REFUSED: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "no JSON of an inference"),
    "another type": (b'{"inputs": 3}', "no JSON of an inference"),
    "deep": (b'{"inputs": ' + b"[" * 100_000, "no JSON of an inference"),
    "no input": (b'{"inputs": []}', "inputs must be encoded, got none"),
    "another input": (named(name="other"), "inputs must be encoded, got other"),
    "no samples": (named(shape=[0], data=[]), "at least 1"),
    "more than a batch": (named(shape=[9], data=["x"] * 9), "may have 8 samples, this one has 9"),
    "another shape": (named(shape=[2]), "1 strings of shape [2]"),
    "negative": (named(shape=[-1]), "its shape is [-1]"),
    "datatype": (named(datatype="FP128", data=[1]), "is none of the protocol's"),
    "no base64": (named(parameters={"content_type": "base64"}), "it is not base64"),
    "binary size": (
        named(data=None, parameters={"binary_data_size": 10**12}),
        "binary_data_size is 1000000000000",
    ),
    "an output": (named().replace(b'"inputs"', b'"outputs": [{"name": "y"}], "inputs"'), "sample 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(address: str, name: str):
    body, message = REFUSED[name]
    status, answer = post(address, body)
    assert status == 400
    assert message in answer["error"]


def test_other_limits(address: str):
    assert post(address, b"x" * (LIMITS.max_request_bytes + 1))[0] == 413
    assert post(address, b"", "v2/models/other/infer")[0] == 404
    assert post(address, named(), "v2/models/preprocess/versions/2/infer")[0] == 404
    assert post(address, named(), **{"Content-Encoding": "gzip"})[0] == 400
    assert post(address, named(), **{"Inference-Header-Content-Length": "9999"})[0] == 400
    for wrong in ({"max_batch": 0}, {"max_wait_ms": -1}):
        with pytest.raises(ValueError, match="it must be at least"):
            serving.ServerLimits(**wrong)


def test_requests_of_one_batch_get_their_own_samples(folder: Path, want: np.ndarray):
    requests = [[ENCODED[2]], [ENCODED[0], b"damaged"], [ENCODED[3], ENCODED[1]]]
    model = serving.ServedModel(jdali.load(folder))
    first, failed, last = model.answer([{"encoded": files} for files in requests])
    assert isinstance(failed, serving.RequestError)
    assert isinstance(first, dict)
    assert isinstance(last, dict)
    np.testing.assert_array_equal(first["normalized"], want[[2]], strict=True)
    np.testing.assert_array_equal(last["normalized"], want[[3, 1]], strict=True)


def test_a_model_behind_it(folder: Path, want: np.ndarray):
    model = serving.ServedModel(
        jdali.load(folder), lambda x: {"mean": jnp.mean(x, axis=(1, 2, 3))}, name="mean"
    )
    with running(model) as address, client_module.InferenceServerClient(address) as client:
        result = client.infer("mean", [encoded_input(*ENCODED[:3])])
        np.testing.assert_allclose(
            result.as_numpy("mean"), want[:3].mean(axis=(1, 2, 3)), rtol=1e-5, atol=1e-6
        )


def test_a_model_that_fails_is_no_error_of_the_client(folder: Path):
    def fail(pictures: Any) -> Any:
        raise KeyError("secret")

    with running(serving.ServedModel(jdali.load(folder), fail)) as address:
        status, answer = post(address, json.dumps({"inputs": [json.loads(base64_input())]}).encode())
        assert (status, answer) == (500, {"error": "the model failed: KeyError"})


def base64_input() -> str:
    data = [base64.b64encode(ENCODED[0]).decode()]
    return json.dumps(
        {
            "name": "encoded",
            "shape": [1],
            "datatype": "BYTES",
            "data": data,
            "parameters": {"content_type": "base64"},
        }
    )


def test_too_many_requests_are_refused(folder: Path):
    """One is answered and one waits; the third is refused at once."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(pictures: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return pictures

    limits = serving.ServerLimits(max_batch=1, max_wait_ms=0, max_waiting=1)
    body = json.dumps({"inputs": [json.loads(base64_input())]}).encode()
    model = serving.ServedModel(jdali.load(folder), slow)
    with running(model, limits) as address, concurrent.futures.ThreadPoolExecutor(2) as clients:
        try:
            first = clients.submit(post, address, body)
            assert begun.wait(60)
            second = clients.submit(post, address, body)
            while "jdali_requests_waiting 1" not in metrics_of(address):
                go_on.wait(0.01)
            status, answer = post(address, body)
        finally:
            go_on.set()
        assert (status, answer["error"]) == (503, "1 requests wait already; try again later")
        assert first.result()[0] == second.result()[0] == 200


def test_arrays_and_padded_outputs(tmp_path: Path):
    pipelines.speech().export(tmp_path, shapes=[(512,)], platforms=["cpu"])
    model = serving.ServedModel(jdali.load(tmp_path))
    sounds = [np.sin(np.arange(n, dtype=np.float32) / 3) for n in (400, 500)]
    assert model.metadata()["inputs"] == [{"name": "sounds", "datatype": "FP32", "shape": [-1, -1]}]
    want = first_batch(pipelines.speech())[0]
    answers: list[Any] = model.answer([{"sounds": [sounds[0]]}, {"sounds": [sounds[1]]}])
    (name,) = model.preprocess.outputs
    assert model.metadata()["outputs"] == [
        {"name": name, "datatype": "FP32", "shape": [-1, -1, -1]},
        {"name": f"{name}_extent", "datatype": "INT32", "shape": [-1, 2]},
    ]
    for answer, expected in zip(answers, want, strict=False):
        assert answer[f"{name}_extent"].tolist() == [list(expected.shape)]
        np.testing.assert_array_equal(answer[name][0], expected, strict=True)


def test_no_request_compiles_after_the_warm_up(tmp_path: Path, want: np.ndarray):
    """XLA's compilations are counted by JAX's own events: some while it warms up, none later, in no batch size."""
    pipelines.validation().export(tmp_path, shapes=[(64, 64)], platforms=["cpu"])
    sizes: list[int] = []

    def model(pixels: Any) -> Any:
        sizes.append(len(pixels))
        return mean(pixels)

    served = serving.ServedModel(jdali.load(tmp_path), model)
    mean = jax.jit(lambda x: jnp.mean(x, axis=(1, 2, 3)))
    with compilations() as warm:
        served.warm_up(3)
    assert len(warm) > 3
    assert {1, 2, 3} <= set(sizes)
    with compilations() as later:
        for count in (1, 2, 3):
            answers: list[Any] = served.answer([{"encoded": [one]} for one in ENCODED[:count]])
            assert all("output_0" in answer for answer in answers)
    assert later == []


@contextlib.contextmanager
def compilations() -> Iterator[list[str]]:
    """Names of the programs that JAX lowers meanwhile."""
    names: list[str] = []

    def note(event: str, seconds: float, **about: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(str(about.get("fun_name", "")))

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


def test_random_operators_are_refused_by_name(tmp_path: Path):
    pipelines.training().export(tmp_path, shapes=[(64, 64)], platforms=["cpu"], deterministic=False)
    with pytest.raises(
        ValueError, match=r"random values are drawn in flip, left.*export the pipeline with deterministic"
    ):
        serving.ServedModel(jdali.load(tmp_path))


@pytest.mark.parametrize("options", [[], ["--no-warmup"]])
def test_the_command(
    options: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Programs are compiled before the server starts, unless that is not wanted."""
    called: list[tuple[str, Any, dict[str, Any]]] = []
    monkeypatch.setattr(serving, "serve", lambda model, **given: called.append(("serve", model, given)))
    monkeypatch.setattr(
        serving.ServedModel, "warm_up", lambda _, batch, **given: called.append(("warm up", batch, given))
    )
    module = types.ModuleType("my_model")
    vars(module)["twice"] = twice = pipelines.STD.index  # any function
    monkeypatch.setitem(sys.modules, "my_model", module)
    before = jdali.storage.options()
    arguments = ["--model", "my_model:twice", "--port", "0", "--max-batch", "4", "--max-pixels", "99"]
    try:
        assert main(["serve", str(folder), *arguments, *options]) == 0
    finally:
        jdali.storage.configure(max_pixels=before.max_pixels)
    (_, model, given) = called.pop()
    assert called == ([] if options else [("warm up", 4, {"progress": True})])
    assert given["host"] == "127.0.0.1"
    assert given["limits"].max_batch == 4
    assert model._model == twice
    assert "/v2/models/preprocess" in capsys.readouterr().err
