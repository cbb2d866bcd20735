"""DALI's iterators for PyTorch: by hand, and against the real ones."""

import itertools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from support import odd_sizes, oracle
from support.numbers import pipeline

import jdali
from jdali import fn, types
from jdali.plugin.jax.fn import jax_function
from jdali.tensors import TensorCPU, TensorListCPU, TensorListGPU

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from jdali.plugin import pytorch as plugin  # noqa: E402
from jdali.plugin.pytorch import torch_utils  # noqa: E402
from jdali.plugin.pytorch.torch_utils import to_torch_tensor  # noqa: E402

FILL, DROP, PARTIAL, PAD = plugin.LastBatchPolicy


def made(define, batch_size=2, package=jdali, **options):
    pipe = package.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, seed=1, **options)
    with pipe:
        outputs = define()
        pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else (outputs,)))
    return pipe


def constant(value):
    """Samples that are `value`, in the arrays of a source."""
    return fn.external_source(lambda i: np.stack([value, value]))


def rows(batch):
    return [d["x"].ravel().tolist() for d in batch]


# --- the iterators -----------------------------------------------------------------------------------
def test_a_dict_of_tensors_for_each_pipeline():
    pipes = [pipeline(8, 2, shard_id=i, num_shards=2) for i in range(2)]
    with plugin.DALIGenericIterator(pipes, ["x"], reader_name="Reader", auto_reset=True) as it:
        assert len(it) == 2
        assert it.size == 4
        batch = it.next()
        assert [d["x"].dtype for d in batch] == [torch.int64] * 2  # not narrowed to 32 bits
        assert batch[0]["x"].shape == (2, 1)
        assert [rows(batch), *map(rows, it)] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
        assert list(map(rows, it)) == [[[4, 5], [0, 1]], [[6, 7], [2, 3]]]  # readers change their shards


def test_the_last_batch():
    def last(policy, **options):
        with plugin.DALIGenericIterator(
            pipeline(5, 3), ["x"], reader_name="Reader", last_batch_policy=policy, **options
        ) as it:
            return rows(list(it)[-1])

    assert last(FILL) == [[3, 4, 0]]
    assert last(DROP) == [[0, 1, 2]]
    assert last(PARTIAL) == [[3, 4]]
    with pytest.warns(UserWarning, match="fill_last_batch is deprecated"):
        assert last(DROP, fill_last_batch=False) == [[3, 4]]
    with pytest.warns(UserWarning, match="fill_last_batch is deprecated"):
        assert last(DROP, fill_last_batch=True) == [[3, 4, 0]]


def test_pad_has_a_mask():
    pipe = pipeline(5, 3, pad=True)
    with plugin.DALIGenericIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=PAD) as it:
        (last,) = list(it)[-1]
    assert last["x"].ravel().tolist() == [3, 4, 4]
    assert last["mask"].tolist() == [True, True, False]


def test_classification():
    def define():
        return constant(np.float32([1, 2])), constant(np.int32([7]))

    with plugin.DALIClassificationIterator([made(define)], 4) as it:
        (batch,) = next(it)
    assert sorted(batch) == ["data", "label"]
    assert batch["data"].tolist() == [[1.0, 2.0]] * 2
    assert batch["label"].tolist() == [[7]] * 2


def test_positional_arguments_are_those_of_dali():
    names, others = (["x"], -1, "Reader"), ("yes", None, True, False, DROP, False)
    with plugin.DALIGenericIterator([pipeline(10, 3)], *names, *others) as it:
        assert len(list(it)) == len(it) == 3
    with plugin.DALIRaggedIterator([pipeline(10, 3)], *names, ["dense"], *others) as it:
        assert len(list(it)) == len(it) == 3


def ragged():
    samples = [np.arange(n, dtype=np.float32) for n in (3, 1, 2, 4)]
    return fn.external_source(lambda i: samples[2 * i : 2 * i + 2])


