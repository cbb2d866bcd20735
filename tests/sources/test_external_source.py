"""External sources: what they take, when it is copied, and what they say of data that is none."""

from __future__ import annotations

import functools
import re

import ml_dtypes
import numpy as np
import pytest
from support import oracle, refusals

import jdali
import jdali.dynamic as jd
from jdali import OperatorError, fn, types
from jdali.tensors import TensorCPU, TensorListCPU, TensorListGPU

A = np.arange(6, dtype=np.int32).reshape(2, 3)


class OnlyDLPack:
    """An array of a library that has DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def fed(batch_size=2, **options):
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(name="in", **options))
    return pipe


def given(source, package=jdali, runs=1, **options):
    """What a pipeline hands out that has nothing but this source: the batches' samples, and the last one."""
    pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        made = package.fn.external_source(source, **options)
        pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    pipe.build()
    batches = []
    for _ in range(runs):
        (out,) = pipe.run()
        batches.append([np.array(out.at(i)) for i in range(len(out))])
    return batches, out


# --- copies -----------------------------------------------------------------------------------------
FORMS = {
    "array": lambda a: a,
    "view": lambda a: a[:, ::-1][:, ::-1],
    "list of rows": list,
    "DLPack": OnlyDLPack,
    "list of DLPack": lambda a: [OnlyDLPack(row) for row in a],
    "memoryview": memoryview,
    "list of memoryviews": lambda a: [memoryview(row) for row in a],
    "TensorList": TensorListCPU,
    "TensorListGPU": TensorListGPU,
    "list of Tensors": lambda a: [TensorCPU(row) for row in a],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_is_fed_is_copied_at_once(form):
    pipe, buffer = fed(), np.empty_like(A)
    for i in range(3):
        buffer[:] = A + 10 * i
        pipe.feed_input("in", form(buffer))
    buffer[:] = -1
    for i in range(3):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), A + 10 * i)


def test_a_torch_tensor_that_is_fed_is_copied_at_once():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    buffer = torch.from_numpy(A.copy())
    pipe = fed()
    pipe.feed_input("in", buffer)
    pipe.feed_input("in", list(buffer))
    buffer[:] = -1
    np.testing.assert_array_equal(pipe.run()[0].as_array(), A)
    np.testing.assert_array_equal(pipe.run()[0].as_array(), A)
    with pytest.raises(OperatorError, match="(?i)bfloat16"):
        pipe.feed_input("in", buffer.to(torch.bfloat16))


def test_jax_arrays_need_no_copy_and_may_be_deleted_or_donated():
    import jax
    import jax.numpy as jnp

    pipe = fed()
    deleted, donated = jnp.asarray(A + 1), jnp.asarray(A + 2)
    for batch in (deleted, donated, list(jnp.asarray(A + 3))):
        pipe.feed_input("in", batch)
    deleted.delete()
    jax.jit(lambda x: x * 0, donate_argnums=0)(donated).block_until_ready()
    for i in (1, 2, 3):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), A + i)


def test_no_copy_takes_the_memory_as_it_is_when_the_batch_is_made():
    pipe, buffer = fed(no_copy=True), A.copy()
    pipe.feed_input("in", buffer)
    buffer[:] = 7
    np.testing.assert_array_equal(pipe.run()[0].as_array(), np.full_like(A, 7))


def test_a_batch_that_is_repeated_is_not_changed_by_what_writes_to_it():
    def increment(sample):
        sample += 1
        return sample

    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        data = fn.external_source(name="in", repeat_last=True)
        pipe.set_outputs(fn.python_function(data, function=increment))
    pipe.feed_input("in", A)
    for _ in range(3):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), A + 1)


