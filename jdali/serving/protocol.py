"""Requests and answers of the open inference protocol: JSON, and the extension for binary tensors."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

HEADER_LENGTH = "inference-header-content-length"
DTYPES = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "FP16": np.float16,
    "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
_LENGTH_BYTES = 4  # of an element of a BYTES tensor, little-endian, before its bytes


class RequestError(ValueError):
    """A request that cannot be answered: the client's mistake."""


class TensorMessage(msgspec.Struct):
    """An input of a request.

    Attributes:
        name, shape, datatype: of the tensor; the first axis is that of samples.
        data: the elements in row-major order, flat or nested; None: they are binary.
        parameters: "binary_data_size", bytes after the JSON; "content_type": "base64" for strings that are.
    """

    name: str
    shape: list[int]
    datatype: str
    data: Any = None
    parameters: dict[str, Any] = {}


class RequestedOutput(msgspec.Struct):
    """An output that a request asks for."""

    name: str
    parameters: dict[str, Any] = {}


class InferRequest(msgspec.Struct):
    """The JSON of a request."""

    inputs: list[TensorMessage]
    outputs: list[RequestedOutput] = []
    id: str = ""
    parameters: dict[str, Any] = {}


def parse(body: bytes, header_length: str | None) -> tuple[InferRequest, dict[str, list[Any]]]:
    """Reads a request.

    Args:
        body: of the HTTP request.
        header_length: of the JSON at its begin, where binary tensors follow it.

    Returns: the request, and for each input the samples: bytes, or arrays.

    Raises:
        RequestError: it is none.
    """
    try:
        length = len(body) if header_length is None else int(header_length)
    except ValueError:
        raise RequestError(f"the header {HEADER_LENGTH} is no number: {header_length!r:.40}") from None
    if not 0 <= length <= len(body):
        raise RequestError(f"the header {HEADER_LENGTH} is {length}, of a body of {len(body)} bytes")
    try:
        request = msgspec.json.decode(body[:length], type=InferRequest)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise RequestError(f"the request is no JSON of an inference: {error}") from error
    rest, inputs = memoryview(body)[length:], {}
    for tensor in request.inputs:
        size = tensor.parameters.get("binary_data_size")
        if size is None:
            samples = _from_json(tensor)
        else:
            if not isinstance(size, int) or not 0 <= size <= len(rest):
                raise RequestError(
                    f"input {tensor.name!r}: binary_data_size is {size!r:.40}, {len(rest)} bytes are left"
                )
            samples, rest = _from_binary(tensor, rest[:size]), rest[size:]
        inputs[tensor.name] = samples
    return request, inputs


def _count(tensor: TensorMessage) -> tuple[int, int]:
    """Numbers of samples and of all elements of a tensor, by its shape."""
    if not tensor.shape or any(n < 0 for n in tensor.shape):
        raise RequestError(
            f"input {tensor.name!r}: its shape is {tensor.shape}; the first axis is that of samples"
        )
    return tensor.shape[0], math.prod(tensor.shape)


def _dtype(tensor: TensorMessage) -> np.dtype[Any]:
    if tensor.datatype not in DTYPES:
        raise RequestError(
            f"input {tensor.name!r}: datatype {tensor.datatype!r:.40} is none of the protocol's"
        )
    return np.dtype(DTYPES[tensor.datatype])


def _from_json(tensor: TensorMessage) -> list[Any]:
    count, elements = _count(tensor)
    if tensor.datatype == "BYTES":
        flat = _flat_strings(tensor.data)
        if len(flat) != elements or elements != count:
            raise RequestError(
                f"input {tensor.name!r}: {len(flat)} strings of shape {tensor.shape}; one for each sample is wanted"
            )
        coded = tensor.parameters.get("content_type") == "base64"
        try:
            return [base64.b64decode(s, validate=True) if coded else s.encode() for s in flat]
        except ValueError as error:
            raise RequestError(f"input {tensor.name!r}: it is not base64: {error}") from error
    dtype = _dtype(tensor)
    try:
        array = np.asarray(tensor.data, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(f"input {tensor.name!r}: its data are no {tensor.datatype}: {error}") from error
    if array.size != elements:
        raise RequestError(f"input {tensor.name!r}: {array.size} elements, of shape {tensor.shape}")
    return list(array.reshape(tensor.shape))


def _flat_strings(data: object) -> list[str]:
    if isinstance(data, str):
        return [data]
    if isinstance(data, list):
        return [text for one in data for text in _flat_strings(one)]
    raise RequestError(f"elements of a BYTES tensor are strings, got {type(data).__name__}")


def _from_binary(tensor: TensorMessage, data: memoryview) -> list[Any]:
    count, elements = _count(tensor)
    if tensor.datatype != "BYTES":
        dtype = _dtype(tensor)
        if elements * dtype.itemsize != len(data):
            raise RequestError(
                f"input {tensor.name!r}: {len(data)} bytes, of shape {tensor.shape} {tensor.datatype}"
            )
        return list(np.frombuffer(data, dtype).reshape(tensor.shape))
    samples: list[bytes] = []
    while data and len(samples) < elements:
        size = int.from_bytes(data[:_LENGTH_BYTES], "little")
        data = data[_LENGTH_BYTES:]
        if size > len(data):
            raise RequestError(f"input {tensor.name!r}: element {len(samples)} is cut off")
        samples.append(bytes(data[:size]))
        data = data[size:]
    if data or len(samples) != elements or elements != count:
        raise RequestError(
            f"input {tensor.name!r}: shape {tensor.shape} needs one element for each sample, and no more"
        )
    return samples


def render(
    model: str, request: InferRequest, outputs: Mapping[str, np.ndarray]
) -> tuple[bytes, dict[str, str]]:
    """Writes an answer.

    Args:
        model: name of the model.
        request: that is answered.
        outputs: arrays [N, ...] by name.

    Returns: the body, and headers.

    Raises:
        RequestError: an output that was asked for is none.
    """
    binary = bool(request.parameters.get("binary_data_output", False))
    asked = request.outputs or [RequestedOutput(name) for name in outputs]
    described: list[dict[str, Any]] = []
    parts: list[bytes] = []
    for output in asked:
        if output.name not in outputs:
            raise RequestError(f"there is no output {output.name!r:.80}; there are {', '.join(outputs)}")
        array = np.asarray(outputs[output.name])
        message: dict[str, Any] = {
            "name": output.name, "shape": list(array.shape), "datatype": datatype(array.dtype)
        }  # fmt: skip
        if output.parameters.get("binary_data", binary):
            parts.append(array.tobytes())
            message["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            message["data"] = array.reshape(-1).tolist()
        described.append(message)
    answer: dict[str, Any] = {"model_name": model, "model_version": "1", "outputs": described}
    if request.id:
        answer["id"] = request.id
    head = msgspec.json.encode(answer)
    if not parts:
        return head, {"content-type": "application/json"}
    headers = {"content-type": "application/octet-stream", HEADER_LENGTH: str(len(head))}
    return b"".join([head, *parts]), headers


def datatype(dtype: np.dtype[Any]) -> str:
    """Returns the protocol's name of an element type."""
    return _NAMES.get(np.dtype(dtype), "BYTES")


def samples_in(inputs: Mapping[str, Sequence[object]]) -> int:
    """Returns the number of samples of a request.

    Raises:
        RequestError: inputs have different numbers, or none.
    """
    counts = {len(samples) for samples in inputs.values()}
    if len(counts) != 1 or not min(counts):
        raise RequestError(f"inputs must have one number of samples, at least 1; they have {sorted(counts)}")
    return counts.pop()
