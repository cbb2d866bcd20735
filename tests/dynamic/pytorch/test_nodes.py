"""Readers of dynamic mode as nodes of torchdata: the same samples as DALI's nodes give, and loops that are resumed."""

import itertools
import json

import jdali.experimental.dynamic as jd  # type: ignore[import-not-found]
import numpy as np
import pytest
from support import oracle

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
torch_nodes = pytest.importorskip("torchdata.nodes", reason="torchdata is not installed")
from jdali.experimental.dynamic.pytorch import nodes  # type: ignore[import-not-found]  # noqa: E402

SAMPLES = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    for number in range(SAMPLES):
        label = root / str(number % 2)
        label.mkdir(exist_ok=True)
        np.save(label / f"{number}.npy", np.full((2, 3), number, np.float32))
    return str(root)


def numbers(folder, *, batch_size=3, make=None, **options):
    """A loader of the samples' numbers, doubled."""
    options = {"file_root": folder, "random_shuffle": True, "seed": 3} | options
    reader = nodes.Reader(jd.readers.Numpy, batch_size=batch_size, output_names=["data"], **options)
    node = nodes.ToTorch(nodes.DictMapper(reader, lambda data: data * 2))
    return torch_nodes.Loader(node if make is None else make(node))


def read(loader):
    return [np.atleast_1d(batch[0, 0] if batch.ndim == 2 else batch[:, 0, 0]).tolist() for (batch,) in loader]


def test_an_epoch_has_each_sample_once(folder):
    for batch_size, batches in ((1, 10), (5, 2), (None, 10)):
        loader = numbers(folder, batch_size=batch_size)
        first, second = read(loader), read(loader)
        assert len(first) == len(second) == batches
        for epoch in (first, second):
            assert sorted(itertools.chain(*epoch)) == [2 * i for i in range(SAMPLES)]
        assert first != second


@pytest.mark.parametrize("taken", [0, 1, 3, 4])
@pytest.mark.parametrize(
    "make", [None, lambda node: torch_nodes.Prefetcher(node, 2)], ids=["plain", "prefetched"]
)
def test_resumed(folder, make, taken):
    """The state of a loop, written as JSON after `taken` batches, gives the rest of it and the epoch after that."""
    loader = numbers(folder, make=make)
    running = iter(loader)
    for _ in range(taken):
        next(running)
    state = json.loads(json.dumps(loader.state_dict()))
    rest, epoch = read(running), read(loader)
    other = numbers(folder, make=make)
    other.load_state_dict(state)
    assert len(rest) == 4 - taken
    if rest:  # else the loader begins the next epoch
        assert read(other) == rest
    assert read(other) == epoch


def test_types_and_devices(folder):
    reader = nodes.Reader(jd.readers.File, batch_size=2, file_root=folder, file_filters="*.npy")
    assert reader.get_metadata()["epoch_size"] == SAMPLES
    node = nodes.DictMapper(reader, lambda label: jd.cast(label, dtype=jd.float32).gpu(), key="label")
    values = next(node)
    assert list(values) == ["data", "label"]
    assert values["data"].device == jd.Device("cpu")
    data, label = next(nodes.ToTorch(node))
    assert (data.dtype, label.dtype) == (torch.uint8, torch.float32)
    assert tuple(label.shape) == (2, 1)
    single = next(nodes.Reader(jd.readers.File, batch_size=None, file_root=folder, file_filters="*.npy"))
    assert isinstance(single["data"], jd.Tensor)


@pytest.mark.oracle
@pytest.mark.parametrize("batch_size", [None, 4])
def test_as_dali(folder, batch_size):
    oracle.dali()
    dali = pytest.importorskip("nvidia.dali.experimental.dynamic")
    dali_nodes = pytest.importorskip("nvidia.dali.experimental.dynamic.pytorch.nodes")
    epochs = []
    for package, module in ((jd, nodes), (dali, dali_nodes)):
        reader = module.Reader(
            package.readers.File,
            batch_size=batch_size,
            file_root=folder,
            file_filters=["*.npy"],
            pad_last_batch=True,
        )
        loader = torch_nodes.Loader(module.ToTorch(reader))
        epochs.append([[values.numpy().copy() for values in batch] for batch in loader])
    ours, theirs = epochs
    assert len(ours) == len(theirs) == (SAMPLES if batch_size is None else 3)
    for one, other in zip(ours, theirs, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_names_are_checked(folder):
    with pytest.raises(ValueError, match="Cannot infer output names for reader .*Numpy.*: give 1"):
        nodes.Reader(jd.readers.Numpy, batch_size=1, file_root=folder)
    with pytest.raises(ValueError, match="does not match number of outputs: 1 names, and .*File.* has 2"):
        nodes.Reader(jd.readers.File, batch_size=1, file_root=folder, output_names=["data"])
    with pytest.raises(RuntimeError, match="call reset first"):
        nodes.Reader(jd.readers.File, batch_size=1, file_root=folder).next()
    with pytest.raises(ValueError, match="batch_size 3 is more than max_batch_size 2"):
        next(nodes.Reader(jd.readers.File, batch_size=3, max_batch_size=2, file_root=folder))
