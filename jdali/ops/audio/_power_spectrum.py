from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.by_platform import by_platform
from jdali._kernels.fit import fit
from jdali._kernels.signal import require_float32
from jdali._operators.record import Static, operator

_SHORTEST = 6  # log2 of the smallest length of a transform; shorter transforms would take as long


def setup(signal: BatchSpec, *, axis: int, nfft: int | None, power: int) -> Plan:
    require_float32("power_spectrum", signal)
    if power not in (1, 2):
        raise ValueError(
            "power_spectrum: Power argument should be either `2` for power spectrum or `1` for complex magnitude. "
            f"Received: {power}"
        )
    along = signal.ndim - 1 if axis < 0 else axis
    if not 0 <= along < signal.ndim:
        raise ValueError(f"power_spectrum: Transform axis {axis} is out of bounds [0, {signal.ndim})")
    if nfft is not None and nfft < 1:
        raise ValueError(f"power_spectrum: nfft must be positive, got {nfft}")
    sizes = signal.extents[:, along] if nfft is None else np.full(signal.batch_size, nfft)
    check_samples(sizes < 1, lambda _: "power_spectrum: there is nothing to transform")
    extents = signal.extents.copy()
    extents[:, along] = sizes // 2 + 1
    return Plan((signal.replace(extents=extents),), static={"axis": along})


@operator(setup=setup, devices=("cpu",), source="operators/signal/fft/power_spectrum.h")
def power_spectrum(
    signal: Array,
    /,
    *,
    axis: Static[int] = -1,
    nfft: Static[int | None] = None,
    power: Static[int] = 2,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes power or magnitude of the Fourier transform along an axis.

    Args:
        signal: float32, at least one axis.
        axis: axis to transform; negative: the last axis.
        nfft: length of the transform, to which the axis is cut or zero-padded; None: the size of
            the axis, which may differ by sample.
        power: 2 for the power, 1 for the magnitude.

    Returns: float32, shape of `signal` with size nfft // 2 + 1 along `axis`.

    Example: power = fn.power_spectrum(sound, nfft=512)
    """
    along = signal.ndim - 1 if axis < 0 else axis
    rows = jnp.moveaxis(signal, along, -1)
    size = extent[along]
    rows = jnp.where(jnp.arange(rows.shape[-1], dtype=jnp.int32) < size, rows, 0)
    spectrum = _transform_of_any_size(rows, size) if nfft is None else jnp.fft.rfft(rows, n=nfft)
    if power == 1:
        result = jnp.abs(spectrum)
    else:
        result = jnp.square(spectrum.real) + jnp.square(spectrum.imag)
    return fit(jnp.moveaxis(result, -1, along), out_shape)


def _transform_of_any_size(rows: Array, size: Array) -> Array:
    """Computes the first half of the Fourier transform of the first `size` elements. Its phases are not correct.

    `size` may be traced. Bluestein's algorithm: because n·k = (n² + k² - (k - n)²) / 2, the transform is a convolution
    with a chirp, times a second chirp. The second chirp is left out, because it only changes phases. The convolution
    uses transforms whose length is a power of two. They are real, because the bits of complex transforms depend on how
    many rows are transformed together.
    """
    padded = rows.shape[-1]
    bins = padded // 2 + 1
    chirp = _chirp(jnp.arange(padded, dtype=jnp.int32), size)
    lengths = [1 << k for k in range(_SHORTEST, max(_SHORTEST, (padded + padded // 2).bit_length()) + 1)]

    def convolved(length: int, signal: tuple[Array, Array], chirp: tuple[Array, Array], size: Array) -> Array:
        offset = jnp.arange(length, dtype=jnp.int32)
        offset = jnp.where(offset <= size // 2, offset, length - offset)  # the chirp is even
        index = jnp.minimum(offset, padded - 1)
        kernel = [jnp.where(offset < size, part[index], 0) for part in chirp]
        re, im, kernel_re, kernel_im = (jnp.fft.rfft(part, n=length) for part in (*signal, *kernel))
        products = re * kernel_re - im * kernel_im, re * kernel_im + im * kernel_re
        parts = [fit(jnp.fft.irfft(product, n=length), (*rows.shape[:-1], bins)) for product in products]
        return lax.complex(*parts)

    def shortest(signal: tuple[Array, Array], chirp: tuple[Array, Array], size: Array) -> Array:
        # The length depends only on the true size, so padding changes no bits. An accelerator computes the result for all
        # lengths and selects one.
        number = jnp.sum(np.array(lengths, np.int32) <= size + size // 2, dtype=jnp.int32)
        branches = [functools.partial(convolved, length) for length in lengths]
        result: Array = lax.switch(number, branches, signal, chirp, size)
        return result

    transform = (
        functools.partial(convolved, lengths[0]) if len(lengths) == 1 else by_platform(shortest, shortest)
    )
    return transform((rows * chirp[0], rows * -chirp[1]), chirp, size)


def _chirp(n: Array, size: Array) -> tuple[Array, Array]:
    """Computes the real and imaginary parts of exp(i π n² / size), for sizes up to 2²⁴."""
    turn = (2 * size).astype(jnp.uint32)
    reduced = (n % (2 * size)).astype(jnp.uint32)
    square = jnp.zeros_like(reduced)
    # Computes n² % turn with six bits of one factor at a time, so that products fit into 32 bits.
    for shift in (
        24,
        18,
        12,
        6,
        0,
    ):
        square = (square * 64 + ((reduced >> shift) & 63) * reduced) % turn
    phase = np.float32(np.pi) * (square.astype(jnp.float32) / size.astype(jnp.float32))
    return jnp.cos(phase), jnp.sin(phase)