@pytest.mark.parametrize("batch", [True, False], ids=["batches", "samples"])
@pytest.mark.parametrize("no_copy", [True, False], ids=["no_copy", "copy"])
def test_a_callback_may_give_the_same_buffer_each_time(batch, no_copy):
    buffer = np.zeros((2, 3), np.int32) if batch else np.zeros(3, np.int32)

    def source():
        buffer[:] += 1
        return buffer

    batches, _ = given(source, batch=batch, no_copy=no_copy, runs=4)  # prefetched: the source is ahead of us
    expected = [[i, i] for i in (1, 2, 3, 4)] if batch else [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert [[int(sample[0]) for sample in samples] for samples in batches] == expected


def test_dynamic_mode_copies_too():
    buffer = np.zeros(3, np.int32)

    def source():
        buffer[:] += 1
        return buffer

    made = jd.ExternalSource(source)
    first, second = made(), made()
    assert (np.asarray(first)[0], np.asarray(second)[0]) == (1, 2)
    rows = [buffer, buffer]
    copied, shared = jd.batch(rows), jd.as_batch(rows)
    buffer[:] = 9
    assert (np.asarray(copied.tensors[0])[0], np.asarray(shared.tensors[0])[0]) == (2, 9)


@pytest.mark.oracle
@pytest.mark.parametrize("no_copy", [False, True])
@pytest.mark.parametrize("form", [np.asarray, list], ids=["array", "list"])
def test_fed_buffers_as_dali(form, no_copy):
    def overwritten(package):
        pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(package.fn.external_source(name="in", no_copy=no_copy))
        pipe.build()
        buffer = A.copy()
        pipe.feed_input("in", form(buffer))
        buffer[:] = 9
        return pipe.run()[0].as_array()

    np.testing.assert_array_equal(overwritten(jdali), overwritten(oracle.dali()))


# --- layouts ----------------------------------------------------------------------------------------
def test_a_layout_is_that_of_the_batch_it_was_fed_with():
    volume = A.reshape(2, 1, 1, 3)
    pipe = fed()
    pipe.feed_input("in", volume)
    pipe.feed_input("in", volume, layout="HWC")
    assert [pipe.run()[0].layout() for _ in range(2)] == ["", "HWC"]
    pipe = fed()
    pipe.feed_input("in", TensorListCPU(volume, layout="WHC"))
    assert pipe.run()[0].layout() == "WHC"
    with pytest.raises(OperatorError, match="external_source 'in': The layout 'HW' cannot describe 3-dim"):
        pipe.feed_input("in", volume, layout="HW")


@pytest.mark.oracle
@pytest.mark.parametrize("layout", [None, "CHW"])
def test_layout_of_a_tensor_list_as_dali(layout):
    def layout_of(package):
        batch = package.tensors.TensorListCPU(A.reshape(2, 1, 1, 3).copy(), layout="HWC")
        return given(lambda: batch, package, layout=layout)[1].layout()

    oracle.dali()
    import nvidia.dali.tensors  # noqa: F401

    assert layout_of(jdali) == layout_of(oracle.dali()) == (layout or "HWC")


# --- what is data -----------------------------------------------------------------------------------
@pytest.mark.oracle
@pytest.mark.parametrize(
    "batch",
    [A, list(A), np.ma.masked_array(A, mask=A > 2), list(np.ma.masked_array(A, mask=A > 2)), A.view(np.matrix),
     [A.view(np.matrix)] * 2, [memoryview(row) for row in A], memoryview(A), [np.float32(1.5)] * 2],
    ids=["array", "rows", "masked", "masked rows", "matrix", "matrices", "memoryviews", "memoryview", "scalars"],
)  # fmt: skip
def test_array_likes_as_dali(batch):
    (ours,), made = given(lambda: batch)
    (theirs,), reference = given(lambda: batch, oracle.dali())
    assert made.dtype == int(reference.dtype)
    for mine, expected in zip(ours, theirs, strict=True):
        assert mine.shape == expected.shape
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("kind", ["i2", "i4", "u8", "f2", "f4", "f8"])
def test_big_endian_arrays_are_the_same_numbers(kind):
    values = np.arange(6).reshape(2, 3)
    batches, made = given(
        lambda i: values.astype(f">{kind}") if i else list(values.astype(f">{kind}")), runs=2
    )
    for (samples,) in zip(batches, strict=True):
        np.testing.assert_array_equal(samples, values)
    assert made.spec.dtype == np.dtype(kind)
    assert made.spec.dtype.isnative
    assert types.Constant(values.astype(f">{kind}")).value.dtype.isnative
    for tensor in (jd.as_tensor, jd.as_batch, TensorListCPU, TensorListGPU):
        np.testing.assert_array_equal(np.asarray(tensor(values.astype(f">{kind}"))), values)


NO_TENSORS = {
    "object": (np.array([[1, None]], object), "object"),
    "structured": (np.zeros((1, 1), [("a", "i4")]), r"\('a'"),
    "text": (np.array([["ab"]]), "<U2"),
    "bytes": (np.array([[b"ab"]]), r"\|S2"),
    "complex": (np.zeros((1, 1), complex), "complex128"),
    "date": (np.zeros((1, 1), "M8[s]"), "datetime64"),
    "void": (np.zeros((1, 1), "V4"), r"\|V4"),
    "long double": (np.zeros((1, 1), np.longdouble), "float128|longdouble"),
    "bfloat16": (np.zeros((1, 1), ml_dtypes.bfloat16), "bfloat16"),
}


@pytest.mark.parametrize(("array", "text"), NO_TENSORS.values(), ids=NO_TENSORS)
def test_arrays_that_are_no_tensors(array, text):
    for source in (lambda: array, lambda: (array,)):
        with pytest.raises(OperatorError, match=rf"external_source: .*{text}") as caught:
            given(source, num_outputs=None if source() is array else 1)
        assert isinstance(caught.value, TypeError)
        assert f"defined at {__file__}:" in str(caught.value)
    good = np.zeros(1, np.float32)
    with pytest.raises(OperatorError, match=rf"external_source: sample 1: .*{text}") as caught:
        given(lambda: [good, array[0]])
    assert caught.value.sample == 1
    with pytest.raises(OperatorError, match=rf"external_source 'in': sample 0: .*{text}"):
        fed().feed_input("in", [array[0]])
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        data = fn.external_source(lambda: good[None])
        pipe.set_outputs(fn.python_function(data, function=lambda _: array))
    with pytest.raises(OperatorError, match=rf"python_function: .*{text}"):
        pipe.run()
    for made in (types.Constant, jd.as_tensor, jd.tensor, jd.as_batch, jd.batch, TensorCPU, TensorListCPU):
        with pytest.raises(TypeError, match=text):
            made(array)
    with pytest.raises(TypeError, match=text), jdali.Pipeline(batch_size=1):
        fn.external_source(lambda: [good]) + array


def test_samples_that_are_no_arrays():
    for value in (None, {}, "text", object()):
        with pytest.raises(OperatorError, match=f"sample 0: {type(value).__name__} is not an array"):
            given([[value, value]])
    with pytest.raises(OperatorError, match=r"sample 1: list \[\[1, 2\], \[3\]\] is not a tensor"):
        given(lambda: [[[1, 2]], [[1, 2], [3]]])
    with pytest.raises(OperatorError, match="is not a batch: it has no axis of samples"):
        given(lambda: np.float32(1))


def test_one_output_in_a_tuple():
    def rows(source, **options):
        return np.stack(given(source, num_outputs=1, **options)[0][0])

    np.testing.assert_array_equal(rows(lambda: (A,)), A)
    np.testing.assert_array_equal(rows(lambda: [A]), A)
    np.testing.assert_array_equal(rows(lambda: (list(A),)), A)
    np.testing.assert_array_equal(rows(lambda info: (A[info.idx_in_batch],), batch=False), A)
    with pytest.raises(OperatorError, match="the source gave 2 outputs, num_outputs is 1"):
        rows(lambda: A)
    with pytest.raises(OperatorError, match="with num_outputs=1 the source gives a tuple .* it gave float"):
        rows(lambda: 1.5)


def test_python_numbers_and_lists_are_what_numpy_makes_of_them():
    for source, dtype in (([1, 2], np.int64), ([1.5, 2.5], np.float64), ([True, False], np.bool_)):
        (samples,), made = given([source])
        assert made.spec.dtype == dtype
        assert [s.item() for s in samples] == source


# --- ends ------------------------------------------------------------------------------------------
class Rewinds:
    """An iterator that begins anew with each `iter`."""

    def __iter__(self):
        self.count = 0
        return self

    def __next__(self):
        if self.count == 2:
            raise StopIteration
        self.count += 1
        return np.int32([[self.count]])


def numbers(pipe, count):
    """What single-sample batches hold; None: the end, after which it is reset."""
    found = []
    for _ in range(count):
        try:
            found.append(pipe.run()[0].as_array().item())
        except StopIteration:
            found.append(None)
            pipe.reset()
    return found


@pytest.mark.parametrize(
    ("cycle", "expected"),
    [("quiet", [1, 2, 1, 2, 1]), ("raise", [1, 2, None, 1, 2]), (None, [1, 2, None, None])],
)
@pytest.mark.parametrize(
    "package", [jdali, pytest.param("oracle", marks=pytest.mark.oracle)], ids=["jdali", "DALI"]
)
def test_an_iterator_that_rewinds_itself(cycle, expected, package):
    if package == "oracle":
        package = oracle.dali()
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(package.fn.external_source(Rewinds(), cycle=cycle))
    pipe.build()
    assert numbers(pipe, len(expected)) == expected


class CalledOrIterated(Rewinds):
    """A source that is iterable, and callable."""

    def __call__(self, number):
        raise AssertionError("it is iterable, so it is not called")


class CalledOrIndexed:
    """A source that is iterable by its indices, and callable."""

    def __getitem__(self, index):
        if index == 2:
            raise IndexError
        return np.int32([[index + 1]])

    def __call__(self, number):
        raise AssertionError("it is iterable, so it is not called")


@pytest.mark.parametrize("source", [CalledOrIterated, CalledOrIndexed])
@pytest.mark.parametrize(
    "package", [jdali, pytest.param("oracle", marks=pytest.mark.oracle)], ids=["jdali", "DALI"]
)
def test_an_iterable_is_not_called(source, package):
    package = oracle.dali() if package == "oracle" else package
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(package.fn.external_source(source(), cycle="raise"))
    pipe.build()
    assert numbers(pipe, 5) == [1, 2, None, 1, 2]


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        ((n for n in range(2)), TypeError, "Cannot cycle through a generator .* pass that function instead"),
        (lambda: 1, ValueError, "The argument `cycle` can only be specified if `source` is iterable"),
        (lambda number: 1, ValueError, "The argument `cycle` can only be specified if `source` is iterable"),
    ],
)
def test_what_cannot_cycle(source, error, text):
    with pytest.raises(error, match=text):
        fn.external_source(source, cycle="raise")


