"""Finds the pipeline that the user names on the command line, for instance `train.py:training --arg folder=train/`."""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from jdali.pipeline import Pipeline


class PipelineNameError(ValueError):
    """Raised if a name on the command line does not name a pipeline, or lacks arguments for it."""


def _at_least(least: int, text: str) -> int:
    number = _whole(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{number}: must be at least {least}")
    return number


positive = functools.partial(_at_least, 1)
not_negative = functools.partial(_at_least, 0)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def port(text: str) -> int:
    number = _whole(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number}: must be 0 to 65535")
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
        PipelineNameError: the file, module or function does not exist, returns no pipeline, or needs other arguments.
    """
    values = parse_arguments(arguments)
    found = named(name)
    if isinstance(found, Pipeline):
        if values:
            raise PipelineNameError(
                f"{name} is a pipeline, not a function, so it takes no --arg {arguments[0]}"
            )
    elif callable(found):
        _check_arguments(name, found, values)

    def make() -> Pipeline:
        pipe = found if isinstance(found, Pipeline) else found(**values) if callable(found) else found
        if not isinstance(pipe, Pipeline):
            raise PipelineNameError(
                f"{name}: gives {type(pipe).__name__}, not a pipeline; decorate it with @pipeline_def"
            )
        return pipe

    return make


def named(name: str) -> Any:
    """Returns what "file.py:name" or "module:name" refers to; raises `PipelineNameError` if there is nothing."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise PipelineNameError(f"{name}: write FILE_OR_MODULE:FUNCTION, for instance train.py:training")
    found = getattr(_module(place), attribute, None)
    if found is None:
        raise PipelineNameError(f"{name}: {place} has no {attribute!r}")
    return found


def _check_arguments(name: str, function: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Raises `PipelineNameError` if a function needs other arguments than `values`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # some built-in functions have no signature
        return
    own = {one.name: one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    missing = [one for one in own if own[one].default is inspect.Parameter.empty and one not in values]
    if missing:
        options = " ".join(f"--arg {one}=..." for one in missing)
        raise PipelineNameError(f"{name} needs {' and '.join(missing)}; give {options}")
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    known = {*own}
    if getattr(function, "_is_pipeline_def", False):
        known |= {*inspect.signature(Pipeline).parameters, "enable_conditionals"}
    wrong = next((one for one in values if one not in known), None)
    if wrong is not None:
        near = difflib.get_close_matches(wrong, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PipelineNameError(f"{name} has no argument {wrong!r}{hint}")


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
