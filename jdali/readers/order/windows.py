"""Packs nearby samples into rows, or sorts them into buckets, as a function of a position.

The samples come in the order of a mixture. A window has a fixed number of consecutive samples; the last window of a
pass may have fewer. Packing or sorting arranges the samples of a window in rows. The rows depend only on these samples,
and thus only on the number of the window. Row numbers continue from window to window. A state contains the number of
the current window and of its first row, so that resuming computes only one window.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jdali._state import check_version
from jdali.readers.order.epochs import SampleRefs
from jdali.readers.order.indices import Movable, permutation
from jdali.readers.order.mixture import MixtureOrder

_STATE_VERSION = 1
# Number of windows to cache; more than one, because prefetching may read later windows.
_KEPT = 4
FIRST_FIT, BEST_FIT = "first_fit", "best_fit"


def pack(lengths: np.ndarray, length: int, strategy: str = FIRST_FIT) -> np.ndarray:
    """Packs documents into rows of `length`, longest first; returns the row of each document, int64 [n].

    A document goes to the first row with room for it ("first_fit"), or to the fullest row with room for it, the first
    among equally full rows ("best_fit"). Documents of equal length are packed in one step, with the same result as if
    packed one by one. Rows are numbered in the order of their first documents.

    `lengths`, int64 [n], are the lengths of the documents, from 0 to `length`.
    """
    room = np.full(len(lengths), length, np.int64)
    used = 0  # number of rows with documents
    rows = np.empty(len(lengths), np.int64)
    order = np.argsort(-lengths, kind="stable")
    sizes, counts = np.unique(-lengths, return_counts=True)
    stop = 0
    for size, count in zip((-sizes).tolist(), counts.tolist(), strict=True):
        start, stop = stop, stop + count
        if not size:
            rows[order[start:]] = 0  # empty documents fit anywhere
            continue
        # Candidates are the used rows, and one new row per document.
        open_rows = np.arange(min(used + count, len(lengths)))
        if strategy == BEST_FIT:
            open_rows = open_rows[np.argsort(room[: len(open_rows)], kind="stable")]
        fitting = room[open_rows] // size
        before = np.cumsum(fitting) - fitting
        taken = np.clip(count - before, 0, fitting)
        rows[order[start:stop]] = np.repeat(open_rows, taken)
        room[open_rows] -= taken * size
        used = max(used, int(open_rows[taken > 0].max()) + 1)
    return _renumbered(rows)


def _renumbered(rows: np.ndarray) -> np.ndarray:
    _, firsts, inverse = np.unique(rows, return_index=True, return_inverse=True)
    ranks = np.empty(len(firsts), np.int64)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    return ranks[inverse]


class _Window(NamedTuple):
    """The samples of a window, row by row; a divided sample is listed once for each piece.

    Attributes:
        refs: references to the samples.
        starts: int64 [rows + 1], index of the first sample of each row, then the number of samples.
        members: int64 [samples], numbers for `SampleRefs.members`; None: each row is a single sample.
    """

    refs: SampleRefs
    starts: np.ndarray
    members: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclasses.dataclass(frozen=True, eq=False)
class RowPacking:
    """Packs the documents of a window, see `pack`.

    In `SampleRefs.members`, piece k of document i has the number i + k * documents; the number of an undivided document is i.

    Attributes:
        lengths: int64 [documents], number of tokens of each document.
        length: length of a row.
        strategy: "first_fit" or "best_fit".
        split: divide documents longer than a row into pieces of `length` and a rest; otherwise truncate them.
    """

    lengths: np.ndarray
    length: int
    strategy: str
    split: bool = False

    packs: ClassVar[bool] = True

    @property
    def settings(self) -> list[Any]:
        """Plain values that must equal those in a restored state."""
        return [self.length, self.strategy, *["split"] * self.split]

    def pieces(self, documents: np.ndarray) -> np.ndarray:
        if not self.split:
            return np.ones(len(documents), np.int64)
        return np.maximum(-(-self.lengths[documents] // self.length), 1)

    def arranged(self, refs: SampleRefs, span: range, seed: int) -> _Window:
        counts = self.pieces(refs.indices)
        document = np.repeat(np.arange(len(counts)), counts)
        piece = np.arange(len(document)) - np.repeat(np.cumsum(counts) - counts, counts)
        indices = refs.indices[document]
        sizes = np.minimum(self.lengths[indices] - piece * self.length, self.length)
        rows = pack(sizes, self.length, self.strategy)
        order = np.argsort(rows, kind="stable")
        members = indices + piece * len(self.lengths)
        return _Window(refs.select(document[order]), np.cumsum([0, *np.bincount(rows)]), members[order])


@dataclasses.dataclass(frozen=True, eq=False)
class SizeBuckets:
    """Sorts a window's samples by a value, divides them into buckets, and shuffles the buckets.

    Buckets begin at positions that are multiples of `size`. If a window begins or ends within a bucket, it has only a
    part of this bucket.

    Attributes:
        values: [samples of the data set], values to sort by.
        size: number of samples of a bucket.
    """

    values: np.ndarray
    size: int

    packs: ClassVar[bool] = False

    @property
    def settings(self) -> list[Any]:
        """Plain values that must equal those in a restored state."""
        return [self.size]

    def arranged(self, refs: SampleRefs, span: range, seed: int) -> _Window:
        """Arranges a window's samples; samples of a bucket keep their order."""
        first = -(-span.start // self.size) * self.size
        bounds = np.unique([span.start, *range(first, span.stop, self.size), span.stop])
        counts = np.diff(bounds)
        chosen = permutation(len(counts), seed, span.start).at(np.arange(len(counts)))
        bucket = np.empty(len(span), np.int64)
        bucket[np.argsort(self.values[refs.indices], kind="stable")] = np.repeat(chosen, counts[chosen])
        return _Window(refs.select(np.argsort(bucket, kind="stable")), np.arange(len(span) + 1))


def _made(stream: MixtureOrder, arrange: RowPacking | SizeBuckets, span: range) -> _Window:
    return arrange.arranged(stream.refs(np.arange(span.start, span.stop)), span, stream.seed)


class WindowOrder(Movable):
    """The order in which one shard takes rows of samples; it has the methods of `Order`.

    Shard i of S takes every S-th row, from row i on. All shards take the same number of rows.

    Args:
        stream: the unsharded order of the samples.
        arrange: arranges a window's samples in rows.
        window: number of samples of a window.
        shard_id, num_shards: determine the rows to take.
    """

    stick_to_shard = pad_last_batch = False

    def __init__(
        self,
        stream: MixtureOrder,
        arrange: RowPacking | SizeBuckets,
        *,
        window: int,
        shard_id: int,
        num_shards: int,
    ):
        if not 0 <= shard_id < num_shards:
            raise ValueError(
                f"shard_id is {shard_id} of {num_shards} shards; it must be from 0 to num_shards - 1"
            )
        self.shard_id, self.num_shards = shard_id, num_shards
        self._arrange, self._in_window = arrange, window
        self._of_pass = -(-stream.size // window)  # windows per pass
        # `_begun`: number of rows before the number of shards changed. `_taken`: number of rows that each shard took since then.
        # `_first`: number of rows before the window `_window`.
        self._begun = self._taken = self._window = self._first = 0
        self._follow(stream)
        self._fresh = self._rows

    def _follow(self, stream: MixtureOrder) -> None:
        self._stream = stream
        self._rows = functools.lru_cache(_KEPT)(functools.partial(_made, stream, self._arrange))

    @functools.cached_property
    def size(self) -> int:
        """Number of rows of the first pass, rounded up to a multiple of the number of shards."""
        rows = self._stream.size
        if self._arrange.packs:
            rows = sum(len(self._fresh(self._span(window))) for window in range(self._of_pass))
        return -(-rows // self.num_shards) * self.num_shards

    @property
    def window(self) -> int:
        return self.size

    @property
    def samples(self) -> int:
        return self._stream.size

    @property
    def next_epoch(self) -> int:
        return self._window // self._of_pass

    def _span(self, window: int) -> range:
        number, within = divmod(window, self._of_pass)
        start = number * self._stream.size
        first = start + within * self._in_window
        return range(first, min(first + self._in_window, start + self._stream.size))

    def _find(self, row: int) -> _Window:
        """Moves on to the window that contains a row, and returns it."""
        found = self._rows(self._span(self._window))
        while row >= self._first + len(found):
            self._first, self._window = self._first + len(found), self._window + 1
            found = self._rows(self._span(self._window))
        return found

    @property
    def _next(self) -> int:
        """The first row that no shard has taken yet."""
        return self._begun + self._taken * self.num_shards

    def get_state(self) -> dict[str, Any]:
        self._find(self._next)
        span = self._span(self._window)
        return {
            "version": _STATE_VERSION,
            "size": self._stream.size,
            "sizes": self._stream.sizes,
            "seed": self._stream.seed,
            "fill": None,
            "epoch": self.next_epoch,
            "windows": [self._in_window, *self._arrange.settings],
            "window": self._window,
            "first": self._first,
            "begun": self._begun,
            "segments": self._stream.segments(span.start, span.stop),
            "taken": [[self.num_shards, self._taken]],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues from a state, even with another number of shards or other weights.

        New weights apply from the next window on; the current window keeps its rows.
        """
        check_version("the reader", state, _STATE_VERSION)
        windows = [self._in_window, *self._arrange.settings]
        if state.get("windows") != windows:
            raise ValueError(f"the state is of windows of {state.get('windows')}, these are of {windows}")
        shards, taken = self._stream.taken(state)
        self._begun, self._taken = int(state["begun"]), taken
        self._window, self._first = int(state["window"]), int(state["first"])
        row = self._begun + taken * shards
        if shards != self.num_shards:
            self._begun, self._taken = row, 0
        span = self._span(self._window)
        stream = self._stream.cursor()
        begun = row > self._first
        segments = state["segments"] if begun else state["segments"][:1]
        stream.go_on(int(state["seed"]), segments, span.stop if begun else span.start)
        self._follow(stream)

    def skip(self, batches: int, count: int) -> None:
        self._taken += batches * count
        self._find(self._next)

    def take(self, count: int) -> SampleRefs:
        parts, held = [], []
        for row in (self._next + self.shard_id + np.arange(count) * self.num_shards).tolist():
            window = self._find(row)
            start, stop = window.starts[row - self._first : row - self._first + 2].tolist()
            parts.append(window.refs.select(np.arange(start, stop)))
            if window.members is not None:
                held.append(window.members[start:stop])
        self._taken += count
        self._find(self._next)
        epochs = np.array([part.epochs[0] for part in parts], np.uint32)
        indices = np.array([part.indices[0] for part in parts], np.int64)
        identities = np.array([part.identified[0] for part in parts], np.int64)
        members = None
        if self._arrange.packs:
            members = np.full((count, max(map(len, held), default=1)), -1, np.int64)
            for row, own in enumerate(held):
                members[row, : len(own)] = own
        same = np.array_equal(indices, identities)
        return SampleRefs(epochs, indices, np.zeros(count, bool), None if same else identities, members)
