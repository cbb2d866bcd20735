from __future__ import annotations

import math
from typing import Any

import numpy as np

from jdali import types
from jdali._batches import BatchSpec
from jdali._errors import SampleError, check_samples
from jdali._operators.record import PerSample, Static, host_operator
from jdali._system import limits
from jdali._system.extras import install
from jdali.codecs.npy import native

_NAME = "decoders.inflate"
# A byte of an LZ4 length adds at most 255 bytes of output. The first and last bytes of the data may add a few more.
_MOST_RATIO, _ALWAYS = 255, 64


def setup(
    data: BatchSpec,
    *,
    algorithm: str,
    chunk_offsets: np.ndarray | None,
    chunk_sizes: np.ndarray | None,
    dtype: np.dtype,
    layout: str,
    sequence_axis_name: str,
    shape: np.ndarray,
) -> BatchSpec:
    if algorithm.upper() != "LZ4":
        raise ValueError(f"{_NAME}: algorithm is {algorithm!r}; only 'LZ4' is known")
    if data.ndim != 1 or data.dtype.itemsize != 1:
        raise ValueError(
            f"{_NAME}: the input is {data.dtype} with {data.ndim} axes; it must be bytes with one"
        )
    _library()
    extents = np.asarray(shape, np.int64).reshape(data.batch_size, -1)
    check_samples(
        (extents < 0).any(axis=1),
        lambda i: f"{_NAME}: shape {extents[i].tolist()} is negative",
        argument="shape",
    )
    chunks = [_count(i, chunk_offsets, chunk_sizes) for i in range(data.batch_size)]
    for i, (count, extent) in enumerate(zip(chunks, extents.tolist(), strict=True)):
        size = count * math.prod(extent) * dtype.itemsize
        if size > limits.most("max_sample_bytes"):
            what = f"{_NAME}: {count} chunks of shape {extent}, {size} bytes,"
            raise SampleError(str(limits.exceeded("max_sample_bytes", what)), sample=i, argument="shape")
    if layout and len(layout) != extents.shape[1]:
        raise ValueError(f"{_NAME}: layout {layout!r} does not fit a shape of {extents.shape[1]} axes")
    if chunk_offsets is None and chunk_sizes is None:
        return BatchSpec(extents, dtype, layout)
    if layout and len(sequence_axis_name) != 1:
        raise ValueError(f"{_NAME}: sequence_axis_name is {sequence_axis_name!r}; it must be one letter")
    return BatchSpec(np.column_stack([chunks, extents]), dtype, sequence_axis_name + layout if layout else "")


def _count(sample: int, offsets: np.ndarray | None, sizes: np.ndarray | None) -> int:
    counts = [np.size(values[sample]) for values in (offsets, sizes) if values is not None]
    if len(set(counts)) > 1:
        raise SampleError(
            f"{_NAME}: chunk_offsets has {counts[0]} elements and chunk_sizes {counts[1]}", sample=sample
        )
    return counts[0] if counts else 1


def _library() -> Any:
    try:
        import lz4.block as library
    except ImportError as error:
        raise ImportError(f"{_NAME} needs lz4: {install('inflate')}") from error
    return library


@host_operator(
    name=_NAME, setup=setup, devices=("gpu",), work="decoding", source="operators/decoder/inflate/inflate.cc"
)
def inflate(
    data: np.ndarray,
    /,
    *,
    shape: PerSample[tuple[int, ...]],
    algorithm: Static[str] = "LZ4",
    check_output_size: Static[bool] = False,
    chunk_offsets: PerSample[list[int] | None] = None,
    chunk_sizes: PerSample[list[int] | None] = None,
    dtype: Static[np.dtype | types.DALIDataType] = types.UINT8,
    layout: Static[str] = "",
    sequence_axis_name: Static[str] = "F",
) -> np.ndarray:
    """Decompresses LZ4 blocks, which have no frame and no size in front.

    Without `chunk_offsets` and `chunk_sizes`, a sample is one chunk. With only `chunk_sizes`, the first chunk starts at
    byte 0, and each follows the one before. With only `chunk_offsets`, each chunk ends where the next one starts, and the
    last one at the end of the data.

    Args:
        data: uint8 [bytes].
        shape: shape of a decompressed chunk.
        algorithm: "LZ4".
        check_output_size: without effect: a chunk that does not have exactly the size of `shape` always raises an error.
        chunk_offsets: start of each chunk, bytes.
        chunk_sizes: size of each chunk, bytes. Samples may have different numbers of chunks.
        dtype: type of the elements, little-endian in the data.
        layout: layout of a decompressed chunk.
        sequence_axis_name: letter of the axis of chunks, put in front of `layout` if that is given.

    Returns: `shape`; with `chunk_offsets` or `chunk_sizes`, [chunks, *shape].

    Parity: DALI decompresses on a GPU only, jdali on the host.

    Example: numbers = fn.decoders.inflate(packed, shape=[2, 3], dtype=types.FLOAT)
    """
    size = math.prod(np.atleast_1d(shape).tolist()) * types.to_dtype(dtype).itemsize
    offsets, lengths = _chunks(data.size, chunk_offsets, chunk_sizes)
    inflated = [
        _inflated(number, data[offset : offset + length], size)
        for number, (offset, length) in enumerate(zip(offsets, lengths, strict=True))
    ]
    extents = np.atleast_1d(shape).tolist()
    if chunk_offsets is not None or chunk_sizes is not None:
        extents = [len(inflated), *extents]
    return native(np.frombuffer(b"".join(inflated), types.to_dtype(dtype)).reshape(extents))


def _chunks(size: int, offsets: Any, sizes: Any) -> tuple[list[int], list[int]]:
    """Returns the offsets and lengths of the chunks in a sample of `size` bytes."""
    if offsets is None and sizes is None:
        return [0], [size]
    if offsets is None:
        lengths = np.atleast_1d(sizes).astype(np.int64)
        offsets = np.cumsum(lengths) - lengths
    else:
        offsets = np.atleast_1d(offsets).astype(np.int64)
        lengths = np.diff(offsets, append=size) if sizes is None else np.atleast_1d(sizes).astype(np.int64)
    wrong = np.flatnonzero((offsets < 0) | (lengths < 0) | (offsets + lengths > size))
    if len(wrong):
        i = int(wrong[0])
        raise SampleError(
            f"{_NAME}: chunk {i}, {lengths[i]} bytes from byte {offsets[i]} on, is not in the sample of {size} bytes"
        )
    return offsets.tolist(), lengths.tolist()


def _inflated(number: int, chunk: np.ndarray, size: int) -> bytes:
    library = _library()
    if size > _ALWAYS + _MOST_RATIO * chunk.size:
        raise SampleError(f"{_NAME}: chunk {number} of {chunk.size} bytes cannot inflate to {size} bytes")
    try:
        # The buffer is one byte longer than the output, to detect an output that is too long.
        result: bytes = library.decompress(np.ascontiguousarray(chunk), uncompressed_size=size + 1)
    except library.LZ4BlockError as error:
        raise SampleError(
            f"{_NAME}: chunk {number} of {chunk.size} bytes is damaged, or inflates to more than the {size} bytes "
            "of its shape"
        ) from error
    if len(result) != size:
        raise SampleError(f"{_NAME}: chunk {number} inflates to {len(result)} bytes, its shape takes {size}")
    return result
