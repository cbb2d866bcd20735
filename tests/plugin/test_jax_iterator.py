"""DALI's names over DataIterator, and the real DALI's iterator for JAX sample by sample."""

import json
import sys
import types

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from support import oracle
from support.numbers import NumberReader, numbers, pipeline

import jdali
import jdali.plugin.jax as dax
from jdali.plugin.base_iterator import LastBatchPolicy
from jdali.plugin.jax.clu import (
    ArraySpec,
    DALIGenericPeekableIterator,
    get_spec_for_array,
    peekable_data_iterator,
)
from jdali.plugin.jax.iterator import DALIGenericIterator, data_iterator, default_num_threads_value

FILL, DROP, PARTIAL, PAD = LastBatchPolicy


def rows(batch):
    return np.asarray(batch["x"]).ravel().tolist()


def sharded(shard_id, num_shards, size=32):
    return numbers(NumberReader(size, shard_id=shard_id, num_shards=num_shards))


# --- DALIGenericIterator ---------------------------------------------------------------------------
def test_one_pipeline():
    with dax.DALIGenericIterator(pipeline(10, 3), ["x"], reader_name="Reader") as it:
        assert [rows(b) for b in it] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 1]]
        assert next(iter(it))["x"].shape == (3, 1)


def test_positional_arguments_are_those_of_dali():
    it = DALIGenericIterator([pipeline(10, 3)], ["x"], -1, "Reader", "yes", False, DROP, False, None, None)
    with it:
        assert len(list(it)) == len(it) == 3


def test_pipelines_are_stacked():
    pipes = [pipeline(8, 2, shard_id=i, num_shards=2) for i in range(2)]
    with DALIGenericIterator(pipes, ["x"], reader_name="Reader") as it:
        x = next(it)["x"]
    assert x.shape == (2, 2, 1)
    assert np.asarray(x).ravel().tolist() == [0, 1, 4, 5]
    assert len(x.devices()) == 1


def test_pipelines_are_stacked_on_their_devices():
    pipes = [
        pipeline(8, 2, shard_id=i, num_shards=2, pipeline_args={"device_id": device})
        for i, device in enumerate((3, 1))
    ]
    with DALIGenericIterator(pipes, ["x"], reader_name="Reader") as it:
        x = next(it)["x"]
    assert x.shape == (2, 2, 1)
    assert {s.device.id: np.asarray(s.data).ravel().tolist() for s in x.addressable_shards} == {
        3: [0, 1],
        1: [4, 5],
    }


def test_a_leading_axis_for_one_pipeline():
    with DALIGenericIterator(pipeline(8, 2), ["x"], reader_name="Reader", pmap_compatible=True) as it:
        assert next(it)["x"].shape == (1, 2, 1)


def test_a_sharding_goes_before_stacking():
    sharding = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("d",)), P("d"))
    pipes = [pipeline(8, 2, shard_id=i, num_shards=2) for i in range(2)]
    with DALIGenericIterator(pipes, ["x"], reader_name="Reader", sharding=sharding) as it:
        x = next(it)["x"]
    assert x.shape == (4, 1)
    assert x.sharding.is_equivalent_to(sharding, 2)


def test_batches_that_cannot_be_stacked():
    pipes = [pipeline(5, 2, shard_id=i, num_shards=2, pad=True) for i in range(2)]
    with (
        DALIGenericIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=PARTIAL) as it,
        pytest.raises(ValueError, match=r"gave \[0, 1\] samples of output 'x'"),
    ):
        list(it)


# --- data_iterator ---------------------------------------------------------------------------------
def test_devices_give_a_leading_axis():
    make = data_iterator(sharded, output_map=["x"], reader_name="Reader", devices=jax.devices())
    with make(batch_size=16, num_threads=1) as it:
        x = next(it)["x"]
    assert x.shape == (8, 2, 1)
    assert [s.device for s in x.addressable_shards] == jax.devices()
    assert np.asarray(x)[:, 0, 0].tolist() == list(range(0, 32, 4))


