"""DALI's iterators for PaddlePaddle: dense tensors, samples of several lengths, and the last batch."""

import warnings

import numpy as np
import pytest
from support import odd_sizes
from support.numbers import pipeline

from jdali import Pipeline, fn
from jdali.tensors import TensorCPU, TensorListCPU

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it speaks of tools that build extensions
    paddle = pytest.importorskip("paddle", reason="PaddlePaddle is not installed")
from jdali.plugin import paddle as plugin

FILL, DROP, PARTIAL, PAD = plugin.LastBatchPolicy


def made(*outputs, batch_size=2):
    """A pipeline that gives the samples of these lists again and again."""
    with Pipeline(batch_size=batch_size, num_threads=1) as pipe:
        pipe.set_outputs(*(fn.external_source([samples], cycle=True) for samples in outputs))
    return pipe


def rows(batch):
    return [np.array(d["x"]).ravel().tolist() for d in batch]


def test_a_dict_of_dense_tensors_for_each_pipeline():
    pipes = [pipeline(8, 2, shard_id=i, num_shards=2) for i in range(2)]
    with plugin.DALIGenericIterator(pipes, ["x"], reader_name="Reader", auto_reset=True) as it:
        batch = it.next()
        assert [type(d["x"]) for d in batch] == [paddle.framework.core.DenseTensor] * 2
        assert [np.array(d["x"]).dtype for d in batch] == [np.int64] * 2
        assert [d["x"].shape() for d in batch] == [[2, 1]] * 2
        assert [rows(batch), *map(rows, it)] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


@pytest.mark.parametrize(
    ("policy", "expected"), [(FILL, [[3, 4, 0]]), (DROP, [[0, 1, 2]]), (PARTIAL, [[3, 4]])]
)
def test_the_last_batch(policy, expected):
    with plugin.DALIGenericIterator(
        pipeline(5, 3), ["x"], reader_name="Reader", last_batch_policy=policy
    ) as it:
        assert rows(list(it)[-1]) == expected


def test_pad_has_a_mask():
    with plugin.DALIGenericIterator(
        pipeline(5, 3, pad=True), ["x"], reader_name="Reader", last_batch_policy=PAD
    ) as it:
        (last,) = list(it)[-1]
    assert np.array(last["mask"]).tolist() == [True, True, False]


def test_classification_and_types():
    samples = [np.float32([1, 2]), np.float32([3, 4])]
    with plugin.DALIClassificationIterator([made(samples, [np.int32([7])] * 2)], 4) as it:
        (batch,) = next(it)
    assert np.array(batch["data"]).tolist() == [[1, 2], [3, 4]]
    assert np.array(batch["label"]).tolist() == [[7], [7]]


@pytest.mark.parametrize("dtype", [bool, "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
def test_element_types(dtype):
    batch = TensorListCPU(np.ones((2, 1), dtype))
    assert plugin.to_paddle_type(batch) is plugin.dtype_map[batch.dtype]
    with plugin.DALIGenericIterator(made([np.ones(1, dtype)] * 2), ["x"], 2) as it:
        tensor = next(it)[0]["x"]
    assert np.array(tensor).dtype == np.dtype(dtype)
    assert tensor._dtype() == plugin.dtype_map[batch.dtype]


def test_a_type_that_there_is_not():
    with (
        plugin.DALIGenericIterator(made([np.ones(1, np.uint16)] * 2), ["x"], 2) as it,
        pytest.raises(KeyError, match="no tensors of UINT16"),
    ):
        next(it)


def test_samples_of_several_lengths():
    samples = [np.arange(6).reshape(3, 2), np.arange(2).reshape(1, 2)]
    with plugin.DALIGenericIterator(made(samples), [("x", 1)], 2) as it:
        assert it.normalized_map == {"x": 1}
        tensor = next(it)[0]["x"]
    assert np.array(tensor).tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]
    assert tensor.lod() == [[0, 3, 4]]
    nested = [np.arange(6).reshape(3, 2), np.arange(4).reshape(1, 4)]
    with plugin.DALIGenericIterator(made(nested), [("x", 2)], 2) as it:
        tensor = next(it)[0]["x"]
    assert np.array(tensor).tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]
    assert tensor.lod() == [[0, 3, 4], [0, 2, 4, 6, 10]]
    clipped = plugin.lod_tensor_clip(tensor, 1)
    assert np.array(clipped).tolist() == [0, 1, 2, 3, 4, 5]
    assert clipped.lod() == [[0, 3], [0, 2, 4, 6]]
    with (
        plugin.DALIGenericIterator(made(samples), ["x"], 2) as it,
        pytest.raises(AssertionError, match="'x' differ in shape: non-dense tensor lists must have LoD > 0"),
    ):
        next(it)


