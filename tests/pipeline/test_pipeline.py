"""Pipeline: definition, running, feeding, errors, and threads that always end."""

import gc
import json
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterable

import jax
import numpy as np
import pytest
from support import oracle, refusals
from support.faults import until

import jdali
from jdali import fn, types
from jdali.pipeline import do_not_convert, pipeline_def
from jdali.tensors import TensorListCPU, TensorListGPU

# Longer than anything here takes, however busy the machine is.
HANG_SECONDS = 120


def numbered(count: int, size: int = 4):
    """A source of `count` batches of `size` scalars, numbered through."""
    return [[np.array(size * b + i, np.int32) for i in range(size)] for b in range(count)]


@jdali.pipeline_def(batch_size=4, num_threads=2)
def counting(batches, cycle=None):
    return fn.external_source(source=batches, cycle=cycle)


class Counted(jdali.Pipeline):
    """Asks for what is known once it is built, in its own `build`."""

    def define_graph(self):
        return fn.random.uniform(range=[0, 1])

    def build(self):
        super().build()
        self.count = self.num_outputs


# --- definition -----------------------------------------------------------------------------
def test_a_subclass_builds_in_its_own_way():
    pipe = Counted(batch_size=2, num_threads=1, seed=1)
    pipe.build()
    assert pipe.count == 1
    assert len(pipe.run()[0]) == 2
    pipe.close()


def test_arguments_of_the_function_and_of_the_pipeline_are_told_apart():
    pipe = counting(numbered(1), batch_size=8, seed=5)
    assert (pipe.max_batch_size, pipe.seed, pipe.num_threads) == (8, 5, 2)
    assert "not built" in repr(pipe)


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1.5, 2], np.float32([1.5, 2])), ((1, 2), np.int32([1, 2])), ([True, False], np.array([True, False])),
     ([], np.float32([]))],
)  # fmt: skip
def test_lists_of_numbers_as_outputs(value, expected):
    """As DALI: each sample is all of the list."""
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(value)
    (out,) = pipe.run()
    pipe.close()
    for i in range(2):
        got = np.asarray(out.at(i))
        assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist())


def test_with_block_and_set_outputs():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        assert jdali.Pipeline.current() is pipe
        pipe.set_outputs(fn.external_source(source=lambda: np.ones((2, 3), np.uint8)), 7)
    assert jdali.Pipeline.current() is None
    ones, sevens = pipe.run()
    np.testing.assert_array_equal(ones.as_array(), np.ones((2, 3), np.uint8))
    np.testing.assert_array_equal(sevens.as_array(), [7, 7])
    assert sevens.dtype == types.INT32


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: fn.brightness_contrast(x, bright=2),
            'brightness_contrast: Argument "bright" is not defined for operator "BrightnessContrast"',
        ),
        (
            lambda x: fn.brightness_contrast(x, x),
            "brightness_contrast: Operator brightness_contrast expects from 1 to 1 inputs, but received 2",
        ),
        (
            lambda x: fn.brightness_contrast(x, dtype=x),
            "brightness_contrast: The argument `dtype` for operator `brightness_contrast` should not be a 'DataNode'",
        ),
        (
            lambda x: fn.brightness_contrast(x, brightness="much"),
            "brightness_contrast: argument 'brightness' got",
        ),
        (
            lambda x: fn.brightness_contrast(x, device="tpu"),
            'Unsupported device type: "tpu". It must be "cpu", "gpu" or "mixed"',
        ),
    ],
)
def test_a_wrong_call_fails_at_its_line(call, text):
    with jdali.Pipeline(batch_size=1, num_threads=1):
        images = fn.external_source(source=lambda: 1)
        with pytest.raises((TypeError, ValueError), match=text):
            call(images)


def test_arguments_without_effect_are_taken_and_kept():
    pipe = jdali.Pipeline(
        batch_size=1, num_threads=1, bytes_per_sample=10, set_affinity=True, exec_dynamic=True
    )
    assert pipe.bytes_per_sample == 10
    assert pipe.set_affinity


@pytest.mark.parametrize("package", ["jdali", pytest.param("nvidia.dali", marks=pytest.mark.oracle)])
def test_build_returns_nothing(package):
    pipe = _ones(pytest.importorskip(package), {"batch_size": 1, "num_threads": 1, "device_id": None})
    assert pipe.build() is None
    assert pipe.build() is None


