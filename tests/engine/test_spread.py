"""Stages on all devices of a sharding: the values of one device, and nothing passes through one."""

import functools
import re

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jdali
import jdali.ops
from jdali import Pipeline, fn, types
from jdali.engine.steps import sharded as _sharded
from jdali.engine.steps.program_table import Compiled
from jdali.iterator import DataIterator, LastBatchPolicy, data_iterator
from jdali.plugin.jax import DALIGenericIterator

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs eight devices")

BATCH, SIZE = 8, 24
# Pictures of different sizes, so that samples are padded.
PICTURES = [
    np.random.default_rng(i).integers(0, 256, (12 + i % 3, 14 + i % 2, 3), np.uint8) for i in range(SIZE)
]


def mesh(*shape, names=("data", "model")):
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), names[: len(shape)])


def batches(info_batch=BATCH):
    """A source of batches; the last one of an epoch may be short."""
    return [PICTURES[i : i + info_batch] for i in range(0, SIZE, info_batch)]


def random_crops(batch_size=BATCH, **options):
    """Two outputs of one stage with random operators in it, and one that is made on the host."""
    pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=5, **options)
    with pipe:
        pictures = fn.external_source(batches(batch_size), cycle=True, layout="HWC")
        bright = fn.brightness(pictures, brightness=fn.random.uniform(range=(0.5, 1.5)))
        noisy = fn.noise.gaussian(bright, stddev=20.0)
        cut = fn.crop(noisy, crop=(8, 12), crop_pos_x=fn.random.uniform(), crop_pos_y=fn.random.uniform())
        floats = fn.crop_mirror_normalize(
            cut, mirror=fn.random.coin_flip(), mean=[100.0], std=[50.0], dtype=types.FLOAT
        )
        number = fn.python_function(pictures, function=lambda a: a[:1, 0, 0].astype(np.int32), device="cpu")
        pipe.set_outputs(cut, floats, number)
    return pipe


NAMES = ["cut", "floats", "number"]


def three_batches(pipe, sharding, **options):
    with DataIterator(pipe, NAMES, size=SIZE, sharding=sharding, **options) as it:
        return list(it)


@pytest.fixture(scope="module")
def of_one_device():
    """What a pipeline without a sharding gives."""
    got = [{k: np.asarray(v) for k, v in b.items()} for b in three_batches(random_crops(), None)]
    assert len({b["cut"].tobytes() for b in got}) == 3
    return got