def test_a_reset_where_only_the_end_is_left_begins_again():
    """Whoever knows how many batches there are need not meet the StopIteration first, as in DALI."""
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source([np.int32([[1]]), np.int32([[2]])], cycle="raise"))
    for _ in range(3):
        assert [pipe.run()[0].as_array().item() for _ in range(2)] == [1, 2]
        pipe.reset()
    assert pipe.run()[0].as_array().item() == 1
    pipe.reset()  # in the middle: without effect
    assert pipe.run()[0].as_array().item() == 2


# --- what DALI refuses at the call ----------------------------------------------------------------
REFUSED_CALLBACKS = {
    "var-positional argument `*args` which is not allowed": lambda *args: A,
    "var-keyword argument `**options` which is not allowed": lambda i, **options: A,
    "keyword-only argument `key` which is not allowed": lambda *, key=1: A,
    "more than one positional argument, which is not allowed": lambda i, j: A,
}


@pytest.mark.parametrize("text", REFUSED_CALLBACKS)
def test_callbacks_with_other_arguments_are_refused(text):
    with pytest.raises(TypeError, match=f"Found {re.escape(text)}"):
        fn.external_source(REFUSED_CALLBACKS[text])


# What is wrong with a call, and what DALI says of it: type, words, the call.
REFUSED_CALLS = {
    "cycle of a callback": (ValueError, "can only be specified if `source` is iterable.", lambda f: f(lambda: A, cycle=False)),
    "cycle unknown": (
        ValueError, "Invalid value 'loud' for the argument `cycle`. Valid values are", lambda f: f([A], cycle="loud")
    ),
    "cycle of nothing": (ValueError, "`cycle` argument is only valid for iterable `source`", lambda f: f(cycle=True)),
    "a number": (
        TypeError, "The `source` must be callable, iterable or a parameterless generator function.", lambda f: f(5)
    ),
    "depth": (
        ValueError, "The argument `prefetch_queue_depth` is valid only for parallel external sources",
        lambda f: f([A], prefetch_queue_depth=2),
    ),
    "hint": (
        ValueError, "The argument `bytes_per_sample_hint` is valid only for parallel external sources",
        lambda f: f([A], bytes_per_sample_hint=2),
    ),
    "parallel depth": (
        ValueError, "``prefetch_queue_depth`` must be a positive integer, got 0.",
        lambda f: f(lambda i: A, parallel=True, prefetch_queue_depth=0),
    ),
    "parallel hint": (
        ValueError, "``bytes_per_sample_hint`` must be a positive integer, got 0.",
        lambda f: f(lambda i: A, parallel=True, bytes_per_sample_hint=0),
    ),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_calls_are_refused_as_dali_does(name):
    kind, text, call = REFUSED_CALLS[name]

    def define(package):
        with package.Pipeline(2, 1, None):
            call(package.fn.external_source)

    refusals.check_both(kind, re.escape(text), define)


def test_repeat_last_is_for_what_is_fed():
    with pytest.raises(
        ValueError, match="``repeat_last`` must not be set when using the ``source`` argument"
    ):
        fn.external_source([A], repeat_last=True)


# What is wrong with a batch, and what DALI says of it.
REFUSED_BATCHES = {
    "All tensors in a batch must have the same number of dimensions": [A, A[0]],
    "Sample must have the same type as the target batch, current: int32, new: float for sample idx: 1": [
        A,
        np.float32(A),
    ],
    "The external source callback returned an unexpected batch size. Expected batch_size <= 2, actual: 3": np.zeros(
        (3, 1)
    ),
    "Don't know how to extract the shape out of <class 'NoneType'>": None,
    "Don't know how to extract the shape out of <class 'str'>": ["a", "b"],
}


@pytest.mark.oracle
@pytest.mark.parametrize("text", REFUSED_BATCHES)
@pytest.mark.parametrize("fed_by_user", [False, True])
def test_batches_are_refused_as_dali_does(text, fed_by_user):
    def run(package):
        if not fed_by_user:
            return given(lambda: REFUSED_BATCHES[text], package)
        with package.Pipeline(2, 1, None) as pipe:
            pipe.set_outputs(package.fn.external_source(name="in"))
        pipe.build()
        pipe.feed_input("in", REFUSED_BATCHES[text])
        return pipe.run()

    refusals.check_both(RuntimeError, re.escape(text), run)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("declared", "given_with", "text"),
    [
        (None, "HW", "The layout 'HW' cannot describe 1-dimensional data"),
        ("H", "W", 'Expected data with layout: "H" and got: "W"'),
    ],
)
def test_layouts_are_refused_as_dali_does(declared, given_with, text):
    def run(package):
        with package.Pipeline(2, 1, None) as pipe:
            pipe.set_outputs(package.fn.external_source(name="in", layout=declared))
        pipe.build()
        pipe.feed_input("in", A, layout=given_with)
        return pipe.run()

    refusals.check_both(RuntimeError, re.escape(text), run)


