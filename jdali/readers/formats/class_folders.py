"""Determines the labels of files from their folders, one class per folder, or from the user's numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Sized

import numpy as np

_SHOWN = 3


def class_folders(name: str, root: str, files: Mapping[str, Sized], *, every: str) -> list[str]:
    """Returns the folders that are classes, in order; warns about hidden and empty folders, which are not classes.

    Args:
        name: name of the reader.
        root: parent of the folders.
        files: files of each folder.
        every: argument that makes all folders classes, which the warning suggests; "" if the reader has none.
    """
    hidden = [folder for folder in files if folder.startswith(".")]
    empty = [folder for folder in files if not files[folder] and folder not in hidden]
    if (hidden or empty) and len(hidden) + len(empty) < len(files):
        which = [*(f"{folder!r} (hidden)" for folder in hidden), *(f"{folder!r} (empty)" for folder in empty)]
        more = f" and {len(which) - _SHOWN} more" if len(which) > _SHOWN else ""
        advice = f"; {every} numbers all" if every else ""
        warnings.warn(
            f"{name}: folders of {root} are not classes: {', '.join(which[:_SHOWN])}{more}. DALI numbers them, too{advice}",
            stacklevel=2,
        )
    return [folder for folder in files if files[folder] and folder not in hidden]


def whole_labels(name: str, labels: float | Sequence[float]) -> np.ndarray:
    """Converts the user's labels to int32 [n]; raises ValueError for fractions (DALI truncates them) and numbers out of range."""
    given = np.atleast_1d(np.asarray(labels))
    if not given.size:
        return np.zeros(0, np.int32)
    if given.ndim != 1 or given.dtype.kind not in "buif":
        raise ValueError(f"{name}: labels must be whole numbers, one for each file")
    limits = np.iinfo(np.int32)
    with np.errstate(invalid="ignore"):
        wrong = ~(
            (given >= limits.min) & (given <= limits.max) & (given == np.floor(given.astype(np.float64)))
        )
    if wrong.any():
        raise ValueError(
            f"{name}: label {int(wrong.argmax())} is {given[wrong][0]}, which is not a whole number of 32 bits; targets of a "
            "regression are a column of fn.readers.table, or of fn.readers.dataset"
        )
    return given.astype(np.int32)
