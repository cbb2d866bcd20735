"""Finds the pipeline that the user names on the command line, for instance `train.py:training --arg folder=train/`."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from jdali.pipeline import Pipeline


class PipelineNameError(ValueError):
    """Raised if a name on the command line does not name a pipeline."""


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: must be at least 1")
    return number


def add_arguments(parser: argparse.ArgumentParser, *, nargs: str | None = None) -> None:
    """Adds the name of a pipeline and the arguments of its function to a command; `nargs` is "?" if the name is optional."""
    parser.add_argument(
        "pipeline", metavar="FILE_OR_MODULE:FUNCTION", nargs=nargs,
        help="a function that returns a pipeline, or a pipeline: train.py:training, package.data:training",
    )  # fmt: skip
    add_argument_values(parser)


def add_argument_values(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE",
        help="an argument of the function; a Python literal, else text; may be repeated",
    )  # fmt: skip


def parse_arguments(given: Sequence[str]) -> dict[str, Any]:
    """Parses the values of `--arg`; raises `PipelineNameError` unless each is NAME=VALUE."""
    values: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise PipelineNameError(f"--arg {text}: write NAME=VALUE, for instance --arg folder=train/")
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = value
    return values


def factory(name: str, arguments: Sequence[str] = ()) -> Callable[[], Pipeline]:
    """Finds the function or variable that a pipeline's name refers to.

    Args:
        name: "file.py:function" or "module:function".
        arguments: values of `--arg`.

    Returns: a function that returns a new pipeline at each call. If the name refers to a variable, the function always
        returns the same pipeline.

    Raises:
        PipelineNameError: the file, module or function does not exist, or returns no pipeline.
    """
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise PipelineNameError(f"{name}: write FILE_OR_MODULE:FUNCTION, for instance train.py:training")
    values = parse_arguments(arguments)
    found = vars(_module(place)).get(attribute)
    if found is None:
        raise PipelineNameError(f"{name}: {place} has no {attribute!r}")

    def make() -> Pipeline:
        pipe = found if isinstance(found, Pipeline) else found(**values) if callable(found) else found
        if not isinstance(pipe, Pipeline):
            raise PipelineNameError(
                f"{name}: gives {type(pipe).__name__}, not a pipeline; decorate it with @pipeline_def"
            )
        return pipe

    return make


def _module(place: str) -> ModuleType:
    """Imports a module by its dotted name, or a file as if it were run from its folder."""
    path = Path(place)
    if path.suffix != ".py":
        sys.path.insert(0, str(Path.cwd()))
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not (place == error.name or place.startswith(f"{error.name}.")):
                raise
            raise PipelineNameError(f"there is no module {place}") from error
    if not path.is_file():
        raise PipelineNameError(f"there is no file {place}")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that its classes can be pickled
    spec.loader.exec_module(module)
    return module
