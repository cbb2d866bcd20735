"""Generates a pipeline's batches for TensorFlow. Each iterator over a data set has its own generator."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from jdali._pipeline import copied
from jdali._state import StateError
from jdali.pipeline import Pipeline
from jdali.plugin.tf._inputs import Input
from jdali.tensors import TensorList


def on_host() -> Any:
    """Places operators on the CPU, because operators that call Python have no kernel for other devices."""
    return tf.device("/cpu:0")


def _batches_of(name: str, feed: Input, batch_size: int) -> Iterator[Any]:
    """Yields full batches for an external source; drops an incomplete last batch."""
    elements = (_only_tensor(name, element) for element in feed.dataset)
    if feed.batch:
        yield from elements
        return
    while len(samples := list(itertools.islice(elements, batch_size))) == batch_size:
        yield samples


def _only_tensor(name: str, element: object) -> object:
    tensors = tf.nest.flatten(element)
    if len(tensors) != 1:
        raise ValueError(
            f"Got an example consisting of {len(tensors)} elements for input: {name!r}. Only examples of 1 element "
            "are supported."
        )
    return tensors[0].numpy()


@dataclasses.dataclass(frozen=True)
class Outputs:
    """The declared shapes and types of the outputs.

    Attributes:
        dtypes: a `tf.DType` for each output.
        shapes: see `shape_for`.
        batch_size: batch size of the data set.
        on_device: accept batches on an accelerator; they are copied to host memory, where TensorFlow's data sets are.
        by_size: if a batch has a different type of the same size, reinterpret its bits, as DALI's older operator does.
    """

    dtypes: Sequence[Any]
    shapes: Sequence[Wanted]
    batch_size: int
    on_device: bool
    by_size: bool = False

    def arrays(self, batches: Sequence[TensorList]) -> tuple[np.ndarray, ...]:
        """Converts batches to arrays in host memory.

        Raises:
            ValueError: a batch differs from the declared type or shape, has samples of different shapes, or is on an
                accelerator although `on_device` is False.
        """
        if len(batches) != len(self.dtypes):
            raise ValueError(
                f"DALIDataset: the pipeline has {len(batches)} outputs, output_dtypes names {len(self.dtypes)}"
            )
        return tuple(self.array(i, batch) for i, batch in enumerate(batches))

    def array(self, output: int, batch: TensorList) -> np.ndarray:
        if not self.on_device and not batch.store.local:
            raise ValueError(
                f"TF device and DALI device mismatch. TF device: CPU, DALI device: GPU for output {output}. Bring it to "
                "the host with `.cpu()` in the pipeline, or have it copied with fail_on_device_mismatch=False"
            )
        if not batch.is_dense_tensor():
            raise ValueError(
                f"Batch output at index '{output}' from DALI pipeline is not uniform - individual samples have different "
                "shapes. This output cannot be represented as single, dense Tensor, which is required by TensorFlow. "
                "Ensure that all the samples that you produce in given batch have equal shape. Got shapes: "
                f"{', '.join(map(str, batch.shape()))}"
            )
        array = self.typed(output, batch.as_cpu().as_numpy())
        return array.reshape(shape_for(self.shapes[output], array.shape, self.batch_size, output))

    def typed(self, output: int, array: np.ndarray) -> np.ndarray:
        """Returns an output's values in the declared type; raises ValueError if their type differs."""
        wanted, dtype = self.dtypes[output], tf.as_dtype(array.dtype)
        if dtype == wanted:
            return array
        if self.by_size and wanted.size == dtype.size:
            return array.view(wanted.as_numpy_dtype)
        facts = f"Expected (output_types[{output}]): {wanted.name}, got from Pipeline: {dtype.name}."
        if self.by_size and wanted.size < dtype.size:
            raise ValueError(
                f"Output {output} has bigger size than allocated by TensorFlow - check if type requested matches with one "
                f"produced by the DALI pipeline. {facts}"
            )
        raise ValueError(
            f"The type provided for output `{output}` is not compatible with the type returned by DALI Pipeline. {facts}"
        )


