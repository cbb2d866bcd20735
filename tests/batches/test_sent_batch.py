"""Batches on their way to another process: types, layouts, sizes, memory and names of files."""

import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from jdali._batches.provenance import Drawn, Provenance
from jdali._batches.sent_batch import drawn_by, receive_batch, send_batch
from jdali.tensors import TensorList

PLACES = np.array([4, 9])


def drawn(name):
    return Drawn(lambda i: f"{name} {i}", PLACES, name)


def back(batch):
    return receive_batch(pickle.loads(pickle.dumps(send_batch(batch))), drawn_by(drawn))


SAMPLES = {
    "dense": [np.arange(6, dtype=np.uint8).reshape(2, 3), np.ones((2, 3), np.uint8)],
    "ragged": [np.arange(6.0).reshape(2, 3), np.ones((1, 4))],
    "scalars": [np.int64(2**40), np.int64(-1)],
    "empty samples": [np.zeros((0, 3), np.int16), np.zeros((2, 3), np.int16)],
    "bfloat16": [np.ones(3, ml_dtypes.bfloat16), np.zeros(3, ml_dtypes.bfloat16)],
}


@pytest.mark.parametrize("case", SAMPLES)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_samples_come_back(case, device):
    samples = [np.asarray(sample) for sample in SAMPLES[case]]
    layout = "XY"[: samples[0].ndim]
    batch = back(TensorList.from_samples(samples, layout, device))
    assert (batch.device, batch.layout(), batch.spec.dtype) == (device, layout, samples[0].dtype)
    for found, sample in zip(batch.as_cpu().to_samples(), samples, strict=True):
        assert found.shape == sample.shape
        np.testing.assert_array_equal(found, sample)


def test_a_batch_without_samples_keeps_its_type():
    batch = back(TensorList.from_samples([np.zeros((2, 3), np.int16)], "HW").select(np.zeros(0, np.int64)))
    assert (len(batch), batch.layout(), batch.spec.dtype, batch.spec.ndim) == (0, "HW", np.int16, 2)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.uint8, jnp.bfloat16])
def test_arrays_of_jax_are_arrays_of_jax_over_the_same_memory(dtype):
    sent = send_batch(TensorList.from_dense(jnp.arange(4096, dtype=dtype).reshape(2, 2048), "X", "gpu"))
    assert sent.is_jax
    memory = np.zeros(sent.values.nbytes + 64, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :][: sent.values.nbytes].view(sent.values.dtype).reshape(2, 2048)
    memory[:] = sent.values
    object.__setattr__(sent, "values", memory)
    (block,) = receive_batch(sent, drawn_by(drawn)).store.blocks
    assert isinstance(block.array, jax.Array)
    assert block.array.unsafe_buffer_pointer() == memory.ctypes.data


def test_padding_does_not_travel():
    padded = np.full((2, 100, 100), 7, np.uint8)
    batch = TensorList.from_dense(padded, "HW").select(np.array([1]))
    assert send_batch(batch).values.shape == (1, 100, 100)


def test_names_of_known_sources_are_made_where_they_are_wanted():
    made_of = Provenance.of(drawn("reader"))
    batch = back(
        TensorList.from_samples([np.zeros(1), np.ones(1)], "", "cpu", made_of).select(np.array([1, 1, 0]))
    )
    assert batch.source_info() == ["reader 9", "reader 9", "reader 4"]
    assert [(d.source, position) for d, position in batch.provenance.origins(0)] == [("reader", 1)]


def test_other_names_travel():
    batch = back(TensorList.from_samples([np.zeros(1), np.ones(1)], "", "cpu", ["a", "b"]))
    assert batch.source_info() == ["a", "b"]


def test_names_of_what_was_pasted_travel():
    one, other = Provenance.of(drawn("one")), Provenance.of(drawn("other"))
    made_of = Provenance.pasted([one, other], [], None)
    batch = TensorList.from_samples([np.zeros(1), np.ones(1)], "", "cpu", made_of)
    for found in (batch, back(batch)):
        assert found.source_info() == ["one 4;other 4", "one 9;other 9"]
        assert found.provenance.files(1) == ["one 9", "other 9"]
        assert len(found.provenance.origins(1)) == 2
