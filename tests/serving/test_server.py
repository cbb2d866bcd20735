"""`jdali.serving`, called by the real client of Triton over HTTP."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import http.client
import json
import re
import select
import socket
import subprocess
import sys
import threading
import tracemalloc
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
from jdali import fn
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
def model(folder: Path) -> serving.ServedModel:
    return serving.ServedModel(jdali.load(folder))


@pytest.fixture(scope="module")
def address(model: serving.ServedModel) -> Iterator[str]:
    with running(model) as found:
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


@pytest.mark.cases(1)
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


def binary(shape: Any, datatype: str, data: bytes = b"", **changes: Any) -> tuple[bytes, int]:
    """A body with a binary input, and the length of its JSON."""
    tensor = {"name": "encoded", "shape": shape, "datatype": datatype} | changes
    head = json.dumps(
        {"inputs": [tensor | {"parameters": {"binary_data_size": len(data)}}]}, separators=(",", ":")
    ).encode()
    return head + data, len(head)


REFUSED: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "not JSON of an inference"),
    "another type": (b'{"inputs": 3}', "inputs must be encoded: Expected `array`"),
    "no object": (b"[]", "not JSON of an inference"),
    "deep": (b'{"inputs": ' + b"[" * 100_000, "not JSON of an inference"),
    "deep strings": (named(data=0).replace(b'"data": 0', b'"data": ' + b"[" * 900 + b"]" * 900), "strings of shape [1]"),
    "no input": (b'{"inputs": []}', "inputs must be encoded: Expected `array` of length 1"),
    "many inputs": (b'{"inputs": [' + b",".join([named()[12:-2]] * 9000) + b"]}", "inputs must be encoded"),
    "another input": (named(name="other"), "inputs must be encoded, got other"),
    "no samples": (named(shape=[0], data=[]), "may have 1 to 8 samples, this one has 0"),
    "more than a batch": (named(shape=[9], data=["x"] * 9), "may have 1 to 8 samples, this one has 9"),
    "more strings": (named(data=["x"] * 200_000), "strings of shape [1]: Expected `array` of length 1"),
    "fewer strings": (named(shape=[2]), "strings of shape [2]: Expected `array` of length 2"),
    "no strings": (named(data=[None]), "Expected `str`, got `null`"),
    "nested strings": (named(shape=[1, 1], data=[[["x"]]]), "Expected `str`, got `array`"),
    "negative": (named(shape=[-1]), "its shape is [-1]"),
    "no axes": (named(shape=[]), "its shape is []"),
    "axes of strings": (named(shape=["1"]), "Expected `int`, got `str`"),
    "no shape": (named(shape=None), "Expected `array`, got `null`"),
    "65 axes": (named(shape=[1] * 65, datatype="FP32", data=[1]), "the first axis is that of samples"),
    "many axes": (named(shape=[1] * 200_000, datatype="FP32", data=[1]), "its shape may have 32 axes"),
    "huge axes": (named(shape=[1, 10**18, 10**18, 0], datatype="FP32", data=[]), "too large"),
    "huge empty": (named(shape=[1, 2**30, 2**30, 0], datatype="FP32", data=[]), "too large"),
    "two axes": (named(shape=[1, 2], data=["x", "y"]), "one element for each sample is wanted"),
    "datatype": (named(datatype="FP128", data=[1]), "is none of the protocol's"),
    "no datatype": (named(datatype=1), "Expected `str`, got `int`"),
    "no base64": (named(parameters={"content_type": "base64"}), "it is not base64"),
    "a surrogate": (named(data=["\ud800"]), "not JSON of an inference"),
    "binary size": (
        named(data=None, parameters={"binary_data_size": 10**12}),
        "binary_data_size is 1000000000000",
    ),
    "negative binary size": (named(parameters={"binary_data_size": -1}), "binary_data_size is -1"),
    "no binary size": (named(parameters={"binary_data_size": True}), "Expected `int | null`, got `bool`"),
    "an output": (named().replace(b'"inputs"', b'"outputs": [{"name": "y"}], "inputs"'), "there is no output 'y'"),
    "an output twice": (
        named().replace(b'"inputs"', b'"outputs": [{"name": "normalized"}, {"name": "normalized"}], "inputs"'),
        "may be asked for once",
    ),
    "many outputs": (
        named().replace(b'"inputs"', b'"outputs": [' + b",".join([b'{"name":"normalized"}'] * 20_000) + b'], "inputs"'),
        "outputs may take 65536 bytes",
    ),
    **{
        f"JSON {name}": (named(datatype=kind, shape=[1, 2], data=data), text)
        for name, kind, data, text in [
            ("null", "FP32", [1, None], "Expected `float`, got `null`"),
            ("string", "FP32", [1, "2"], "Expected `float`, got `str`"),
            ("truth", "FP32", [1, True], "Expected `float`, got `bool`"),
            ("1e300", "FP32", [1, 1e300], "too large for FP32"),
            ("70000", "FP16", [1, 70000], "too large for FP16"),
            ("half", "INT32", [1, 0.5], "Expected `int`, got `float`"),
            ("300", "UINT8", [1, 300], "are no UINT8"),
            ("minus one", "UINT16", [1, -1], "are no UINT16"),
            ("large", "INT64", [1, 2**63], "are no INT64"),
            ("number", "BOOL", [1, 0], "Expected `bool`, got `int`"),
            ("few", "FP32", [1], "data of shape [1], its shape is [1, 2]"),
            ("ragged", "FP32", [[1, 2], []], "3 elements, of shape [1, 2]"),
            ("many", "FP32", [0] * 300_000, "300000 elements, of shape [1, 2]"),
            ("empties", "FP32", [[]] * 200_000, "200000 elements, of shape [1, 2]"),
            ("objects", "FP32", [{}, {}], "Expected `float`, got `object`"),
        ]
    },
}  # fmt: skip
REFUSED_BINARY: dict[str, tuple[tuple[bytes, int], str]] = {
    "empty samples": (binary([4_000_000, 0], "FP32"), "may have 1 to 8 samples, this one has 4000000"),
    "empty elements": (binary([200_000], "BYTES", bytes(800_000)), "may have 1 to 8 samples"),
    "more elements": (binary([1], "BYTES", bytes(800_000)), "bytes behind its 1 elements"),
    "fewer elements": (binary([2], "BYTES", bytes(4)), "element 1 of 2 is cut off"),
    "half a length": (binary([1], "BYTES", bytes(2)), "element 0 of 1 is cut off"),
    "a long element": (binary([1], "BYTES", b"\xff" * 8), "element 0 of 1 is cut off"),
    "bytes": (binary([1, 3], "FP32", bytes(8)), "8 bytes, of shape [1, 3] FP32"),
    "65 axes": (binary([1] * 65, "FP32", bytes(4)), "the first axis is that of samples"),
    "no truth": (binary([1, 2], "BOOL", bytes([1, 2])), "a byte of BOOL is 0 or 1"),
    "bytes left": ((lambda body, head: (body + b"more", head))(*binary([1], "BYTES", bytes(4))), "4 bytes behind the JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(address: str, name: str):
    body, message = REFUSED[name]
    status, answer = post(address, body)
    assert (status, message in answer["error"]) == (400, True), answer


@pytest.mark.parametrize("name", REFUSED_BINARY)
def test_refused_binary(address: str, name: str):
    (body, head), message = REFUSED_BINARY[name]
    status, answer = post(address, body, **{"Inference-Header-Content-Length": str(head)})
    assert (status, message in answer["error"]) == (400, True), answer


@pytest.mark.parametrize("name", [*REFUSED, *(f"binary {name}" for name in REFUSED_BINARY)])
def test_a_request_costs_little_before_it_is_refused(model: serving.ServedModel, name: str):
    """Memory of Python and NumPy: a few bytes for each of the request, whatever shape it tells."""
    kind, _, rest = name.partition(" ")
    body, head = (
        REFUSED_BINARY[rest][0] if kind == "binary" and rest in REFUSED_BINARY else (REFUSED[name][0], None)
    )
    wanted, outputs = model.inputs, model.outputs
    tracemalloc.start()
    try:
        with pytest.raises(serving.RequestError):
            serving.parse(body, None if head is None else str(head), wanted, max_samples=8, outputs=outputs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(body) + (1 << 16)


def test_other_limits(address: str):
    assert post(address, b"x" * (LIMITS.max_request_bytes + 1))[0] == 413
    assert post(address, b"", "v2/models/other/infer")[0] == 404
    assert post(address, named(), "v2/models/preprocess/versions/2/infer")[0] == 404
    assert post(address, named(), **{"Content-Encoding": "gzip"})[1] == {
        "error": "compressed requests are not supported"
    }
    for none in ("", "Identity"):
        assert "compressed" not in post(address, named(), **{"Content-Encoding": none})[1].get("error", "")
    assert post(address, named(), **{"Inference-Header-Content-Length": "9999"})[0] == 400
    nan = float("nan")
    for wrong in (
        {"max_batch": 0}, {"max_wait_ms": -1}, {"max_wait_ms": nan}, {"max_body_seconds": nan}, {"max_waiting_bytes": 9},
    ):  # fmt: skip
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


# Samples of one input that no picture is made of; together with others they have no common type or rank.
STRANGE: dict[str, Any] = {
    "damaged": b"damaged", "empty": b"", "cut off": ENCODED[0][:50], "a number": np.float32(1), "a row": np.zeros(8, np.float32),
    "a picture": np.zeros((8, 8, 3), np.uint8), "no elements": np.zeros((3, 0), np.int64), "truths": np.ones(4, bool),
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_no_request_touches_another_ones_answer(model: serving.ServedModel, want: np.ndarray, name: str):
    for requests in ([[0], name, [1, 2]], [name, [0]], [[3], name, name]):
        given = [[STRANGE[name]] if one is name else [ENCODED[i] for i in one] for one in requests]
        answers: list[Any] = model.answer([{"encoded": samples} for samples in given])
        for one, answer in zip(requests, answers, strict=True):
            if one is name:
                assert isinstance(answer, serving.RequestError)
            else:
                np.testing.assert_array_equal(answer["normalized"], want[one], strict=True)


def test_a_batch_of_strange_requests_and_others(address: str, want: np.ndarray):
    """Over HTTP: what the model does not take is refused, and the others have their answers."""
    strange = [
        named(datatype="FP32", shape=[1, 2], data=[1, 2]),
        named(datatype="INT64", shape=[1], data=[1]),
        named(),
    ]
    good = json.dumps({"inputs": [json.loads(base64_input())]}).encode()
    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda body: post(address, body), [good, *strange] * 2))
    assert [status for status, _ in answers] == [200, 400, 400, 400] * 2
    for _, answer in answers[::4]:
        np.testing.assert_array_equal(np.float32(answer["outputs"][0]["data"]), want[0].reshape(-1))


def test_a_model_that_fails_for_one_request(folder: Path):
    """The user's model sees them one by one then."""

    def picky(pictures: Any) -> Any:
        if (np.asarray(pictures[0]) == marked).all():
            raise ValueError("not this one")
        return pictures

    model = serving.ServedModel(jdali.load(folder))
    first: Any = model.answer([{"encoded": [ENCODED[1]]}])[0]
    marked = first["normalized"][0]
    answers = serving.ServedModel(model.preprocess, picky).answer(
        [{"encoded": [ENCODED[1]]}, {"encoded": [ENCODED[0]]}]
    )
    assert isinstance(answers[0], ValueError)
    assert isinstance(answers[1], dict)