def test_a_pipeline_without_outputs_and_bad_arguments_are_refused():
    with pytest.raises(RuntimeError, match="no outputs"):
        jdali.Pipeline(batch_size=1, num_threads=1).build()
    with pytest.raises(ValueError, match="on_error"):
        jdali.Pipeline(batch_size=1, on_error="ignore")
    with pytest.raises(ValueError, match="The batch size must be set"):
        jdali.Pipeline().batch_size  # noqa: B018
    with pytest.raises(TypeError, match="Pipeline.add_sink: it takes a DataNode, got int"):
        jdali.Pipeline(batch_size=1).add_sink(3)


# What is wrong with an argument of `Pipeline`, and what DALI says of it.
REFUSED_OPTIONS = {
    "batch size": ({"batch_size": 0}, ValueError, "Invalid batch size: 0. Please set a positive integer."),
    "depth": ({"prefetch_queue_depth": 0}, ValueError, "The prefetch queue depth must be greater than 0."),
    "depth 1.5": (
        {"prefetch_queue_depth": 1.5}, TypeError, "Expected prefetch_queue_depth to be either int or Dict[int, int]"
    ),
    "queues by other names": ({"prefetch_queue_depth": {"cpu": 4, "gpu": 1}}, KeyError, "cpu_size"),
    "one queue": ({"prefetch_queue_depth": {"cpu_size": 4}}, KeyError, "gpu_size"),
    "no queue": ({"prefetch_queue_depth": {}}, KeyError, "cpu_size"),
    "queues": (
        {"prefetch_queue_depth": {"cpu_size": 2, "gpu_size": 1}, "exec_async": False}, ValueError,
        "`exec_async` must not evaluate to `False` when using separated queues",
    ),
    "threads": (
        {"num_threads": 0}, ValueError,
        "Pipeline created with `num_threads` < 1 can only be used for serialization.",
    ),
    "pickler": (
        {"py_callback_pickler": pickle, "py_start_method": "fork"}, ValueError,
        "``py_callback_pickler`` should not be set when 'fork' start method is used",
    ),
    "dtype": ({"output_dtype": "text"}, TypeError, "a list of these or None. Found type: <class 'str'>."),
    "dtypes": ({"output_dtype": ["text"]}, TypeError, "Found type <class 'str'> in the list."),
    "no type": ({"output_dtype": types.NO_TYPE}, ValueError, "`output_dtype` can't be a types.NO_TYPE. Found value: "),
    "ndim": (
        {"output_ndim": "2"}, TypeError,
        "`output_ndim` must be either: an int, a list of ints or None. Found type: <class 'str'>.",
    ),
    "ndim -1": ({"output_ndim": -1}, ValueError, "`output_ndim` must be non-negative. Found value: -1."),
    "ndims": ({"output_ndim": [-1]}, ValueError, "`output_ndim` must be non-negative. Found value -1 in the list."),
    "layout": (
        {"output_layout": 3}, TypeError,
        "`output_layout` must be either: a string, a list of strings or None. Found type: <class 'int'>.",
    ),
    "counts": (
        {"output_ndim": [1, 2]}, RuntimeError,
        "Lengths of provided output descriptions do not match. \nExpected num_outputs=1.\nReceived:\noutput_dtype=",
    ),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED_OPTIONS)
def test_options_are_refused_as_dali_does(name):
    options, kind, text = REFUSED_OPTIONS[name]

    def build(package):
        given = {"batch_size": 1, "num_threads": 1, "device_id": None} | options
        if name == "no type":
            given["output_dtype"] = package.types.NO_TYPE
        _ones(package, given).build()

    refusals.check_both(kind, re.escape(text), build)


def _ones(package, options):
    pipe = package.Pipeline(**options)
    pipe.set_outputs(np.int32([1]))
    return pipe


def test_what_is_expected_of_outputs_may_be_a_type_of_numpy():
    pipe = jdali.Pipeline(batch_size=1, output_dtype=[np.int32], output_ndim=np.int64(1))
    pipe.set_outputs(np.int32([1]))
    assert len(pipe.run()) == 1
    assert pipe.output_dtype() == [types.INT32]
    assert isinstance(pipe.output_dtype()[0], types.DALIDataType)


