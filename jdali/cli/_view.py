"""Implements `python -m jdali view train.py:training`, which shows a pipeline on a local page."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from jdali._errors import OperatorError
from jdali._system.extras import install
from jdali.cli._failed import failed
from jdali.cli._named import PipelineNameError, add_arguments, factory, port

_LOCAL = ("127.0.0.1", "::1", "localhost")


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "view",
        help="show the batches, samples, graph, data and time of a pipeline in a browser",
        description="Opens a local page that shows a pipeline, and changes nothing in it. Ctrl-C ends it.",
    )
    add_arguments(parser)
    parser.add_argument("--port", type=port, default=0, help="0, the default, chooses a free port")
    parser.add_argument(
        "--host", default=_LOCAL[0],
        help="address to listen on; other than 127.0.0.1, everybody who reaches it and knows the page's address sees the data",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        viewer: Any = importlib.import_module("jdali._viewer.server")
    except ImportError as error:
        return failed("view", f"{error.name} is missing; {install('view')}")
    try:
        make = factory(options.pipeline, options.arg)
        pipe = make()
    except (PipelineNameError, OperatorError) as error:
        return failed("view", error)
    try:
        view = viewer.view(pipe, port=options.port, host=options.host, name=options.pipeline, make=make)
    except (OSError, RuntimeError) as error:
        return failed("view", error)
    if options.host not in _LOCAL:
        print(
            f"view: listens on {options.host}: everybody who reaches this machine there and knows the address sees the "
            "data, and the connection is not encrypted",
            file=sys.stderr,
        )
    print(f"{view.url}\nCtrl-C ends it", flush=True)
    try:
        view.wait()
    except KeyboardInterrupt:
        pass
    finally:
        view.close()
        pipe.close()
    return 0