@pytest.mark.oracle
def test_batches_of_different_sizes_name_the_sources():
    def run(package):
        with package.Pipeline(2, 1, None) as pipe:
            pipe.set_outputs(*(package.fn.external_source([A[:n]], name=f"of {n}") for n in (1, 2)))
        pipe.build()
        return pipe.run()

    text = 'The input operator "of 2" returned a batch size 2 which is different than 1 returned by "of 1"'
    refusals.check_both(RuntimeError, text, run)


@pytest.mark.oracle
def test_what_was_not_fed_is_an_index_error():
    def run(package):
        with package.Pipeline(2, 1, None) as pipe:
            pipe.set_outputs(package.fn.external_source(name="in"))
        pipe.build()
        return pipe.run()

    refusals.check_both(IndexError, "Attempted to peek the data batch that doesn't exist", run)


@pytest.mark.oracle
def test_a_batch_may_be_empty():
    for package in (jdali, oracle.dali()):
        batches, out = given(lambda: [], package)  # noqa: PIE807  a class has no signature
        assert (batches, len(out), out.shape()) == ([[]], 0, [])
        assert "num_samples=0" in repr(out)


def test_a_partial_may_fill_in_arguments_by_name():
    def load(i, *, scale):
        return A * scale

    np.testing.assert_array_equal(given(functools.partial(load, scale=3))[0][0], A * 3)


