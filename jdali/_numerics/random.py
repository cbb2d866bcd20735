"""Makes all random keys.

A key is a function of (seed, operator, epoch, sample index) alone, so a sample's random values do not depend on
the batch size, threads, prefetching, devices, hosts, or whether training was resumed.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._numerics.threefry import Words, fold_in, threefry
from jdali._system.devices import host_device, to_host

_MASK32 = 0xFFFFFFFF


def seed_words(seed: int) -> np.ndarray:
    """Splits a (possibly negative) 64-bit seed into its high and low word, uint32 [2]."""
    return np.array([(seed >> 32) & _MASK32, seed & _MASK32], np.uint32)


def index_words(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Splits 64-bit indices into low and high words, uint32 [n] each, since programs have no 64-bit integers."""
    whole = np.asarray(index).astype(np.uint64)
    return (whole & np.uint64(_MASK32)).astype(np.uint32), (whole >> np.uint64(32)).astype(np.uint32)


def sample_key(
    seed: ArrayLike, stream: ArrayLike, epoch: ArrayLike, index: ArrayLike, high: ArrayLike = 0
) -> Array:
    """Makes the typed keys of one or more samples, [...]; all arguments except `seed` are broadcast.

    Args:
        seed: uint32 [..., 2], from `seed_words`.
        stream: uint32, number of the operator.
        epoch: uint32.
        index: uint32, low word of the sample's index.
        high: uint32, high word of the index; 0 does not change the key.
    """
    seed = jnp.asarray(seed, jnp.uint32)
    words: Words = (seed[..., 0], seed[..., 1])
    for word in (stream, epoch, index):
        words = fold_in(words, jnp.asarray(word, jnp.uint32))
    if not (isinstance(high, int) and high == 0):
        far = fold_in(words, jnp.asarray(high, jnp.uint32))
        words = (jnp.where(high == 0, words[0], far[0]), jnp.where(high == 0, words[1], far[1]))
    return jax.random.wrap_key_data(jnp.stack(words, axis=-1), impl="threefry2x32")


@dataclasses.dataclass(frozen=True)
class SampleKeys:
    """Holds the numbers from which programs compute one operator's keys for the samples of a batch.

    Attributes:
        seed: uint32 [2], from `seed_words`.
        stream: number of the operator in its pipeline; 0 if the operator has its own seed.
        epoch: uint32 [N].
        index: int [N], each sample's index in the whole data set, up to 64 bits.
    """

    seed: np.ndarray
    stream: int
    epoch: np.ndarray
    index: np.ndarray

    def map(self, function: Callable[..., Any], *arrays: np.ndarray) -> Any:
        """Calls `function(key, *one sample's arrays)` for every sample; returns NumPy results.

        One compiled program on the CPU computes the whole batch. `function` is the cache key of the program, so it
        must be a module-level function or a `functools.partial` that the caller keeps. The last sample is repeated
        until the number of samples is a power of two.
        """
        count = len(self.index)
        rows = np.minimum(np.arange(1 << (count - 1).bit_length() if count else 0), count - 1)
        each = (self.epoch.astype(np.uint32), *index_words(self.index), *arrays)
        with jax.default_device(host_device()):
            out = _mapped(function)(MINUS_ZERO, self.seed, np.uint32(self.stream), *(a[rows] for a in each))
            return jax.tree.map(lambda result: to_host(result)[:count], out)

    def numpy_words(self) -> np.ndarray:
        """Returns each sample's words for `numpy_generator`, uint32 [N, 6]."""
        count = len(self.index)
        fixed = np.broadcast_to(np.array([*self.seed, self.stream], np.uint32), (count, 3))
        return np.column_stack([fixed, self.epoch, *index_words(self.index)]).astype(np.uint32)

    def numpy_rng(self, sample: int) -> np.random.Generator:
        """Makes the NumPy generator of a sample, for code on the host; compiled operators use keys."""
        return numpy_generator(self.numpy_words()[sample])


def numpy_generator(words: np.ndarray) -> np.random.Generator:
    """Makes a NumPy generator from a row of `SampleKeys.numpy_words`."""
    *low, high = words.tolist()
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([*low, high] if high else low)))


@functools.lru_cache(maxsize=256)
def _mapped(function: Callable[..., object]) -> Callable[..., object]:
    def batched(
        seed: Array, stream: Array, epoch: Array, index: Array, high: Array, *arrays: Array
    ) -> object:
        keys = sample_key(seed, stream, epoch, index, high)
        return jax.vmap(function)(keys, *arrays)

    def program(minus_zero: Array, *given: Array) -> object:
        return exact(batched, minus_zero, "cpu")(*given)

    return jax.jit(program)


def split(words: Words, count: int) -> Words:
    """Splits keys [...] into [..., count], with the bits of `jax.random.split(key, count)`."""
    counter = jnp.arange(count, dtype=jnp.uint32)
    return threefry(words[0][..., None], words[1][..., None], np.uint32(0), counter)


