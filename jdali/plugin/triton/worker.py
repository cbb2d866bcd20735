"""The process in which jdali answers the requests of one instance of a Triton model.

`model.py` starts it, `python -m jdali.plugin.triton.worker FOLDER --socket 5 ...`. Messages: an empty one when it is ready, or
an error; then the number of requests and each request, 4 bytes with the length of its JSON and the body; for each answer
those 4 bytes, and the body.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import msgspec

import jdali
from jdali.serving import RequestError, ServedModel, parse, render_tensors

_LENGTH_BYTES = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Answers until the socket is closed at its other end; returns the status of the process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder")
    for name in ("--socket", "--max-batch", "--threads", "--max-pixels"):
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
        try:
            while True:
                count = int(connection.recv_bytes())
                for body, head_bytes in _answers(served, [connection.recv_bytes() for _ in range(count)]):
                    connection.send_bytes(head_bytes.to_bytes(_LENGTH_BYTES, "little"))
                    connection.send_bytes(body)
        except (EOFError, ConnectionError):
            return 0


def _loaded(options: argparse.Namespace) -> ServedModel:
    jdali.storage.configure(max_pixels=options.max_pixels)
    served = ServedModel(jdali.load(options.folder, fingerprint=options.fingerprint, threads=options.threads))
    if options.warm_up == "true":
        served.warm_up(options.max_batch)
    return served


def _answers(served: ServedModel, messages: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """The body of each answer, and the length of its JSON."""
    answers: list[Any] = []
    requests: dict[int, tuple[Any, Any]] = {}
    for number, message in enumerate(messages):
        length = int.from_bytes(message[:_LENGTH_BYTES], "little")
        try:
            requests[number] = parse(memoryview(message)[_LENGTH_BYTES:], str(length))
            answers.append(None)
        except RequestError as error:
            answers.append(error)
    try:
        found: Sequence[Any] = served.answer([inputs for _, inputs in requests.values()]) if requests else []
    except Exception as error:  # of no sample: nothing of it is the client's business but its kind
        traceback.print_exception(error)
        found = [RequestError(f"the pipeline failed: {type(error).__name__}")] * len(requests)
    for number, answer in zip(requests, found, strict=True):
        answers[number] = answer
    bodies = []
    for number, answer in enumerate(answers):
        if isinstance(answer, Exception):
            head = msgspec.json.encode({"error": str(answer)})
            bodies.append((head, len(head)))
        else:
            head, parts = render_tensors(served.name, requests[number][0], answer)
            bodies.append((b"".join([head, *parts]), len(head)))
    return bodies


if __name__ == "__main__":
    sys.exit(main())