@pytest.mark.parametrize(
    "package", [jdali, pytest.param("oracle", marks=pytest.mark.oracle)], ids=["jdali", "DALI"]
)
def test_lists_may_leave_out_the_last_outputs(package):
    package = oracle.dali() if package == "oracle" else package
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        outputs = package.fn.external_source(
            lambda: ([A], [np.float32([1])]),
            num_outputs=2,
            layout=["HW"],
            dtype=[package.types.INT32],
            ndim=[2],
        )
        pipe.set_outputs(*outputs)
    pipe.build()
    first, second = pipe.run()
    assert [out.layout() for out in (first, second)] == ["HW", ""]
    assert second.dtype == package.types.FLOAT


def test_lists_may_not_be_longer_than_the_outputs():
    with pytest.raises(ValueError, match="external_source: 3 values of layout for 2 outputs"):
        fn.external_source(lambda: (A, A), num_outputs=2, layout=["H", "W", "C"])


@pytest.mark.parametrize(
    ("count", "error", "text"),
    [
        (0, ValueError, "num_outputs is 0, it must be 1 to 65536"),
        (1 << 31, ValueError, "num_outputs is 2147483648, it must be 1 to 65536"),
        (-1, ValueError, "num_outputs is -1, it must be 1 to 65536"),
        ("2", TypeError, "num_outputs must be an integer, got '2'"),
    ],
)
def test_numbers_of_outputs(count, error, text):
    with pytest.raises(error, match=f"external_source: {text}"):
        fn.external_source(lambda: (A, A), num_outputs=count)


