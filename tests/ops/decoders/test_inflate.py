"""decoders.inflate against the compressor of lz4."""

import numpy as np
import pytest
from support import host_run

import jdali
from jdali import SampleError, fn, pipeline_def, types
from jdali._operators.record import REGISTRY

block = pytest.importorskip("lz4.block", reason="lz4 is not installed")
OP = REGISTRY["decoders.inflate"]


def packed(array, **options):
    return np.frombuffer(
        block.compress(np.ascontiguousarray(array).tobytes(), store_size=False, **options), np.uint8
    )


def noise(*shape, dtype="u1", seed=0):
    return np.random.default_rng(seed).integers(0, 50, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "?", "u8"])
@pytest.mark.parametrize("mode", ["default", "fast", "high_compression"])
def test_whole_samples(dtype, mode):
    arrays = [noise(40, 30, dtype=dtype, seed=i) for i in range(3)] + [np.zeros((40, 30), dtype)]
    got = host_run.run(
        OP, [packed(a, mode=mode) for a in arrays], {"shape": [40, 30], "dtype": np.dtype(dtype)}
    )
    for mine, array in zip(got, arrays, strict=True):
        np.testing.assert_array_equal(mine, array, strict=True)


def test_shapes_that_differ_by_sample():
    arrays = [noise(n, 7) for n in (1, 20, 300)]
    got = host_run.run(OP, [packed(a) for a in arrays], {}, {"shape": [a.shape for a in arrays]})
    for mine, array in zip(got, arrays, strict=True):
        np.testing.assert_array_equal(mine, array, strict=True)
    got = host_run.run(OP, [packed(a) for a in arrays], {}, {"shape": [a.size for a in arrays]})
    for mine, array in zip(got, arrays, strict=True):
        np.testing.assert_array_equal(mine, array.ravel(), strict=True)


FRAMES = [noise(8, 9, seed=i) for i in range(3)]
CHUNKS = [packed(f) for f in FRAMES]
SIZES = [len(c) for c in CHUNKS]


@pytest.mark.parametrize(
    ("gaps", "given"),
    [
        (False, {"chunk_sizes": SIZES}),
        (False, {"chunk_offsets": [0, SIZES[0], SIZES[0] + SIZES[1]]}),
        (True, {"chunk_sizes": SIZES, "chunk_offsets": [5, 10 + SIZES[0], 15 + SIZES[0] + SIZES[1]]}),
    ],
)
def test_chunks(gaps, given):
    data = b"".join(b"?" * 5 * gaps + c.tobytes() for c in CHUNKS) + b"?" * gaps
    (got,) = host_run.run(OP, [np.frombuffer(data, np.uint8)], {"shape": [8, 9], **given})
    np.testing.assert_array_equal(got, np.stack(FRAMES), strict=True)


def test_sequences_in_a_pipeline():
    """Different numbers of chunks, and chunks of different shapes."""
    sequences = [[noise(h, 6, 3, seed=s) for s in range(n)] for n, h in ((2, 4), (5, 9), (1, 3))]
    chunks = [[packed(f) for f in frames] for frames in sequences]

    @pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def define():
        data = fn.external_source(source=[[np.concatenate(c) for c in chunks]], cycle=True, batch=True)
        shape = fn.external_source(source=[[np.int32(s[0].shape) for s in sequences]], cycle=True, batch=True)
        sizes = fn.external_source(
            source=[[np.int32([len(c) for c in cs]) for cs in chunks]], cycle=True, batch=True
        )
        plain = fn.decoders.inflate(data.gpu(), chunk_sizes=sizes, shape=shape, layout="HWC")
        named = fn.decoders.inflate(
            data, chunk_sizes=sizes, shape=shape, layout="HWC", sequence_axis_name="D"
        )
        return plain, named, fn.cast(plain, dtype=types.FLOAT)

    with define() as pipe:
        plain, named, cast = pipe.run()
    assert (plain.layout(), named.layout()) == ("FHWC", "DHWC")
    for i, frames in enumerate(sequences):
        np.testing.assert_array_equal(np.asarray(plain.as_cpu().at(i)), np.stack(frames), strict=True)
        np.testing.assert_array_equal(
            np.asarray(cast.as_cpu().at(i)), np.stack(frames).astype(np.float32), strict=True
        )


@pytest.mark.parametrize(
    ("data", "args", "reason"),
    [
        (CHUNKS[0], {"shape": [8, 10]}, "inflates to 72 bytes, its shape takes 80"),
        (CHUNKS[0], {"shape": [8, 8]}, "more than the 64 bytes"),
        (CHUNKS[0][:20], {"shape": [8, 9]}, "damaged"),
        (CHUNKS[0], {"shape": [1 << 15, 1 << 14]}, "cannot inflate to 536870912 bytes"),
        (CHUNKS[0], {"shape": [-1, 3]}, "negative"),
        (CHUNKS[0], {"shape": [8, 9], "chunk_sizes": [1000]}, "chunk 0, 1000 bytes from byte 0 on, is not in"),
        (CHUNKS[0], {"shape": [8, 9], "chunk_sizes": [3, -2]}, "chunk 1, -2 bytes from byte 3 on"),
        (CHUNKS[0], {"shape": [8, 9], "chunk_offsets": [5, 2]}, "chunk 0, -3 bytes"),
        (CHUNKS[0], {"shape": [8, 9], "chunk_offsets": [0], "chunk_sizes": [1, 2]}, "1 elements and chunk_sizes 2"),
        (np.zeros(0, np.uint8), {"shape": [8, 9]}, "cannot inflate|damaged"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(data, args, reason):
    with pytest.raises(SampleError, match=f"decoders.inflate: .*({reason})"):
        host_run.run(OP, [data], args)


def test_arguments_that_are_wrong():
    for args, reason in (
        ({"algorithm": "zip"}, "algorithm is 'zip'"),
        ({"layout": "HWC"}, "layout 'HWC' does not fit"),
        ({"layout": "HW", "chunk_sizes": SIZES, "sequence_axis_name": "FG"}, "one letter"),
    ):
        with pytest.raises(ValueError, match=reason):
            host_run.run(OP, [CHUNKS[0]], {"shape": [8, 9], **args})


def test_a_damaged_sample_is_named():
    bad = CHUNKS[1][:20]

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        data = fn.external_source(source=[[CHUNKS[0], bad]], cycle=True, batch=True)
        return fn.decoders.inflate(data, shape=[8, 9])

    with (
        define() as pipe,
        pytest.raises(jdali.OperatorError, match=r"(?s)decoders.inflate: .*sample 1 of the batch"),
    ):
        pipe.run()
