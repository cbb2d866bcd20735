"""Data stays where it is: what is on a device comes to the host only if the user asks."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from support import accelerator as support
from support.accelerator import nothing_comes_to_the_host

import jdali.dynamic as jd
from jdali import fn, pipeline_def, types
from jdali._batches import gathering as _gather
from jdali._system import devices as _devices
from jdali._system.devices import (
    DeviceReadError,
    host_device,
    is_local,
    to_device,
    to_host,
)
from jdali.engine.steps import stage as _stage
from jdali.iterator import DataIterator
from jdali.tensors import TensorListGPU

pytestmark = pytest.mark.gpu

BATCH = 6
PICTURES = [
    np.random.default_rng(i).integers(0, 256, (20 + 9 * (i % 3), 24 + 5 * (i % 3), 3), np.uint8)
    for i in range(BATCH)
]


ORDER = np.array([3, 0, 5, 5, 1, 2], np.int32)


@pipeline_def(batch_size=BATCH, num_threads=2, seed=7, enable_conditionals=True)
def branches(source=lambda: PICTURES):
    """Device stages before, in and after a conditional on a predicate of the CPU; indices move in between."""
    pictures = fn.external_source(source, layout="HWC").gpu()
    pictures = fn.flip(pictures, horizontal=fn.random.coin_flip())
    if fn.random.coin_flip(probability=0.5):
        changed = fn.brightness(pictures, brightness=fn.random.uniform(range=(0.5, 1.5)))
    elif fn.random.coin_flip(probability=0.5):
        changed = fn.resize(pictures, size=(30, 20), interp_type=types.INTERP_NN)
    else:
        changed = pictures
    moved = fn.permute_batch(changed, indices=fn.external_source(lambda: ORDER))
    cut = fn.crop_mirror_normalize(moved, crop=(16, 18), mirror=fn.random.coin_flip(), dtype=types.FLOAT)
    return changed, moved, cut


def test_the_accelerator_is_not_the_host(accelerator):
    assert not is_local(jax.device_put(np.zeros(3), accelerator))
    assert is_local(jax.device_put(np.zeros(3), host_device()))
    assert is_local(np.zeros(3))
    assert _devices.accelerator() == accelerator != host_device()


READS = [
    to_host, jax.device_get, float, int, bool, lambda array: np.asarray(array), lambda array: np.array(array),
    lambda array: np.stack([array]), lambda array: array.tolist(), lambda array: array.item(),
]  # fmt: skip


@pytest.mark.parametrize("read", READS)
def test_reading_a_device_is_noticed(accelerator, read):
    there, here = jax.device_put(np.ones((), np.float32), accelerator), jnp.ones((), device=host_device())
    with nothing_comes_to_the_host():
        read(here)
        with pytest.raises((DeviceReadError, jax.errors.JaxRuntimeError), match=r"on |Disallowed"):
            read(there)
    read(there)


def values(batches):
    return [[np.asarray(sample) for sample in batch.as_cpu()] for batch in batches]


@pytest.fixture(scope="module")
def of_one_device():
    """Four batches of `branches` where the host's device is the accelerator too."""
    with support.as_default(host_device()):
        pipe = branches()
        return [values(pipe.run()) for _ in range(4)]


def test_a_pipeline_of_two_devices_reads_nothing_back(accelerator, of_one_device):
    pipe = branches(exec_pipelined=False)
    got = [pipe.run() for _ in range(2)]  # compiling may well bring constants to the host
    with nothing_comes_to_the_host():
        got += [pipe.run() for _ in range(2)]
        assert {d for outputs in got for batch in outputs for d in batch.padded()[0].devices()} == {
            accelerator
        }
        assert got[3][2].as_jax().devices() == {accelerator}
    for outputs, expected in zip(got, of_one_device, strict=True):
        for samples, wanted in zip(values(outputs), expected, strict=True):
            for sample, one in zip(samples, wanted, strict=True):
                if accelerator.platform == "cpu":
                    np.testing.assert_array_equal(sample, one)
                else:  # a GPU divides in another way, so that what lies at a half may round to its other side
                    np.testing.assert_allclose(sample.astype(float), one.astype(float), rtol=1e-5, atol=1)


