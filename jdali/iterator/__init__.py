"""Iterates over pipelines in epochs and returns sharded `jax.Array`s.

* `data_iterator` defines `DataIterator`, `epoch_loop` its loop, and `stream` the sequence of batches and ends of epochs.
* `policy` has DALI's rules for the length of an epoch and for its last batch.
* `assemble` makes the arrays of a batch; `assembled_ahead` calls it in background threads.
* `state` saves and restores an iterator; `replay` makes any batch again.
"""

from jdali.iterator.data_iterator import DataIterator
from jdali.iterator.data_iterator import loop_over as loop_over
from jdali.iterator.decorator import data_iterator
from jdali.iterator.policy import IteratorError, LastBatchPolicy

__all__ = ["DataIterator", "IteratorError", "LastBatchPolicy", "data_iterator"]
