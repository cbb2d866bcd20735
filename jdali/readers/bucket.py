"""Groups samples of similar size: sorts windows of samples by size, and divides each window into buckets."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._operators.record import REGISTRY, Static, reader
from jdali.codecs import image as codec
from jdali.readers import shared_tables
from jdali.readers.base import Loaded, Reader
from jdali.readers.mix import checked_schedule
from jdali.readers.order.windows import SizeBuckets, WindowOrder
from jdali.readers.over import OverReader, facts_of, opened_source, seeded, stream_of

_NAME = "readers.bucket"
_LENGTH, _RATIO = "length", "aspect_ratio"
# Default number of buckets in a window. Samples of neighbouring buckets then differ in size by a few percent.
_BUCKETS = 64


class BucketReader(OverReader):
    """Reads the samples of another reader, grouped by size."""

    def __init__(self, source: Reader, order: WindowOrder):
        super().__init__(source, order)
        self.reads_ahead, self.often_cheap = source.reads_ahead, source.often_cheap
        self.layouts = source.layouts

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        return self._source.load(index)

    def load_many(self, indices: np.ndarray) -> Loaded:
        return self._source.load_many(indices)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return self._source.tasks(indices, threads)


def _sizes(loaded: Loaded, by: str, indices: np.ndarray) -> np.ndarray:
    """Returns the sizes of samples, 0 for samples that could not be read."""
    sizes = np.zeros(len(indices))
    good = np.delete(np.arange(len(indices)), list(loaded.failures))
    first = loaded.columns[0]
    if not len(good):
        return sizes
    if by == _LENGTH:
        sizes[good] = first.spec.extents[:, 0] if first.spec.ndim else 1
        return sizes
    for place, encoded in zip(good.tolist(), first.host_samples(), strict=True):
        with contextlib.suppress(SampleError):
            height, width, _ = codec.output_shape(codec.probe(encoded))
            sizes[place] = width / height
    return sizes


def _outputs(arguments: Mapping[str, Any]) -> int:
    name, args = arguments["samples"]
    return REGISTRY[name].num_outputs(args)


@reader(name=_NAME, outputs=_outputs, devices=("cpu", "gpu"))
def bucket(
    *,
    samples: Static[Any],
    by: Static[Any],
    size: Static[int],
    num_shards: Static[int] = 1,
    seed: Static[int] = -1,
    shard_id: Static[int] = 0,
    window: Static[int | None] = None,
    _goes_on: Static[bool] = False,
) -> BucketReader:
    """Groups the samples of a reader into buckets of similar size, so that batches need little padding.

    The samples are taken in the order of the reader. Each window of `window` samples is sorted by size and divided
    into buckets of `size` samples, and the buckets come in random order. The order depends only on the seed and the
    position. So a run resumes from any state with any number of shards, and each sample comes once a pass. If the
    number of samples of a pass is not a multiple of `size`, the pass ends within a bucket, and the next pass begins
    with the rest of this bucket. All shards must resume from the same training step.

    Args:
        samples: all outputs of a reader or of `readers.mix`. Outside of a pipeline's definition, a pair of the
            reader's name and its arguments.
        by: "length": the first axis of the first output; "aspect_ratio": width / height of the encoded picture in the
            first output, after its EXIF rotation; or an array with a number for each sample of the data set, such as a
            column of a table. For a mixture, the array has the numbers of all sources, one source after another.
        size: number of samples in a bucket: the batch size times `num_shards`, or a multiple of it.
        num_shards: number of parts that each bucket is divided into. The reader itself must not be sharded.
        seed: seed of the order of buckets, and of a reader that shuffles without a seed of its own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        window: number of samples to sort together; None: 64 buckets. A larger window makes buckets more uniform.

    Returns: as many outputs as the reader has.

    Building the pipeline reads each sample once to find its "length" or "aspect_ratio". The values are cached on disk if
    the reader has an argument `path` or `paths` that names its files.

    Parity: DALI has no such operator.

    Example:
        jpegs, labels = fn.readers.bucket(
            fn.readers.file(file_root="photos", random_shuffle=True), by="aspect_ratio", size=64
        )
    """
    name, args = samples
    if size < 1 or (window is not None and window < 1):
        raise ValueError(f"{_NAME}: size is {size} and window {window}; they must be at least 1")
    if isinstance(by, str) and by not in (_LENGTH, _RATIO):
        raise ValueError(
            f'{_NAME}: by is {by!r}; it must be "length", "aspect_ratio", or a number for each sample'
        )
    args = seeded(name, args, seed)
    if (schedule := args.get("schedule")) is not None:  # of a mixture: a step is a batch of all shards
        args |= {"schedule": {step * num_shards: own for step, own in checked_schedule(schedule).items()}}
    with contextlib.ExitStack() as opened:
        source = opened_source(_NAME, "buckets", name, args, goes_on=_goes_on)
        opened.callback(source.close)
        found = by
        if isinstance(by, str):
            found = shared_tables.shared(
                "sizes",
                lambda: facts_of(name, args, source, lambda some, indices: _sizes(some, by, indices), (by,)),
            )
        values = np.asarray(found, np.float64)
        if values.shape != (source.count,) or not np.isfinite(values).all():
            raise ValueError(f"{_NAME}: by must be {source.count} finite numbers, one for each sample")
        stream = stream_of(source, args, seed)
        buckets = SizeBuckets(values, size)
        window = _BUCKETS * size if window is None else window
        order = WindowOrder(stream, buckets, window=window, shard_id=shard_id, num_shards=num_shards)
        opened.pop_all()
    return BucketReader(source, order)