def test_layout_and_ndim_must_agree():
    with pytest.raises(
        RuntimeError, match=r'(?s)does not match the ndim argument.*ndim = 2,\n layout: "HWC"'
    ):
        fn.external_source(layout="HWC", ndim=2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dtype": types.UINT8}, "ExternalSource expected data of type uint8 and got: int32"),
        ({"dtype": types.FLOAT}, "ExternalSource expected data of type float and got: int32"),
        ({"ndim": 3}, "ExternalSource expected data with 3 dimensions and got 1 dimensions"),
    ],
)
def test_data_of_another_kind_than_said(options, text):
    with pytest.raises(OperatorError, match=text):
        given([A], **options)


# --- some of several outputs ----------------------------------------------------------------------
def test_outputs_that_nobody_needs_are_named():
    def load(i):
        return A, A + 1, A + 2

    with jdali.Pipeline(batch_size=2) as pipe:
        first, _, _ = fn.external_source(load, num_outputs=3, name="loader")
        pipe.set_outputs(first)
    with pytest.warns(
        UserWarning,
        match=r"node 'loader \(function load\)' produces 3 outputs, but the outputs at the indices 1, 2 are",
    ):
        pipe.build()
    np.testing.assert_array_equal(pipe.run()[0].as_array(), A)


def test_outputs_are_fed_one_by_one():
    with jdali.Pipeline(batch_size=2) as pipe:
        first, _, third = fn.external_source(num_outputs=3)
        pipe.set_outputs(first, third)
    for i in range(2):
        pipe.feed_input(third, A + 10 + i)
        with pytest.raises(OperatorError, match="no data"):
            pipe.run()
        pipe.feed_input(first, A + i, layout="W")
        got = pipe.run()
        np.testing.assert_array_equal(got[0].as_array(), A + i)
        np.testing.assert_array_equal(got[1].as_array(), A + 10 + i)
        assert [out.layout() for out in got] == ["W", ""]
