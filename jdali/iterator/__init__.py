"""Iterators for JAX: from pipelines to sharded `jax.Array`s, epoch by epoch.

* `data_iterator`: `DataIterator`; `epoch_loop` is the loop under it, `stream` the batches with the ends of epochs.
* `policy`: DALI's rules for the length of an epoch and its last batch.
* `assemble` makes the arrays of a batch, `assembled_ahead` before they are asked for.
* `state` saves and restores, `replay` makes any batch once more.
"""

from jdali.iterator.data_iterator import DataIterator
from jdali.iterator.data_iterator import loop_over as loop_over
from jdali.iterator.decorator import data_iterator
from jdali.iterator.policy import IteratorError, LastBatchPolicy

__all__ = ["DataIterator", "IteratorError", "LastBatchPolicy", "data_iterator"]
