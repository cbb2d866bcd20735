"""Parses requests and writes answers of the open inference protocol, as JSON and with its binary tensor extension."""

from __future__ import annotations

import base64
import json
import math
import re
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

HEADER_LENGTH = "inference-header-content-length"
DTYPES = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "FP16": np.float16,
    "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
_BYTES = "BYTES"
_WIDER: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, (np.int8, np.uint8, np.float32)))
_MOST_AXES, _MOST_ELEMENTS = 32, 1 << 31
# Maximum bytes of JSON for a shape, and for the list of outputs.
_MOST_OF_SHAPE, _MOST_OF_OUTPUTS = 1024, 1 << 16
_LENGTH_BYTES = 4  # each element of a BYTES tensor begins with its length, little-endian


class RequestError(ValueError):
    """Raised if the client must correct its request."""


class OutputError(ValueError):
    """Raised if the model returns an output that no answer can hold."""


class ModelInput(NamedTuple):
    """Describes an input of a model.

    Attributes:
        datatype: element type, named as in the protocol; "" accepts files (BYTES) and arrays of any type.
        shapes: maximum shapes of a sample; () accepts any shape.
    """

    datatype: str = ""
    shapes: tuple[tuple[int, ...], ...] = ()


class TensorParameters(msgspec.Struct, frozen=True):
    """Holds the parameters of an input; ignores unknown parameters.

    Attributes:
        binary_data_size: number of bytes that the input takes after the JSON.
        content_type: "base64" if the strings are encoded in base64.
    """

    binary_data_size: int | None = None
    content_type: str | None = None


class TensorMessage(msgspec.Struct):
    """Holds an input of a request.

    Attributes:
        shape: shape of the tensor, whose first axis is the batch axis.
        data: the elements in row-major order, flat or nested; empty if they follow the JSON as bytes.
    """

    name: str
    shape: msgspec.Raw
    datatype: str
    data: msgspec.Raw = msgspec.Raw()
    parameters: TensorParameters = TensorParameters()


class OutputParameters(msgspec.Struct, frozen=True):
    """Holds the parameters of an output; ignores unknown parameters."""

    binary_data: bool | None = None


class RequestedOutput(msgspec.Struct):
    """Describes an output that a request asks for."""

    name: str
    parameters: OutputParameters = OutputParameters()


class RequestParameters(msgspec.Struct, frozen=True):
    """Holds the parameters of a request; ignores unknown parameters."""

    binary_data_output: bool = False


class RequestMessage(msgspec.Struct):
    """Holds the JSON of a request. Raw parts of it are decoded later, with limits on the sizes."""

    inputs: msgspec.Raw
    outputs: msgspec.Raw = msgspec.Raw(b"[]")
    id: str = ""
    parameters: RequestParameters = RequestParameters()


class InferRequest(NamedTuple):
    """Holds a request that was checked.

    Attributes:
        id: the client's name for the request; "" if the client sent none.
        inputs: samples of each input by name, bytes or arrays.
        samples: number of samples, equal in all inputs.
        outputs: requested outputs; empty if the client wants all.
        binary: whether outputs are binary by default; an output's own parameters override this.
    """

    id: str
    inputs: dict[str, list[Any]]
    samples: int
    outputs: Sequence[RequestedOutput]
    binary: bool


