from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.signal import along_axis, require_float32
from jdali._numerics.sums import fixed_product
from jdali._operators.record import Static, operator


def setup(spectrum: BatchSpec, *, axis: int, dct_type: int, n_mfcc: int, normalize: bool) -> BatchSpec:
    require_float32("mfcc", spectrum)
    if axis < 0:
        raise ValueError(f"mfcc: Provided axis cannot be negative. Got {axis}")
    if axis >= spectrum.ndim:
        raise ValueError(f"mfcc: Axis {axis} is out of bounds [0,{spectrum.ndim})")
    if dct_type not in (1, 2, 3, 4):
        raise ValueError(f"mfcc: Unsupported DCT type: {dct_type}. Supported types are: 1, 2, 3, 4.")
    if dct_type == 1 and normalize:
        raise ValueError("mfcc: Ortho-normalization is not supported for DCT type I. Take normalize=False")
    if n_mfcc < 1:
        raise ValueError(f"mfcc: number of MFCCs should be > 0, got n_mfcc={n_mfcc}")
    size = spectrum.extents[:, axis]
    if dct_type == 1:
        check_samples(size < 2, lambda _: "mfcc: DCT type I requires an input length > 1")
    extents = spectrum.extents.copy()
    extents[:, axis] = np.minimum(size, n_mfcc)
    return spectrum.replace(extents=extents)


@operator(setup=setup, nanoseconds=13.0, source="operators/audio/mfcc/mfcc.h")
def mfcc(
    spectrum: Array,
    /,
    *,
    axis: Static[int] = 0,
    dct_type: Static[int] = 2,
    lifter: Static[float] = 0.0,
    n_mfcc: Static[int] = 20,
    normalize: Static[bool] = False,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes the first coefficients of a cosine transform along an axis.

    Type 2, the usual one, is out[k] = Σ in[n] · cos(π (n + ½) k / N).

    Args:
        spectrum: float32, any shape; usually the mel spectrogram in decibels.
        axis: axis to transform, 0 or more.
        dct_type: 1 to 4, without the factor 2 of other definitions.
        lifter: L; coefficient i is multiplied by 1 + L/2 · sin(π (i + 1) / L); 0: no liftering.
        n_mfcc: number of coefficients; cut to the size of the axis.
        normalize: make the transform orthonormal; not for type 1.

    Returns: float32, shape of `spectrum` except for `axis`.

    Example: coefficients = fn.mfcc(mel, n_mfcc=13)
    """
    size = extent[axis]
    count = min(n_mfcc, spectrum.shape[axis])
    table = _cosines(size, spectrum.shape[axis], count, dct_type, normalize)
    if lifter:
        lift = 1 + lifter / 2 * np.sin(np.pi * np.arange(1, count + 1) / lifter)
        table = table * lift.astype(np.float32)[:, None]
    inside = along_axis(jnp.arange(spectrum.shape[axis], dtype=jnp.int32) < size, axis, spectrum.ndim)
    clean = jnp.where(inside, spectrum, 0)
    return fit(fixed_product(table, clean, axis), out_shape)


def _cosines(size: Array, padded: int, count: int, dct_type: int, normalize: bool) -> Array:
    """Makes the matrix [count, padded] of the transform of `size` points.

    The phase is computed as an integer number of steps and reduced to one turn before it is converted to float. Cosines of
    high bins are therefore as exact as cosines of low bins.
    """
    k = jnp.arange(count, dtype=jnp.int32)[:, None]
    n = jnp.arange(padded, dtype=jnp.int32)[None]
    if dct_type == 1:
        steps, turn = k * n, 2 * (size - 1)
    elif dct_type == 2:
        steps, turn = k * (2 * n + 1), 4 * size
    elif dct_type == 3:
        steps, turn = (2 * k + 1) * n, 4 * size
    else:
        steps, turn = (2 * k + 1) * (2 * n + 1), 8 * size
    turn = jnp.maximum(turn, 1)
    table = jnp.cos((2 * np.pi) * ((steps % turn).astype(jnp.float32) / turn.astype(jnp.float32)))
    length = jnp.maximum(size, 1).astype(jnp.float32)
    if normalize:
        first = k if dct_type == 2 else n
        table = table * jnp.sqrt(2 / length)
        return table * jnp.where(first == 0, np.float32(np.sqrt(0.5)), 1) if dct_type in (2, 3) else table
    if dct_type == 1:
        return table * jnp.where((n == 0) | (n == size - 1), 0.5, 1)
    return table * jnp.where(n == 0, 0.5, 1) if dct_type == 3 else table
