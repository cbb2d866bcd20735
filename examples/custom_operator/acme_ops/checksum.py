"""An operator on the host: any Python, on NumPy arrays, in the threads of the pipeline."""

import zlib

import numpy as np

from jdali.plugin.operators import BatchSpec, host_operator


def setup(samples: BatchSpec) -> BatchSpec:
    """The outputs are one number each."""
    return BatchSpec(np.zeros((samples.batch_size, 0)), np.dtype(np.uint32))


@host_operator(name="acme.checksum", setup=setup, devices=("cpu",))
def checksum(sample: np.ndarray, /) -> np.ndarray:
    """The CRC-32 of a sample's bytes, to tell equal samples by.

    Args:
        sample: anything.

    Returns: uint32, one number.
    """
    return np.asarray(zlib.crc32(sample.tobytes()), np.uint32)
