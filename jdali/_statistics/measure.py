"""Runs a pipeline or a reader and collects statistics of its samples."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jdali import fn
from jdali._errors import OperatorError, SampleError
from jdali._statistics.labels import class_names
from jdali._statistics.outputs import Output, statistics_of
from jdali._statistics.results import Statistics
from jdali._system.progress import progress_bar
from jdali.codecs import audio as audio_codec
from jdali.codecs import image as image_codec
from jdali.dynamic._readers import Reader as DynamicReader
from jdali.graph import DataNode
from jdali.pipeline import Pipeline
from jdali.tensors import TensorList

_READER_BATCH = 16


def statistics(
    data: Pipeline | DynamicReader | DataNode | Sequence[DataNode], n: int | None = None, *, progress: bool = True
) -> Statistics:  # fmt: skip
    """Measures samples: mean and standard deviation by channel, sizes, durations, labels, and bad samples.

    Print the result to read it. You can paste its last line, `mean=[...], std=[...]`, into `crop_mirror_normalize`.

    Args:
        data: a pipeline, or a reader: the result of `fn.readers.file(...)`, or an object of `jdali.dynamic.readers`. Make a
            pipeline for this call, because the call consumes its samples. A reader's images (as RGB) and sounds are
            decoded; samples that cannot be decoded are left out and listed.
        n: number of samples; None: one epoch.
        progress: whether to show a bar if stderr is a terminal; tqdm shows it if it is installed.

    Returns: statistics. For integers they are exact and rounded once; for floats they are computed in float64.

    Raises:
        TypeError: `data` is neither a pipeline nor a reader, `n` is not an integer, or `n` is None and the pipeline has
            no end.
        ValueError: `n` is less than 1.
        OperatorError: a sample of a pipeline with `on_error="raise"` is bad.
    """
    if n is not None:
        try:
            n = operator.index(n)
        except TypeError:
            raise TypeError(f"jdali.statistics: n is {n!r}, it must be an integer") from None
        if n < 1:
            raise ValueError(f"jdali.statistics: n is {n}, it must be at least 1")
    with contextlib.ExitStack() as stack:
        if isinstance(data, Pipeline):
            if data.debug:
                raise TypeError("jdali.statistics: not in debug mode; make the pipeline without debug=True")
            pipe = data
        else:
            pipe = stack.enter_context(contextlib.closing(_decoding(data)))
        nodes = pipe.outputs_of_graph
        names = [class_names(node, pipe.internals().engine.readers) for node in nodes]
        measured = [Output(f"output {i}", node, names[i]) for i, node in enumerate(nodes)]
        total = n if n is not None else _epoch_size(pipe)
        advance = stack.enter_context(progress_bar(total, "samples", "statistics", wanted=progress))
        samples = 0
        for outputs, chosen in _batches(pipe, n):
            for output, batch in zip(measured, outputs, strict=True):
                output.add(batch, chosen)
            samples += len(chosen)
            advance(len(chosen))
        bad = pipe.errors
        if n is None and bad:
            bad = [sample for sample in bad if sample.epoch == bad[0].epoch]
        return Statistics(
            samples, tuple(bad), statistics_of(measured), next((own for own in names if own), ())
        )


def _batches(pipe: Pipeline, n: int | None) -> Iterator[tuple[tuple[TensorList, ...], np.ndarray]]:
    """Yields batches with the positions of the samples to measure: the first `n` good samples, or all of one epoch."""
    epoch: int | None = None
    left = sys.maxsize if n is None else n
    while left:
        try:
            result = pipe.run_result()
        except StopIteration:
            return
        if result.nothing is not None:
            continue
        good = result.mask & ~result.padded
        if n is None:
            if epoch is None:
                epoch = int(result.ids.epoch[0])
            good &= result.ids.epoch == epoch
        chosen = np.flatnonzero(good)[:left]
        left -= len(chosen)
        yield result.outputs, chosen
        # A batch with samples of the next epoch or with padding ends the epoch.
        if n is None and ((result.ids.epoch != epoch).any() or result.padded.any()):
            return


def _epoch_size(pipe: Pipeline) -> int | None:
    """Estimates the number of samples in an epoch of this shard; returns None if it is unknown."""
    metas = list(pipe.reader_meta().values())
    if metas:
        return -(-int(metas[0]["epoch_size"]) // int(metas[0]["number_of_shards"]))
    iter(pipe)  # raises if the pipeline has no end
    return None


def _decoding(data: object) -> Pipeline:
    if isinstance(data, DynamicReader):
        make: Any = fn
        for part in data._op.name.split("."):
            make = getattr(make, part)
        data = make(**data._args)
    nodes = [data] if isinstance(data, DataNode) else list(data) if isinstance(data, (tuple, list)) else []
    if not nodes or not all(isinstance(node, DataNode) for node in nodes):
        if hasattr(data, "_is_pipeline_def"):
            raise TypeError("jdali.statistics: this is a function that makes pipelines: call it first")
        raise TypeError(
            "jdali.statistics: takes a pipeline or a reader: jdali.statistics(training('train/')), or "
            f"jdali.statistics(fn.readers.file(file_root='train/')); got {type(data).__name__}"
        )
    outputs: list[DataNode] = []
    for node, decode in zip(nodes, _decoders(nodes), strict=True):
        decoded = node if decode is None else decode(node)
        outputs += decoded if isinstance(decoded, tuple) else [decoded]
    return _pipeline(outputs)


def _pipeline(outputs: Sequence[DataNode]) -> Pipeline:
    pipe = Pipeline(batch_size=_READER_BATCH, on_error="mask")
    pipe.set_outputs(*outputs)
    return pipe


def _decoders(nodes: Sequence[DataNode]) -> list[Callable[..., Any] | None]:
    """Chooses a decoder for each output of a reader by the format of its first samples; None for outputs that need none."""
    chosen: list[Callable[..., Any] | None] = [None] * len(nodes)
    with contextlib.closing(_pipeline(nodes)) as pipe:
        first = pipe.run()
        for i, batch in enumerate(first):
            if batch.ndim() == 1 and batch.spec.dtype == np.uint8:
                samples = batch.to_samples()
                if any(_is_known(image_codec.probe, sample) for sample in samples):
                    chosen[i] = fn.decoders.image
                elif any(_is_known(audio_codec.peek, sample) for sample in samples):
                    chosen[i] = fn.decoders.audio
    return chosen


def _is_known(probe: Callable[[Any], object], sample: np.ndarray) -> bool:
    try:
        probe(sample)
    except (SampleError, OperatorError, ValueError):
        return False
    return True