SHARDINGS = [
    ((8,), P("data"), P("data")),
    ((1,), P("data"), P("data")),
    ((4, 2), P("data"), P("data")),
    ((2, 4), P("data", None, "model"), P("data", None, "model")),  # the columns of HWC, the rows of CHW
    ((2, 2), P(("data", "model")), P(("model", "data"))),
    ((4, 2), P(("data", "model")), P("data")),
    ((4, 2), P(), P("model")),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize(("shape", "of_cut", "of_floats"), SHARDINGS)
def test_the_values_are_those_of_one_device(of_one_device, shape, of_cut, of_floats):
    where = mesh(*shape)
    wanted = {
        "cut": NamedSharding(where, of_cut),
        "floats": NamedSharding(where, of_floats),
        "number": NamedSharding(where, P(*tuple(of_cut)[:1])),
    }
    for got, expected in zip(three_batches(random_crops(), wanted), of_one_device, strict=True):
        for name in NAMES:
            assert got[name].sharding.is_equivalent_to(wanted[name], got[name].ndim)
            np.testing.assert_array_equal(np.asarray(got[name]), expected[name])


def test_nothing_passes_through_one_device(monkeypatch, of_one_device):
    """Not on the way in, not in a program, not on the way out."""
    programs, made = [], []

    class Program(_sharded.Program):  # type: ignore[name-defined]
        def __init__(self, function, *rest):
            def spy(*operands):
                programs.append((function.function.lower(*operands).compile().as_text(), operands))
                return function(*operands)

            super().__init__(Compiled(spy), *rest)

    take = Pipeline.take_result

    def recorded(self):
        result = take(self)
        if result is not None:
            made.append(result)
        return result

    monkeypatch.setattr(_sharded, "Program", Program)
    monkeypatch.setattr(Pipeline, "take_result", recorded)
    # Raises where an array of one device is sent to another, by whichever thread.
    before = jax.config.jax_transfer_guard_device_to_device
    jax.config.update("jax_transfer_guard_device_to_device", "disallow_explicit")
    try:
        alone = jax.device_put(np.zeros(8), jax.devices()[0])
        with pytest.raises(Exception, match="Disallowed device-to-device"):
            jax.device_put(alone, NamedSharding(mesh(8), P("data"))).block_until_ready()
        got = three_batches(random_crops(), NamedSharding(mesh(4, 2), P("data")))
    finally:
        jax.config.update("jax_transfer_guard_device_to_device", before)

    assert programs
    for text, (arrays, packed, *_) in programs:
        for name in ("all-gather", "all-to-all", "all-reduce", "collective-permute", "reduce-scatter"):
            assert name not in text
        # In the program of a device every array has two samples, a quarter of the batch.
        pictures = {int(n) for n in re.findall(r"u8\[(\d+),\d+,\d+,3\]", text)}
        assert pictures == {BATCH // 4}
        for operand in (*arrays, packed):
            assert {s.data.shape[0] for s in operand.addressable_shards} == {BATCH // 4}
    for batch, result, expected in zip(got, made, of_one_device, strict=False):
        for name, output in list(zip(NAMES, result.outputs, strict=True))[:2]:
            (block,) = output.store.blocks
            assert pointers(batch[name]) == pointers(block.array)  # the very buffers of the stage
            np.testing.assert_array_equal(np.asarray(batch[name]), expected[name])


def pointers(array):
    return {s.device.id: s.data.unsafe_buffer_pointer() for s in array.addressable_shards}


def test_the_plan_says_what_runs_where():
    pipe = random_crops()
    with DataIterator(pipe, NAMES, size=SIZE, sharding=NamedSharding(mesh(4, 2), P("data"))) as it:
        next(it)
        plan = pipe.plan()
    assert "on 8 devices, 4 parts of 2 samples, each computed on 2 devices: " in plan
    assert pipe.executor_statistics()["programs"] == plan.count("program:")


def test_no_program_more_for_a_short_batch():
    """20 pictures in batches of 8: the last one has 4, and is filled up under PAD."""
    pipe = Pipeline(batch_size=8, num_threads=1)
    with pipe:
        pictures = fn.external_source([np.stack([p[:12, :14] for p in PICTURES[i : i + 8]][: 20 - i])
                                       for i in (0, 8, 16)], layout="HWC")  # fmt: skip
        pipe.set_outputs(fn.brightness(pictures, brightness=0.5))
    sharding = NamedSharding(mesh(4), P("data"))
    with DataIterator(pipe, ["x"], sharding=sharding, last_batch_policy=LastBatchPolicy.PAD) as it:
        got = list(it)
        assert pipe.executor_statistics()["programs"] == 1
    whole = np.concatenate([np.asarray(b["x"])[np.asarray(b["mask"])] for b in got])
    # Half of an integer rounds half away from zero.
    expected = np.stack([(p[:12, :14].astype(int) + 1) // 2 for p in PICTURES[:20]])
    np.testing.assert_array_equal(whole, expected)
    assert all(b["x"].sharding.is_equivalent_to(sharding, 4) for b in got)


def test_the_ways_that_stay_on_one_device(of_one_device):
    """Branches, numbers of channels that differ, batches that cannot be shared out: right all the same."""
    sharding = NamedSharding(mesh(2), P("data"))

    @jdali.pipeline_def(batch_size=4, num_threads=1, enable_conditionals=True)
    def branches():
        x = fn.external_source([np.arange(4, dtype=np.int32)], cycle=True)
        if x > 1:
            y = x * 10
        else:
            y = -x
        return y

    with DataIterator(branches(), ["y"], size=4, sharding=sharding) as it:
        assert np.asarray(next(it)["y"]).tolist() == [0, -1, 20, 30]

    pipe = Pipeline(batch_size=4, num_threads=1)
    with pipe:
        channels = [[np.full((4, 6, c), 7, np.uint8) for c in (1, 3, 1, 3)]]
        pipe.set_outputs(fn.brightness(fn.external_source(channels, layout="HWC"), brightness=2.0))
    with DataIterator(pipe, ["x"], sharding=sharding, ragged="pad") as it:
        batch = next(it)
        extents = np.asarray(batch["x_extent"])
        assert extents[:, 2].tolist() == [1, 3, 1, 3]
        for row, extent in zip(np.asarray(batch["x"]), extents, strict=True):
            np.testing.assert_array_equal(row[tuple(map(slice, extent))], 14)

    pipe = random_crops(6)
    with DataIterator(pipe, NAMES, size=18, sharding={"number": NamedSharding(mesh(3), P("data"))}) as it:
        cut = np.asarray(next(it)["cut"])
        assert "6 devices" not in pipe.plan()
        np.testing.assert_array_equal(cut, of_one_device[0]["cut"][:6])


def test_a_pipeline_that_has_run_stays_where_it_is(of_one_device):
    pipe = random_crops()
    first = np.asarray(pipe.run()[0].as_jax())
    np.testing.assert_array_equal(first, of_one_device[0]["cut"])
    sharding = NamedSharding(mesh(8), P("data"))
    with DataIterator(pipe, NAMES, size=SIZE, sharding=sharding) as it:
        batch = next(it)
    assert "8 devices" not in pipe.plan()
    assert batch["cut"].sharding.is_equivalent_to(sharding, 4)
    np.testing.assert_array_equal(np.asarray(batch["cut"]), of_one_device[1]["cut"])


def test_each_of_several_pipelines_works_on_its_part():
    """Two pipelines, four parts of the batch: two parts each, on the devices of those parts."""

    def numbers(first):
        pipe = Pipeline(batch_size=4, num_threads=1)
        with pipe:
            x = fn.external_source([np.arange(first, first + 4, dtype=np.float32)], cycle=True)
            pipe.set_outputs(x * np.float32(2))
        return pipe

    pipes = [numbers(0), numbers(4)]
    sharding = NamedSharding(mesh(4, 2), P("data"))
    with DataIterator(pipes, ["x"], size=8, sharding=sharding) as it:
        batch = next(it)
        assert all("on 4 devices, 2 parts of 2 samples, each computed on 2" in p.plan() for p in pipes)
    assert batch["x"].sharding.is_equivalent_to(sharding, 1)
    assert np.asarray(batch["x"]).tolist() == list(range(0, 16, 2))


def test_a_pipeline_for_each_part():
    sharding = NamedSharding(mesh(4), P("data"))

    @data_iterator(output_map=["x"], size=8, sharding=sharding)
    def make(shard_id, num_shards):
        return fn.external_source([np.full(2, shard_id, np.float32)], cycle=True) + np.float32(num_shards)

    with make(batch_size=8) as it:
        x = next(it)["x"]
    assert [(s.device, np.asarray(s.data).tolist()) for s in x.addressable_shards] == [
        (device, [4.0 + i] * 2) for i, device in enumerate(jax.devices()[:4])
    ]


# --- shapes for pmap, and functions of the user ---------------------------------------------------
def test_the_shape_of_pmap(of_one_device):
    sharding = NamedSharding(mesh(4), P("data"))
    got = three_batches(random_crops(), sharding, pmap_shape=True)
    for batch, expected in zip(got, of_one_device, strict=True):
        for name in NAMES:
            whole = expected[name]
            assert [s.device for s in batch[name].addressable_shards] == jax.devices()[:4]
            np.testing.assert_array_equal(np.asarray(batch[name]), whole.reshape(4, 2, *whole.shape[1:]))
    sums = jax.pmap(lambda x: x.sum(), devices=jax.devices()[:4])(got[0]["number"])
    np.testing.assert_array_equal(sums, of_one_device[0]["number"].reshape(4, 2).sum(axis=1))


def test_the_shape_of_pmap_needs_parts():
    pipe = random_crops()
    alone = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    with (
        DataIterator(pipe, NAMES, size=SIZE, sharding=alone, pmap_shape=True) as it,
        pytest.raises(TypeError, match="leading axis needs a NamedSharding"),
    ):
        next(it)


def test_operators_in_a_function_under_shard_map(of_one_device):
    """What the user computes from a sharded batch, on each device for its samples."""
    sharding = NamedSharding(mesh(4), P("data"))
    batch = three_batches(random_crops(), sharding)[0]

    @jax.jit
    @functools.partial(
        jax.shard_map, mesh=sharding.mesh, in_specs=P("data"), out_specs=(P("data"), P()), check_vma=False
    )
    def step(pictures):
        flipped = jax.vmap(lambda x: jdali.ops.flip(x, horizontal=1))(pictures)
        return flipped, jax.lax.psum(pictures.astype(np.float32).sum(), "data")

    flipped, total = step(batch["cut"])
    expected = of_one_device[0]["cut"]
    np.testing.assert_array_equal(np.asarray(flipped), expected[:, :, ::-1])
    assert flipped.sharding.is_equivalent_to(sharding, 4)
    assert float(total) == expected.astype(np.float64).sum()  # a sum of integers below 2**24


def test_stacked_pipelines_work_on_their_own_devices():
    """DALI's way for pmap: a pipeline for each device; what they compute is never elsewhere."""
    pipes = []
    for start, device in ((0, 3), (2, 1)):
        pipe = Pipeline(batch_size=2, num_threads=1, device_id=device)
        with pipe:
            x = fn.external_source([np.arange(start, start + 2, dtype=np.float32)], cycle=True)
            pipe.set_outputs(x * np.float32(3))
        pipes.append(pipe)
    with DALIGenericIterator(pipes, ["x"], size=4) as it:
        x = next(it)["x"]
        assert all("on 1 devices, 1 parts of 2 samples" in pipe.plan() for pipe in pipes)
    held = {s.device.id: np.asarray(s.data).tolist() for s in x.addressable_shards}
    assert held == {3: [[0.0, 3.0]], 1: [[6.0, 9.0]]}


def test_outputs_on_different_meshes(of_one_device):
    """One stage gives both: it runs where the finer split is, and the other output moves."""
    devices = np.array(jax.devices())
    wanted = {
        "cut": NamedSharding(Mesh(devices[:4], ("a",)), P("a")),
        "floats": NamedSharding(Mesh(devices[4:6], ("b",)), P(None, None, "b")),
    }
    got = three_batches(random_crops(), wanted)
    for batch, expected in zip(got, of_one_device, strict=True):
        for name, sharding in wanted.items():
            assert batch[name].sharding.is_equivalent_to(sharding, 4)
            np.testing.assert_array_equal(np.asarray(batch[name]), expected[name])


@pytest.mark.parametrize("size", [3, 20000])  # staged in this thread, and in others
def test_numbers_of_64_bits(size):
    pipe = Pipeline(batch_size=4, num_threads=2)
    with pipe:
        big = fn.external_source([np.full((4, size), 6 << 33, np.int64) + (np.arange(4) << 33)[:, None]])
        unit = fn.external_source([np.full((4, 1), 1 << 33, np.int64)])
        pipe.set_outputs(big // unit)
    sharding = NamedSharding(mesh(4), P("data"))
    with DataIterator(pipe, ["x"], sharding=sharding) as it:
        x = next(it)["x"]
        assert "on 4 devices" in pipe.plan()
    expected = np.broadcast_to(np.arange(6, 10, dtype=np.int32)[:, None], (4, size))
    np.testing.assert_array_equal(np.asarray(x), expected)