def parse(
    body: bytes | memoryview,
    header_length: str | None,
    wanted: Mapping[str, ModelInput],
    *,
    max_samples: int,
    outputs: Collection[str] | None = None,
) -> InferRequest:
    """Parses a request. Checks datatype and shape of each tensor before building it.

    Args:
        header_length: value of the header `HEADER_LENGTH`, the number of bytes of JSON before the binary tensors. None: the
            whole body is JSON.
        wanted: inputs of the model.
        outputs: names of the model's outputs; None: unknown.

    Raises:
        RequestError: the request is malformed, or does not match the model.
    """
    try:
        length = len(body) if header_length is None else int(header_length)
    except ValueError:
        raise RequestError(f"the header {HEADER_LENGTH} is not a number: {header_length!r:.40}") from None
    if not 0 <= length <= len(body):
        raise RequestError(f"the header {HEADER_LENGTH} is {length}, of a body of {len(body)} bytes")
    message = _decoded(memoryview(body)[:length], RequestMessage, "the request is not JSON of an inference")
    tensors = _tensors(message.inputs, wanted)
    rest, inputs, counts = memoryview(body)[length:], {}, {}
    for tensor in tensors:
        shape = _checked_shape(tensor, wanted[tensor.name], max_samples)
        size = tensor.parameters.binary_data_size
        if size is None:
            samples = _from_json(tensor, shape)
        elif 0 <= size <= len(rest):
            samples, rest = _from_binary(tensor, shape, rest[:size]), rest[size:]
        else:
            raise _mistake(tensor, f"binary_data_size is {size}, {len(rest)} bytes are left")
        inputs[tensor.name], counts[tensor.name] = samples, shape[0]
    if len(rest):
        raise RequestError(f"{len(rest)} bytes behind the JSON are of no input")
    if len(set(counts.values())) != 1:
        raise RequestError(f"inputs must have one number of samples; they have {counts}")
    asked = _requested_outputs(message.outputs, outputs)
    return InferRequest(
        message.id, inputs, max(counts.values()), asked, message.parameters.binary_data_output
    )


