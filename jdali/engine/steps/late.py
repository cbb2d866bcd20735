"""Makes the samples of a host step late, that is, when the stage that reads them copies them to its arrays.

```
 host step ──▶ sizes, and a LateBlock ──▶ stage: plans by the sizes; each call ──all made──▶ the outputs
                                          makes its samples, and copies them
                                                  │ a sample fails, or has another size
                                                  └──▶ the stage runs again, with all samples made together
```

So only the samples of one call are in memory at a time, and a decoder on a GPU decodes into the padded shape of the
call. Failures are reported as if all samples had been made together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeAlias

import jax
import numpy as np

from jdali._batches import BatchSpec, LateBlock, MakePadded, Store
from jdali._system.devices import HostArray

# Smallest batch, in bytes, whose samples are made late, that is, when a stage reads them. A smaller batch costs less if
# made as a whole. Late samples lower the memory of a ResNet-50 worker from 342 to 220 MiB, and take no longer. Only a
# process with one thread makes samples late: with two threads, memory would fall from 564 to 445 MiB, but validation
# would be a tenth slower (benchmarks/RESULTS.md).
LEAST_BYTES = 8 << 20

MakeSome: TypeAlias = Callable[[np.ndarray], Store]


@dataclasses.dataclass(eq=False)
class LateSamples:
    """Makes the samples of one output of a batch late, that is, when a stage reads them.

    Args:
        some: makes the samples of some rows; raises an error if a sample fails.
        padded, device: see `LateBlock`.
        all: makes all samples together and stores them as the output; raises NodeFailure if some fail.

    Attributes:
        failed: True if a sample could not be made, or its type or size was not as in `spec`.
    """

    spec: BatchSpec
    some: MakeSome
    all: Callable[[], None]
    padded: MakePadded | None = None
    device: jax.Device | None = None
    failed: bool = False

    @property
    def store(self) -> Store:
        """A store of the samples, which are not made yet."""
        padded = None if self.padded is None else self._make_padded
        return Store.of_block(LateBlock(self._make, self.spec.batch_size, padded, self.device), self.spec)

    def _make_padded(self, rows: np.ndarray, shape: tuple[int, ...], count: int) -> jax.Array:
        assert self.padded is not None
        try:
            return self.padded(rows, shape, count)
        except Exception:
            self.failed = True
            raise

    def _make(self, rows: np.ndarray) -> Sequence[HostArray]:
        wanted = self.spec.extents[rows]
        try:
            made = self.some(rows)
            if made.spec.dtype != self.spec.dtype or not np.array_equal(made.spec.extents, wanted):
                raise ValueError("a sample is not as its header says")
        except Exception:
            self.failed = True
            raise
        places = zip(made.block.tolist(), made.row.tolist(), wanted.tolist(), strict=True)
        return [
            made.blocks[block].host_sample(row)[tuple(map(slice, extent))]  # a view: the stage copies it
            for block, row, extent in places
        ]
