"""The small types of `jdali.types`."""

import pickle

import numpy as np
import pytest

from jdali import Pipeline, fn, types
from jdali.data_node import DataNode


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


def test_scalar_constants_are_equal_by_value_and_type():
    assert types.Constant(3) == types.ScalarConstant(3)
    assert types.Constant(3) != types.Constant(4)
    assert types.Constant(3) != types.Constant(3).uint8()
    assert len({types.Constant(3), types.Constant(3), types.Constant(True)}) == 2
    node = fn.external_source([np.int32([1])])
    assert isinstance(types.Constant(3) == node, DataNode)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("float32", "float"), ("float64", "double"), ("float16", "float16"), ("uint8", "uint8")],
)
def test_names_of_types_in_messages(dtype, name):
    assert types.type_name(np.dtype(dtype)) == name


def test_options_of_a_constant():
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        named = types.Constant(np.int32([[1, 2]]), layout="AB", name="Table")
        pipe.set_outputs(named, named + 1, types.ConstantNode("cpu", 3, None, (2,), None))
    assert "Table" in [node.name for node in pipe.graph.nodes]
    assert [np.asarray(output.at(1)).tolist() for output in pipe.run()] == [[[1, 2]], [[2, 3]], [3, 3]]
    pipe.close()
    with pytest.raises(
        TypeError, match="Constant: got an unexpected argument 'nam'; there are name and preserve"
    ):
        types.Constant([1], nam="Table")