def test_ragged():
    tags = plugin.DALIRaggedIterator
    types_ = [tags.SPARSE_LIST_TAG, tags.SPARSE_COO_TAG, tags.DENSE_TAG]

    def define():
        x = ragged()
        return x, x, fn.pad(x, shape=[4])

    with tags(made(define), ["list", "coo", "dense"], 3, None, types_, last_batch_policy=PARTIAL) as it:
        (first,), (last,) = it
    assert [s.tolist() for s in first["list"]] == [[0, 1, 2], [0]]
    assert first["coo"].is_sparse
    assert first["coo"].to_dense().tolist() == [[0, 1, 2], [0, 0, 0]]
    assert first["dense"].tolist() == [[0, 1, 2, 0], [0, 0, 0, 0]]
    assert [s.tolist() for s in last["list"]] == [[0, 1]]
    assert last["coo"].to_dense().tolist() == [[0, 1]]
    assert last["dense"].tolist() == [[0, 1, 0, 0]]


def test_sparse_tensors_of_no_samples():
    """A pipeline that has no samples left in the epoch gives an empty tensor of the same type."""
    pipes = [pipeline(3, 1, shard_id=i, num_shards=2) for i in range(2)]
    kinds = [plugin.DALIRaggedIterator.SPARSE_COO_TAG]
    with plugin.DALIRaggedIterator(pipes, ["x"], -1, "Reader", kinds, last_batch_policy=PARTIAL) as it:
        batches = [[d["x"] for d in batch] for batch in it]
    assert [[x.to_dense().tolist() for x in batch] for batch in batches] == [[[[0]], [[1]]], [[], [[2]]]]
    empty = batches[1][0]
    assert (empty.shape, empty.dtype, empty.layout) == ((0, 0), torch.int64, torch.sparse_coo)


def test_errors():
    with (
        plugin.DALIGenericIterator(made(ragged), ["x"], 4) as it,
        pytest.raises(ValueError, match=r"output 'x' differ in shape \(\(1,\), \(3,\).*DALIRaggedIterator"),
    ):
        next(it)
    with pytest.raises(ValueError, match="are allowed in output_types, one for each"):
        plugin.DALIRaggedIterator(made(ragged), ["x"], 4, None, ["dens"])
    with pytest.raises(ValueError, match="should be distinct"):
        plugin.DALIGenericIterator(made(lambda: (ragged(), ragged())), ["x", "x"], 4)
    with (
        plugin.DALIGenericIterator(made(ragged), ["x", "y"], 4) as it,
        pytest.raises(ValueError, match="has 1 outputs, output_map names 2"),
    ):
        next(it)
    squares = made(lambda: constant(np.zeros((2, 2))))
    with (
        plugin.DALIRaggedIterator(squares, ["x"], 4, None, ["sparse_coo"]) as it,
        pytest.raises(ValueError, match="must have one axis, not 2"),
    ):
        next(it)


def test_state_and_reports():
    with plugin.DALIGenericIterator(pipeline(9, 3), ["x"], reader_name="Reader") as it:
        next(it)
        state = it.get_state()
        rest = list(map(rows, it))
        assert rows(it.batch_at(0)) == [[0, 1, 2]]
        it.set_state(state)
        assert list(map(rows, it)) == rest == [[[3, 4, 5]], [[6, 7, 8]]]
        assert it.report().batches == 2


# --- memory ------------------------------------------------------------------------------------------
def test_results_of_programs_are_shared_and_all_else_is_copied():
    """A user may write to a tensor: neither other outputs nor later batches may change by that."""
    held, kept = np.zeros((2, 3), np.float32), jnp.full((2, 3), 5.0)

    def define():
        data = fn.external_source(lambda i: held)
        x = data + 1.0
        own = fn.python_function(data, function=lambda a: held[0])
        return x, x, data, own, jax_function(lambda a: kept)(data)

    with plugin.DALIGenericIterator(made(define), ["x", "again", "data", "own", "jax"], 8) as it:
        for batch in itertools.islice(it, 3):
            for name, value in (("x", 1.0), ("again", 1.0), ("data", 0.0), ("own", 0.0), ("jax", 5.0)):
                assert (batch[0][name] == value).all(), name
                batch[0][name].fill_(9)
        assert (held == 0).all()
        assert (np.asarray(kept) == 5).all()