def test_devices_without_the_axis():
    make = data_iterator(
        sharded, output_map=["x"], reader_name="Reader", devices=jax.devices()[:4], pmap_compatible=False
    )
    with make(batch_size=8, num_threads=1) as it:
        x = next(it)["x"]
    assert x.shape == (8, 1)
    assert len(x.devices()) == 4


def test_a_sharding():
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))

    @data_iterator(output_map=["x"], reader_name="Reader", sharding=sharding)
    def make(shard_id, num_shards):
        return sharded(shard_id, num_shards)

    with make(batch_size=8, num_threads=1) as it:
        x = next(it)["x"]
    assert x.shape == (8, 1)
    assert np.asarray(x).ravel().tolist() == list(range(0, 32, 4))


def test_the_function_must_know_its_shard():
    make = data_iterator(lambda: numbers(NumberReader(8)), output_map=["x"], devices=jax.devices())
    with pytest.raises(TypeError, match="must take shard_id and num_shards"):
        make(batch_size=8)
    with pytest.raises(ValueError, match="Only one of `sharding` and `devices`"):
        data_iterator(sharding=NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d")), devices=[])


def test_threads_by_default():
    assert default_num_threads_value() == 4
    with data_iterator(lambda: numbers(NumberReader(8)), output_map=["x"], size=8)(batch_size=2) as it:
        assert it.pipelines[0].num_threads == 4


@pytest.mark.parametrize("kind", [data_iterator, peekable_data_iterator])
@pytest.mark.parametrize("devices", [None, 2])
def test_checkpoints(kind, devices):
    make = kind(
        sharded if devices else lambda: numbers(NumberReader(10)), output_map=["x"], reader_name="Reader",
        devices=None if devices is None else jax.devices()[:devices],
    )  # fmt: skip
    options = {"batch_size": 4, "num_threads": 1, "enable_checkpointing": True}
    with make(**options) as one:
        next(one)
        saved = one.checkpoints()
        expected = [rows(b) for b in one]
    assert len(saved) == (devices or 1)
    with make(**options, checkpoints=saved) as two:
        assert [rows(b) for b in two] == expected
    with pytest.raises(ValueError, match="3 checkpoints for"):
        make(**options, checkpoints=[b"{}"] * 3)


# --- peeking ---------------------------------------------------------------------------------------
class TestPeek:
    def make(self, size=6, batch=2, **kwargs):
        return DALIGenericPeekableIterator(pipeline(size, batch), ["x"], reader_name="Reader", **kwargs)

    def test_peek_does_not_advance(self):
        with self.make() as it:
            assert rows(it.peek()) == rows(it.peek()) == [0, 1]
            assert rows(next(it)) == [0, 1]
            assert rows(it.next()) == [2, 3]
            assert rows(it.peek()) == [4, 5]
            assert [rows(b) for b in it] == [[4, 5]]
            with pytest.raises(StopIteration):
                it.peek()

    def test_peek_async(self):
        with self.make() as it:
            future = it.peek_async()
            assert rows(future.result(timeout=30)) == [0, 1]
            assert rows(next(it)) == [0, 1]

    def test_element_spec(self):
        with self.make() as it:
            assert it.element_spec == {"x": ArraySpec(np.dtype(np.int32), (2, 1))}
            assert rows(next(it)) == [0, 1]
        assert get_spec_for_array(jax.numpy.zeros((3, 4))) == ArraySpec(np.dtype(np.float32), (3, 4))

    def test_a_batch_of_another_shape(self):
        pipe = pipeline(5, 2, pad=True)
        with (
            DALIGenericPeekableIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=PARTIAL) as it,
            pytest.raises(
                ValueError,
                match=r"changed between iterations. Output 'x' was .*2, 1.* and is .*1, 1",  # an ArraySpec, CLU's if it is there
            ),
        ):
            list(it)

    def test_a_peeked_batch_is_not_in_the_state(self):
        with self.make() as it:
            next(it)
            before = json.loads(json.dumps(it.get_state()))
            it.peek()
            assert it.get_state() == before
            it.set_state(before)
            assert rows(next(it)) == [2, 3]

    def test_is_nonpadding(self):
        pipes = [pipeline(5, 2, shard_id=i, num_shards=2, pad=True) for i in range(2)]
        with DALIGenericPeekableIterator(pipes, ["x"], reader_name="Reader") as it:
            # Shards of 2 and 3 samples, both padded to 2 batches.
            assert it.is_nonpadding.tolist() == [True] * 4
            next(it), it.peek()
            assert it.is_nonpadding.tolist() == [True] * 4
            next(it)
            assert it.is_nonpadding.tolist() == [False, False, True, False]

    def test_is_nonpadding_is_split_like_the_batch(self):
        sharding = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("d",)), P("d"))
        with self.make(sharding=sharding) as it:
            next(it)
            assert it.is_nonpadding.sharding.is_equivalent_to(sharding, 1)


