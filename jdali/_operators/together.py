"""What operators on the host give that work on many samples at once: see `together` and `probe` of `record`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jdali._batches.store import Store

Share = Callable[[Callable[[slice], None], int], None]
"""share(work, n) calls `work` with slices that make up the range from 0 to n, in some threads, and waits."""


class Probed(NamedTuple):
    """What the headers of some encoded samples say.

    Attributes:
        extents: int64 [n, ndim], sizes of the whole contents; of samples that failed they are unspecified.
        dtype: of the contents.
        headers: `headers[i]` is what `run` gets for sample i, as `header`; `together` gets all of it, as `headers`.
        failures: what is wrong with the others, by their index.
    """

    extents: np.ndarray
    dtype: np.dtype[Any]
    headers: Any
    failures: dict[int, Exception]


class Made(NamedTuple):
    """The outputs of some samples.

    Attributes:
        columns: for each output all samples in order; those that failed are unspecified there.
        failures: what is wrong with them, by their index.
    """

    columns: tuple[Store, ...]
    failures: dict[int, Exception]