def test_no_copy_of_a_programs_result(monkeypatch):
    from jdali.plugin.pytorch import torch_utils

    taken = []
    monkeypatch.setattr(
        torch_utils.torch, "from_dlpack", lambda a, f=torch.from_dlpack: taken.append(a) or f(a)
    )
    # A call of a program has eight small samples; in a smaller batch some rows are unused, and it is copied.
    pipe = made(lambda: fn.external_source(lambda: np.ones((8, 1), np.float32)) + 1.0, batch_size=8)
    with plugin.DALIGenericIterator(pipe, ["x"], 8) as it:
        (batch,) = next(it)
        it.close()
    assert batch["x"].data_ptr() in [a.unsafe_buffer_pointer() for a in taken]


def test_a_tensor_outlives_its_iterator():
    it = plugin.DALIGenericIterator(made(lambda: constant(np.float32([3])) * 2.0), ["x"], 40)
    batches = list(it)
    it.close()
    del it
    assert all((b[0]["x"] == 6).all() for b in batches)


# --- single tensors ----------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", list(plugin.to_torch_type), ids=lambda d: d.name)
def test_element_types(dtype):
    value = np.array([[0, 1], [1, 0]]).astype(types.to_dtype(dtype))
    tensor = to_torch_tensor(TensorCPU(value), copy=False)
    assert tensor.dtype == plugin.to_torch_type[dtype]
    assert tensor.tolist() == value.tolist()


def test_feed_ndarray():
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    target = torch.zeros(3, 2).T  # not in row-major order
    assert plugin.feed_ndarray(TensorCPU(value), target) is target
    assert target.tolist() == value.tolist()
    assert plugin.feed_ndarray(TensorListCPU(value), torch.empty(2, 3)).tolist() == value.tolist()
    parameter = torch.nn.Parameter(torch.zeros(2, 3))
    assert plugin.feed_ndarray(TensorCPU(value), parameter) is parameter
    assert parameter.tolist() == value.tolist()
    assert parameter.requires_grad
    with pytest.raises(AssertionError, match=r"element type .* torch.float32 vs torch.int32"):
        plugin.feed_ndarray(TensorCPU(value), torch.zeros(2, 3, dtype=torch.int32))
    with pytest.raises(AssertionError, match=r"size \[2, 3\], but PyTorch Tensor has size \[3, 2\]"):
        plugin.feed_ndarray(TensorCPU(value), torch.zeros(3, 2))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_batches_can_be_viewed(device):
    """As DALI's: the padding in which a program made them is not part of them."""
    expected = np.stack(odd_sizes.flipped(odd_sizes.UNIFORM))
    with plugin.DALIGenericIterator(odd_sizes.flipping(odd_sizes.UNIFORM, device=device), ["x"], 3) as it:
        (batch,) = next(it)
    assert batch["x"].stride() == (28 * 28 * 3, 28 * 3, 3, 1)
    assert np.array_equal(batch["x"].view(3, -1), expected.reshape(3, -1))


def test_samples_can_be_viewed():
    expected = odd_sizes.flipped(odd_sizes.RAGGED)
    kinds = [plugin.DALIRaggedIterator.SPARSE_LIST_TAG]
    with plugin.DALIRaggedIterator(odd_sizes.flipping(odd_sizes.RAGGED), ["x"], 3, None, kinds) as it:
        (batch,) = next(it)
    with odd_sizes.flipping(odd_sizes.RAGGED) as pipe:
        (samples,) = pipe.run()
    for i, want in enumerate(expected):
        sample = samples[i]
        for tensor in (batch["x"][i], torch.from_dlpack(sample), torch.as_tensor(np.asarray(sample)),
                       to_torch_tensor(sample, copy=False), to_torch_tensor(sample, copy=True)):  # fmt: skip
            assert np.array_equal(tensor.view(-1), want.ravel())


def test_functions_of_tensors_can_view_them():
    def total(x):
        return x.view(-1).sum(dtype=torch.int64)

    pipe = odd_sizes.flipping(
        odd_sizes.RAGGED, lambda node: plugin.fn.torch_python_function(node, function=total)
    )
    with pipe:
        sums = pipe.run()[0].as_array()
    assert sums.tolist() == [picture.sum() for picture in odd_sizes.pictures(odd_sizes.RAGGED)]


