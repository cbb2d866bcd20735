"""Many pieces of files, read with few calls and kept in one array."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jdali._batches import empty
from jdali._storage.record_files import RecordFiles
from jdali._system.regular_file import most_bytes

# Bytes between two pieces that are read along with them: a call costs as much as that many bytes.
_GAP = 4096
# Bytes after the pieces, so that a number can be read anywhere in them without a bounds check.
SLACK = 64


class Pieces(NamedTuple):
    """Pieces of files in memory.

    Attributes:
        raw: uint8 [bytes], those of the pieces and others, and at least `SLACK` more at the end.
        starts: int64 [n], where each piece begins in `raw`.
        sizes: int64 [n], bytes.
        known: bool [n], False for a piece that could not be read; it has size 0 here.
    """

    raw: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    known: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        ends: np.ndarray = self.starts + self.sizes
        return ends

    def select(self, chosen: np.ndarray) -> Pieces:
        return Pieces(self.raw, self.starts[chosen], self.sizes[chosen], self.known[chosen])

    def piece(self, index: int) -> bytes:
        start = self.starts.item(index)
        return self.raw[start : start + self.sizes.item(index)].tobytes()


def read_pieces(files: RecordFiles, file: np.ndarray, offset: np.ndarray, size: np.ndarray) -> Pieces:
    """Reads pieces of files; those that lie close together with one call.

    Args:
        files: to read from.
        file: int [n], number of the file of each piece.
        offset, size: int64 [n], bytes.
    """
    limit = np.asarray(files.sizes, np.int64)[file]
    known = (offset >= 0) & (size >= 0) & (size <= np.minimum(limit, most_bytes())) & (offset <= limit - size)
    starts = np.zeros(len(offset), np.int64)
    order = np.flatnonzero(known)
    if len(order) < 2 or not _ascending(file[order], offset[order]):
        order = order[np.lexsort((offset[order], file[order]))]
    first, last, of = offset[order], offset[order] + size[order], file[order]
    if not len(order):
        return Pieces(np.zeros(SLACK, np.uint8), starts, np.where(known, size, 0), known)
    # Pieces may overlap, if an index is wrong: no byte is read twice.
    span = of * (last.max() + 1)
    reach = np.maximum.accumulate(last + span) - span
    breaks = np.flatnonzero((of[1:] != of[:-1]) | (first[1:] - reach[:-1] > _GAP)) + 1
    runs = np.concatenate([[0], breaks])
    counts = np.diff(runs, append=len(order))
    begins, ends = first[runs], reach[runs + counts - 1]
    base = np.cumsum(ends - begins) - (ends - begins)
    try:
        raw = empty((int((ends - begins).sum()) + SLACK,), np.uint8)
    except MemoryError:  # for all together; one by one may work
        known[:] = False
        return Pieces(np.zeros(SLACK, np.uint8), starts, np.zeros_like(size), known)
    files.reads((of.item(0), begins.item(0)), (of.item(-1), ends.item(-1)))
    view = raw.data
    targets = [view[at:end] for at, end in zip(base.tolist(), (base + ends - begins).tolist(), strict=True)]
    for run in files.read_runs(of[runs].tolist(), begins.tolist(), targets):
        # Its pieces are asked for again one by one, to say which cannot be read.
        known[order[runs[run] : runs[run] + counts[run]]] = False
    starts[order] = first + np.repeat(base - begins, counts)
    starts[~known] = 0
    raw.flags.writeable = False
    return Pieces(raw, starts, np.where(known, size, 0), known)


def _ascending(file: np.ndarray, offset: np.ndarray) -> object:
    return ((file[1:] > file[:-1]) | ((file[1:] == file[:-1]) & (offset[1:] >= offset[:-1]))).all()
