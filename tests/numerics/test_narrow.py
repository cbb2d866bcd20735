"""64-bit values where JAX has 32 bits: they wrap as JAX wraps them, and that is said once."""

import warnings

import jax
import numpy as np
import pytest

from jdali import fn, pipeline_def
from jdali.iterator import DataIterator
from jdali.plugin.jax.fn import jax_function

FITS = np.array([0, 7, -(2**31), 2**31 - 1])
WRAPS = np.array([2**40 + 5, 3, -(2**40), 2**31])


def from_iterator(values, ragged=False, gpu=False):
    """An iterator's batch of them, of one batch twice."""

    @pipeline_def(batch_size=4, num_threads=1, prefetch_queue_depth=1)
    def pipe():
        node = fn.external_source(lambda: list(values.reshape(4, 1)))
        return +node.gpu() if gpu else node

    with DataIterator(pipe(), ["ids"], size=8, ragged="pad" if ragged else "error") as batches:
        return [np.asarray(batch["ids"]).ravel() for batch in batches]


def from_jax_function(values):
    seen = []

    @pipeline_def(batch_size=4, num_threads=1, prefetch_queue_depth=1)
    def pipe():
        return jax_function(lambda x: seen.append(np.asarray(x)) or x)(fn.external_source(lambda: values))

    with pipe() as made:
        made.run(), made.run()
    return seen


WAYS = {
    "iterator: output 'ids'": from_iterator,
    "iterator: output 'ids' ": lambda values: from_iterator(values, ragged=True),
    "iterator: output 'ids'  ": lambda values: from_iterator(values, gpu=True),
    "jax_function: input 0": from_jax_function,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_what_wraps_is_said_once(way, dtype):
    narrow = np.dtype(dtype).newbyteorder("=").str.replace("8", "4")
    for values in (FITS if dtype is np.int64 else abs(FITS).astype(dtype), WRAPS.astype(dtype)):
        expected = values.astype(narrow)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("default")
            results = WAYS[way](values)
        for result in results:
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)
        texts = [str(one.message) for one in said]
        if (expected == values).all():
            assert texts == []
        else:
            (text,) = texts
            assert text.startswith(
                f"{way.strip()}: {np.dtype(dtype)} values that {expected.dtype} cannot hold wrap"
            )


def test_with_64_bits_nothing_is_said():
    jax.config.update("jax_enable_x64", True)  # of all threads
    try:
        for result in from_iterator(WRAPS):
            np.testing.assert_array_equal(result, WRAPS)
    finally:
        jax.config.update("jax_enable_x64", False)
