"""Tensors and batches: what they are made of, how they are indexed, printed and handed on."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import odd_sizes

import jdali.dynamic as jd
from jdali import types

IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.fixture
def tensor():
    return jd.as_tensor(IMAGE, layout="HWC")


@pytest.fixture
def batch():
    return jd.as_batch([IMAGE, IMAGE[:1]], layout="HWC")


def test_a_tensor_knows_what_it_is(tensor):
    assert tensor.shape == (2, 4, 3)
    assert tensor.ndim == 3
    assert tensor.dtype == jd.uint8
    assert tensor.layout == "HWC"
    assert (tensor.size, tensor.itemsize, tensor.nbytes) == (24, 1, 24)
    assert str(tensor.device) == "cpu"
    np.testing.assert_array_equal(np.asarray(tensor), IMAGE)


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (5, jd.int32), (5.0, jd.float32), (True, jd.bool), ([1, 2], jd.int32), ([1.5, 2], jd.float32),
        (np.arange(3), jd.int64), (np.ones(3), jd.float64), (np.float64(1), jd.float64),
        (jnp.ones(3, jnp.bfloat16).astype(jnp.float16), jd.float16), (b"abc", jd.uint8), ("abc", jd.uint8),
    ],
)  # fmt: skip
def test_python_numbers_get_32_bits_and_arrays_keep_their_type(data, dtype):
    assert jd.tensor(data).dtype == dtype


def test_tensor_copies_and_as_tensor_does_not():
    mine = IMAGE.copy()
    shared, copied = jd.as_tensor(mine), jd.tensor(mine)
    mine[0, 0, 0] = 99
    assert shared[0, 0, 0].item() == 99
    assert copied[0, 0, 0].item() == 0


def test_an_array_is_rounded_to_a_dtype_and_saturates():
    data = np.array([1.5, 2.5, -1.5, 300], np.float32)
    np.testing.assert_array_equal(np.asarray(jd.as_tensor(data, dtype=jd.uint8)), [2, 3, 0, 255])
    np.testing.assert_array_equal(np.asarray(jd.as_batch([data], dtype=jd.int32)), [[2, 3, -2, 300]])
    assert jd.float32([1, 2]).dtype == jd.float32


def test_batches_of_what(batch):
    assert batch.shape == [(2, 4, 3), (1, 4, 3)]
    assert (batch.batch_size, len(batch), batch.ndim, batch.layout) == (2, 2, 3, "HWC")
    assert jd.as_batch(batch) is batch
    assert jd.as_batch(np.ones((2, 3))).shape == [(3,), (3,)]
    assert jd.as_batch([[1, 2], [3]]).shape == [(2,), (1,)]
    assert jd.as_batch([1, 2.5]).dtype == jd.float32
    assert jd.as_batch([jd.as_tensor(IMAGE, layout="HWC")]).layout == "HWC"
    assert jd.as_batch(jd.as_tensor(IMAGE, layout="NWC")).layout == "WC"
    assert jd.Batch.broadcast(IMAGE, 3).shape == [(2, 4, 3)] * 3
    with pytest.raises(ValueError, match="dtype"):
        jd.as_batch([])
    assert jd.as_batch([], dtype=jd.int8).batch_size == 0
    assert jd.as_batch([IMAGE, IMAGE.astype(np.float32)]).dtype == jd.uint8


def test_a_batch_as_a_tensor(batch):
    assert jd.as_tensor(batch.select([0, 0])).layout == "NHWC"
    with pytest.raises(ValueError, match="pad=True"):
        jd.as_tensor(batch)
    padded = np.asarray(jd.as_tensor(batch, pad=True))
    expected = np.stack([IMAGE, np.concatenate([IMAGE[:1], np.zeros_like(IMAGE[:1])])])
    np.testing.assert_array_equal(padded, expected)


def test_select_picks_what_it_is_asked_for(batch):
    assert batch.select(1).shape == (1, 4, 3)
    assert batch.select([1]).shape == [(1, 4, 3)]
    assert batch.select(slice(0, 1)).shape == [(2, 4, 3)]
    assert batch.select([1, 0, 1]).shape == [(1, 4, 3), (2, 4, 3), (1, 4, 3)]
    assert batch.tensors[-1].shape == (1, 4, 3)
    assert [t.shape for t in batch] == [(2, 4, 3), (1, 4, 3)]
    assert batch.tensors[1:].as_batch().shape == [(1, 4, 3)]
    assert len(batch.tensors.select([0, 1]).tolist()) == 2
    with pytest.raises(IndexError):
        batch.tensors[2]
    np.testing.assert_array_equal(np.asarray(jd.Tensor(batch=batch, index_in_batch=1)), IMAGE[:1])
    for key in ([1, 0], (1, 0), range(1, -1, -1), np.array([1, -2]), jnp.array([1, 0]), jd.tensor([1, 0])):
        assert batch.select(key).shape == [(1, 4, 3), (2, 4, 3)]
    for key in (np.int64(1), jnp.int32(1), jd.tensor(1)):
        assert batch.select(key).shape == (1, 4, 3)


@pytest.mark.parametrize(
    ("key", "advice"),
    [*((mask, "; for a mask, give np.flatnonzero(mask)")
       for mask in (True, np.True_, [True, False], np.array([False, True]), jnp.array([False, True]), jd.tensor([True, False]))),
     *((other, "") for other in (1.0, "1", None, np.array([1.0]), ["1"]))],
)  # fmt: skip
def test_only_integers_are_positions(batch, key, advice):
    for pick in (batch.select, batch.tensors.select, batch.tensors.__getitem__):
        with pytest.raises(TypeError) as caught:
            pick(key)
        assert re.fullmatch(
            "Batch: .* is not the position of a sample: it must be an integer" + re.escape(advice),
            str(caught.value),
        )


def test_positions_out_of_range_are_named(batch):
    for key in (2, [0, 2]):
        with pytest.raises(IndexError, match="Batch index out of range: 2 of 2 samples"):
            batch.select(key)


def test_indexing_as_numpy(tensor, batch):
    for key in (0, -1, (0, 1), (..., 0), (slice(None), 1), (slice(0, 1), slice(None, None, 2))):
        np.testing.assert_array_equal(np.asarray(tensor[key]), IMAGE[key])
    assert tensor[..., 0].layout == "HW"
    assert tensor[jd.tensor(1)].shape == (4, 3)
    np.testing.assert_array_equal(np.asarray(tensor[...]), IMAGE)
    picked = batch.slice[:, jd.as_batch([1, 3])]
    np.testing.assert_array_equal(np.asarray(picked.select(0)), IMAGE[:, 1])
    np.testing.assert_array_equal(np.asarray(picked.select(1)), IMAGE[:1, 3])
    with pytest.raises(RuntimeError, match="out of range"):
        tensor[5]


def test_numbers_and_truth(tensor):
    assert bool(tensor[0, 0, 0] == 0)
    assert int(tensor[0, 0, 1]) == 1
    assert float(tensor[0, 0, 2]) == 2.0
    assert [10, 20][tensor[0, 0, 1]] == 20
    with pytest.raises(ValueError, match="24 elements"):
        bool(tensor == tensor)
    with pytest.raises(TypeError, match="unhashable"):
        hash(tensor)


def test_results_of_odd_sizes_have_no_gaps():
    """Operators make them in padded memory."""
    batch = jd.flip(jd.batch(odd_sizes.pictures(odd_sizes.RAGGED), layout="HWC"))
    for got, want in zip(batch.tensors, odd_sizes.flipped(odd_sizes.RAGGED), strict=True):
        for value in (np.asarray(got), np.from_dlpack(got), np.asarray(jnp.from_dlpack(got))):
            assert value.flags.c_contiguous
            np.testing.assert_array_equal(value, want)


def test_handing_on(tensor, batch):
    np.testing.assert_array_equal(np.from_dlpack(tensor), IMAGE)
    np.testing.assert_array_equal(jnp.asarray(tensor), IMAGE)
    np.testing.assert_array_equal(jnp.from_dlpack(jd.tensor([1.0, 2.0])), [1, 2])
    np.testing.assert_array_equal(jnp.asarray(batch.select([0, 0])), [IMAGE, IMAGE])
    np.testing.assert_array_equal(np.asarray(jd.as_tensor(jnp.arange(3))), [0, 1, 2])
    with pytest.raises(RuntimeError, match="same shape"):
        np.asarray(batch)


def test_devices(tensor, batch):
    assert tensor.cpu() is tensor
    on_gpu = tensor.gpu()
    assert on_gpu.device == jd.Device("gpu")
    assert jd.flip(on_gpu).device.device_type == "gpu"
    assert batch.gpu().cpu().device == "cpu"
    np.testing.assert_array_equal(np.asarray(on_gpu.to_device("cpu")), IMAGE)
    if jax.local_device_count() > 1:
        there = batch.gpu(1)
        assert str(there.device) == "gpu:1"
        np.testing.assert_array_equal(np.asarray((there + 1).select(1)), IMAGE[:1].astype(np.int32) + 1)
    with jd.Device("gpu"):
        assert jd.zeros(shape=[2]).device == "gpu"
    assert jd.zeros(shape=[2]).device == "cpu"
    for wrong in ("mixed", "tpu", "gpu:x"):
        with pytest.raises(ValueError, match="Invalid device"):
            jd.Device(wrong)
    assert jd.device(None) is None
    for other in ("tpu", "gpu:99", "gpu:x", None, 3):
        assert jd.Device("cpu") != other


def test_names_of_the_past():
    assert jd.experimental.resize is jd.resize


def test_element_types():
    assert jd.float32 == np.float32
    assert jd.float32 == types.FLOAT
    assert jd.dtype("float32") is jd.DType.parse("f32")
    assert jd.dtype(np.uint8) == jd.uint8
    assert jd.DType.from_type_id(types.BOOL) == jd.bool
    assert jd.type_id(jd.int16) is types.INT16
    assert np.zeros(2, jd.float16).dtype == np.float16
    assert str(jd.bfloat16) == "bf16"
    assert repr(jd.uint8) == "DType(kind=Kind.unsigned, bits=8)"
    assert len({jd.uint8, jd.DType.parse("u8"), jd.uint16}) == 2
    ragged = jd.as_batch([np.int32([1]), np.int32([2, 3])])
    assert np.asarray(jd.int32(ragged, pad=True)).tolist() == [[1, 0], [2, 3]]
    assert jd.float64 != None  # noqa: E711
    assert (jd.dtype(float), jd.dtype(bool)) == (jd.float32, jd.bool)
    with pytest.raises(ValueError, match="f33"):
        jd.dtype("f33")


def test_texts():
    assert repr(jd.tensor(5)) == 'Tensor(\n    5,\n    dtype=i32,\n    device="cpu",\n    shape=())'
    expected = (
        'Batch(\n    [1, 2],\n    dtype=i32,\n    device="cpu",\n    num_samples=2,\n    shape=[(), ()])'
    )
    assert repr(jd.as_batch([1, 2])) == expected


def test_arithmetic(tensor, batch):
    np.testing.assert_array_equal(np.asarray(tensor + 250), IMAGE.astype(np.int32) + 250)
    np.testing.assert_array_equal(np.asarray(tensor + np.uint8(250)), IMAGE + np.uint8(250))
    np.testing.assert_array_equal(np.asarray(1.5 - tensor), np.float32(1.5) - IMAGE)
    assert isinstance(np.ones((2, 4, 3), np.float32) + tensor, jd.Tensor)
    assert (tensor + tensor).layout == "HWC"
    total = batch + jd.as_batch([1, 2])
    np.testing.assert_array_equal(np.asarray(total.select(1)), IMAGE[:1].astype(np.int32) + 2)
    np.testing.assert_array_equal(np.asarray(~(tensor < 3)), IMAGE >= 3)
    assert abs(jd.tensor(-3)).item() == 3
    assert (-jd.tensor(3)).item() == -3
    np.testing.assert_array_equal(np.asarray(jd.math.max(tensor, np.uint8(7))), np.maximum(IMAGE, 7))
    assert jd.math.sqrt(4).item() == 2.0