def connection(
    address: str, body: bytes, length: int, *headers: str, model: str = "preprocess"
) -> socket.socket:
    """A client that has sent a part of a request."""
    host, port = address.rsplit(":", 1)
    found = socket.create_connection((host, int(port)), timeout=60)
    head = [f"POST /v2/models/{model}/infer HTTP/1.1", f"Host: {host}", f"Content-Length: {length}", *headers]
    found.sendall("\r\n".join([*head, "\r\n"]).encode() + body)
    return found


def test_a_client_that_vanishes_is_no_failure_of_the_server(model: serving.ServedModel):
    with running(model) as address:
        connection(address, b"{", 1000).close()
        while "jdali_requests_total{" not in (text := metrics_of(address)):
            pass
        assert 'jdali_requests_total{code="499"} 1' in text
        assert 'code="500"' not in text


def test_a_signal_ends_it_while_a_client_holds_half_a_body(folder: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jdali", "serve", str(folder), "--port", str(port), "--no-warmup"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            while True:
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready").close()
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"it ended with {server.wait(0.1)}")
            with connection(f"127.0.0.1:{port}", b"{", 1000):
                # The server has read it once it answers what came after it.
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/live").close()
                server.terminate()
                server.wait(60)
        finally:
            server.kill()


def test_a_model_behind_it(folder: Path, want: np.ndarray):
    model = serving.ServedModel(
        jdali.load(folder), lambda x: {"mean": jnp.mean(x, axis=(1, 2, 3))}, name="mean"
    )
    with running(model) as address, client_module.InferenceServerClient(address) as client:
        result = client.infer("mean", [encoded_input(*ENCODED[:3])])
        np.testing.assert_allclose(
            result.as_numpy("mean"), want[:3].mean(axis=(1, 2, 3)), rtol=1e-5, atol=1e-6
        )