# --- the real DALI ---------------------------------------------------------------------------------
@pytest.fixture
def dali_jax(monkeypatch):
    """DALI's own plugin.jax. Newer JAX has no `jax.dlpack`, which it imports: a stand-in copies."""
    oracle.dali()
    stand_in = types.ModuleType("jax.dlpack")
    stand_in.from_dlpack = lambda tensor: jax.numpy.asarray(np.array(tensor))
    if not hasattr(jax, "dlpack"):
        monkeypatch.setitem(sys.modules, "jax.dlpack", stand_in)
        monkeypatch.setattr(jax, "dlpack", stand_in, raising=False)
    import nvidia.dali.plugin.jax as plugin

    yield plugin
    for name in [n for n in sys.modules if n.startswith("nvidia.dali.plugin.jax")]:
        del sys.modules[name]


def file_pipelines(package, files, batch, shards, **reader):
    """For each shard a pipeline, of DALI or of jdali, that gives the numbers of files."""
    pipes = []
    for shard in range(shards):
        pipe = package.Pipeline(batch_size=batch, num_threads=1, device_id=None)
        with pipe:
            _, label = package.fn.readers.file(
                files=files,
                labels=list(range(len(files))),
                name="Reader",
                shard_id=shard,
                num_shards=shards,
                **reader,
            )
            pipe.set_outputs(label)
        pipes.append(pipe)
    return pipes


@pytest.mark.cases(8)
@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pads", [False, True])
@pytest.mark.parametrize("sticks", [False, True])
@pytest.mark.parametrize("policy", [FILL, DROP])
@pytest.mark.parametrize(("size", "batch", "shards"), [(10, 3, 1), (10, 2, 3), (7, 2, 2)])
def test_the_same_samples_as_dali(tmp_path, dali_jax, policy, size, batch, shards, pads, sticks):
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy as DaliPolicy

    for i in range(size):
        (tmp_path / f"{i:03d}").write_bytes(b"x")
    files = sorted(map(str, tmp_path.iterdir()))
    options = {"pad_last_batch": pads, "stick_to_shard": sticks}
    theirs = dali_jax.DALIGenericIterator(
        file_pipelines(oracle.dali(), files, batch, shards, **options), ["x"], reader_name="Reader",
        last_batch_policy=DaliPolicy[policy.name],
    )  # fmt: skip
    pipes = file_pipelines(jdali, files, batch, shards, **options)
    with DALIGenericIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=policy) as ours:
        for _ in range(4):
            assert len(ours) == len(theirs)
            expected = [np.asarray(batch["x"]) for batch in theirs]
            got = [np.asarray(batch["x"]) for batch in ours]
            assert [g.shape for g in got] == [e.shape for e in expected]
            assert [g.ravel().tolist() for g in got] == [e.ravel().tolist() for e in expected]
            theirs.reset()
            ours.reset()
