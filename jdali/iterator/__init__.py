"""Iterators for JAX: from pipelines to sharded `jax.Array`s, epoch by epoch."""

from jdali.iterator._decorator import data_iterator
from jdali.iterator._errors import IteratorError
from jdali.iterator._iterator import DataIterator
from jdali.iterator._policy import LastBatchPolicy

__all__ = ["DataIterator", "IteratorError", "LastBatchPolicy", "data_iterator"]