def _decoded(data: Any, kind: Any, what: str) -> Any:
    """Decodes JSON of type `kind`; raises a RequestError that begins with `what` if this fails."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise RequestError(f"{what}: {error}") from error


def _tuple_of(kind: Any, count: int) -> Any:
    """Returns the type of a tuple with `count` values; decoding a longer list then fails at the first extra value."""
    return types.GenericAlias(tuple, (kind,) * count)


def _mistake(tensor: TensorMessage, text: str) -> RequestError:
    return RequestError(f"input {tensor.name!r}: {text}")


def _tensors(data: msgspec.Raw, wanted: Mapping[str, ModelInput]) -> Sequence[TensorMessage]:
    """Parses the inputs of a request, which must contain each input of the model once."""
    names = ", ".join(wanted)
    kind = _tuple_of(TensorMessage, len(wanted))
    tensors: Sequence[TensorMessage] = _decoded(data, kind, f"inputs must be {names}")
    if {tensor.name for tensor in tensors} != set(wanted):
        raise RequestError(f"inputs must be {names}, got {', '.join(f'{t.name:.80}' for t in tensors)}")
    return tensors


def _requested_outputs(data: msgspec.Raw, known: Collection[str] | None) -> Sequence[RequestedOutput]:
    """Parses the requested outputs, which may name each output at most once."""
    if len(memoryview(data)) > _MOST_OF_OUTPUTS:
        raise RequestError(f"outputs may take {_MOST_OF_OUTPUTS} bytes of JSON")
    asked: Sequence[RequestedOutput] = _decoded(data, list[RequestedOutput], "outputs")
    names = {output.name for output in asked}
    if len(names) < len(asked):
        raise RequestError("an output may be asked for once")
    if known is not None:
        for name in names:
            _check_known(name, known)
    return asked


def _check_known(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise RequestError(f"there is no output {name!r:.80}; there are {', '.join(known)}")


def _checked_shape(tensor: TensorMessage, wanted: ModelInput, max_samples: int) -> tuple[int, ...]:
    """Checks a tensor's datatype and shape against the model's input; returns the shape."""
    if len(memoryview(tensor.shape)) > _MOST_OF_SHAPE:
        raise _mistake(tensor, f"its shape may have {_MOST_AXES} axes")
    shape = tuple(_decoded(tensor.shape, list[int], f"input {tensor.name!r}: its shape"))
    if not shape or len(shape) > _MOST_AXES or min(shape) < 0:
        raise _mistake(tensor, f"its shape is {list(shape)}; the first axis is that of samples")
    if not 1 <= shape[0] <= max_samples:
        raise RequestError(f"a request may have 1 to {max_samples} samples, this one has {shape[0]}")
    if math.prod(max(n, 1) for n in shape) > _MOST_ELEMENTS:  # size 0 must not hide large axes
        raise _mistake(tensor, f"its shape is {list(shape)}: too large")
    if tensor.datatype not in (*DTYPES, _BYTES):
        raise _mistake(tensor, f"datatype {tensor.datatype!r:.40} is none of the protocol's")
    if wanted.datatype and tensor.datatype != wanted.datatype:
        raise _mistake(tensor, f"datatype must be {wanted.datatype}, got {tensor.datatype}")
    if tensor.datatype == _BYTES:
        if shape[1:] not in ((), (1,)):
            raise _mistake(tensor, f"shape {list(shape)}; one element for each sample is wanted")
    elif wanted.shapes and not any(_fits(shape[1:], largest) for largest in wanted.shapes):
        most = " or ".join(str(list(largest)) for largest in wanted.shapes)
        raise _mistake(tensor, f"a sample has shape {list(shape[1:])}, it may have up to {most}")
    return shape


def _fits(shape: Sequence[int], largest: Sequence[int]) -> bool:
    return len(shape) == len(largest) and all(n <= most for n, most in zip(shape, largest, strict=True))


def _from_json(tensor: TensorMessage, shape: tuple[int, ...]) -> list[Any]:
    data = memoryview(tensor.data)
    if tensor.datatype == _BYTES:
        return _strings(tensor, shape)
    # Count the commas, n - 1 for n elements, to check the number of elements before any are built.
    elements, found = math.prod(shape), 1 + np.count_nonzero(np.frombuffer(data, np.uint8) == ord(","))
    if found > max(elements, shape[0]):
        raise _mistake(tensor, f"{found} elements, of shape {list(shape)}")
    dtype = np.dtype(DTYPES[tensor.datatype])
    kind: Any = {"b": bool, "f": float}.get(dtype.kind, int)
    nested = _is_nested(tensor.data)
    for _ in shape if nested else (1,):
        kind = list[kind]
    values = _decoded(data, kind, f"input {tensor.name!r}: its data are no {tensor.datatype}")
    try:
        with np.errstate(over="ignore"):
            array = np.array(values, np.float64 if dtype.kind == "f" else dtype).astype(dtype, copy=False)
    except (ValueError, OverflowError) as error:
        raise _mistake(tensor, f"its data are no {tensor.datatype}: {error}") from error
    if array.shape != (shape if nested else (elements,)):
        raise _mistake(tensor, f"data of shape {list(array.shape)}, its shape is {list(shape)}")
    if dtype.kind == "f" and np.isinf(array).any():
        raise _mistake(tensor, f"a number is too large for {tensor.datatype}")
    return list(array.reshape(shape))


def _is_nested(data: msgspec.Raw) -> bool:
    """Returns True for a list whose first element is a list."""
    return re.match(rb"\s*\[\s*\[", memoryview(data)) is not None


def _strings(tensor: TensorMessage, shape: tuple[int, ...]) -> list[bytes]:
    nested = len(shape) == 2 and _is_nested(tensor.data)
    kind = _tuple_of(tuple[str] if nested else str, shape[0])
    values = _decoded(tensor.data, kind, f"input {tensor.name!r}: strings of shape {list(shape)}")
    flat = [text for (text,) in values] if nested else values
    coded = tensor.parameters.content_type == "base64"
    try:
        return [base64.b64decode(text, validate=True) if coded else text.encode() for text in flat]
    except ValueError as error:
        raise _mistake(tensor, f"it is not base64: {error}") from error


def _from_binary(tensor: TensorMessage, shape: tuple[int, ...], data: memoryview) -> list[Any]:
    if tensor.datatype != _BYTES:
        dtype = np.dtype(DTYPES[tensor.datatype])
        if math.prod(shape) * dtype.itemsize != len(data):
            raise _mistake(tensor, f"{len(data)} bytes, of shape {list(shape)} {tensor.datatype}")
        array: Any = np.frombuffer(data, np.uint8 if dtype == np.bool_ else dtype)
        if dtype == np.bool_ and (array > 1).any():
            raise _mistake(tensor, "a byte of BOOL is 0 or 1")
        return list(array.view(dtype).reshape(shape))
    samples: list[bytes] = []
    for number in range(shape[0]):
        size = int.from_bytes(data[:_LENGTH_BYTES], "little")
        if len(data) < _LENGTH_BYTES + size:
            raise _mistake(tensor, f"element {number} of {shape[0]} is cut off")
        samples.append(bytes(data[_LENGTH_BYTES : _LENGTH_BYTES + size]))
        data = data[_LENGTH_BYTES + size :]
    if len(data):
        raise _mistake(tensor, f"{len(data)} bytes behind its {shape[0]} elements")
    return samples


def render(
    model: str, request: InferRequest, outputs: Mapping[str, np.ndarray]
) -> tuple[bytes, dict[str, str]]:
    """Writes an answer; returns the body and the headers.

    Args:
        outputs: arrays [N, ...] by name, as `sendable` returns them. NaN and infinity are `NaN`, `Infinity` and `-Infinity` in
            JSON, as Triton writes them.

    Raises:
        RequestError: the model does not have a requested output; or bytes are to be JSON and are not text.
    """
    asked = request.outputs or [RequestedOutput(name) for name in outputs]
    described: list[dict[str, Any]] = []
    parts: list[memoryview] = []
    for output in asked:
        _check_known(output.name, outputs)
        array = outputs[output.name]
        message: dict[str, Any] = {
            "name": output.name, "shape": list(array.shape), "datatype": datatype(array.dtype)
        }  # fmt: skip
        binary = output.parameters.binary_data
        if request.binary if binary is None else binary:
            parts.append(_to_binary(array))
            message["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            message["data"] = _to_json(output.name, array)
        described.append(message)
    answer: dict[str, Any] = {"model_name": model, "model_version": "1", "outputs": described}
    if request.id:
        answer["id"] = request.id
    head = msgspec.json.encode(answer)
    if not parts:
        return head, {"content-type": "application/json"}
    headers = {"content-type": "application/octet-stream", HEADER_LENGTH: str(len(head))}
    return b"".join([head, *parts]), headers


def _to_binary(array: np.ndarray) -> memoryview:
    if array.dtype == object:
        texts = array.reshape(-1).tolist()
        return memoryview(b"".join(len(t).to_bytes(_LENGTH_BYTES, "little") + t for t in texts))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _to_json(name: str, array: np.ndarray) -> Any:
    values = array.reshape(-1).tolist()
    if array.dtype == object:
        try:
            return [text.decode() for text in values]
        except UnicodeDecodeError:
            raise RequestError(
                f"output {name!r} has bytes that are not UTF-8: ask for it in binary"
            ) from None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return msgspec.Raw(json.dumps(values).encode())  # msgspec would write null
    return values


def sendable(name: str, value: object) -> np.ndarray:
    """Returns an output as an array of a type that the protocol has, see `datatype`; texts become an array of bytes objects.

    Raises:
        OutputError: the rows differ in shape, or the protocol has no type that holds the values.
    """
    try:  # NumPy's types for texts of one size drop trailing zeros
        array = np.asarray(value, object if _has_text(value) else None)
    except ValueError as error:
        raise OutputError(f"the model returns no array for {name!r}: {error}") from error
    if array.dtype.kind in "SUOT":
        texts = [t.encode() if isinstance(t, str) else t for t in array.reshape(-1).tolist()]
        if all(isinstance(text, bytes) for text in texts):
            found = np.empty(len(texts), object)
            found[:] = texts
            return found.reshape(array.shape)
    sent = _sent_as(array.dtype)
    if sent not in _NAMES:
        raise OutputError(
            f"the model returns {array.dtype} for {name!r}, for which the protocol has no type; convert it"
        )
    return array.astype(sent, copy=False)


def _has_text(value: object) -> bool:
    """Returns True for text or bytes, and for a list, however nested, that has some."""
    return isinstance(value, (str, bytes)) or (
        isinstance(value, (list, tuple)) and any(map(_has_text, value))
    )


def datatype(dtype: np.dtype[Any]) -> str:
    """Returns the protocol's name of an element type.

    A type without a name is sent as a type that holds all its values: bfloat16 and float8 as FP32, int4 as INT8. Files and
    texts are BYTES.
    """
    return _NAMES.get(_sent_as(np.dtype(dtype)), _BYTES)


def _sent_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    if native in _NAMES:
        return native
    return next((wider for wider in _WIDER if np.can_cast(native, wider)), native)
