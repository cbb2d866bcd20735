"""Many pieces of files, read with few calls and kept in one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

# Bytes between two pieces that are read along with them: a call costs as much as that many bytes.
_GAP = 4096
# Bytes after the pieces, so that a number can be taken anywhere in them without a look at its size.
SLACK = 64


class _Files(Protocol):
    sizes: Sequence[int]

    def read(self, file: int, offset: int, size: int, /) -> bytes: ...


class Pieces(NamedTuple):
    """Pieces of files in memory.

    Attributes:
        raw: the bytes, also others than those of the pieces, and at least `SLACK` more at the end.
        starts: int64 [n], where each piece begins in `raw`.
        sizes: int64 [n], bytes.
        known: bool [n], False for a piece that could not be read; it has size 0 here.
    """

    raw: bytes
    starts: np.ndarray
    sizes: np.ndarray
    known: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        ends: np.ndarray = self.starts + self.sizes
        return ends

    def select(self, chosen: np.ndarray) -> Pieces:
        return Pieces(self.raw, self.starts[chosen], self.sizes[chosen], self.known[chosen])

    def piece(self, place: int) -> bytes:
        start = self.starts.item(place)
        return self.raw[start : start + self.sizes.item(place)]


def read_pieces(files: _Files, file: np.ndarray, offset: np.ndarray, size: np.ndarray) -> Pieces:
    """Reads pieces of files; those that lie close together with one call.

    Args:
        files: to read from.
        file: int [n], number of the file of each piece.
        offset, size: int64 [n], bytes.
    """
    limit = np.asarray(files.sizes, np.int64)[file]
    known = (offset >= 0) & (size >= 0) & (size <= limit) & (offset <= limit - size)
    starts = np.zeros(len(offset), np.int64)
    order = np.flatnonzero(known)
    if len(order) < 2 or not _ascending(file[order], offset[order]):
        order = order[np.lexsort((offset[order], file[order]))]
    first, last = offset[order], offset[order] + size[order]
    of = file[order]
    breaks = np.flatnonzero((of[1:] != of[:-1]) | (first[1:] - last[:-1] > _GAP)) + 1
    runs = np.concatenate([[0], breaks])[: len(order)]
    if not len(runs):
        return Pieces(bytes(SLACK), starts, np.where(known, size, 0), known)
    begins, ends = first[runs], np.maximum.reduceat(last, runs)
    parts: list[bytes] = []
    base = np.zeros(len(runs), np.int64)
    lengths = np.diff(runs, append=len(order))
    at = 0
    for run, (number, begin, end) in enumerate(
        zip(of[runs].tolist(), begins.tolist(), ends.tolist(), strict=True)
    ):
        try:
            parts.append(files.read(number, begin, end - begin))
        except ValueError:  # its pieces are asked for again one by one, to say which cannot be read
            known[order[runs[run] : runs[run] + lengths[run]]] = False
            continue
        base[run] = at - begin
        at += end - begin
    starts[order] = first + np.repeat(base, lengths)
    starts[~known] = 0
    return Pieces(b"".join([*parts, bytes(SLACK)]), starts, np.where(known, size, 0), known)


def _ascending(file: np.ndarray, offset: np.ndarray) -> Any:
    return ((file[1:] > file[:-1]) | ((file[1:] == file[:-1]) & (offset[1:] >= offset[:-1]))).all()