@pytest.mark.oracle
@pytest.mark.parametrize("value", ["text", None, object, {"a": 1}], ids=str)
def test_outputs_that_cannot_be_are_refused_by_build(value):
    def build(package):
        with package.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            pipe.set_outputs(value)
        pipe.build()

    kind = re.escape(
        f"The output 0 is a `{type(value)}`. Allowed types are ``DataNode`` and types convertible"
    )
    refusals.check_both(TypeError, f"Illegal output type. {kind}", build)


def test_outputs_that_were_refused_may_be_set_again():
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    pipe.set_outputs("text")
    with pytest.raises(TypeError, match=r"set at .*test_pipeline.py:\d+"):
        pipe.build()
    pipe.set_outputs(np.int32([1]))
    assert pipe.run()[0].as_array().tolist() == [[1]]


@pytest.mark.oracle
def test_unknown_names_are_refused_as_dali_does():
    def pipeline(package):
        with package.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
            pipe.set_outputs(package.fn.external_source(name="in"))
        pipe.build()
        return pipe

    calls = [
        (lambda pipe: pipe.feed_input("other", []), KeyError, 'Could not find an input operator with name "other"'),
        (
            lambda pipe: pipe.feed_input(3, []), TypeError,
            'Expected outputs of type compatible with "DataNode". Received output type with name "int" that does not match.',
        ),
        (lambda pipe: pipe.input_feed_count("other"), KeyError, 't have an input named "other".'),
        (lambda pipe: pipe.reader_meta("other"), RuntimeError, "not found or does not expose valid metadata."),
        (lambda pipe: pipe.checkpoint(), RuntimeError, "The `enable_checkpointing` was not specified when creating"),
        (lambda pipe: pipe.share_outputs(), StopIteration, ""),
        (lambda pipe: pipe.serialize(3), TypeError, "Provided `define_graph` argument is not callable."),
        (lambda pipe: pipe.serialize("a"), TypeError, "Didn't you want to write `.serialize(filename=...)`?"),
        (lambda pipe: pipe.deserialize("a"), RuntimeError, "Error parsing serialized pipeline"),
    ]  # fmt: skip
    for call, kind, text in calls:
        refusals.check_both(kind, re.escape(text), lambda package, call=call: call(pipeline(package)))


@pytest.mark.oracle
def test_a_graph_that_is_there_is_not_defined_by_serialize():
    def serialize(package):
        pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
        pipe.set_outputs(np.int32([1]))
        pipe.serialize(lambda: ())

    words = "Duplicate graph definition - `define_graph` argument should not"
    refusals.check_both(RuntimeError, words, serialize)


# --- running --------------------------------------------------------------------------------
@pytest.mark.parametrize("prefetch", [1, 4])
@pytest.mark.parametrize("ahead", [True, False])
def test_batches_come_in_order_and_end(prefetch, ahead):
    with_options = counting(numbered(5), cycle="raise", prefetch_queue_depth=prefetch, exec_async=ahead)
    got = [with_options.run()[0].as_array() for _ in range(5)]
    np.testing.assert_array_equal(np.concatenate(got), np.arange(20))
    with pytest.raises(StopIteration):
        with_options.run()
    with_options.reset()
    np.testing.assert_array_equal(with_options.run()[0].as_array(), np.arange(4))


def test_cycle_quiet_and_raise():
    quiet = counting(numbered(2), cycle="quiet")
    got = [int(quiet.run()[0].at(0)) for _ in range(5)]
    assert got == [0, 4, 0, 4, 0]
    raising = counting(numbered(2), cycle="raise")
    raising.run(), raising.run()
    with pytest.raises(StopIteration):
        raising.run()
    raising.reset()
    assert int(raising.run()[0].at(0)) == 0


def test_schedule_share_release():
    pipe = counting(numbered(4))
    pipe.schedule_run()
    pipe.schedule_run()
    with pytest.raises(RuntimeError, match="scheduled batches"):
        pipe.run()
    first = pipe.share_outputs()
    pipe.release_outputs()
    second = pipe.outputs()
    assert [int(o[0].at(0)) for o in (first, second)] == [0, 4]
    assert pipe.empty()
    assert int(pipe.outputs()[0].at(0)) == 8
    with pytest.raises(StopIteration, match="nothing was scheduled"):
        pipe.share_outputs()


