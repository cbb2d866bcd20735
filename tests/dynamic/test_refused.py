"""What dynamic mode refuses: the types and words of DALI's."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from support import oracle, refusals

import jdali.dynamic as jd


def ones(*sizes):
    """Samples of these numbers of elements."""
    return [np.ones(size, np.float32) for size in sizes]


# What is wrong, and what DALI says of it: type, words, the call.
REFUSED = {
    "no data": (ValueError, "Either data, expression or batch and index must be provided", lambda d: d.tensor(None)),
    "layout": (
        ValueError,
        "the same number of dimensions as the number of dimensions of the Tensor.\nGot: 3 (HWC)\nExpected: 1.",
        lambda d: d.tensor(np.ones(2), layout="HWC"),
    ),
    "layout of a batch": (
        ValueError, "Got: 2 (HW)\nExpected: 1.", lambda d: d.as_batch(ones(2, 3), layout="HW")
    ),
    "name of a type": (ValueError, "Unsupported type name: abc", lambda d: d.tensor([1], dtype="abc")),
    "device": (ValueError, "Invalid device type: tpu", lambda d: d.tensor([1], device="tpu")),
    "device name": (ValueError, "Invalid device name: gpu:0:1", lambda d: d.Device("gpu:0:1")),
    "device twice": (
        ValueError, "Ordinal ':0' should not appear in device name when device_id is provided",
        lambda d: d.Device("gpu:0", 1),
    ),
    "device id": (ValueError, "Invalid device id: 99 for device type: gpu. Must be in range [0..", lambda d: d.Device("gpu", 99)),
    "cpu id": (
        ValueError, "Invalid device id: 1 for device type: cpu. Must be `None`", lambda d: d.Device("cpu", 1)
    ),
    "no device": (TypeError, "Cannot convert <class 'int'> to Device", lambda d: d.device(5)),
    "device and id": (
        ValueError, "Cannot specify id when passing a Device instance", lambda d: d.device(d.Device("cpu"), 0)
    ),
    "None in a batch": (
        TypeError, "Tensors must be array-like types or numbers. Got `None` at index 1",
        lambda d: d.as_batch([np.ones(1), None]),
    ),
    "empty batch": (ValueError, "Element type must be specified if the list is empty", lambda d: d.batch([])),
    "broadcast": (
        ValueError, "Cannot broadcast a Batch", lambda d: d.Batch.broadcast(d.as_batch(ones(1)), 2)
    ),
    "axes": (
        (TypeError, RuntimeError),
        "Sample must have the same sample dim as the target batch, current: 1, new: 2 for sample idx: 1.",
        lambda d: d.as_batch([np.ones(2), np.ones((2, 2))]).evaluate(),
    ),
    "ragged": (
        ValueError, "The batch has a non-uniform shape. To convert it to a tensor, `pad` argument must be ``True``",
        lambda d: d.as_tensor(d.as_batch(ones(1, 2))),
    ),
    "elements": (ValueError, "Tensor has 2 elements, expected 1", lambda d: d.tensor([1, 2]).item()),
    "sizes": (
        ValueError, "Inconsistent batch size: 3 != 2", lambda d: d.as_batch(ones(1, 1)) + d.as_batch(ones(1, 1, 1))
    ),
    "large number": (
        OverflowError, "Integer 1099511627776 is out of range for int32.", lambda d: d.tensor([1]) + 2**40
    ),
    "large number in a list": (OverflowError, "1099511627776 out of range for ", lambda d: d.tensor([1, 2**40])),
    "number and type": (OverflowError, "300 out of ", lambda d: d.tensor([300], dtype="u8")),
    "larger number": (OverflowError, "8589934592 out of range for uint32", lambda d: d.tensor(2**33)),
    "type None": (TypeError, "'None' could not be converted into any known DALIDataType", lambda d: d.dtype(None)),
    "type int": (
        TypeError, "'<class 'int'>' could not be converted into any known DALIDataType",
        lambda d: d.tensor(1, dtype=int),
    ),
    "no batch size": (
        ValueError, "`batch_size` must be specified for dynamic `batch_permutation`", lambda d: d.batch_permutation()
    ),
    "position": (TypeError, "integer", lambda d: d.as_batch([1, 2]).select(1.0)),
    "mask": (TypeError, "integer", lambda d: d.as_batch([1, 2]).select(np.array([False, True]))),
    "vector as an index": (
        (TypeError, RuntimeError), "Array indices must be scalar (0D)",
        lambda d: d.tensor([1, 2])[np.array([0, 1])].evaluate(),
    ),
    "vector of one number as an index": (
        (TypeError, RuntimeError), "Array indices must be scalar (0D)",
        lambda d: d.tensor([1, 2])[np.array([0])].evaluate(),
    ),
    "vector as the end of a range": (
        (TypeError, RuntimeError), "Array indices must be scalar (0D)",
        lambda d: d.tensor([1, 2])[: d.tensor([1])].evaluate(),
    ),
    "vector of one number for each sample": (
        (TypeError, RuntimeError), "Array indices must be scalar (0D)",
        lambda d: d.batch([[1, 2], [3, 4]]).slice[d.batch([[0], [1]])].evaluate(),
    ),
    "imread device": (
        ValueError, "Invalid device: mixed. Must be 'cpu', or 'gpu'.", lambda d: d.imread("/no", device="mixed")
    ),
    "threads": (ValueError, "The number of threads must be positive; got 0.", lambda d: d.set_num_threads(0)),
    "threads abc": (TypeError, "The number of threads must be an integer", lambda d: d.set_num_threads("abc")),
    "threads twice": (
        ValueError, "`thread_pool` and `num_threads` cannot be specified together.",
        lambda d: d.EvalContext(num_threads=2, thread_pool=d.ThreadPool(2)),
    ),
    "source with an argument": (
        ValueError, "ndd.ExternalSource only supports callables with no parameters",
        lambda d: d.ExternalSource(lambda i: i),
    ),
    "no outputs": (
        ValueError, "num_outputs must be strictly positive", lambda d: d.ExternalSource([1], num_outputs=0)
    ),
    "no source": (
        TypeError, "The `source` must be callable, iterable or a parameterless generator function.",
        lambda d: d.ExternalSource(5),
    ),
    "cycle": (ValueError, "Invalid value 'a' for the argument `cycle`.", lambda d: d.ExternalSource([1], cycle="a")),
    "cycle of a function": (
        ValueError, "The argument `cycle` can only be specified if `source` is iterable.",
        lambda d: d.ExternalSource(lambda: 1, cycle=True),
    ),
    "cycle of a generator": (
        TypeError, "Cannot cycle through a generator", lambda d: d.ExternalSource(iter(i for i in [1]), cycle=True)
    ),
    "outputs": (
        ValueError, "Expected 2 outputs from the source", lambda d: d.ExternalSource(lambda: (1, 2, 3), num_outputs=2)()
    ),
    "layouts": (
        ValueError, "Expected a sequence of size 2, got 1", lambda d: d.ExternalSource([1], num_outputs=2, layout=["A"])
    ),
    "batch size": (
        ValueError, "Expected batch size 3, got 2",
        lambda d: d.ExternalSource([d.as_batch(ones(1, 1))])(batch_size=3),
    ),
}  # fmt: skip


def in_dali(call):
    return call(importlib.import_module("nvidia.dali.experimental.dynamic"))


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_dynamic_mode_refuses_as_dali_does(name):
    kind, text, call = REFUSED[name]
    with pytest.raises(kind, match=re.escape(text)):
        call(jd)
    refusals.check(kind, re.escape(text), in_dali, call)


@pytest.mark.oracle
def test_samples_of_several_types_get_that_of_the_first():
    oracle.dali()
    theirs = pytest.importorskip("nvidia.dali.experimental.dynamic")
    for module in (jd, theirs):
        made = module.as_batch([np.float32([1.5]), np.int32([2]), np.float64([2.5])])
        assert str(made.dtype) == "f32"
        assert [np.asarray(one).tolist() for one in made.tensors] == [[1.5], [2.0], [2.5]]


@pytest.mark.oracle
def test_a_list_of_64_bit_arrays_gets_32_bits_that_hold_it():
    oracle.dali()
    theirs = pytest.importorskip("nvidia.dali.experimental.dynamic")
    for dtype in (np.int64, np.uint64):
        for data in ([1, 2], [2**31 - 1], [1, 2**31], []):
            values = [np.array(data, dtype)] * 2
            ours, expected = jd.tensor(values), theirs.tensor(values)
            assert str(ours.dtype) == str(expected.dtype)
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(expected))


def test_text_and_lists_of_batches_are_no_operands():
    with pytest.raises(TypeError, match="math.add: 'a' is neither a number nor a tensor"):
        jd.tensor([1]) + "a"
    with pytest.raises(TypeError, match="A list of Batch objects is not a valid argument type"):
        jd.as_batch([jd.as_batch(ones(1))])
    with pytest.raises(
        TypeError, match="imread: filepaths must be str, pathlib.Path, list, Tensor, or Batch"
    ):
        jd.imread(5)
    with pytest.raises(
        TypeError, match="ExternalSource: The `source` must be callable or iterable, it is None"
    ):
        jd.ExternalSource(None)
