"""Implements a model for Triton's Python backend: forwards requests to a jdali process, and returns its answers.

`model_repository` copies this file into a model's folder, so it must not import jdali. Triton has its own Python, often with
NumPy 1, but jdali needs NumPy 2, so jdali runs in a separate process with its own environment. Requests are sent through a
socket, as bodies of the open inference protocol; answers return in shared memory.
"""

from __future__ import annotations

import importlib
import json
import math
import mmap
import os
import subprocess
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import numpy as np

_DATATYPES = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "FP16": np.float16,
    "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in _DATATYPES.items()}
_END_SECONDS = 30.0


class TritonPythonModel:
    """Answers requests with an exported pipeline; Triton calls the methods."""

    def initialize(self, args: Mapping[str, Any]) -> None:
        """Starts the jdali process, and waits until it is ready; with `warm_up`, it compiles its programs first.

        Args:
            args: Triton's description of the instance: the model's folder, version and configuration, and the instance's
                device.
        """
        self._triton: Any = importlib.import_module("triton_python_backend_utils")
        config = json.loads(args["model_config"])
        self._inputs = [tensor["name"] for tensor in config["input"]]
        self._options = {name: value["string_value"] for name, value in config["parameters"].items()}
        self._command = [
            self._options["python"], "-m", "jdali.plugin.triton.worker",
            str(Path(args["model_repository"], args["model_version"], "exported")),
            "--max-batch", str(config["max_batch_size"]),
        ]  # fmt: skip
        for name in ("fingerprint", "threads", "max_pixels", "warm_up"):
            self._command += [f"--{name.replace('_', '-')}", self._options[name]]
        on_gpu = args["model_instance_kind"] == "GPU"
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONHOME"},
            "PYTHONPATH": os.pathsep.join(filter(None, [self._options["path"], os.environ.get("PYTHONPATH")])),
            **({"CUDA_VISIBLE_DEVICES": args["model_instance_device_id"]} if on_gpu else {"JAX_PLATFORMS": "cpu"}),
        }  # fmt: skip
        # Answers stay in this memory until the next requests are sent; Triton copies them before that.
        self._memory = os.memfd_create("jdali-answers")
        self._answers: mmap.mmap | bytes = b""
        self._start()

    def execute(self, requests: Sequence[Any]) -> list[Any]:
        """Answers each request with its outputs or an error.

        If the process dies, for instance in a decoder, its requests fail. A new process answers the next requests.
        """
        try:
            self._connection.send_bytes(str(len(requests)).encode())
            for request in requests:
                self._send(request)
            message = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            text = f"the process of jdali ended with status {self._end()}"
            self._start()
            failed = self._triton.InferenceResponse(error=self._triton.TritonError(text))
            return [failed] * len(requests)
        if message["bytes"] > len(self._answers):
            self._answers = mmap.mmap(self._memory, message["bytes"])
        return [self._response(answer) for answer in message["answers"]]

    def finalize(self) -> None:
        self._end()
        os.close(self._memory)

    def _start(self) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [*self._command, "--socket", str(theirs.fileno()), "--memory", str(self._memory)],
                env=self._environment, pass_fds=[theirs.fileno(), self._memory], stdin=subprocess.DEVNULL,
            )  # fmt: skip
        try:
            problem = self._connection.recv_bytes().decode()
        except EOFError:
            problem = f"the process of jdali ended with status {self._end()}: {' '.join(self._command)}"
        if problem:
            raise self._triton.TritonModelException(problem)

    def _end(self) -> int:
        """Closes the socket, which ends the process; returns its exit status."""
        self._connection.close()
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _send(self, request: Any) -> None:
        described: list[dict[str, Any]] = []
        elements: list[bytes] = []
        for name in self._inputs:
            array = self._triton.get_input_tensor_by_name(request, name).as_numpy()
            if array.dtype == object:
                data = b"".join(len(one).to_bytes(4, "little") + one for one in array.reshape(-1))
                datatype = "BYTES"
            else:
                data, datatype = array.tobytes(), _NAMES[array.dtype]
            elements.append(data)
            described.append(
                {
                    "name": name,
                    "shape": array.shape,
                    "datatype": datatype,
                    "parameters": {"binary_data_size": len(data)},
                }
            )
        head = json.dumps({"inputs": described}).encode()
        self._connection.send_bytes(len(head).to_bytes(4, "little") + b"".join([head, *elements]))

    def _response(self, answer: Mapping[str, Any]) -> Any:
        if "error" in answer:
            return self._triton.InferenceResponse(error=self._triton.TritonError(answer["error"]))
        tensors = []
        for output in answer["outputs"]:
            dtype, shape = _DATATYPES[output["datatype"]], output["shape"]
            count = math.prod(shape)
            array: Any = np.empty(0, dtype)  # an empty array takes no memory
            if count:
                array = np.frombuffer(self._answers, dtype, count, output["offset"])
            tensors.append(self._triton.Tensor(output["name"], array.reshape(shape)))
        return self._triton.InferenceResponse(output_tensors=tensors)