def test_a_model_that_fails_is_no_error_of_the_client(folder: Path, caplog: pytest.LogCaptureFixture):
    """The client gets the type of the error, and the server's log all of it."""

    def fail(pictures: Any) -> Any:
        raise KeyError("secret")

    with running(serving.ServedModel(jdali.load(folder), fail)) as address:
        status, answer = post(address, one_picture())
    assert (status, answer) == (500, {"error": "the model failed: KeyError"})
    assert "in fail" in caplog.text
    assert "KeyError: 'secret'" in caplog.text


def one_picture(**more: Any) -> bytes:
    return json.dumps({"inputs": [json.loads(base64_input())], **more}).encode()


@pytest.mark.parametrize("binary", [True, False])
def test_types_that_the_protocol_lacks(folder: Path, binary: bool):
    """They become types that hold the same values, and texts are BYTES."""
    texts = np.array(["", "é", "longer"])

    def model(pictures: Any) -> Any:
        rows = np.arange(len(pictures))
        halves = (rows[:, None] + [0.5, -1]).astype(np.float32)
        return {
            "bfloat16": jnp.asarray(halves, jnp.bfloat16), "float8": jnp.asarray(halves, jnp.float8_e5m2),
            "int4": jnp.asarray(rows, jnp.int4), "big_endian": halves.astype(">f4"), "texts": texts[rows],
            "bytes": texts[rows, None].astype(object), "zeros": [[b"a\0\0", "é"]] * len(rows),
            "big_endian_integers": rows.astype(">i2"),
        }  # fmt: skip

    with running(serving.ServedModel(jdali.load(folder), model, "typed")) as address:
        names = (
            "bfloat16", "float8", "int4", "big_endian", "texts", "bytes", "zeros", "big_endian_integers",
        )  # fmt: skip
        asked = [client_module.InferRequestedOutput(name, binary_data=binary) for name in names]
        with client_module.InferenceServerClient(address) as client:
            answer = client.infer("typed", [encoded_input(*ENCODED[:3])], outputs=asked)
    want = np.float32([[0.5, -1], [1.5, 0], [2.5, 1]])
    for name in ("bfloat16", "float8", "big_endian"):
        np.testing.assert_array_equal(answer.as_numpy(name), want, strict=True)
    np.testing.assert_array_equal(answer.as_numpy("int4"), np.int8([0, 1, 2]), strict=True)
    integers = answer.as_numpy("big_endian_integers")
    np.testing.assert_array_equal(integers, np.int16([0, 1, 2]), strict=True)
    zeros = ["a\0\0", "é"]
    assert answer.as_numpy("zeros").tolist() == [[t.encode() for t in zeros] if binary else zeros] * 3
    words = [text.encode() if binary else text for text in texts.tolist()]
    assert answer.as_numpy("texts").tolist() == words
    assert answer.as_numpy("bytes").tolist() == [[word] for word in words]