def queue_of(lib, fn, files, depth, *, fills_each_time):
    """Numbers of the samples of some batches, taken by way of the queue."""
    pipe = lib.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=depth)
    with pipe:
        pipe.set_outputs(fn.readers.numpy(files=files))
    pipe.build()
    pipe._prefetch()
    found = [pipe.empty()]
    for _ in range(6):
        if fills_each_time:
            pipe._prefetch()
        (batch,) = pipe.share_outputs()
        found.append([int(np.asarray(batch.at(i))[0]) for i in range(2)])
        pipe.release_outputs()
        pipe.schedule_run()
        found.append(pipe.empty())
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("fills_each_time", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
def test_prefetch_fills_the_queue_as_dali_does(tmp_path, depth, fills_each_time):
    dali = oracle.dali()
    from nvidia.dali import fn as theirs

    files = [str(tmp_path / f"{number}.npy") for number in range(5)]
    for number, path in enumerate(files):
        np.save(path, np.int32([number]))
    options = {"depth": depth, "fills_each_time": fills_each_time}
    assert queue_of(jdali, fn, files, **options) == queue_of(dali, theirs, files, **options)


def test_prefetch_stops_where_the_source_ends():
    pipe = counting(numbered(1), cycle="raise", prefetch_queue_depth=3)
    pipe._prefetch()
    assert int(pipe.share_outputs()[0].at(0)) == 0
    with pytest.raises(StopIteration):
        pipe.share_outputs()
    pipe.reset()
    assert int(pipe.outputs()[0].at(0)) == 0


def test_older_names_of_the_queue():
    pipe = counting(numbered(4))
    with pytest.warns(DeprecationWarning, match="_run is deprecated, use schedule_run"):
        pipe._run()
    with pytest.warns(DeprecationWarning, match="_share_outputs"):
        assert int(pipe._share_outputs()[0].at(0)) == 0
    with pytest.warns(DeprecationWarning, match="_release_outputs"):
        pipe._release_outputs()
    pipe.schedule_run()
    assert int(pipe._outputs()[0].at(0)) == 4


def test_what_an_iterator_schedules_does_not_stand_in_the_way():
    pipe = counting(numbered(4))
    with pipe._check_api_type_scope(types.PipelineAPIType.ITERATOR):
        for number in range(3):
            pipe.schedule_run()
            assert int(pipe.share_outputs()[0].at(0)) == 4 * number
    assert pipe.empty()
    assert int(pipe.run()[0].at(0)) == 12


class Told:
    """A source that says which batches it was asked for; it gives them when they are wanted."""

    def __init__(self):
        self.asked = [threading.Event() for _ in range(8)]
        self.wanted = threading.Event()

    def __call__(self, number):
        self.asked[number].set()
        assert self.wanted.wait(HANG_SECONDS)
        return np.full((2, 1), number, np.int32)


def test_run_and_schedule_run_may_be_mixed():
    pipe = counting(numbered(4))
    for check in (True, False):
        pipe.enable_api_check(check)
        pipe.run()
        pipe.schedule_run()
        pipe.share_outputs()
    pipe.close()


def test_schedule_run_begins_in_the_background():
    """Functions run though nobody has come for the batch; `schedule_run` does not wait for them."""
    told, asked = Told(), []
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, prefetch_queue_depth=1)
    with pipe:
        data = fn.external_source(lambda i: asked.append(i) or np.full((2, 1), i, np.int32))
        pipe.set_outputs(fn.python_function(data, function=lambda x: told(int(x[0]))[0]))
    pipe.build()
    assert not asked
    pipe.schedule_run()
    assert asked == [0]
    assert told.asked[0].wait(HANG_SECONDS)
    told.wanted.set()
    assert int(pipe.share_outputs()[0].at(0)[0]) == 0
    pipe.close()


def test_schedule_run_of_a_fed_pipeline_begins_in_the_background():
    told = Told()
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        data = fn.external_source(name="data")
        pipe.set_outputs(fn.python_function(data, function=lambda x: told(int(x[0]))[0] + 1))
    for number in range(3):
        pipe.feed_input("data", np.full((2, 1), number, np.int32))
        pipe.schedule_run()
    assert told.asked[0].wait(HANG_SECONDS)
    assert not pipe.empty()
    told.wanted.set()
    assert [int(pipe.share_outputs()[0].at(0)[0]) for _ in range(3)] == [1, 2, 3]
    assert pipe.empty()
    pipe.schedule_run()  # nothing was fed: the error is that of the batch
    with pytest.raises(jdali.OperatorError, match="no data; call pipeline.feed_input"):
        pipe.share_outputs()
    assert int(pipe.run(data=np.full((2, 1), 5, np.int32))[0].at(0)[0]) == 6
    pipe.close()