def bits(words: Words) -> Array:
    """Draws one uint32 from each key, with the bits of `jax.random.bits(key)`."""
    return operator.xor(*threefry(*words, np.uint32(0), np.uint32(0)))


# JAX's function is jitted, which fuses the product with the sum. Without `jit` here, bits would differ.
@functools.partial(jax.jit, static_argnames="count")
def uniform(words: Words, count: int, low: Array, high: Array) -> Array:
    """Draws float32 [..., count] in [low, high), as `jax.random.uniform(key, count, ...)`; limits are broadcast."""
    drawn = operator.xor(*split(words, count))
    return jnp.maximum(low, _fraction(drawn) * (high - low) + low)


def integer(words: Words, limit: Array) -> Array:
    """Draws one int32 in [0, limit) from each key, as `jax.random.randint(key, 0, limit)`; `limit` is at least 1."""
    high, low = jnp.moveaxis(bits(split(words, 2)), -1, 0)
    span = limit.astype(jnp.uint32)
    half = np.uint32(1 << 16) % span
    offset = (high % span) * (half * half % span) + low % span
    return (offset % span).astype(jnp.int32)


def element_bits(key: Array, extent: Array, shape: Sequence[int], draw: ArrayLike = 0) -> Array:
    """Draws uint32 [*shape]; the bits of an element do not depend on the padding.

    The counter of an element is its row-major index in the true size `extent`, not in the padded `shape`. Different values of
    `draw` give independent draws from one key. Elements past `extent` are unspecified.
    """
    return _counted_bits(key, element_counter(extent, jnp.indices(shape, jnp.uint32, sparse=True)), draw)


def element_counter(extent: Array, position: Sequence[Array]) -> Array:
    """Computes the counters of elements, uint32, from their broadcastable indices along each axis."""
    counter = jnp.zeros((), jnp.uint32)
    for axis, index in enumerate(position):
        counter = counter * extent[axis].astype(jnp.uint32) + index.astype(jnp.uint32)
    return counter


def _counted_bits(key: Array, counter: Array, draw: ArrayLike) -> Array:
    words = jax.random.key_data(key)
    return threefry(words[0], words[1], jnp.asarray(draw, jnp.uint32), counter)[0]


def element_uniform(key: Array, extent: Array, shape: Sequence[int], draw: ArrayLike = 0) -> Array:
    """Draws float32 [*shape] in [0, 1), with 23 random bits per element; see `element_bits`."""
    return _fraction(element_bits(key, extent, shape, draw))


def counted_uniform(key: Array, counter: Array, draw: ArrayLike) -> Array:
    """Draws the values that `element_uniform` draws for the elements with these counters."""
    return _fraction(_counted_bits(key, counter, draw))


def _fraction(bits: Array) -> Array:
    """Converts the upper 23 bits to float32 in [0, 1)."""
    floats: Array = jax.lax.bitcast_convert_type((bits >> 9) | jnp.uint32(0x3F800000), jnp.float32)
    return floats - jnp.float32(1.0)


def element_normal(key: Array, extent: Array, shape: Sequence[int], draw: ArrayLike = 0) -> Array:
    """Draws float32 [*shape], standard normal in (-5.5, 5.5), with 24 random bits per element; see `element_bits`."""
    return _normal(element_bits(key, extent, shape, draw))


def counted_normal(key: Array, counter: Array, draw: ArrayLike) -> Array:
    """Draws the values that `element_normal` draws for the elements with these counters."""
    return _normal(_counted_bits(key, counter, draw))


def _normal(bits: Array) -> Array:
    # Midpoints of 2**24 equal parts of (-1, 1): odd multiples of 2**-24, which are exact in float32.
    odd = 2 * (bits >> 8).astype(jnp.int32) + jnp.int32(1 - (1 << 24))
    middles = odd.astype(jnp.float32) * jnp.float32(2.0**-24)
    normal: Array = jnp.float32(math.sqrt(2)) * jax.lax.erf_inv(middles)
    return normal


def element_index(
    key: Array, extent: Array, shape: Sequence[int], count: ArrayLike, draw: ArrayLike = 0
) -> Array:
    """Draws uint32 [*shape], uniform in [0, count) with probabilities exact to 2**-32; see `element_bits`.

    A value is the upper half of the 64-bit product of 32 random bits and `count`.
    """
    bits, count = element_bits(key, extent, shape, draw), jnp.asarray(count, jnp.uint32)
    half = jnp.uint32(0xFFFF)
    low, high = bits & half, bits >> 16
    count_low, count_high = count & half, count >> 16
    middle = high * count_low + (low * count_low >> 16)
    other = low * count_high + (middle & half)
    index: Array = high * count_high + (middle >> 16) + (other >> 16)
    return index