def test_values_that_json_lacks(folder: Path):
    def model(pictures: Any) -> Any:
        numbers = np.float32([[np.nan, np.inf, -np.inf, 0.5]])
        return {"numbers": numbers, "bytes": np.array([b"\xff"], object)}

    with running(serving.ServedModel(jdali.load(folder), model, "odd")) as address:
        path = "v2/models/odd/infer"
        _, answer = post(address, one_picture(outputs=[{"name": "numbers"}]), path)
        np.testing.assert_array_equal(answer["outputs"][0]["data"], [np.nan, np.inf, -np.inf, 0.5])
        status, answer = post(address, one_picture(outputs=[{"name": "bytes"}]), path)
    assert (status, answer["error"]) == (
        400, "output 'bytes' has bytes that are not UTF-8: ask for it in binary"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            lambda x: x[:1],
            r"'output_0' of shape \[1, 3, 16, 16\], the first axis must be 2, one row for each",
        ),
        (lambda x: {"mean": x.mean()}, r"'mean' of shape \[\], the first axis must be 2"),
        (lambda x: x.astype(np.complex64), r"complex64 for 'output_0', for which the protocol has no type"),
        (lambda x: (x, None), r"object for 'output_1', for which the protocol has no type"),
        (
            lambda x: {"ragged": [np.zeros(2), np.zeros(3)]},
            r"the model returns no array for 'ragged': .*shape",
        ),
        (lambda x: {"mixed": ["a", 1]}, r"object for 'mixed', for which the protocol has no type"),
    ],
    ids=["rows", "scalar", "complex", "None", "ragged", "mixed"],
)
def test_outputs_that_no_answer_holds(folder: Path, output: Any, message: str):
    model = serving.ServedModel(jdali.load(folder), lambda x: output(np.asarray(x)))
    (error,) = model.answer([{"encoded": ENCODED[:2]}])
    assert isinstance(error, serving.OutputError)
    assert re.search(message, str(error))