class Batches:
    """Returns, at each call, a new iterator that starts at the first batch.

    Each iterator has its own copy of the pipeline. Later iterators reuse the pipelines of ended iterators, so that programs
    are compiled once.

    Args:
        inputs: what feeds the external sources, by name; their `batch` is not None.
        depth: number of batches to prefetch from fed inputs.
        options: arguments of `Pipeline` that replace those of `pipeline`.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        outputs: Outputs,
        inputs: Mapping[str, Input],
        depth: int,
        **options: object,
    ):
        self._pipeline, self._outputs, self._inputs = pipeline, outputs, inputs
        self._depth, self._options = depth, options
        # Pipelines of ended iterators, with their initial states. A pipeline is reset only when it is used again, because a
        # generator may end in any thread and at any time.
        self._left: collections.deque[tuple[Pipeline, dict[str, Any]]] = collections.deque()

    def __call__(self) -> Iterator[tuple[np.ndarray, ...]]:
        pipeline, begin = self._ready()
        try:
            for batches in self._fed(pipeline) if self._inputs else _until_the_end(pipeline):
                yield self._outputs.arrays(batches)
        except Exception:
            pipeline.close()
            raise
        except GeneratorExit:
            self._left.append((pipeline, begin))
            raise
        self._left.append((pipeline, begin))

    def _ready(self) -> tuple[Pipeline, dict[str, Any]]:
        """Returns a pipeline that is at its first batch, and the pipeline's state there."""
        while self._left:
            pipeline, begin = self._left.popleft()
            try:
                pipeline.set_state(begin)
            except (StateError, RuntimeError):  # the pipeline is closed, or one of its sources cannot restart
                pipeline.close()
            else:
                return pipeline, begin
        pipeline = copied(self._pipeline, **self._options)
        pipeline.build()
        return pipeline, pipeline.get_state()

    def _fed(self, pipeline: Pipeline) -> Iterator[tuple[TensorList, ...]]:
        size = self._outputs.batch_size
        batches = {name: _batches_of(name, feed, size) for name, feed in self._inputs.items()}
        waiting = 0
        for fed in zip(*batches.values(), strict=False):
            for (name, feed), batch in zip(self._inputs.items(), fed, strict=True):
                pipeline.feed_input(name, batch, layout=feed.layout)
            pipeline.schedule_run()
            waiting += 1
            if waiting == self._depth:
                yield pipeline.share_outputs()
                waiting -= 1
        for _ in range(waiting):
            yield pipeline.share_outputs()


def _until_the_end(pipeline: Pipeline) -> Iterator[tuple[TensorList, ...]]:
    """Yields batches until a source ends; with readers, one epoch follows another."""
    while True:
        try:
            batches = pipeline.run()
        except StopIteration:
            return
        yield batches


Wanted = Sequence[int | None] | None


def shape_for(wanted: Wanted, shape: Sequence[int], batch_size: int, output: int) -> tuple[int, ...]:
    """Returns a batch's shape for TensorFlow, without the axes of size 1 that the declared shape omits.

    Args:
        wanted: the declared shape, with None for an axis of any size; None in place of the shape accepts any shape.
        shape: shape of the batch, including the batch axis.
        batch_size: batch size of the data set; if it is 1, the batch axis may be dropped too.
        output: number of the output, for messages.

    Raises:
        ValueError: the shapes do not fit, or several choices of axes to drop would fit.
    """
    shape = tuple(shape)
    if wanted is None or (len(wanted) == len(shape) and all(map(_fits, wanted, shape))):
        return shape
    facts = f"Expected (output_shapes[{output}]): {_text(wanted)}, got from Pipeline: {_text(shape)}."
    refused = f"The shape provided for output `{output}` is not compatible with"
    if len(wanted) >= len(shape):
        raise ValueError(f"{refused} the shape returned by DALI Pipeline. {facts}")
    if batch_size != 1 and (not wanted or not _fits(wanted[0], batch_size)):
        raise ValueError(
            f"{refused} the `batch_size` argument that was specified in `DALIDataset`. Specified `batch_size`: "
            f"{batch_size}, got: {wanted[0] if wanted else 'no axis'} in shape: {_text(wanted)}."
        )
    if set(shape) == {1} and all(size == 1 for size in wanted):
        return (1,) * len(wanted)
    found = _matches(tuple(wanted), shape)
    if len(found) != 1:
        way = "in an ambiguous way" if found else "by leaving out axes of one element"
        raise ValueError(f"{refused} the shape returned by DALI Pipeline {way}. {facts}")
    return found[0]


def _fits(wanted: int | None, size: int) -> bool:
    return wanted is None or wanted == size


def _matches(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Drops axes of size 1 from `shape` in all possible ways; lists the resulting shapes that fit `wanted`."""
    if not shape:
        return [] if wanted else [()]
    found = []
    if wanted and _fits(wanted[0], shape[0]):
        found = [(shape[0], *rest) for rest in _matches(wanted[1:], shape[1:])]
    if shape[0] == 1:
        found += _matches(wanted, shape[1:])
    return found


def _text(shape: Wanted) -> str:
    return "unknown" if shape is None else f"[{','.join('?' if n is None else str(n) for n in shape)}]"