def test_a_padded_result_is_copied_once_and_an_exact_one_never(monkeypatch):
    batch = odd_sizes.flipping(odd_sizes.UNIFORM[:1] * 8).run()[0]
    tensor = torch_utils.dense_tensor(batch, own=False)
    assert tensor.data_ptr() == batch.data_ptr()  # the copy that the batch itself keeps
    exact = TensorListGPU(jnp.zeros((2, 3)))
    assert torch_utils.dense_tensor(exact, own=True).data_ptr() == exact.data_ptr()
    assert torch_utils.dense_tensor(exact, own=False).data_ptr() != exact.data_ptr()


# --- functions of tensors ----------------------------------------------------------------------------
SAMPLES = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((1, 2), np.float32)]


def of_both(package, function_of, **options):
    """Outputs of a function of tensors: samples as lists."""
    pipe = made(
        lambda: function_of(package.fn.external_source(source=[SAMPLES], cycle=True), **options),
        package=package,
    )
    pipe.build()
    result = [[np.asarray(out[i]).tolist() for i in range(len(out))] for out in pipe.run()]
    if package is jdali:
        pipe.close()
    return result


def halves(x):
    assert isinstance(x, torch.Tensor)
    return torch.flip(x, [0]) / 2, x.sum(dim=1)


def all_halves(xs):
    return [halves(x)[0] for x in xs], [halves(x)[1] for x in xs]


EXPECTED = [[(s[::-1] / 2).tolist() for s in SAMPLES], [s.sum(axis=1).tolist() for s in SAMPLES]]


@pytest.mark.parametrize(("function", "batch_processing"), [(halves, False), (all_halves, True)])
def test_torch_python_function(function, batch_processing):
    options = {"num_outputs": 2, "batch_processing": batch_processing}
    got = of_both(jdali, plugin.fn.torch_python_function, function=function, **options)
    assert got == EXPECTED
    as_object = plugin.TorchPythonFunction(function, **options)
    assert (as_object.device, as_object.schema_name) == ("cpu", "TorchPythonFunction")
    assert of_both(jdali, lambda x: as_object(x)) == EXPECTED


def test_results_that_are_negated_lazily_or_need_gradients():
    def negated(x):
        return torch.complex(x, x).conj().imag, torch.nn.Parameter(x)

    got = of_both(jdali, plugin.fn.torch_python_function, function=negated, num_outputs=2)
    assert got == [[(-s).tolist() for s in SAMPLES], [s.tolist() for s in SAMPLES]]


def test_results_in_a_named_tuple():
    class Halves(NamedTuple):
        flipped: Any
        sums: Any

    def function(x):
        return Halves(*halves(x))

    assert of_both(jdali, plugin.fn.torch_python_function, function=function, num_outputs=2) == EXPECTED


@pytest.mark.parametrize("batch_processing", [False, True])
@pytest.mark.parametrize(
    ("convert", "found"),
    [
        (torch.Tensor.to_sparse, "torch.float32 and layout torch.sparse_coo"),
        (torch.Tensor.bfloat16, "torch.bfloat16 and layout torch.strided"),
    ],
)
def test_results_that_dali_cannot_take(convert, found, batch_processing):
    def function(x):
        return [convert(one) for one in x] if batch_processing else convert(x)

    with pytest.raises(
        TypeError, match=f"returned a tensor of {found}; it must be dense .* float32, float64"
    ):
        of_both(jdali, plugin.fn.torch_python_function, function=function, batch_processing=batch_processing)


def test_results_of_programs_may_go_to_torch():
    pipe = made(lambda: plugin.fn.torch_python_function(ragged() + 1.0, function=lambda x: x.exp()))
    first, _ = (np.asarray(s) for s in pipe.run()[0])
    pipe.close()
    np.testing.assert_allclose(first, np.exp([1.0, 2.0, 3.0]), rtol=1e-6)  # float32


# --- the real DALI -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def theirs():
    return oracle.torch_plugin()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for i in range(17):
        (folder / f"{i:03d}").write_bytes(bytes(range(i, i + 4)))
    return sorted(map(str, folder.iterdir()))