def test_clip_without_lengths():
    tensor = paddle.framework.core.DenseTensor()
    tensor.set(np.arange(6).reshape(3, 2), paddle.CPUPlace())
    assert np.array(plugin.lod_tensor_clip(tensor, 2)).tolist() == [[0, 1], [2, 3]]


def test_recursive_length():
    ragged = TensorListCPU.from_samples([np.zeros((2, 3)), np.zeros((4, 3))])
    assert plugin.recursive_length(ragged, 2) == [[2], [2, 4]]
    assert plugin.recursive_length(ragged, 3) == [[2], [2, 4], [3] * 6]
    assert plugin.recursive_length(np.zeros((2, 3, 5)), 2) == [[2], [3, 3]]
    assert plugin.recursive_length(TensorCPU(np.zeros((2, 3))), 1) == [[2]]
    assert plugin.recursive_length((2, 3), 0) == []


@pytest.mark.parametrize(
    ("sizes", "levels"), [(odd_sizes.UNIFORM, 0), (odd_sizes.UNIFORM, 1), (odd_sizes.RAGGED, 2)]
)
def test_pictures_of_odd_sizes(sizes, levels):
    expected = odd_sizes.flipped(sizes)
    with plugin.DALIGenericIterator(odd_sizes.flipping(sizes), [("x", levels)], 3) as it:
        values = np.array(next(it)[0]["x"])
    if levels == 2:
        expected = [picture.reshape(-1, 3) for picture in expected]
    assert np.array_equal(values, np.concatenate(expected) if levels else np.stack(expected))


def test_samples_and_batches_of_odd_sizes_are_handed_on_in_row_major_order():
    for sizes in (odd_sizes.UNIFORM, odd_sizes.RAGGED):
        with odd_sizes.flipping(sizes) as pipe:
            (batch,) = pipe.run()
        for i, want in enumerate(odd_sizes.flipped(sizes)):
            assert np.array_equal(paddle.utils.dlpack.from_dlpack(batch[i]).numpy(), want)
            tensor = paddle.framework.core.DenseTensor()
            tensor._set_dims(list(want.shape))
            plugin.feed_ndarray(
                batch[i], tensor._mutable_data(paddle.CPUPlace(), plugin.to_paddle_type(batch))
            )
            assert np.array_equal(np.array(tensor), want)


def test_feed_ndarray():
    tensor = paddle.framework.core.DenseTensor()
    tensor._set_dims([2, 2])
    pointer = tensor._mutable_data(paddle.CPUPlace(), plugin.to_paddle_type(TensorCPU(np.zeros(1, np.int32))))
    assert plugin.feed_ndarray(TensorListCPU(np.int32([[1, 2], [3, 4]])), pointer) == pointer
    assert np.array(tensor).tolist() == [[1, 2], [3, 4]]


def test_what_is_on_an_accelerator_is_shared_or_copied(accelerator):
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        x = fn.external_source(lambda i: np.int32([[1], [2]])).gpu()
        pipe.set_outputs(x, x + 1)
    with plugin.DALIGenericIterator(pipe, ["x", "y"], 2) as it:
        (batch,) = next(it)
    assert np.array(batch["x"]).tolist() == [[1], [2]]
    assert np.array(batch["y"]).tolist() == [[2], [3]]


def test_fill_last_batch_is_deprecated():
    with pytest.warns(UserWarning, match="fill_last_batch is deprecated") as caught:
        plugin.DALIGenericIterator(pipeline(5, 3), ["x"], reader_name="Reader", fill_last_batch=True).close()
    assert caught[0].filename == __file__