@pytest.mark.parametrize("option", ["exec_async", "exec_pipelined"])
def test_schedule_run_without_a_background(option):
    """As in DALI: the batch is made before `schedule_run` returns, one at a time."""
    source = Told()
    source.wanted.set()
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, **{option: False})
    with pipe:
        pipe.set_outputs(fn.external_source(source))
    pipe.schedule_run()
    assert [event.is_set() for event in source.asked[:2]] == [True, False]
    assert int(pipe.outputs()[0].at(0)[0]) == 0
    assert not source.asked[1].is_set()
    pipe.close()


@pytest.mark.parametrize("ahead", [True, False])
def test_the_end_of_a_source_among_scheduled_batches(ahead):
    pipe = counting(numbered(2), cycle="raise", exec_async=ahead)
    for _ in range(4):
        pipe.schedule_run()
    assert [int(pipe.share_outputs()[0].at(0)) for _ in range(2)] == [0, 4]
    for _ in range(2):
        with pytest.raises(StopIteration):
            pipe.share_outputs()
    pipe.reset()
    pipe.schedule_run()
    state = pipe.get_state()
    assert int(pipe.share_outputs()[0].at(0)) == 0
    pipe.schedule_run()
    pipe.set_state(state)  # what was scheduled is gone
    assert pipe.empty()
    assert int(pipe.run()[0].at(0)) == 0
    pipe.close()


def test_closing_ends_what_was_scheduled():
    told = Told()
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        data = fn.external_source(name="data")
        pipe.set_outputs(fn.python_function(data, function=lambda x: told(int(x[0]))[0]))
    for number in range(3):
        pipe.feed_input("data", np.full((2, 1), number, np.int32))
        pipe.schedule_run()
    assert told.asked[0].wait(HANG_SECONDS)
    closing = threading.Thread(target=pipe.close)
    closing.start()
    engine = pipe.internals().engine
    assert until(lambda: engine.closed)  # else the next batch may begin before
    told.wanted.set()
    closing.join(HANG_SECONDS)
    assert not closing.is_alive()
    assert not any(event.is_set() for event in told.asked[1:])
    with pytest.raises(RuntimeError, match="closed"):
        pipe.share_outputs()
    with pytest.raises(RuntimeError, match="closed"):
        pipe.schedule_run()


def test_feeding():
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        data = fn.external_source(name="data", layout="HW")
        pipe.set_outputs(data, data + 1)
    with pytest.raises(RuntimeError, match="no data; call pipeline.feed_input"):
        pipe.run()
    pipe.feed_input("data", np.zeros((3, 2, 2), np.float32))
    same, more = pipe.run()
    assert same.layout() == "HW"
    np.testing.assert_array_equal(more.as_array(), np.ones((3, 2, 2), np.float32))
    (small, _) = pipe.run(data=[jax.numpy.ones((1, 5))])
    assert small.shape() == [(1, 5)]
    with pytest.raises(KeyError, match='Could not find an input operator with name "other"'):
        pipe.feed_input("other", [])
    with pytest.raises(RuntimeError, match="Expected batch_size <= 3, actual: 4"):
        pipe.run(data=np.zeros((4, 1)))