@pytest.mark.parametrize("shape", [(5, 30 << 10), (3, 64 << 10), (80, 1 << 10), (1, 70 << 10)])
def test_a_large_array_is_copied_in_pieces(accelerator, monkeypatch, shape):
    """Pieces of 32 KiB here: of 32 MiB, as they are, the array takes seconds."""
    pinned = _devices.PINNED_BYTES >> 10
    monkeypatch.setattr(_devices, "PINNED_BYTES", pinned)
    array = np.resize(np.arange(251, dtype=np.uint8), shape)
    assert array.nbytes > 2 * pinned
    with mock.patch.object(jax, "device_put", wraps=jax.device_put) as put:
        placed = to_device(array, None), to_device(array, accelerator)
    for pieces, _ in (call.args for call in put.call_args_list):
        assert isinstance(pieces, list)
        assert all(piece.nbytes <= max(pinned, shape[1]) for piece in pieces)
    for one in placed:
        assert one.devices() == {accelerator}
        np.testing.assert_array_equal(np.asarray(one), array)


def over_the_host(store, rows, shape, placement, **options):
    staged = _gather.gather(store, rows, shape, None, **options)
    return staged if placement is None else jax.device_put(staged, placement)


def read_raw(store, rows, shape, placement, **options):
    for block in store.blocks:
        np.asarray(block.array if hasattr(block, "array") else block.arrays[0])
    return _gather.gather(store, rows, shape, placement, **options)


@pytest.mark.parametrize("planted", [over_the_host, read_raw])
def test_a_copy_over_the_host_is_found(accelerator, monkeypatch, planted):
    monkeypatch.setattr(_stage, "gather", planted)
    pipe = branches(exec_pipelined=False)
    with nothing_comes_to_the_host(), pytest.raises(Exception, match="on .*read by the host|asarray of"):
        pipe.run()


def dynamic_calls():
    """Batches on the accelerator, of which samples are picked, repeated, put together and worked on again."""
    pictures = jd.as_batch(PICTURES, layout="HWC").gpu()
    flipped = jd.flip(pictures, horizontal=jd.batch([0, 1, 1, 0, 1, 0]))
    chosen = flipped.select([4, 0, 2])
    bright = jd.brightness(chosen, brightness=jd.batch([0.5, 1.25, 1.5]))
    both = jd.as_batch([*bright, *flipped.select([1, 3]), pictures.tensors[5]])
    first = both.tensors[0] + jd.as_tensor(both.tensors[0], layout="HWC")
    return both, jd.crop(both, crop=(16, 18)), first


def test_dynamic_mode_reads_nothing_back(accelerator):
    with support.as_default(host_device()):
        expected = [np.asarray(sample) for value in dynamic_calls()[:2] for sample in value.cpu()]
    dynamic_calls()
    with nothing_comes_to_the_host():
        both, cut, first = dynamic_calls()
        for value in (both, cut, first):
            assert value.device.jax_device == accelerator
            value.evaluate()
        assert {d for block in cut._list.store.blocks for d in block.array.devices()} == {accelerator}
    got = [np.asarray(sample) for value in (both, cut) for sample in value.cpu()]
    for sample, one in zip(got, expected, strict=True):
        np.testing.assert_array_equal(sample, one)


@pipeline_def(batch_size=BATCH, num_threads=2, seed=7, exec_pipelined=False)
def labelled(dense=False):
    pictures, labels = fn.external_source(
        lambda: (PICTURES, np.arange(BATCH, dtype=np.int32)), num_outputs=2, layout=["HWC", ""]
    )
    flipped = fn.flip(pictures.gpu(), horizontal=fn.random.coin_flip())
    moved = fn.permute_batch(flipped, indices=[5, 4, 3, 2, 1, 0])
    outputs = fn.crop(moved, crop=(16, 18)), labels, fn.cast(labels, dtype=types.FLOAT)
    return outputs if dense else (moved, *outputs)


NAMES = ["pictures", "cut", "label", "number"]


