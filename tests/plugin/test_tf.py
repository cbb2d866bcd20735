"""Pipelines as data sets of TensorFlow: what they give, what feeds them, and what is refused."""

import os

import numpy as np
import pytest
from support import odd_sizes

from jdali import Pipeline, fn, pipeline_def
from jdali._pipeline import copied

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
from jdali.plugin import tf as plugin  # noqa: E402
from jdali.plugin.tf import _batches  # noqa: E402
from jdali.plugin.tf._batches import shape_for  # noqa: E402
from jdali.plugin.tf.experimental import DALIDatasetWithInputs, Input  # noqa: E402

INT32, INT64 = tf.int32, tf.int64
InvalidArgument = tf.errors.InvalidArgumentError


def lists(dataset, batches=None):
    """What the first output gives."""
    return [
        batch[0].numpy().ravel().tolist() for batch in (dataset if batches is None else dataset.take(batches))
    ]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A pipeline whose samples are int32 [1], 0 to 4, again and again."""
    files = []
    for i in range(5):
        files.append(str(tmp_path_factory.mktemp("files") / str(i)))
        np.uint8([i]).tofile(files[-1])
    with Pipeline(batch_size=4, num_threads=1) as pipe:
        pipe.set_outputs(fn.readers.file(files=files)[1])
    return pipe


def fed(*names, **options):
    """What was fed, one after another."""
    with Pipeline(batch_size=9, num_threads=1, seed=1) as pipe:
        nodes = [fn.external_source(name=name, **options) for name in names]
        pipe.set_outputs(*(node[0] if isinstance(node, list) else node for node in nodes))
    return pipe


def ranges(count):
    """Samples 0, 0 1, 0 1 2, ..."""
    return tf.data.Dataset.range(1, count + 1).map(tf.range)


# --- DALIDataset -------------------------------------------------------------------------------------
def test_batches_from_the_beginning_for_each_iterator(reader):
    dataset = plugin.DALIDataset(reader, INT32, batch_size=2)  # of two, not of four
    assert isinstance(dataset, tf.data.Dataset)
    assert lists(dataset, 4) == [[0, 1], [2, 3], [4, 0], [1, 2]]
    assert lists(dataset, 2) == [[0, 1], [2, 3]]
    one, other = iter(dataset), iter(dataset)
    assert [next(one)[0].numpy().ravel().tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    assert next(other)[0].numpy().ravel().tolist() == [0, 1]


def test_a_pipeline_that_was_left_serves_the_next_iterator(reader, monkeypatch):
    made = []
    monkeypatch.setattr(
        _batches, "copied", lambda *args, **options: made.append(copied(*args, **options)) or made[-1]
    )
    dataset = plugin.DALIDataset(reader, INT32, batch_size=3)
    assert lists(dataset, 2) == lists(dataset, 2) == [[0, 1, 2], [3, 4, 0]]
    assert len(made) == 1
    one, other = iter(dataset), iter(dataset)  # both at once need one each
    assert next(one)[0].numpy().tolist() == next(other)[0].numpy().tolist()
    assert len(made) == 2


def test_values_are_those_of_the_pipeline():
    @pipeline_def(batch_size=3, num_threads=1, seed=7)
    def random():
        return fn.random.uniform(shape=[2]), fn.random.coin_flip()

    pipe = random()
    expected = [[out.as_numpy() for out in pipe.run()] for _ in range(2)]
    dataset = plugin.DALIDataset(pipe, (tf.float32, tf.int32), batch_size=3)
    for batch, outputs in zip(dataset.take(2), expected, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(batch, outputs, strict=True))


def test_batches_of_odd_sizes():
    pipe = odd_sizes.flipping(odd_sizes.UNIFORM)
    (output,) = pipe.run()
    expected = np.stack(odd_sizes.flipped(odd_sizes.UNIFORM))
    # DLPack to TensorFlow takes row-major arrays alone.
    assert np.array_equal(tf.experimental.dlpack.from_dlpack(output.__dlpack__()), expected)
    assert np.array_equal(tf.experimental.dlpack.from_dlpack(output[1].__dlpack__()), expected[1])
    pipe.close()
    with odd_sizes.flipping(odd_sizes.RAGGED) as ragged:
        (output,) = ragged.run()
    for i, want in enumerate(odd_sizes.flipped(odd_sizes.RAGGED)):
        assert np.array_equal(tf.experimental.dlpack.from_dlpack(output[i].__dlpack__()), want)


def test_data_sets_of_odd_sizes(monkeypatch):
    given = []
    arrays = _batches.Outputs.arrays
    monkeypatch.setattr(_batches.Outputs, "arrays", lambda *a: given.append(arrays(*a)) or given[-1])
    pipe = odd_sizes.flipping(odd_sizes.UNIFORM)
    ((batch,),) = DALIDatasetWithInputs(pipe, tf.uint8, (3, 28, 28, 3), batch_size=3).take(1)
    assert np.array_equal(batch, np.stack(odd_sizes.flipped(odd_sizes.UNIFORM)))
    assert given[0][0].flags.c_contiguous


def test_element_spec_and_graphs(reader):
    dataset = plugin.DALIDataset(reader, INT32, (2, None), batch_size=2)
    assert dataset.element_spec == (tf.TensorSpec((2, None), INT32),)

    @tf.function
    def total():
        result = tf.constant(0)
        for (x,) in dataset.map(lambda x: (x + 1,)).take(3):
            result += tf.reduce_sum(x)
        return result

    assert total() == 1 + 2 + 3 + 4 + 5 + 1


@pytest.mark.parametrize(
    ("wanted", "shape", "batch_size", "expected"),
    [
        (None, (2, 3), 2, (2, 3)),
        ((None, 3), (2, 3), 2, (2, 3)),
        ((2, 3), (2, 3, 1), 2, (2, 3)),
        ((2, 3), (2, 1, 3, 1), 2, (2, 3)),
        ((3,), (1, 3), 1, (3,)),
        ((), (1, 1), 1, ()),
        ((1,), (1, 1, 1), 1, (1,)),
    ],
)
def test_shapes(wanted, shape, batch_size, expected):
    assert shape_for(wanted, shape, batch_size, 0) == expected


@pytest.mark.parametrize(
    ("wanted", "shape", "batch_size", "message"),
    [
        ((2, 4), (2, 3), 2, r"output `0` is not compatible .* \[2,4\], got from Pipeline: \[2,3\]"),
        ((2, 3, 1), (2, 3), 2, "is not compatible with the shape returned"),
        ((3,), (2, 3), 2, "`batch_size` argument .* `batch_size`: 2, got: 3"),
        ((), (2, 1), 2, "got: no axis"),
        ((2, 3), (2, 3, 2), 2, "by leaving out axes of one element"),
        ((2, None), (2, 1, 1), 2, "ambiguous"),
    ],
)
def test_shapes_that_do_not_fit(wanted, shape, batch_size, message):
    with pytest.raises(ValueError, match=message):
        shape_for(wanted, shape, batch_size, 0)


def test_an_output_is_not_what_was_said(reader):
    with pytest.raises(InvalidArgument, match=r"\(output_types\[0\]\): int64, got from Pipeline: int32"):
        next(iter(plugin.DALIDataset(reader, tf.int64, batch_size=2)))
    with pytest.raises(InvalidArgument, match="shape returned by DALI Pipeline"):
        next(iter(plugin.DALIDataset(reader, INT32, (2, 7), batch_size=2)))
    dataset = DALIDatasetWithInputs(fed("x"), INT64, input_datasets={"x": ranges(2)}, batch_size=2)
    with pytest.raises(InvalidArgument, match=r"'0' .* is not uniform .* Got shapes: \(1,\), \(2,\)"):
        next(iter(dataset))


def test_what_is_on_an_accelerator(accelerator):
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        pipe.set_outputs(fn.external_source(lambda i: np.int64([[i], [i]])).gpu() + 1)
    with pytest.raises(
        InvalidArgument, match="device mismatch. TF device: CPU, DALI device: GPU for output 0"
    ):
        next(iter(DALIDatasetWithInputs(pipe, INT64, batch_size=2)))
    copied = DALIDatasetWithInputs(pipe, INT64, batch_size=2, fail_on_device_mismatch=False)
    assert lists(copied, 2) == [[1, 1], [2, 2]]


def test_arguments_that_are_refused(reader):
    with pytest.raises(TypeError, match=r"single tf.DType value or a tuple .* Got value `\[tf.int32\]`"):
        plugin.DALIDataset(reader, [INT32])
    with pytest.raises(TypeError, match="`output_dtypes` should be provided"):
        plugin.DALIDataset(reader)
    with pytest.raises(ValueError, match="names 2 outputs, the pipeline has 1"):
        plugin.DALIDataset(reader, (INT32, INT32))
    with pytest.raises(ValueError, match="a shape for each of the 1 `output_dtypes`"):
        plugin.DALIDataset(reader, (INT32,), (None, None))
    with pytest.raises(TypeError, match="unexpected keyword argument 'input_datasets'"):
        plugin.DALIDataset(reader, INT32, input_datasets={})
    debugged = pipeline_def(lambda: fn.random.coin_flip(), batch_size=1, debug=True)()
    with pytest.raises(ValueError, match="debug=False"):
        plugin.DALIDataset(debugged, INT32)
    with pytest.raises(ValueError, match="containing External Source"):
        plugin.DALIDataset(fed("x"), INT64)
    with pytest.raises(ValueError, match="Usage of `dtypes` is deprecated .* Both arguments"):
        plugin.DALIDataset(reader, INT32, dtypes=INT32)


def test_deprecated_names(reader):
    with pytest.warns(UserWarning, match=r"Use of argument `(dtypes|shapes)` is deprecated") as caught:
        dataset = plugin.DALIDataset(reader, dtypes=[INT32], shapes=[(2, 1)], batch_size=2)
    assert {warning.filename for warning in caught} == {__file__}
    assert dataset.element_spec == (tf.TensorSpec((2, 1), INT32),)


# --- inputs ------------------------------------------------------------------------------------------
def test_samples_of_different_shapes():
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(fn.pad(fn.external_source(name="x"), fill_value=-1))
    dataset = DALIDatasetWithInputs(pipe, INT64, input_datasets={"x": ranges(5)}, batch_size=2)
    expected = [[0, -1, 0, 1], [0, 1, 2, -1, 0, 1, 2, 3]]  # the fifth fills no batch
    assert lists(dataset) == lists(dataset) == expected


def test_batches_and_layouts():
    numbers = tf.data.Dataset.range(6)
    pipe = fed("x", layout="A")

    def layouts(layout, declared):
        given = Input(numbers.batch(2).map(lambda x: x[:, None]), batch=True, layout=layout)
        with Pipeline(batch_size=1, num_threads=1) as pipe:
            x = fn.external_source(name="x", layout=declared)
            pipe.set_outputs(x, x.property("layout"))
        dataset = DALIDatasetWithInputs(pipe, (INT64, tf.uint8), input_datasets={"x": given}, batch_size=2)
        return [(x.numpy().ravel().tolist(), bytes(name.numpy()[0])) for x, name in dataset]

    assert layouts(None, "A") == [([0, 1], b"A"), ([2, 3], b"A"), ([4, 5], b"A")]
    assert layouts("B", None)[0] == ([0, 1], b"B")
    with pytest.raises(tf.errors.OpError, match='Expected data with layout: "A" and got: "B"'):
        layouts("B", "A")
    as_said = DALIDatasetWithInputs(
        pipe,
        INT64,
        input_datasets={"x": Input(numbers.batch(3).map(lambda x: x[:, None]), batch=None)},
        batch_size=3,
    )
    assert lists(as_said) == [[0, 1, 2], [3, 4, 5]]


def test_several_inputs_and_sources_end_with_the_first():
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        x, y = fn.external_source(name="x"), fn.external_source(name="y")
        z = fn.external_source(lambda info: np.int64(100 * info.idx_in_epoch), batch=False)
        pipe.set_outputs(x + y + z)
    numbers = tf.data.Dataset.range
    given = {"x": numbers(0, 50, 10), "y": numbers(100)}
    dataset = DALIDatasetWithInputs(pipe, INT64, input_datasets=given, batch_size=2)
    assert lists(dataset) == lists(dataset) == [[0, 111], [222, 333]]


@pytest.mark.parametrize(("cycle", "expected"), [(None, 3), ("raise", 3), ("quiet", 5)])
def test_a_source_that_ends(cycle, expected):
    items = [np.full((1, 1), i) for i in range(3)]
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(fn.external_source(items, cycle=cycle))
    dataset = DALIDatasetWithInputs(pipe, INT64)
    assert [len(lists(dataset, 5)) for _ in range(2)] == [expected] * 2


def test_an_element_of_several_tensors():
    pairs = tf.data.Dataset.zip((ranges(2), ranges(2)))
    dataset = DALIDatasetWithInputs(fed("x"), INT64, input_datasets={"x": pairs})
    with pytest.raises(InvalidArgument, match="consisting of 2 elements for input: 'x'"):
        next(iter(dataset))


NUMBERS = tf.data.Dataset.range(3)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (None, ValueError, r"not assigned any inputs. Nodes without inputs: \n\['x'\]"),
        ({"x": NUMBERS, "y": NUMBERS}, ValueError, r"with name='y' .* nodes are: \['x'\]"),
        ([NUMBERS], TypeError, "must be a dictionary"),
        ({1: NUMBERS}, TypeError, "keys .* of type `str`, got: `1` of type: <class 'int'>"),
        ({"x": range(3)}, TypeError, r"values of the dictionary .* got: `range\(0, 3\)`"),
    ],
)
def test_inputs_that_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        DALIDatasetWithInputs(fed("x"), INT64, input_datasets=given)


def test_external_sources_that_are_refused():
    with pytest.raises(ValueError, match="was created with `num_outputs`"):
        DALIDatasetWithInputs(fed("x", num_outputs=1), INT64, input_datasets={"x": NUMBERS})
    with pytest.raises(ValueError, match="was not named"):
        DALIDatasetWithInputs(fed(None), INT64)
    with Pipeline(batch_size=1, num_threads=1) as called:
        called.set_outputs(fn.external_source(lambda i: np.zeros((1, 1)), name="z"))
    with pytest.raises(ValueError, match=r"Double specification .* `\['z'\]`"):
        DALIDatasetWithInputs(called, INT64, input_datasets={"z": NUMBERS})
    with pytest.raises(TypeError, match="must be instances of type `tf.data.Dataset` got: `7`"):
        Input(7)


# --- DALIIterator ------------------------------------------------------------------------------------
@pytest.fixture
def numbers():
    with Pipeline(batch_size=4, num_threads=1, seed=2) as pipe:
        files = fn.random.uniform(range=[0, 9], shape=[2], dtype=np.int32)
        pipe.set_outputs(files)
    return pipe


def test_the_operator_gives_the_next_batch_each_time(numbers):
    expected = [numbers.run()[0].as_numpy().tolist() for _ in range(2)]
    operator = plugin.DALIIterator()

    def run():
        return operator(numbers, shapes=[(4, 2)], dtypes=[tf.int32])[0]

    assert [run().numpy().tolist() for _ in range(2)] == expected
    in_graph = tf.function(run)
    assert [in_graph().numpy().tolist() for _ in range(2)] == expected
    raw = plugin.DALIRawIterator()(
        plugin.serialize_pipeline(numbers),
        batch_size=4,
        dtypes=[tf.int32],
        num_threads=1,
        prefetch_queue_depth={"cpu_size": 2, "gpu_size": 1},
    )
    assert raw[0].numpy().tolist() == expected[0]


def test_the_operator_compares_sizes_of_types(numbers):
    """As DALI's, which copies bytes; data sets compare types."""
    expected = numbers.run()[0].as_numpy()
    operator = plugin.DALIIterator()
    (bits,) = operator(numbers, batch_size=4, dtypes=[tf.float32])
    assert np.array_equal(bits.numpy().view(np.int32), expected)
    (sparse,) = operator(numbers, batch_size=4, dtypes=[tf.float32], sparse=[True])
    assert np.array_equal(sparse.values.numpy().view(np.int32), expected.ravel())
    for dtype, message in ((tf.int16, "has bigger size than allocated"), (tf.int64, "is not compatible")):
        with pytest.raises(ValueError, match=f"{message}.*{dtype.name}, got from Pipeline: int32"):
            operator(numbers, batch_size=4, dtypes=[dtype])


