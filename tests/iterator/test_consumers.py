"""What a loop gives, handed to other libraries: NumPy, and PyTorch through DLPack."""

import importlib
import sys

import jax
import numpy as np
import pytest
from support.numbers import pipeline

from jdali.iterator import DataIterator


def test_numpy():
    with DataIterator(pipeline(7, 3), ["x"], reader_name="Reader") as it:
        batches = list(it.as_numpy_iterator())
        assert [type(b["x"]) for b in batches] == [np.ndarray] * 3
        assert [b["x"].ravel().tolist() for b in batches] == [[0, 1, 2], [3, 4, 5], [6, 0, 1]]
        again = next(it.as_numpy_iterator())  # the next epoch
        assert again["x"].ravel().tolist() == [2, 3, 4]


def test_no_copy_on_the_cpu():
    with DataIterator(pipeline(6, 3), ["x"], reader_name="Reader") as it:
        x = next(it)["x"]
    assert np.asarray(x).ctypes.data == x.unsafe_buffer_pointer() == np.from_dlpack(x).ctypes.data


def test_pytorch():
    torch = pytest.importorskip("torch")
    with DataIterator(pipeline(6, 3), ["x"], reader_name="Reader") as it:
        x = next(it)["x"]
    tensor = torch.from_dlpack(x)
    assert tensor.data_ptr() == x.unsafe_buffer_pointer()
    assert tensor.ravel().tolist() == [0, 1, 2]


def test_a_start_ahead_of_the_first_batch():
    read = []
    pipe = pipeline(6, 3, delay=read.append)
    with DataIterator(pipe, ["x"], reader_name="Reader", prepare_first_batch=False) as it:
        assert not read
        it.start_prefetch()
        it.start_prefetch()
        assert np.asarray(next(it)["x"]).ravel().tolist() == [0, 1, 2]
        assert isinstance(next(it)["x"], jax.Array)


@pytest.mark.parametrize(
    ("plugin", "library", "text"),
    [
        ("grain", "grain", 'pip install "\\.\\[grain\\]"'),
        ("pytorch", "torch", 'pip install "\\.\\[torch\\]"'),
    ],
)
def test_libraries_that_are_missing(plugin, library, text, monkeypatch):
    for name in list(sys.modules):
        if name.startswith(f"jdali.plugin.{plugin}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=text):
        importlib.import_module(f"jdali.plugin.{plugin}")
