"""Runs an exported pipeline on batches of requests, and a model on the outputs."""

from __future__ import annotations

import concurrent.futures
import functools
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from jdali._errors import OperatorError, SampleError
from jdali._system.progress import progress_bar
from jdali.engine.eager import room_for
from jdali.engine.function import Padded, Preprocess
from jdali.serving.protocol import ModelInput, OutputError, RequestError, datatype, sendable

_SMALL_PICTURE = (16, 16)

Inputs = Mapping[str, Sequence[Any]]
"""A request has for each input, by name, a list of samples: bytes or arrays."""


class ServedModel:
    """Answers many requests as one batch.

    Args:
        preprocess: result of `jdali.load`.
        model: function that takes the preprocessing's outputs, arrays [N, ...], and returns an array, or a tuple or dict of
            arrays [N, ...] with a row for each row that it gets. None: the preprocessing's outputs are the answer.
        name: name of the model for clients.

    Raises:
        TypeError: the model is not a function.
        ValueError: the preprocessing draws random values.
    """

    def __init__(
        self, preprocess: Preprocess, model: Callable[..., Any] | None = None, name: str = "preprocess"
    ):
        if model is not None and not callable(model):
            raise TypeError(f"the model is {model!r:.60}, it must be a function")
        if preprocess.random:
            raise ValueError(
                f"random values are drawn in {', '.join(preprocess.random)}, so the same request would not get the same "
                f"answer: export the pipeline with deterministic={{{preprocess.random[0]!r}: ...}}"
            )
        self.preprocess, self.name, self._model = preprocess, name, model

    @functools.cached_property
    def inputs(self) -> dict[str, ModelInput]:
        """Returns the inputs of a request, by name."""
        place = {name: i for i, name in enumerate(self.preprocess.start)}
        return {
            name: ModelInput()
            if given is None
            else ModelInput(
                datatype(given[0]), tuple(shapes[place[name]] for shapes in self.preprocess.shapes)
            )
            for name, given in zip(self.preprocess.inputs, self.preprocess.input_shapes, strict=True)
        }

    @functools.cached_property
    def outputs(self) -> tuple[str, ...] | None:
        """Returns the names of the outputs; None if a user's model determines them."""
        if self._model is not None:
            return None
        return tuple(one["name"] for one in self.metadata()["outputs"])

    def metadata(self) -> dict[str, Any]:
        """Returns the protocol's description of the model. If there is a user's model, its outputs are unknown and omitted."""
        inputs = []
        for name, given in zip(self.preprocess.inputs, self.preprocess.input_shapes, strict=True):
            kind = "BYTES" if given is None else datatype(given[0])
            axes = 1 if given is None else 1 + len(given[1])
            inputs.append({"name": name, "datatype": kind, "shape": [-1] * axes})
        outputs = []
        described = zip(
            self.preprocess.outputs,
            self.preprocess.dtypes,
            self.preprocess.sizes,
            self.preprocess.ranks,
            strict=True,
        )
        for name, dtype, size, rank in described if self._model is None else ():
            shape = [-1, *([-1] * rank if size is None else size)]
            outputs.append({"name": name, "datatype": datatype(dtype), "shape": shape})
            if size is None:
                extent = {"name": f"{name}_extent", "datatype": "INT32", "shape": [-1, rank]}
                outputs.append(extent)
        return {
            "name": self.name, "versions": ["1"], "platform": "jax", "inputs": inputs, "outputs": outputs,
            "parameters": {"fingerprint": self.preprocess.fingerprint},
        }  # fmt: skip

    def warm_up(self, max_batch: int, *, progress: bool = False) -> None:
        """Compiles all programs that batches may need, so that no request waits for compilation.

        If each output of the preprocessing has a fixed size, the user's model runs on zeros of each batch size. If all inputs
        are files, one small JPEG is decoded, which loads the decoder's libraries.

        Args:
            max_batch: samples in the largest batch.
            progress: whether to show a bar on a terminal.

        Raises:
            OutputError: the user's model returns what no answer can hold, such as an array without a row for each sample.
        """
        tasks: list[Callable[[], object]] = [self._decode_once, *self.preprocess.compiling(max_batch)]
        threads = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1, "jdali-warm-up")
        try:
            with progress_bar(len(tasks), "programs", "warm-up", wanted=progress) as update:
                for done in concurrent.futures.as_completed([threads.submit(task) for task in tasks]):
                    done.result()
                    update(1)
        finally:
            threads.shutdown(cancel_futures=True)
        sizes, dtypes = self.preprocess.sizes, self.preprocess.dtypes
        if self._model is not None and all(size is not None for size in sizes):
            for room in sorted({room_for(count) for count in range(1, max_batch + 1)}):
                zeros = [
                    np.zeros((room, *(size or ())), dtype) for size, dtype in zip(sizes, dtypes, strict=True)
                ]
                self._modelled(zeros, room)

    def _decode_once(self) -> None:
        """Preprocesses a small JPEG and ignores the result."""
        if all(given is None for given in self.preprocess.input_shapes):
            file = io.BytesIO()
            Image.new("RGB", _SMALL_PICTURE).save(file, "jpeg")
            self.preprocess.attempt(*[[file.getvalue()] for _ in self.preprocess.inputs])

    def answer(self, requests: Sequence[Inputs]) -> list[dict[str, np.ndarray] | Exception]:
        """Answers requests as one batch; each request that fails gets its own error.

        Args:
            requests: for each request a dict of its inputs, with the names of `inputs`.
        """
        try:
            return self._together(requests)
        except Exception as error:
            if len(requests) > 1:  # a single request may have caused the error, so run each alone
                return [self.answer([request])[0] for request in requests]
            return [error]

    def _together(self, requests: Sequence[Inputs]) -> list[dict[str, np.ndarray] | Exception]:
        names = self.preprocess.inputs
        counts = [len(request[names[0]]) for request in requests]
        samples = [[s for request in requests for s in request[name]] for name in names]
        try:
            outputs, good, errors = self.preprocess.attempt(*samples)
        except (OperatorError, SampleError, TypeError, ValueError) as error:  # caused by the data
            raise RequestError(str(error)) from error
        ends = np.cumsum(counts)
        answers: list[dict[str, np.ndarray] | Exception] = []
        rows = {position: row for row, position in enumerate(good)}
        named = self._named(outputs, len(good)) if good else {}
        for end, count in zip(ends.tolist(), counts, strict=True):
            mine = range(end - count, end)
            failed = next((position for position in mine if position in errors), None)
            if failed is not None:
                answers.append(RequestError(f"sample {failed - mine.start}: {errors[failed]}"))
            else:
                answers.append(_chosen(named, [rows[position] for position in mine]))
        return answers

    def _named(self, outputs: Any, count: int) -> dict[str, np.ndarray]:
        """Returns the outputs by name; adds `<name>_extent`, which holds the samples' sizes, for each padded output."""
        several = isinstance(outputs, tuple) and not isinstance(outputs, Padded)
        each = list(outputs) if several else [outputs]
        if self._model is not None:
            return self._modelled(each, count)
        found: dict[str, np.ndarray] = {}
        for name, value in zip(self.preprocess.outputs, each, strict=True):
            if isinstance(value, Padded):
                found |= {name: sendable(name, value.array), f"{name}_extent": np.asarray(value.extents)}
            else:
                found[name] = sendable(name, value)
        return found

    def _modelled(self, outputs: Sequence[Any], count: int) -> dict[str, np.ndarray]:
        """Runs the user's model on a batch padded to one of a few sizes, so that it compiles only a few programs.

        Returns: the first `count` rows of the outputs, by name.
        """
        assert self._model is not None
        rows = np.minimum(np.arange(room_for(count)), count - 1)
        given = [
            Padded(v.array[rows], v.extents[rows]) if isinstance(v, Padded) else v[rows] for v in outputs
        ]
        result = self._model(*given)
        if not isinstance(result, Mapping):
            each = result if isinstance(result, (list, tuple)) else [result]
            result = {f"output_{i}": value for i, value in enumerate(each)}
        return {str(name): _rows(str(name), value, len(rows))[:count] for name, value in result.items()}


def _rows(name: str, value: object, count: int) -> np.ndarray:
    """Returns an output of the user's model, which must have one row for each row that the model got."""
    array = sendable(name, value)
    if array.shape[:1] != (count,):
        raise OutputError(
            f"the model returns {name!r} of shape {list(array.shape)}, the first axis must be {count}, one row for each sample "
            "that it gets"
        )
    return array


def _chosen(named: Mapping[str, np.ndarray], rows: Sequence[int]) -> dict[str, np.ndarray]:
    """Selects the samples of one request; cuts the padding to the size of the largest sample."""
    chosen: Any = slice(rows[0], rows[0] + len(rows)) if rows else slice(0)  # a view
    found = {}
    for name, array in named.items():
        extents = named.get(f"{name}_extent")
        largest = () if extents is None else extents[chosen].max(axis=0, initial=0).tolist()
        found[name] = array[(chosen, *map(slice, largest))]
    return found
