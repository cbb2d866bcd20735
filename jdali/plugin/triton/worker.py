"""Runs in a process of its own and answers the requests of one instance of a Triton model.

`model.py` starts the process: `python -m jdali.plugin.triton.worker FOLDER --socket 5 ...`. A process that is ready
sends an empty message; one that cannot start sends an error. Then, in a loop, the process receives a message with the
number of requests, and a message for each request: the length of the request's JSON (4 bytes), and its body. The
process answers all requests in one message: JSON with the offsets of the tensors in shared memory.
"""

from __future__ import annotations

import argparse
import mmap
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import msgspec
import numpy as np

import jdali
from jdali.serving import RequestError, ServedModel, datatype, parse

_LENGTH_BYTES = 4
_ALIGNMENT = 64  # alignment of tensors in shared memory, bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Answers requests until the other end closes the socket; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder")
    for name in ("--socket", "--memory", "--max-batch", "--threads", "--max-pixels"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--fingerprint", required=True)
    parser.add_argument("--warm-up", choices=("true", "false"), required=True)
    options = parser.parse_args(arguments)
    with Connection(options.socket) as connection:
        try:
            served = _loaded(options)
        except Exception as error:
            connection.send_bytes(f"{type(error).__name__}: {error}".encode())
            return 1
        connection.send_bytes(b"")
        memory = AnswerMemory(options.memory)
        try:
            while True:
                count = int(connection.recv_bytes())
                messages = [connection.recv_bytes() for _ in range(count)]
                answers = _answers(served, messages, options.max_batch)
                connection.send_bytes(memory.write(answers))
        except (EOFError, ConnectionError):
            return 0


def _loaded(options: argparse.Namespace) -> ServedModel:
    jdali.storage.configure(max_pixels=options.max_pixels)
    served = ServedModel(jdali.load(options.folder, fingerprint=options.fingerprint, threads=options.threads))
    if options.warm_up == "true":
        served.warm_up(options.max_batch)
    return served


def _answers(served: ServedModel, messages: Sequence[bytes], max_batch: int) -> list[Any]:
    answers: list[Any] = [None] * len(messages)
    inputs: dict[int, Any] = {}
    for number, message in enumerate(messages):
        length = int.from_bytes(message[:_LENGTH_BYTES], "little")
        try:
            body = memoryview(message)[_LENGTH_BYTES:]
            inputs[number] = parse(body, str(length), served.inputs, max_samples=max_batch).inputs
        except RequestError as error:
            answers[number] = error
    for number, answer in zip(inputs, served.answer(list(inputs.values())) if inputs else (), strict=True):
        if isinstance(answer, Exception) and not isinstance(answer, RequestError):
            traceback.print_exception(answer)  # the client gets only the error's type
            answer = RequestError(f"the pipeline failed: {type(answer).__name__}")
        answers[number] = answer
    return answers


class AnswerMemory:
    """Memory for answers, shared with Triton's process through the descriptor `file`. Grows if a batch needs more."""

    def __init__(self, file: int):
        self._file = file
        self._bytes = np.empty(0, np.uint8)

    def write(self, answers: Sequence[Mapping[str, np.ndarray] | Exception]) -> bytes:
        """Overwrites the memory with answers; returns the message that describes them."""
        described: list[dict[str, Any]] = []
        places: list[tuple[int, np.ndarray]] = []
        end = 0
        for answer in answers:
            if isinstance(answer, Exception):
                described.append({"error": str(answer)})
                continue
            outputs = []
            for name, array in answer.items():
                places.append((end, array))
                kind = datatype(array.dtype)
                outputs.append({"name": name, "shape": list(array.shape), "datatype": kind, "offset": end})
                end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
            described.append({"outputs": outputs})
        if end > len(self._bytes):
            os.ftruncate(self._file, end)
            self._bytes = np.frombuffer(mmap.mmap(self._file, end), np.uint8)
        for offset, array in places:
            room = self._bytes[offset : offset + array.nbytes]
            np.copyto(room.view(array.dtype).reshape(array.shape), array)
        return msgspec.json.encode({"bytes": end, "answers": described})


if __name__ == "__main__":
    sys.exit(main())