def reading(package, files, batch, ids, shards, **reader):
    def define(shard):
        return package.fn.readers.file(
            files=files, labels=list(range(len(files))), name="Reader", shard_id=shard, num_shards=shards, **reader
        )  # fmt: skip

    return [made(lambda s=shard: define(s), batch, package) for shard in ids]


def contents(iterator, resets, epochs=2):
    result = []
    for _ in range(epochs):
        result.append(
            [
                [{k: (str(t.dtype), list(t.shape), t.tolist()) for k, t in d.items()} for d in batch]
                for batch in iterator
            ]
        )
        if resets:
            iterator.reset()
    return result


CASES = [
    (policy, *size, pads, auto)
    for (policy, size), (pads, auto) in zip(
        itertools.product(
            ("FILL", "DROP", "PARTIAL"),
            [(10, 3, (0,), 1), (17, 4, (0, 1), 2), (7, 2, (0, 1), 2), (10, 2, (1, 2), 3)],
        ),
        itertools.cycle([(False, True), (True, False), (True, True), (False, False), (True, True)]),
    )
]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("policy", "size", "batch", "ids", "shards", "pads", "auto"), CASES)
def test_batches_of_a_reader_as_dalis(theirs, files, policy, size, batch, ids, shards, pads, auto):
    def make(package, iterators):
        return iterators.DALIGenericIterator(
            reading(package, files[:size], batch, ids, shards, pad_last_batch=pads), ["x", "label"],
            reader_name="Reader", last_batch_policy=iterators.LastBatchPolicy[policy], auto_reset=auto,
            dynamic_shape=True,
        )  # fmt: skip

    their = make(oracle.dali(), theirs)
    with make(jdali, plugin) as ours:
        assert len(ours) == len(their)
        assert ours.size == their.size
        assert contents(ours, not auto) == contents(their, not auto)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
@pytest.mark.parametrize(("size", "batch", "pipes"), [(7, 2, 1), (9, 2, 2), (4, 2, 1), (5, 2, 2)])
@pytest.mark.parametrize("kind", ["dense", "sparse_list"])
def test_batches_of_a_size_as_dalis(theirs, policy, size, batch, pipes, kind):
    if (policy, kind) == ("PARTIAL", "sparse_list"):
        pytest.skip("DALI's own iterator raises an AttributeError here")

    def make(package, iterators):
        def source(i, start):
            return [np.array([start + 2 * i + j] * (1 + j * (kind != "dense")), np.int64) for j in range(2)]

        definitions = [
            lambda s=100 * p: package.fn.external_source(source=lambda i: source(i, s)) for p in range(pipes)
        ]
        pipelines = [made(d, batch, package) for d in definitions]
        options = {"auto_reset": True, "last_batch_policy": iterators.LastBatchPolicy[policy]}
        if kind == "dense":
            return iterators.DALIGenericIterator(pipelines, ["x"], size, **options)
        return iterators.DALIRaggedIterator(pipelines, ["x"], size, None, [kind], **options)

    def values(it):
        return [
            [[t.tolist() for t in d["x"]] for d in batch]
            for batch in itertools.chain.from_iterable(list(it) for _ in range(2))
        ]

    with make(jdali, plugin) as ours:
        assert values(ours) == values(make(oracle.dali(), theirs))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
def test_sparse_tensors_as_dalis(theirs):
    def contents(package, iterators):
        def source(i):
            if i == 4:
                raise StopIteration
            return [np.arange(n, dtype=np.float32) for n in (3 + i, i)]

        pipe = made(lambda: package.fn.external_source(source=source), 2, package)
        batches = list(iterators.DALIRaggedIterator(pipe, ["x"], output_types=["sparse_coo"]))
        if package is jdali:
            pipe.close()
        tensors = [d["x"].coalesce() for (d,) in batches]
        return [(t.shape, t.dtype, t.indices().tolist(), t.values().tolist()) for t in tensors]

    ours = contents(jdali, plugin)
    assert len(ours) == 4
    assert ours == contents(oracle.dali(), theirs)