def test_sample_callbacks_are_told_the_sample():
    seen = []

    def sample(info):
        seen.append((info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx))
        if info.iteration == 2:
            raise StopIteration
        return np.int32(info.idx_in_epoch)

    @jdali.pipeline_def(batch_size=2, num_threads=1)
    def pipeline():
        return fn.external_source(source=sample, batch=False)

    pipe = pipeline()
    assert [pipe.run()[0].as_array().tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(StopIteration):
        pipe.run()
    assert seen[:5] == [(0, 0, 0, 0), (1, 1, 0, 0), (2, 0, 1, 0), (3, 1, 1, 0), (4, 0, 2, 0)]


def test_several_outputs_and_tuples_of_layouts():
    def source(i):
        return [np.full((2, 3), i, np.uint8)] * 2, np.arange(2, dtype=np.int32)

    @jdali.pipeline_def(batch_size=2, num_threads=1)
    def pipeline():
        images, numbers = fn.external_source(source=source, num_outputs=2, layout=["HW", ""])
        return images.gpu(), numbers

    images, numbers = pipeline().run()
    assert isinstance(images, TensorListGPU)
    assert isinstance(numbers, TensorListCPU)
    assert images.as_cpu().layout() == "HW"
    assert numbers.as_array().tolist() == [0, 1]


@pytest.mark.parametrize(("pads", "size"), [(True, 12), (False, 10)])
@pytest.mark.parametrize(
    "package", [jdali, pytest.param("oracle", marks=pytest.mark.oracle)], ids=["jdali", "DALI"]
)
def test_the_size_of_an_epoch_is_the_padded_one(tmp_path, package, pads, size):
    package = oracle.dali() if package == "oracle" else package
    files = [tmp_path / f"{i}.bin" for i in range(10)]
    for file in files:
        file.write_bytes(b"a")
    pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, _ = package.fn.readers.file(
            files=[str(file) for file in files], num_shards=3, pad_last_batch=pads, name="R"
        )
        pipe.set_outputs(data)
    assert (pipe.epoch_size("R"), pipe.epoch_size()) == (size, {"R": size})


def test_expected_outputs_are_checked():
    pipe = counting(numbered(1), output_dtype=types.FLOAT)
    with pytest.raises(
        RuntimeError, match="Data type in the output_idx=0 does not match. Expected: FLOAT. Received: INT32"
    ):
        pipe.run()


def test_expectations_of_another_number_of_outputs():
    pipe = jdali.Pipeline(batch_size=2, output_ndim=[1, 1])
    pipe.set_outputs(np.int32([1]))
    with pytest.raises(RuntimeError, match=r"(?s)Lengths .* do not match.*num_outputs=1"):
        pipe.build()


def test_layouts_of_outputs_are_checked():
    pipe = jdali.Pipeline(batch_size=2, output_layout="A")
    pipe.set_outputs(types.Constant(np.int32([1]), layout="B"))
    with pytest.raises(
        RuntimeError, match="Layout in the output_idx=0 does not match. Expected: A. Received: B."
    ):
        pipe.run()


def test_a_function_with_keyword_arguments_of_any_name_is_refused():
    @pipeline_def
    def pipeline(**kwargs):
        return np.int32(1)

    with pytest.raises(TypeError, match=r"`\*\*kwargs` in a graph-defining function is not allowed"):
        pipeline(batch_size=2)


def test_a_definition_is_always_converted():
    def define():
        return np.int32(1)

    text = "Pipeline definition cannot be marked with @do_not_convert"
    with pytest.raises(ValueError, match=text):
        pipeline_def(do_not_convert(define))
    with pytest.raises(ValueError, match=text):
        do_not_convert(pipeline_def(lambda: 1))


def test_conditionals_can_be_enabled_where_the_pipeline_is_made():
    @pipeline_def
    def pipeline():
        x = fn.external_source([np.int32([1, 5])])
        if x > 2:
            y = x * 10
        else:
            y = x
        return y

    (out,) = pipeline(batch_size=2, enable_conditionals=True).run()
    assert out.as_array().tolist() == [1, 50]


def test_options_without_effect_are_attributes_and_are_kept_by_serialize():
    policy, concurrency = jdali.StreamPolicy.PER_BACKEND, jdali.OperatorConcurrency.FULL
    pipe = jdali.Pipeline(
        batch_size=2, stream_policy=policy, concurrency=concurrency, max_streams=3, set_affinity=True,
        prefetch_queue_depth={"cpu_size": 3, "gpu_size": 2}, output_dtype=types.INT32, output_ndim=[1],
    )  # fmt: skip
    pipe.set_outputs(np.int32([1]))
    for one in (pipe, jdali.Pipeline.deserialize(pipe.serialize())):
        assert (one.stream_policy, one.concurrency) == (policy, concurrency)
        assert (one.max_streams, one.set_affinity, one.exec_dynamic) == (3, True, True)
        assert (one.cpu_queue_size, one.gpu_queue_size) == (3, 2)
        assert (one.output_dtype(), one.output_ndim()) == ([types.INT32], [1])


@pytest.mark.parametrize("package", ["jdali", pytest.param("nvidia.dali", marks=pytest.mark.oracle)])
def test_a_seed_that_was_not_given_is_not_serialized(package):
    package = jdali if package == "jdali" else oracle.dali()

    def pipeline(**options):
        pipe = package.Pipeline(batch_size=8, num_threads=1, device_id=None, **options)
        with pipe:
            pipe.set_outputs(package.fn.random.uniform(range=[0, 1]))
        pipe.build()
        return pipe

    def values(pipe):
        return pipe.run()[0].as_array().tolist()

    data = pipeline().serialize()
    assert pipeline().serialize() == data
    one, other = (package.Pipeline.deserialize(data) for _ in range(2))
    assert values(one) != values(other)
    seeded = pipeline(seed=3)
    assert values(package.Pipeline.deserialize(seeded.serialize())) == values(seeded)


def test_a_state_brings_the_seed_of_a_pipeline_that_was_serialized():
    pipe = jdali.Pipeline(batch_size=8, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    pipe.run()
    again = jdali.Pipeline.deserialize(pipe.serialize())
    again.set_state(pipe.get_state())
    assert again.seed == pipe.seed
    assert again.run()[0].as_array().tolist() == pipe.run()[0].as_array().tolist()


def test_serialize_takes_a_function_that_defines_the_graph():
    def define():
        return np.int32([4])

    written = jdali.Pipeline(batch_size=2).serialize(define)
    assert jdali.Pipeline.deserialize(written).run()[0].as_array().tolist() == [[4], [4]]
    with pytest.raises(TypeError, match="`define_graph` argument is not callable"):
        jdali.Pipeline(batch_size=2).serialize("file")


@pytest.mark.parametrize("define", [fn.resize, fn.peek_image_shape], ids=["compiled", "host"])
def test_a_written_graph_with_an_argument_that_its_operator_lacks_is_refused(define):
    pipe = jdali.Pipeline(batch_size=2)
    with pipe:
        pipe.set_outputs(define(fn.external_source(name="fed")))
    changed = json.loads(pipe.serialize())
    changed["nodes"][1]["args"]["foreign"] = 3
    with pytest.raises(TypeError, match=f'{define.__name__}: Argument "foreign" is not defined'):
        jdali.Pipeline.deserialize(json.dumps(changed))


def test_nodes_are_no_iterables():
    node = fn.external_source([np.int32([1])])
    assert not isinstance(node, Iterable)
    with pytest.raises(TypeError, match="not iterable"):
        _, _ = node


def test_a_pipeline_is_an_iterable():
    assert [int(out[0].at(0)) for out in counting(numbered(3))] == [0, 4, 8]


# --- what the user sees ---------------------------------------------------------------------
def test_the_plan_names_stages_shapes_and_programs():
    @jdali.pipeline_def(batch_size=4, num_threads=2)
    def pipeline():
        images = fn.external_source(source=lambda: np.zeros((4, 6, 5, 3), np.uint8), layout="HWC")
        return fn.brightness_contrast(fn.brightness_contrast(images, brightness=2.0), contrast=0.5)

    pipe = pipeline()
    pipe.run()
    text = pipe.plan()
    assert "brightness_contrast + brightness_contrast" in text
    assert "padded 6×6×3" in text
    assert "1 program compiled" in text
    assert pipe.executor_statistics()["programs"] == 1


def test_max_compiles_holds():
    sizes = iter([4, 50, 700])

    @jdali.pipeline_def(batch_size=1, num_threads=1, max_compiles=2, exec_async=False)
    def pipeline():
        images = fn.external_source(source=lambda: np.zeros((1, next(sizes), 4, 3), np.uint8), layout="HWC")
        return fn.brightness_contrast(images, brightness=2.0)

    pipe = pipeline()
    pipe.run(), pipe.run()
    with pytest.raises(jdali.CompileLimitError, match="max_compiles is 2"):
        pipe.run()


def test_the_graph_as_dot(tmp_path):
    pipe = counting(numbered(1))
    pipe.save_graph_to_dot_file(str(tmp_path / "graph.dot"), show_tensors=True, use_colors=True)
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph")
    assert "external_source" in text


# --- errors ---------------------------------------------------------------------------------
def test_an_error_in_a_callback_names_operator_and_line_and_the_pipeline_goes_on():
    def function(value):
        if value == 5:
            raise ZeroDivisionError("five is right out")
        return value

    @jdali.pipeline_def(batch_size=4, num_threads=2)
    def pipeline():
        return fn.python_function(fn.external_source(source=numbered(3)), function=function)

    pipe = pipeline()
    pipe.run()
    with pytest.raises(jdali.OperatorError) as caught:
        pipe.run()
    message = str(caught.value)
    assert "python_function: ZeroDivisionError: five is right out" in message
    assert "sample 1 of the batch" in message
    assert f"{__file__}:" in message
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert int(pipe.run()[0].at(0)) == 8


def test_samples_of_a_batch_must_agree():
    @jdali.pipeline_def(batch_size=2, num_threads=1)
    def pipeline():
        return fn.external_source(source=lambda: [np.zeros(3, np.uint8), np.zeros((3, 1), np.uint8)])

    with pytest.raises(jdali.OperatorError, match="sample 1 is uint8 with 2 axes"):
        pipeline().run()


def fail_on_three(value):
    if value == 3:
        raise jdali.SampleError("three is bad")
    return value


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_bad_samples_of_an_external_source(on_error):
    """A good sample of the batch stands in; the source has no other ones."""

    @jdali.pipeline_def(batch_size=4, num_threads=2, on_error=on_error)
    def pipeline():
        return fn.python_function(fn.external_source(source=numbered(2)), function=fail_on_three)

    pipe = pipeline()
    result = pipe.run_result()
    assert [int(result.outputs[0].at(i)) for i in range(len(result.outputs[0]))] == [0, 1, 2, 0]
    assert result.mask.tolist() == [True, True, True, False]
    (error,) = pipe.errors
    assert (error.operator, error.reason, error.index) == ("python_function", "three is bad", 3)
    assert pipe.run()[0].as_array().tolist() == [4, 5, 6, 7]


# --- threads --------------------------------------------------------------------------------
def jdali_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.name.startswith("jdali")}


def test_threads_end_with_close_del_and_early_break():
    def slow():
        time.sleep(0.01)
        return np.zeros((4,), np.uint8)

    before = jdali_threads()  # of pipelines of other tests that were not collected yet
    for end in ("close", "del", "break"):
        pipe = counting(slow)
        for _ in pipe:
            break
        assert jdali_threads() - before
        if end == "close":
            pipe.close()
            with pytest.raises(RuntimeError, match="closed"):
                pipe.run()
        del pipe
        gc.collect()
        deadline = time.perf_counter() + HANG_SECONDS
        while jdali_threads() - before and time.perf_counter() < deadline:
            time.sleep(0.01)
        assert not jdali_threads() - before


def test_dropping_a_pipeline_never_waits():
    """The garbage collector may run in a thread that holds what the pipeline's threads wait for."""
    held = threading.Lock()

    def source():
        with held:
            return np.zeros((4,), np.uint8)

    pipe = counting(source)
    pipe.run()
    with held:  # who waits here, waits for ever
        del pipe
        gc.collect()


def test_many_pipelines_leave_no_thread_behind():
    before = jdali_threads()
    for _ in range(20):
        pipe = counting(numbered(3))
        pipe.run()
        pipe.close()
    assert not jdali_threads() - before


@pytest.mark.cases(1)
@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "import sys; sys.exit(0)"])
def test_the_interpreter_exits_with_a_live_pipeline(ending):
    script = textwrap.dedent(
        f"""
        import numpy as np, jdali, threading, time
        from jdali import fn
        @jdali.pipeline_def(batch_size=4, num_threads=4)
        def pipeline():
            x = fn.external_source(source=lambda: np.zeros((4, 64, 64, 3), np.uint8), layout="HWC")
            return fn.python_function(fn.brightness_contrast(x, brightness=2.0), function=lambda a: a)
        pipe = pipeline()
        pipe.run()
        print("done", flush=True)
        {ending}
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_import_starts_nothing():
    script = (
        "import threading, sys, jdali\n"
        "from jdali._operators.record import REGISTRY\n"
        "from jax._src import xla_bridge\n"
        "assert all(getattr(jdali, name) is not None for name in dir(jdali))\n"  # each is imported now
        "assert all(op.doc for op in REGISTRY.values() if not op.name.startswith(('_', 'math.')))\n"
        "assert threading.active_count() == 1, threading.enumerate()\n"
        "assert not xla_bridge.backends_are_initialized()\n"
        "assert not {'torch', 'tensorflow', 'flax'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_list_that_is_returned():
    """Of numbers it is one constant, as in DALI; of nodes it is the outputs."""

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe(made):
        return made()

    for made, shapes in (
        (lambda: [1, 2, 3], [[(3,)] * 2]),
        (lambda: (1, 2), [[()] * 2] * 2),
        (lambda: [fn.random.uniform(), 3], [[()] * 2] * 2),
    ):
        with pipe(made) as built:
            assert [output.shape() for output in built.run()] == shapes
