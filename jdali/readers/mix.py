"""Mixes several readers in fixed shares."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from jdali._operators.record import REGISTRY, Static, reader
from jdali.readers import shared_tables
from jdali.readers.base import Loaded, Reader, joined, slices, with_layouts
from jdali.readers.formats.columns import dense_column
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixture import MixtureOrder, whole_shares
from jdali.readers.order.selection import SampleSelection
from jdali.readers.over import has_seed, opened_source

_NAME = "readers.mix"
_Segments: TypeAlias = Sequence[tuple[int, tuple[int, ...]]]
"""(First position, shares) for each part of the schedule."""


class MixReader(Reader):
    """Reads samples of several readers in the order of a mixture.

    Samples are numbered across all sources: first all of the first source, then all of the second, and so on.
    `segments` are the parts of the schedule that `order` follows.
    """

    def __init__(
        self, readers: Sequence[Reader], order: MixtureOrder, segments: _Segments, *, with_source: bool
    ):
        self._readers, self._order, self._with_source = tuple(readers), order, with_source
        self._starts = order.offsets
        first = segments[0][1]
        self._shares = [share / sum(first) for share in first]
        used = np.any([shares for _, shares in segments], axis=0).tolist()
        self.count, self.selection = order.count, _selection(readers, order, used)
        self._epoch_size, self._output_names = order.epoch_size, readers[0]._output_names
        self.num_outputs = readers[0].num_outputs + with_source
        self.often_cheap = all(one.often_cheap for one in readers)
        self.reads_ahead = all(one.reads_ahead for one in readers)
        self.batches_ahead = max(one.batches_ahead for one in readers)
        self.layouts = _layouts(readers, with_source=with_source)
        known, *others = (one.class_names for one in readers)
        self.class_names = {i: own for i, own in known.items() if all(o.get(i) == own for o in others)}

    @property
    def remote(self) -> bool:
        return any(one.remote for one in self._readers)

    def meta(self) -> dict[str, Any]:
        """Returns `reader_meta`, with the epoch size and share of each source in "sources"."""
        order = self._order
        shards = order.num_shards
        sizes = [one.size for one in self._readers]
        return {
            "epoch_size": self._epoch_size,
            "epoch_size_padded": -(-order.size // shards) * shards,
            "number_of_shards": shards,
            "shard_id": order.shard_id,
            "pad_last_batch": int(order.pad_last_batch),
            "stick_to_shard": 0,
            **self._classes_meta(),
            "sources": [
                {"epoch_size": n, "share": share} for n, share in zip(sizes, self._shares, strict=True)
            ],
        }

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        source, own = self._found(index)
        sample = self._readers[source].load(own)
        return (*sample, np.array([source], np.int32)) if self._with_source else sample

    def load_many(self, indices: np.ndarray) -> Loaded:
        sources = np.searchsorted(self._starts, indices, side="right") - 1
        parts, positions, failures = [], [], dict[int, Exception]()
        for source in np.unique(sources).tolist():
            mine = np.flatnonzero(sources == source)
            loaded = self._readers[source].load_many(indices[mine] - self._starts[source])
            failures |= {int(mine[position]): error for position, error in loaded.failures.items()}
            parts.append(loaded.columns)
            positions.append(np.delete(mine, list(loaded.failures)))
        read = np.concatenate(positions) if positions else np.empty(0, np.int64)
        columns = joined(parts)
        if len(columns[0]) and len(parts) > 1:
            columns = tuple(column.select(np.argsort(read)) for column in columns)
        if self._with_source:
            columns = (*columns, dense_column(sources[np.sort(read), None].astype(np.int32)))
        return with_layouts(Loaded(columns, failures), self.layouts)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        sources = np.searchsorted(self._starts, indices, side="right") - 1
        firsts = [
            self._readers[source].tasks(indices[sources == source] - self._starts[source], threads)[0].stop
            for source in np.unique(sources).tolist()
        ]
        return slices(len(indices), min(firsts, default=1))

    def source(self, index: int) -> str:
        source, own = self._found(index)
        return self._readers[source].source(own)

    def _found(self, index: int) -> tuple[int, int]:
        source = int(np.searchsorted(self._starts, index, side="right")) - 1
        return source, index - int(self._starts[source])

    def interrupt(self) -> None:
        for one in self._readers:
            one.interrupt()

    def close(self) -> None:
        for one in self._readers:
            one.close()


def _layouts(readers: Sequence[Reader], *, with_source: bool) -> list[str] | None:
    """Returns the layout of each output, "" where sources disagree; None if no source has layouts."""
    known = [one.layouts or [""] * one.num_outputs for one in readers]
    if not any(map(any, known)):
        return None
    shared = [first if all(o == first for o in others) else "" for first, *others in zip(*known, strict=True)]
    return [*shared, ""] if with_source else shared


def _selection(
    readers: Sequence[Reader], order: MixtureOrder, used: Sequence[bool]
) -> SampleSelection | None:
    """Returns the samples that may replace bad samples; None if all may.

    They are the samples that the sources take, except those of sources whose weight is always 0 (`used` is False).
    """
    chosen = [one.selection for one in readers]
    if all(used) and not any(chosen):
        return None
    taken = [
        start + (np.arange(one.count) if own is None else own.taken)
        for one, own, start, takes in zip(readers, chosen, order.offsets, used, strict=False)
        if takes
    ]
    indices = np.concatenate(taken)
    drawn = any(own is not None and own.ends is not None for own in chosen)
    return SampleSelection(order.count, indices, np.arange(1, len(indices) + 1) if drawn else None)


def _outputs(arguments: Mapping[str, Any]) -> int:
    name, args = arguments["sources"][0]
    return REGISTRY[name].num_outputs(args) + bool(arguments.get("with_source"))


@reader(name=_NAME, outputs=_outputs, devices=("cpu", "gpu"))
def mix(
    *,
    sources: Static[Any],
    num_shards: Static[int] = 1,
    pad_last_batch: Static[bool] = False,
    schedule: Static[Any] = None,
    seed: Static[int] = -1,
    shard_id: Static[int] = 0,
    temperature: Static[float | None] = None,
    weights: Static[Any] = None,
    with_source: Static[bool] = False,
    _goes_on: Static[bool] = False,
) -> MixReader:
    """Mixes the samples of several readers in fixed shares.

    The order depends only on a position that all shards share. So shards need no communication. A run resumes from
    any state, even with another number of shards or other weights. It then loses no sample, and repeats none within a
    pass over its source. The batches of all shards at one step form a global batch. If a source's share of a global
    batch is a whole number of samples, each global batch has exactly this number. Otherwise the number of samples
    of source k (k = 0, 1, ...) varies between global batches by at most 1 + k. Each source is read pass after pass in
    the order that its `random_shuffle`, `subset`, `fold` and `weights` determine. The random values of a sample differ
    from pass to pass.

    Args:
        sources: all outputs of each reader. All readers must have the same number of outputs, with the same types and
            numbers of axes. Outside of a pipeline's definition, pairs of a reader's name and its arguments:
            ("readers.file", {"file_root": "photos"}).
        num_shards: number of parts that the mixture is divided into. The sources must not be sharded.
        pad_last_batch: end an epoch with a full batch, by repeating its last sample.
        schedule: {step: weights}: the weights from a step on; before the first key, `weights` applies. A step is a
            global batch; in dynamic mode, which has no batches, a step is one sample of each shard.
        seed: seed of sources that shuffle without a seed of their own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        temperature: shares are proportional to weights ** (1 / temperature), so larger temperatures make shares more even.
        weights: weights of the sources; None: their sizes, so that an epoch takes each sample once. Weight 0 leaves a
            source out.
        with_source: append the number of each sample's source, int32 [1]; named "source" if the readers return dicts.

    Returns: as many outputs as a source has.

    An epoch has as many samples as all sources together. Without `pad_last_batch`, this number is rounded up to a
    multiple of `num_shards`. `reader_meta` has the size and share of each source under "sources".

    Parity: DALI has no such operator.

    Example:
        jpegs, labels = fn.readers.mix(
            [
                fn.readers.file(file_root="photos", random_shuffle=True),
                fn.readers.file(file_root="drawings", random_shuffle=True),
            ],
            weights=[0.75, 0.25],
        )
    """
    readers: list[Reader] = []
    with contextlib.ExitStack() as opened:
        for number, (name, args) in enumerate(sources):
            with shared_tables.apart(str(number)):
                readers.append(opened_source(_NAME, "mixture", name, args, goes_on=_goes_on))
            opened.callback(readers[-1].close)
        _check(readers)
        sizes = [one.size for one in readers]
        segments = _segments(sizes, weights, temperature, schedule, num_shards)
        order = MixtureOrder(
            [one._order for one in readers if isinstance(one._order, Order)],
            segments,
            shard_id=shard_id,
            num_shards=num_shards,
            pad_last_batch=pad_last_batch,
            seed=seed,
            seeded=[has_seed(args) for _, args in sources],
        )
        opened.pop_all()
    return MixReader(readers, order, segments, with_source=with_source)


def _check(readers: Sequence[Reader]) -> None:
    if not readers:
        raise ValueError(f"{_NAME}: there is no source")
    if not all(isinstance(one._order, Order) for one in readers):
        raise ValueError(
            f"{_NAME}: samples that are packed or in buckets cannot be mixed; mix first, and pack the mixture"
        )
    counts = [one.num_outputs for one in readers]
    if len(set(counts)) > 1:
        raise ValueError(f"{_NAME}: sources have {counts} outputs; all need the same number")


def checked_schedule(schedule: Any) -> Mapping[int, Any]:
    """Returns the schedule; raises ValueError unless it is a dict from steps to weights."""
    if not isinstance(schedule, Mapping):
        raise ValueError(f"{_NAME}: schedule is {schedule!r}, it must be a dict {{step: weights}}")
    for step in schedule:
        if not isinstance(step, (int, np.integer)) or step < 0:
            raise ValueError(f"{_NAME}: schedule has the step {step!r}; steps are whole numbers from 0 on")
    return schedule


def _segments(
    sizes: Sequence[int], weights: Any, temperature: float | None, schedule: Any, shards: int
) -> _Segments:
    parts = {0: sizes if weights is None else weights}
    for step, own in ({} if schedule is None else checked_schedule(schedule)).items():
        parts[int(step) * shards] = own
    for own in parts.values():
        if np.ndim(own) != 1:
            raise ValueError(
                f"{_NAME}: weights are {own!r}, they must be a list of numbers, one for each source"
            )
        if len(own) != len(sizes):
            raise ValueError(f"{_NAME}: {len(own)} weights for {len(sizes)} sources")
    return [(start, whole_shares(own, temperature)) for start, own in sorted(parts.items())]
