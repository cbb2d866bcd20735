"""Makes the keys of a function's random values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.random_key import described, is_key, is_typed
from jdali._operators.record import Traced
from jdali._system.devices import to_host
from jdali.engine.task import SampleIds
from jdali.graph import Node

HeldKeys: TypeAlias = "Mapping[int, tuple[int, int]]"
NO_RANDOM_VALUES = np.zeros((0, 3), np.uint32)


@dataclasses.dataclass(frozen=True)
class Draw:
    """Holds the identities of the samples of a call, from which random operators make their keys.

    Attributes:
        words: uint32 [2]: the pipeline's seed, or the caller's key.
        is_key: True if the words are a key; then all operators draw from it, even operators with their own seed.
        epoch, index: int [N]: epoch of each sample, and its index in the data set.
        held: keys of a deterministic function, by operator number; if given, all samples get the same random values.
    """

    words: Any
    is_key: bool
    epoch: Any
    index: Any
    held: HeldKeys = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls, count: int, seed: int, key: Any, epoch: Any, index: Any, held: HeldKeys | None = None
    ) -> Draw:
        """Checks the caller's values. The index defaults to 0, 1, ... Keys in `held` replace the key, epoch and index."""
        words: Any = seed_words(seed)
        if held:
            first = np.zeros(count, np.int64)
            return cls(words, False, first, first, held)
        if key is not None:
            if not is_key(key) or key.ndim > (0 if is_typed(key) else 1):
                raise TypeError(
                    f"key must be one JAX key, such as jax.random.key(0), got {described(key)}; "
                    "for a key for each sample, map `sample` over them with jax.vmap"
                )
            words = jax.random.key_data(key) if is_typed(key) else key
            if words.shape != (2,):
                raise TypeError(f"key must be of JAX's threefry, whose data is uint32 [2], got {words.shape}")
        whole = np.arange(count) if index is None else index
        return cls(words, key is not None, _integers("epoch", epoch, count), _integers("index", whole, count))

    @property
    def is_known(self) -> bool:
        """True if no value is traced."""
        return not any(isinstance(v, jax.core.Tracer) for v in (self.words, self.epoch, self.index))

    def ids(self) -> SampleIds:
        """Returns the identities of the samples, which must not be traced."""
        epoch, index = to_host(self.epoch).astype(np.uint32), to_host(self.index).astype(np.int64)
        return SampleIds(epoch, index, np.arange(len(index)))

    def identity(self) -> Any:
        """Returns the identities as uint32 [3, N], from which compiled programs make keys."""
        if any(isinstance(v, jax.core.Tracer) for v in (self.epoch, self.index)):
            index = jnp.asarray(self.index)
            wide = index.dtype.itemsize == 8
            high = (index >> 32).astype(jnp.uint32) if wide else jnp.zeros(index.shape, jnp.uint32)
            low = (index & 0xFFFFFFFF).astype(jnp.uint32) if wide else index.astype(jnp.uint32)
            return jnp.stack([jnp.asarray(self.epoch).astype(jnp.uint32), low, high])
        return self.ids().words()

    def seeds(self, nodes: Sequence[Node]) -> Any:
        """Returns the seed (two words) and the stream of each operator, uint32 [operators, 3].

        The stream is 0 for an operator with its own seed, and 1 + the operator's number for all others.
        """
        rows: list[tuple[Any, int]] = []
        for node in nodes:
            if node.id in self.held:
                rows.append((np.array(self.held[node.id], np.uint32), node.id + 1))
            elif node.seed is None or self.is_key:
                rows.append((self.words, node.id + 1))
            else:
                rows.append((seed_words(node.seed), 0))
        if not rows:
            return NO_RANDOM_VALUES
        if isinstance(self.words, jax.core.Tracer):
            return jnp.stack([jnp.append(jnp.asarray(w), np.uint32(stream)) for w, stream in rows])
        return np.array([np.append(to_host(w), stream) for w, stream in rows], np.uint32)

    def keys(self, node: Node) -> SampleKeys | Traced:
        """Returns the keys that the `setup` of a random operator takes."""
        if not self.is_known:
            return Traced(node.op.name, "key")
        seed, stream = np.split(self.seeds([node])[0], [2])
        ids = self.ids()
        return SampleKeys(seed, int(stream[0]), ids.epoch, ids.index)


def words_of(key: Any) -> tuple[int, int]:
    """Returns the words of a typed key; raises TypeError if it is not one key of JAX's threefry."""
    words = to_host(jax.random.key_data(key))
    if words.shape != (2,):
        raise TypeError(
            f"a key must be one of JAX's threefry, such as jax.random.key(0), got {described(key)}"
        )
    return int(words[0]), int(words[1])


def _integers(name: str, value: object, count: int) -> Array | np.ndarray:
    """Checks integers, and broadcasts them to one for each sample."""
    array: Any = value if isinstance(value, (Array, np.ndarray)) else np.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.integer) or array.shape not in ((), (count,)):
        raise ValueError(
            f"{name} must be one integer, or one for each of the {count} samples, got {array.dtype} {list(array.shape)}"
        )
    if isinstance(array, jax.core.Tracer):
        return jnp.broadcast_to(array, (count,))
    return np.broadcast_to(to_host(array), (count,))
