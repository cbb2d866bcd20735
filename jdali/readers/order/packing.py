"""Packing: rows of a fixed length, each of several documents, as a function of a position that all shards share.

The documents come in the order of a mixture, and are packed window by window: so many documents that follow each other, the
last window of a pass has the rest. Which of them share a row follows from their lengths alone, longest first, so the rows of a
window are a function of its number. Rows are counted over all windows. Where a position lies is known from the window it
is in and the number of that window's first row, which a state has; going on from there takes one window.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jdali._state import check_version
from jdali.readers.order.epochs import SampleRefs
from jdali.readers.order.mixture import MixtureOrder

_STATE_VERSION = 1
# Packed windows that are kept: an order that is ahead may be in the next one.
_KEPT = 4
FIRST_FIT, BEST_FIT = "first_fit", "best_fit"


def pack(lengths: np.ndarray, length: int, strategy: str = FIRST_FIT) -> np.ndarray:
    """Packs documents into rows of `length`, longest first; returns the row of each: int64 [n].

    A document goes to the first row with room for it, or to that with the least, in the order of the rows. Documents of one
    length are packed together, with the same result. Rows are numbered by the first of their documents.

    Args:
        lengths: int64 [n], of documents, from 0 to `length`.
        length: of a row.
        strategy: "first_fit" or "best_fit".
    """
    room = np.full(len(lengths), length, np.int64)
    used = 0  # rows; those behind it are empty
    rows = np.empty(len(lengths), np.int64)
    order = np.argsort(-lengths, kind="stable")
    sizes, counts = np.unique(-lengths, return_counts=True)
    stop = 0
    for size, count in zip((-sizes).tolist(), counts.tolist(), strict=True):
        start, stop = stop, stop + count
        if not size:
            rows[order[start:]] = 0  # they take no room
            continue
        # Rows that may take one, and new ones: in the end all documents have a row of their own.
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
    """The documents of a window, row by row.

    Attributes:
        refs: to the documents.
        starts: int64 [rows + 1], the first document of each row, and the end.
    """

    refs: SampleRefs
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1


def _packed(stream: MixtureOrder, lengths: np.ndarray, length: int, strategy: str, span: range) -> _Window:
    refs = stream.refs(np.arange(span.start, span.stop))
    rows = pack(lengths[refs.indices], length, strategy)
    return _Window(refs.select(np.argsort(rows, kind="stable")), np.cumsum([0, *np.bincount(rows)]))


class PackOrder:
    """The order in which one shard takes rows of documents; it has the methods of `Order`.

    Of S shards each takes one of S rows in a row. All shards take equally many.

    Args:
        stream: the documents, in the order of one shard.
        lengths: int64 [documents], tokens of each, from 0 to `length`.
        length: of a row.
        window: number of documents that are packed together.
        strategy: "first_fit" or "best_fit".
        shard_id, num_shards: which rows are taken.
    """

    selection = None
    stick_to_shard = pad_last_batch = False

    def __init__(
        self, stream: MixtureOrder, lengths: np.ndarray, *, length: int, window: int, strategy: str, shard_id: int,
        num_shards: int,
    ):  # fmt: skip
        if not 0 <= shard_id < num_shards:
            raise ValueError(
                f"shard_id is {shard_id} of {num_shards} shards; it must be from 0 to num_shards - 1"
            )
        self.shard_id, self.num_shards = shard_id, num_shards
        self._lengths, self._length, self._strategy = lengths, length, strategy
        self._documents = window
        self._of_pass = -(-stream.size // window)  # windows
        # Rows are counted: `_begun` before the number of shards changed, `_taken` by each shard since then, `_first` before
        # the window that the next one is in.
        self._begun = self._taken = self._window = self._first = 0
        self._follow(stream)
        self._fresh = self._rows

    def _follow(self, stream: MixtureOrder) -> None:
        self._stream = stream
        packed = functools.partial(_packed, stream, self._lengths, self._length, self._strategy)
        self._rows = functools.lru_cache(_KEPT)(packed)

    @functools.cached_property
    def size(self) -> int:
        """Number of rows of the first pass over the documents, rounded up so that all shards take equally many."""
        rows = sum(len(self._fresh(self._span(window))) for window in range(self._of_pass))
        return -(-rows // self.num_shards) * self.num_shards

    @property
    def window(self) -> int:
        return self.size

    @property
    def count(self) -> int:
        """Number of documents."""
        return self._stream.count

    @property
    def documents(self) -> int:
        """Number of documents of a pass."""
        return self._stream.size

    @property
    def next_epoch(self) -> int:
        """The pass of the next row."""
        return self._window // self._of_pass

    def copy(self) -> PackOrder:
        """Returns the same order with a position of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def _span(self, window: int) -> range:
        """Returns the positions of the documents of a window."""
        number, within = divmod(window, self._of_pass)
        start = number * self._stream.size
        first = start + within * self._documents
        return range(first, min(first + self._documents, start + self._stream.size))

    def _find(self, row: int) -> _Window:
        """Goes on to the window that a row is in."""
        found = self._rows(self._span(self._window))
        while row >= self._first + len(found):
            self._first, self._window = self._first + len(found), self._window + 1
            found = self._rows(self._span(self._window))
        return found

    @property
    def _next(self) -> int:
        """The first row that no shard has taken."""
        return self._begun + self._taken * self.num_shards

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """Returns the state that `set_state` needs; plain numbers, the same on all shards."""
        self._find(self._next)
        span = self._span(self._window)
        return {
            "version": _STATE_VERSION,
            "size": self._stream.size,
            "sizes": self._stream.sizes,
            "seed": self._stream.seed,
            "fill": None,
            "epoch": self.next_epoch,
            "packing": [self._length, self._documents, self._strategy],
            "window": self._window,
            "first": self._first,
            "begun": self._begun,
            "segments": self._stream.segments(span.start, span.stop),
            "taken": [[self.num_shards, self._taken]],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continues where a state was taken, with any number of shards and other weights.

        These hold from the next window on; one that is begun keeps its rows.
        """
        check_version("the reader", state, _STATE_VERSION)
        packing = [self._length, self._documents, self._strategy]
        if state.get("packing") != packing:
            raise ValueError(
                f"the state is of rows by length, window, strategy = {state.get('packing')}, these are by {packing}"
            )
        shards, taken = self._stream.taken(state)
        self._begun, self._taken = int(state["begun"]), taken
        self._window, self._first = int(state["window"]), int(state["first"])
        row = self._begun + taken * shards
        if shards != self.num_shards:
            self._begun, self._taken = row, 0
        span = self._span(self._window)
        stream = self._stream.copy()
        begun = row > self._first
        segments = state["segments"] if begun else state["segments"][:1]
        stream.go_on(int(state["seed"]), segments, span.stop if begun else span.start)
        self._follow(stream)

    def skip(self, batches: int, count: int) -> None:
        """Skips as far as `batches` calls of `take(count)` would."""
        self._taken += batches * count
        self._find(self._next)

    def take(self, count: int) -> SampleRefs:
        """Takes the next `count` rows."""
        parts = []
        for row in (self._next + self.shard_id + np.arange(count) * self.num_shards).tolist():
            window = self._find(row)
            start, stop = window.starts[row - self._first : row - self._first + 2].tolist()
            parts.append(window.refs.select(np.arange(start, stop)))
        self._taken += count
        self._find(self._next)
        members = np.full((count, max((len(part.indices) for part in parts), default=1)), -1, np.int64)
        for row, part in enumerate(parts):
            members[row, : len(part.indices)] = part.indices
        epochs = np.array([part.epochs[0] for part in parts], np.uint32)
        indices = np.array([part.indices[0] for part in parts], np.int64)
        identities = np.array([part.identified[0] for part in parts], np.int64)
        same = np.array_equal(indices, identities)
        return SampleRefs(epochs, indices, np.zeros(count, bool), None if same else identities, members)
