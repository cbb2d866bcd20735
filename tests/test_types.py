"""The small types of `jdali.types`."""

import pickle

import numpy as np
import pytest

from jdali import types


def test_layouts_compare_with_strings():
    layout = types.TensorLayout("HWC")
    assert layout == "HWC" == types.TensorLayout("HWC")
    assert layout != types.TensorLayout("CHW")
    assert types.TensorLayout("CHW") < layout
    assert len(layout) == 3
    assert repr(layout) == "TensorLayout('HWC')"
    assert pickle.loads(pickle.dumps(layout)) == layout


def test_streams_keep_their_handle():
    assert types.CUDAStream(5).ptr == 5
    assert types.CUDAStream().ptr is None


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("float32", "float"), ("float64", "double"), ("float16", "float16"), ("uint8", "uint8")],
)
def test_names_of_types_in_messages(dtype, name):
    assert types.type_name(np.dtype(dtype)) == name
