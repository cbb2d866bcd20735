"""Implements `python -m jdali serve FOLDER`, which serves an exported pipeline over HTTP."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import jdali
from jdali.cli._failed import failed
from jdali.cli._named import PipelineNameError, named, port, positive, seconds


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "serve", help="serve an exported pipeline over HTTP, by the open inference protocol"
    )
    parser.add_argument("folder", help="folder written by Pipeline.export")
    parser.add_argument(
        "--model", metavar="FILE_OR_MODULE:FUNCTION", help="function to run on the pipeline's outputs"
    )
    parser.add_argument("--name", help="name of the model for clients; the folder's by default")
    parser.add_argument("--fingerprint", help="fingerprint that the folder must have")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for all")
    parser.add_argument("--port", type=port, default=8000, help="0 chooses a free port")
    parser.add_argument("--threads", type=positive, default=os.cpu_count() or 1, help="decoding threads")
    parser.add_argument("--max-batch", type=positive, default=32, help="most samples to answer together")
    parser.add_argument(
        "--max-wait-ms",
        type=float,
        default=0.0,
        help="time that the first request of a batch waits for others",
    )
    parser.add_argument("--max-waiting", type=positive, default=1024, help="most requests that wait")
    parser.add_argument("--max-request-bytes", type=positive, default=64 << 20)
    parser.add_argument(
        "--max-waiting-bytes",
        type=positive,
        default=1 << 30,
        help="most bytes of all requests without an answer",
    )
    parser.add_argument(
        "--max-body-seconds", type=seconds, default=60.0, help="time in which a client sends a body"
    )
    parser.add_argument("--max-pixels", type=positive, default=50_000_000, help="most pixels of a picture")
    parser.add_argument(
        "--no-warmup", action="store_true",
        help="compile at the first request of a batch size, not before the server is ready",
    )  # fmt: skip
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        model = None if options.model is None else named(options.model)
        if model is not None and not callable(model):
            raise PipelineNameError(f"{options.model} is {model!r:.60}, it must be a function")
    except PipelineNameError as error:
        return failed("serve", error)
    try:
        serving = importlib.import_module("jdali.serving")  # imported here, because it needs an extra
        limits = serving.ServerLimits(
            options.max_batch, options.max_wait_ms, options.max_waiting, options.max_request_bytes,
            options.max_waiting_bytes, options.max_body_seconds,
        )  # fmt: skip
        jdali.storage.configure(max_pixels=options.max_pixels)
        preprocess = jdali.load(options.folder, fingerprint=options.fingerprint, threads=options.threads)
        name = options.name or Path(options.folder).resolve().name
        served = serving.ServedModel(preprocess, model, name)
        bound = serving.bind(options.host, options.port)
    except (ImportError, OSError, ValueError, jdali.FolderError) as error:
        return failed("serve", error)
    with bound:
        if not options.no_warmup:
            try:
                served.warm_up(options.max_batch, progress=True)
            except serving.OutputError as error:
                return failed("serve", error)
        host = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{host}:{bound.getsockname()[1]}/v2/models/{urllib.parse.quote(name)}"
        print(f"{preprocess} at {address}", file=sys.stderr)
        serving.serve(served, limits=limits, bound=bound)
    return 0