def in_session(graph, fetches):
    """What is computed if each operator that it needs must be on the device that was said."""
    config = tf.compat.v1.ConfigProto(allow_soft_placement=False)
    config.graph_options.place_pruned_graph = True
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        return session.run(fetches)


def test_python_is_called_on_the_cpu_also_inside_of_a_gpu(numbers):
    expected = numbers.run()[0].as_numpy()
    with tf.Graph().as_default() as graph, tf.device("/gpu:0"):
        plugin.DALIIterator()(numbers, shapes=[(4, 2)], dtypes=[tf.int32])
    (call,) = [op for op in graph.get_operations() if "PyFunc" in op.type]
    assert np.array_equal(in_session(graph, call.outputs[0]), expected)


def test_data_sets_are_on_the_cpu_also_inside_of_a_gpu(numbers):
    expected = numbers.run()[0].as_numpy()
    with tf.Graph().as_default() as graph:
        with tf.device("/gpu:0"):
            dataset = plugin.DALIDataset(numbers, tf.int32, batch_size=4)
        iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
        (fetched,) = iterator.get_next()
    assert np.array_equal(in_session(graph, fetched), expected)


def test_sparse_outputs():
    with Pipeline(batch_size=2, num_threads=1, seed=2) as pipe:
        x = fn.random.coin_flip(shape=[2, 1], probability=1.0)
        pipe.set_outputs(x, x)
    sparse, dense = plugin.DALIIterator()(
        pipe, sparse=[True], shapes=[(2, 2, 1)], dtypes=[tf.int32, tf.int32], batch_size=2
    )
    assert sparse.indices.numpy().tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]
    assert tf.sparse.to_dense(sparse).numpy().tolist() == dense.numpy().tolist() == [[[1], [1]]] * 2


def test_what_the_operator_refuses(numbers):
    operator = plugin.DALIIterator()
    with pytest.raises(ValueError, match="shapes and batch_size arguments cannot be empty"):
        operator(numbers, dtypes=[tf.int32])
    with pytest.raises(ValueError, match="give it a pipeline"):
        operator(batch_size=1, dtypes=[tf.int32])
    with Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(fn.python_function(np.int32(1), function=lambda x: x))
    with pytest.raises(RuntimeError, match=r"Python Operators\) cannot be used"):
        operator(pipe, batch_size=1, dtypes=[tf.int32])


def test_versions():
    assert plugin.dataset_compatible_tensorflow()
    assert plugin.dataset_inputs_compatible_tensorflow()
    assert plugin.dataset_distributed_compatible_tensorflow()
