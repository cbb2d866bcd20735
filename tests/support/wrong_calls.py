"""Pipelines with one wrong call: DALI makes it in a process of its own, jdali here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from support import refusals


class Library:
    """DALI, or jdali: what calls of operators are made with."""

    def __init__(self, name: str):
        self.package = importlib.import_module(name)
        self.pipeline = importlib.import_module(f"{name}.pipeline").Pipeline
        self.fn, self.types, self.math = (
            importlib.import_module(f"{name}.{m}") for m in ("fn", "types", "math")
        )

    def part(self, name: str) -> Any:
        """A module of the library."""
        return importlib.import_module(f"{self.package.__name__}.{name}")

    @staticmethod
    def as_one(outputs: Any) -> Any:
        """The first of several outputs."""
        if isinstance(outputs, dict):
            return next(iter(outputs.values()))
        return outputs[0] if isinstance(outputs, (list, tuple)) else outputs

    def feed(self, *samples: Any, layout: str | None = None) -> Any:
        """A batch of two samples; of one that is given, twice the same."""
        batch = list(samples) * (2 // len(samples))
        return self.fn.external_source(source=[batch], cycle=True, batch=True, layout=layout)

    def run(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Runs a pipeline whose outputs are what the call returns."""
        pipe = self.pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
        with pipe:
            result = call(self, *arguments)
            pipe.set_outputs(*(result if isinstance(result, (list, tuple)) else (result,)))
        pipe.build()
        pipe.run()


def run(library: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Runs a pipeline of a library, by the library's name."""
    Library(library).run(call, *arguments)


def raised(call: Callable[..., Any], *arguments: Any) -> Exception:
    """The exception that jdali raises."""
    with pytest.raises(Exception, match=".") as caught:
        run("jdali", call, *arguments)
    return caught.value


def check(words: str, call: Callable[..., Any], *arguments: Any) -> None:
    """Both libraries refuse the call in these words, jdali by an error that is of DALI's type as well."""
    expected, error = refusals.of(run, "nvidia.dali", call, *arguments), raised(call, *arguments)
    assert words in expected.text
    assert words in str(error)
    assert isinstance(error, expected.kind)