def test_the_iterator_reads_nothing_back(accelerator):
    with DataIterator(labelled(), NAMES, size=100 * BATCH, ragged=["pictures"]) as batches:
        expected = {name: np.asarray(array) for name, array in next(batches).items()}
        with nothing_comes_to_the_host():
            got = [next(batches) for _ in range(4)]
            assert {d for batch in got for array in batch.values() for d in array.devices()} == {accelerator}
    assert {name: array.shape for name, array in got[0].items()} == {n: a.shape for n, a in expected.items()}
    for name in ("label", "number", "pictures_extent"):
        np.testing.assert_array_equal(np.asarray(got[3][name]), expected[name])


@pytest.mark.cases(1)
@pytest.mark.parametrize("count", [1, 2])
def test_a_global_array_reads_nothing_back(accelerator, count):
    """Over the accelerator alone, or over another device too."""
    devices = [accelerator, *(d for d in jax.local_devices() if d != accelerator)][:count]
    if len(devices) < count:
        pytest.skip(f"there are no {count} devices of one kind")
    sharding = NamedSharding(Mesh(np.array(devices), ("data",)), P("data"))
    with DataIterator(labelled(dense=True), NAMES[1:], size=100 * BATCH, sharding=sharding) as batches:
        next(batches)
        with nothing_comes_to_the_host():
            got = [next(batches) for _ in range(3)]
    for array in got[-1].values():
        assert array.sharding.is_equivalent_to(sharding, array.ndim)
    np.testing.assert_array_equal(np.asarray(got[-1]["label"]), np.arange(BATCH))
    assert np.asarray(got[-1]["cut"]).any(axis=(1, 2, 3)).all()


@pytest.mark.parametrize("form", ["array", "list", "batch", "sample by sample"])
def test_data_that_a_user_has_on_the_device_stay_there(accelerator, form):
    pictures = np.stack([picture[:20, :24] for picture in PICTURES])
    there = jax.device_put(pictures, accelerator)
    given = {
        "array": lambda: there,
        "list": lambda: [jax.device_put(picture, accelerator) for picture in PICTURES],
        "batch": lambda: TensorListGPU(there),
        "sample by sample": lambda info: there[info.idx_in_batch],
    }[form]

    @pipeline_def(batch_size=BATCH, num_threads=2, exec_pipelined=False)
    def pipe():
        batch = form != "sample by sample"
        data = fn.external_source(given, batch=batch, device="gpu", layout="HWC", dtype=types.UINT8, ndim=3)
        return data, fn.flip(data)

    built = pipe()
    built.run()
    with nothing_comes_to_the_host():
        data, flipped = built.run()
    assert data.layout() == flipped.layout() == "HWC"
    for i, sample in enumerate(flipped.as_cpu()):
        whole = PICTURES[i] if form == "list" else pictures[i]
        np.testing.assert_array_equal(np.asarray(sample), whole[:, ::-1])


def test_checks_of_constants_leave_arrays_on_the_device_alone(accelerator):
    number, divisor = jd.as_tensor(np.int32(7)).gpu(), jax.device_put(np.int32(2), accelerator)
    with nothing_comes_to_the_host():
        quotient = number // divisor
    assert np.asarray(quotient.cpu()) == 3


def test_values_made_on_a_device_stay_there(accelerator):
    """Also where the device is not JAX's default one, and no data come in."""
    with support.as_default(host_device()), nothing_comes_to_the_host():
        number = jax.local_devices().index(accelerator) if accelerator in jax.local_devices() else 0
        noise = jd.random.normal(shape=[4], device=f"gpu:{number}")
        twice = noise + noise
    for value in (noise, twice):
        assert value._list.store.blocks[0].array.devices() == {accelerator}


def test_others_stand_in_for_samples_that_fail_on_the_device(accelerator):
    there = jax.device_put(np.stack([picture[:20, :24] for picture in PICTURES]), accelerator)

    @pipeline_def(batch_size=BATCH, num_threads=2, on_error="skip")
    def pipe():
        data = fn.external_source(lambda: there, device="gpu", layout="HWC")
        sizes = fn.external_source(lambda: np.array([9, 9, 30, 9, 9, 9], np.float32))
        return fn.crop(data, crop_h=sizes, crop_w=5.0)

    with nothing_comes_to_the_host():
        (cut,) = pipe().run()
        assert cut.shape() == [(9, 5, 3)] * BATCH
        assert cut.as_jax().devices() == {accelerator}
