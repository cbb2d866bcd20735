"""Iterators for JAX: from pipelines to sharded `jax.Array`s, epoch by epoch."""

from jdali.iterator.data_iterator import DataIterator
from jdali.iterator.decorator import data_iterator
from jdali.iterator.errors import IteratorError
from jdali.iterator.loops import loop_over as loop_over
from jdali.iterator.policy import LastBatchPolicy

__all__ = ["DataIterator", "IteratorError", "LastBatchPolicy", "data_iterator"]
