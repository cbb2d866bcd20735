"""Reader of samples of like size: each batch has neighbours of a window that was sorted."""

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
from jdali.readers.order.windows import SizeBuckets, WindowOrder
from jdali.readers.over import OverReader, facts_of, opened_source, seeded, stream_of

_NAME = "readers.bucket"
_LENGTH, _RATIO = "length", "aspect_ratio"
# Buckets of a window: those next to each other differ by some percent in size.
_BUCKETS = 64


class BucketReader(OverReader):
    """Samples of another reader in an order by size.

    Args:
        source: the other one.
        order: of the samples.
    """

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


def _sizes(source: Reader, by: str, indices: np.ndarray) -> np.ndarray:
    """Finds the sizes of samples; those that cannot be read count as 0."""
    loaded = source.load_many(indices)
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
    """Gives the samples of a reader in buckets of like size, so that little of a batch is padding.

    Each `window` of samples, in the order of their reader, is sorted by size and divided into buckets of `size` samples, which
    come in random order. So the order is a function of seed and position: it goes on from any state with any number of
    shards, and each sample comes once a pass. A pass that `size` does not divide ends within a bucket; the next one begins
    with the rest of it. All shards must be at the same step.

    Args:
        samples: what a reader returned, or `readers.mix`, all of its outputs. Outside of a pipeline's definition a pair of a
            reader's name and its arguments.
        by: "length" of the first output along its first axis; "aspect_ratio", width by height, of the encoded picture in the
            first output, turned as its EXIF data say; or a number for each sample of the data set (of a mixture: of all sources,
            one after another): a column of a table.
        size: samples of a bucket: the batch size times `num_shards`, or a multiple.
        num_shards: how many parts the samples are divided into; not of their reader. A bucket is divided among all shards.
        seed: of the order of buckets, and of a reader that shuffles and has no seed of its own; -1: the pipeline's.
        shard_id: which part is read, 0 to `num_shards` - 1.
        window: number of samples that are sorted together; None: 64 buckets. Larger ones have more alike samples in a bucket.

    Returns: as many outputs as the reader has.

    What `by` names is found when the pipeline is built, by reading each sample once. It is kept in the cache folder if the data
    are files that `paths` or `path` names.

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
    with contextlib.ExitStack() as opened:
        source = opened_source(_NAME, "buckets", name, args, goes_on=_goes_on)
        opened.callback(source.close)
        found = by
        if isinstance(by, str):
            found = shared_tables.shared(
                "sizes",
                lambda: facts_of(name, args, source, lambda indices: _sizes(source, by, indices), (by,)),
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