def test_a_wrong_output_is_found_by_the_warm_up_and_told_to_clients(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    model = serving.ServedModel(jdali.load(folder), lambda x: x[0, 0, 0, 0])
    monkeypatch.setattr(model.preprocess, "compiling", lambda _: [])
    with pytest.raises(serving.OutputError, match=r"'output_0' of shape \[\]"):
        model.warm_up(1)
    with running(model) as address:
        status, answer = post(address, one_picture())
    assert status == 500
    assert answer["error"].startswith("the model returns 'output_0' of shape []")
    assert answer["error"] in caplog.text


def test_a_model_is_a_function(folder: Path):
    with pytest.raises(TypeError, match="the model is 3, it must be a function"):
        serving.ServedModel(jdali.load(folder), 3)


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
    body = one_picture()
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


def wait_for(address: str, text: str) -> None:
    while text not in metrics_of(address):
        pass


def test_bodies_have_limits_before_they_are_read(model: serving.ServedModel):
    """Two clients stop while they send bodies; their requests count until they are gone."""
    limits = serving.ServerLimits(max_request_bytes=4096, max_waiting_bytes=10000, max_waiting=2)
    with running(model, limits) as address:
        with connection(address, b"{", 4097) as too_large:
            assert too_large.recv(1000).startswith(b"HTTP/1.1 413 ")
        with connection(address, b"{", 4096):
            wait_for(address, "jdali_requests_waiting 1")
            with connection(address, b"{", 4096):
                wait_for(address, "jdali_requests_waiting 2")
                assert post(address, named()) == (503, {"error": "2 requests wait already; try again later"})
        wait_for(address, "jdali_requests_waiting 0")
        assert post(address, one_picture()[:90])[0] == 400


@pytest.mark.parametrize("refusal", ["too large", "compressed"])
def test_a_client_that_is_still_sending_gets_the_answer(model: serving.ServedModel, refusal: str):
    """The answer comes before the body, and the rest of the body is read: otherwise the connection would be reset."""
    rest = b"x" * (8 << 20)
    headers = {"Content-Length": str(len(rest) + 1), "Connection": "close"}
    if refusal == "compressed":
        headers["Content-Encoding"] = "gzip"
    limits = serving.ServerLimits(max_request_bytes=4096 if refusal == "too large" else 1 << 30)
    with running(model, limits) as address, contextlib.closing(http.client.HTTPConnection(address)) as client:
        client.putrequest("POST", "/v2/models/preprocess/infer")
        for header in headers.items():
            client.putheader(*header)
        client.endheaders(b"x")
        assert client.sock.recv(12, socket.MSG_PEEK).startswith(b"HTTP/1.1 4")
        client.send(rest)
        answer = client.getresponse()
        assert answer.status == (413 if refusal == "too large" else 400)
        assert "error" in json.loads(answer.read())


def test_the_bytes_that_have_come_have_a_limit(model: serving.ServedModel):
    """Of all bodies together; what a client has only announced takes nothing from the others."""
    limits = serving.ServerLimits(max_request_bytes=4096, max_waiting_bytes=4096)
    with running(model, limits) as address:
        with connection(address, b"{", 4096) as client:
            wait_for(address, "jdali_requests_waiting 1")
            assert post(address, named())[0] == 400
            client.sendall(b"x" * 4089)
            while (answer := post(address, named()))[0] == 400:  # the server has not read them yet
                pass
            assert answer == (503, {"error": "requests take 4090 bytes already; try again later"})
        wait_for(address, "jdali_requests_waiting 0")
        assert post(address, named())[0] == 400


def read_all(client: socket.socket) -> bytes:
    """Reads until the server closes the connection."""
    answer = b""
    while part := client.recv(1000):
        answer += part
    return answer


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_body_that_takes_too_long(
    model: serving.ServedModel, monkeypatch: pytest.MonkeyPatch, goes_on: bool
):
    """Whether the client stops or sends a byte now and then."""
    monkeypatch.setattr("jdali.serving.app._LINGER_SECONDS", 0.01)
    with (
        running(model, serving.ServerLimits(max_body_seconds=0.1)) as address,
        connection(address, b"{", 1000) as client,
    ):
        while goes_on and not select.select([client], [], [], 0.001)[0]:
            client.sendall(b"x")
        answer = read_all(client)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert re.search(rb"the body took more than 0\.1 s; \d+ bytes came", answer)


@pytest.mark.parametrize(("name", "status"), [("preprocess", b"413"), ("other", b"404")])
def test_the_server_closes_the_connection_after_an_early_answer(
    model: serving.ServedModel, monkeypatch: pytest.MonkeyPatch, name: str, status: bytes
):
    """The client has waited for the answer, and sends no body."""
    monkeypatch.setattr("jdali.serving.app._LINGER_SECONDS", 0.01)
    with (
        running(model, serving.ServerLimits(max_request_bytes=4096)) as address,
        connection(address, b"", 4097, "Expect: 100-continue", model=name) as client,
    ):
        head, _, _ = read_all(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status)
    assert b"\r\nconnection: close" in head.lower()


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


def test_the_rank_of_an_output_without_a_layout(tmp_path: Path):
    """Sizes differ by sample, and nothing names the axes."""
    numbers = [np.arange(n, dtype=np.float32).reshape(-1, 2) for n in (4, 6)]

    @jdali.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define() -> Any:
        return fn.external_source(lambda info: numbers, batch_info=True, name="numbers") * 2

    define().export(tmp_path, shapes=[(8, 2)], platforms=["cpu"])
    model = serving.ServedModel(jdali.load(tmp_path))
    outputs = model.metadata()["outputs"]
    assert [one["shape"] for one in outputs] == [[-1, -1, -1], [-1, 2]]
    (answer,) = model.answer([{"numbers": numbers}])
    assert isinstance(answer, dict)
    assert [answer[one["name"]].ndim for one in outputs] == [3, 2]
    assert model.inputs["numbers"] == serving.ModelInput("FP32", ((8, 2),))


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
    arguments = ["--model", "my_model:twice", "--port", "0", "--max-batch", "4", "--max-pixels", "99"]
    assert main(["serve", str(folder), *arguments, *options]) == 0
    (_, model, given) = called.pop()
    assert called == ([] if options else [("warm up", 4, {"progress": True})])
    assert given["limits"].max_batch == 4
    assert model._model == twice
    assert model.name == folder.name
    said = capsys.readouterr().err
    assert re.search(rf" at http://127\.0\.0\.1:[1-9]\d*/v2/models/{folder.name}\n", said)


def test_a_port_in_use_is_an_error_before_anything_is_compiled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delattr(serving.ServedModel, "warm_up")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", str(folder), "--port", str(port)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("serve: ")
    assert f"127.0.0.1, port {port}: Address already in use" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", ".", "--port", "65536"], "--port: 65536: must be 0 to 65535"),
        (["serve", ".", "--threads", "0"], "--threads: 0: must be at least 1"),
        (["view", "a.py:b", "--port", "99999"], "--port: 99999: must be 0 to 65535"),
        (["serve", ".", "--port", "abc"], "--port: 'abc' is not a whole number"),
        (["serve", ".", "--max-batch", "x"], "--max-batch: 'x' is not a whole number"),
        (["serve", ".", "--max-batch", "0"], "--max-batch: 0: must be at least 1"),
    ],
)
def test_arguments_that_the_command_line_refuses(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no preprocess.json"),
        ([".", "--max-wait-ms", "nan"], "max_wait_ms is nan, it must be at least 0"),
        ([".", "--max-waiting-bytes", "9"], "max_waiting_bytes is 9, it must be at least 67108864"),
        ([".", "--model", "math:pi"], "math:pi is 3.14159"),
        ([".", "--model", "no_such_module:f"], "there is no module no_such_module"),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["serve", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("serve: ")
    assert message in said


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("flatbuffers", "need the package flatbuffers"),
        ("starlette.applications", "needs Starlette and uvicorn"),
    ],
)
def test_the_command_without_a_package(package: str, message: str, folder: Path, tmp_path: Path):
    """In a process of its own, where nothing has imported it."""
    program = (
        f"import importlib.util, sys; sys.modules[{package!r}] = None\n"
        "find = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *_: None if name == {package!r} else find(name, *_)\n"
        f"from jdali.cli import main; sys.exit(main(['serve', {str(folder)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("serve: ")
    assert message in done.stderr
    assert "pip install" in done.stderr
