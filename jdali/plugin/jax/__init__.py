"""Provides DALI's iterators for JAX, on top of `jdali.iterator`."""

from jdali.plugin.jax import fn as fn
from jdali.plugin.jax import integration as integration
from jdali.plugin.jax.iterator import DALIGenericIterator, data_iterator

__all__ = ["DALIGenericIterator", "data_iterator", "fn", "integration"]
