"""Outputs as global arrays over several devices (eight virtual CPU devices, see conftest)."""

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P
from support.numbers import NumberReader, numbers, pipeline

from jdali import Pipeline, fn
from jdali._batches import place
from jdali.iterator import DataIterator, LastBatchPolicy, data_iterator

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs eight devices")


def mesh(*shape, names=("data", "model")):
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), names[: len(shape)])


def images_and_numbers(batch_size, count=64, **options):
    """Pictures [4, 6] whose pixels all are the number, computed; and the numbers [1], as read."""
    pipe = Pipeline(batch_size=batch_size, num_threads=1, seed=1, **options)
    with pipe:
        number = numbers(NumberReader(count))
        pipe.set_outputs(number * PICTURE, number)
    return pipe


PICTURE = np.ones((4, 6), np.float32)


def shards_hold(array, expected, sharding):
    """The array has the values, and each device the slice that the sharding gives it."""
    assert array.sharding.is_equivalent_to(sharding, array.ndim)
    np.testing.assert_array_equal(np.asarray(array), expected)
    indices = sharding.devices_indices_map(array.shape)
    for shard in array.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), expected[indices[shard.device]])


@pytest.mark.parametrize("count", [1, 2, 8])
def test_split_over_devices(count):
    sharding = NamedSharding(mesh(count), P("data"))
    with DataIterator(images_and_numbers(8), ["image", "x"], size=64, sharding=sharding) as it:
        for start in (0, 8):
            batch = next(it)
            expected = np.arange(start, start + 8, dtype=np.int32)[:, None]
            shards_hold(batch["x"], expected, NamedSharding(mesh(count), P("data")))
            shards_hold(batch["image"], expected[:, :, None] * PICTURE, sharding)


def test_the_batch_over_one_axis_of_a_mesh():
    sharding = NamedSharding(mesh(4, 2), P("data"))
    with DataIterator(images_and_numbers(8), ["image", "x"], size=64, sharding=sharding) as it:
        batch = next(it)
    shards_hold(batch["x"], np.arange(8, dtype=np.int32)[:, None], sharding)
    assert batch["x"].addressable_shards[0].data.shape == (2, 1)


def test_an_output_may_have_a_sharding_of_its_own():
    of_image = NamedSharding(mesh(4, 2), P("data", None, "model"))
    of_x = NamedSharding(mesh(4, 2), P())
    with DataIterator(
        images_and_numbers(8), ["image", "x"], size=64, sharding={"image": of_image, "x": of_x}
    ) as it:
        batch = next(it)
    expected = np.arange(8, dtype=np.int32)[:, None]
    shards_hold(batch["image"], expected[:, :, None] * PICTURE, of_image)
    shards_hold(batch["x"], expected, of_x)
    assert batch["image"].addressable_shards[0].data.shape == (2, 4, 3)


def test_outputs_that_are_not_named_stay_on_one_device():
    sharding = {"x": NamedSharding(mesh(8), P("data"))}
    with DataIterator(images_and_numbers(8), ["image", "x"], size=64, sharding=sharding) as it:
        batch = next(it)
    assert len(batch["x"].devices()) == 8
    assert len(batch["image"].devices()) == 1


def test_axes_that_are_not_split_may_be_missing():
    sharding = NamedSharding(mesh(4), P("data", None, None))  # of the image; x has two axes
    with DataIterator(images_and_numbers(8), ["image", "x"], size=64, sharding=sharding) as it:
        shards_hold(next(it)["x"], np.arange(8, dtype=np.int32)[:, None], NamedSharding(mesh(4), P("data")))


def test_the_mask_and_extents_are_split_like_the_batch():
    sharding = NamedSharding(mesh(2, 2), P("data", "model"))
    pipe = Pipeline(batch_size=4, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source([[np.ones(n, np.float32) for n in (1, 5, 7)]]))
    with DataIterator(
        pipe, ["x"], sharding=sharding, ragged="pad", last_batch_policy=LastBatchPolicy.PAD
    ) as it:
        batch = next(it)
    rows = NamedSharding(mesh(2, 2), P("data"))
    shards_hold(batch["mask"], np.array([True, True, True, False]), rows)
    shards_hold(batch["x_extent"], np.array([[1], [5], [7], [7]]), rows)
    assert batch["x"].sharding.is_equivalent_to(sharding, 2)


@pytest.mark.parametrize("axes", [P("data"), P("data", P.UNCONSTRAINED)], ids=str)
def test_a_batch_that_cannot_be_split(axes):
    sharding = NamedSharding(mesh(8), axes)
    told = r"output 'x' of shape \(6, 1\) cannot be split evenly .*multiple of the number of shards"
    with (
        DataIterator(pipeline(10, 6), ["x"], reader_name="Reader", sharding=sharding) as it,
        pytest.raises(ValueError, match=told),
    ):
        next(it)


def test_another_axis_that_cannot_be_split():
    sharding = NamedSharding(mesh(4, 2), P("data", "model"))
    told = (
        r"output 'x' of shape \(8, 1\) .*: axis 1 has size 1, which is no multiple of 2; split only the batch axis, by "
        r"\w+\('data',\), or give each output its own sharding: sharding=\{'x'"
    )
    with (
        DataIterator(pipeline(8, 8), ["x"], reader_name="Reader", sharding=sharding) as it,
        pytest.raises(ValueError, match=told),
    ):
        next(it)


def test_a_sharding_of_more_axes_than_the_output_has():
    sharding = NamedSharding(mesh(4, 2), P("data", None, "model"))
    with (
        DataIterator(pipeline(8, 8), ["x"], reader_name="Reader", sharding=sharding) as it,
        pytest.raises(ValueError, match="splits axis 2, but output 'x' has 2 axes"),
    ):
        next(it)


def test_wrong_shardings():
    pipe = pipeline(8, 8)
    with pytest.raises(ValueError, match=r"sharding names \['y'\], the outputs are \['x'\]"):
        DataIterator(pipe, ["x"], sharding={"y": SingleDeviceSharding(jax.devices()[0])})
    with pytest.raises(TypeError, match=r"should be an instance of `jax.sharding.Sharding`, not Mesh"):
        DataIterator(pipe, ["x"], sharding=mesh(8))
    with pytest.raises(ValueError, match="pmap_shape=True needs `sharding`"):
        DataIterator(pipe, ["x"], pmap_shape=True)


def test_usable_in_a_sharded_step():
    sharding = NamedSharding(mesh(8), P("data"))
    step = jax.jit(lambda x: x.sum(), in_shardings=sharding)
    with DataIterator(pipeline(16, 8), ["x"], reader_name="Reader", sharding=sharding) as it:
        assert [int(step(batch["x"])) for batch in it] == [28, 92]


class TestPlacement:
    """No slice passes through a device that does not hold it, and none is copied on the host in vain."""

    def test_parts_within_shards(self):
        parts = [np.arange(4 * i, 4 * i + 4) for i in range(4)]
        for count in (1, 2, 4, 8):  # shards larger than, as large as, and smaller than parts
            sharding = NamedSharding(mesh(count), P("data"))
            shards_hold(place("x", [p.astype(np.int32) for p in parts], sharding), np.arange(16), sharding)

    def test_parts_of_different_sizes(self):
        parts = [np.arange(3, dtype=np.int32), np.arange(3, 8, dtype=np.int32)]
        sharding = NamedSharding(mesh(4), P("data"))
        shards_hold(place("x", parts, sharding), np.arange(8), sharding)

    def test_an_array_on_a_device_is_split(self):
        sharding = NamedSharding(mesh(4), P("data"))
        shards_hold(place("x", [jax.numpy.arange(8)], sharding), np.arange(8), sharding)


# --- the decorator --------------------------------------------------------------------------------
def sharded_numbers(shard_id, num_shards, size=32):
    return numbers(NumberReader(size, shard_id=shard_id, num_shards=num_shards))


def test_a_pipeline_for_each_part_of_the_batch():
    sharding = NamedSharding(mesh(4, 2), P("data"))
    make = data_iterator(sharded_numbers, output_map=["x"], reader_name="Reader", sharding=sharding)
    with make(batch_size=8, num_threads=1) as it:
        assert it.batch_size == 2
        assert len(it) == 4
        batch = next(it)
    # Four shards of 8 numbers; the two devices of a row hold the same.
    shards_hold(batch["x"], np.array([[0, 1, 8, 9, 16, 17, 24, 25]]).T, sharding)


def test_devices_in_place_of_a_sharding():
    make = data_iterator(output_map=["x"], reader_name="Reader", devices=jax.devices()[:2])(sharded_numbers)
    with make(batch_size=4, num_threads=1, size=8) as it:
        x = next(it)["x"]
    assert np.asarray(x).ravel().tolist() == [0, 1, 4, 5]
    assert [s.device for s in x.addressable_shards] == jax.devices()[:2]


def test_one_pipeline_if_the_function_knows_no_shards():
    sharding = NamedSharding(mesh(4), P("data"))

    @data_iterator(output_map=["x"], reader_name="Reader", sharding=sharding)
    def everything(size):
        return numbers(NumberReader(size))

    with everything(16, batch_size=8, num_threads=1) as it:
        assert it.batch_size == 8
        shards_hold(next(it)["x"], np.arange(8, dtype=np.int32)[:, None], sharding)


def test_no_sharding():
    @data_iterator(output_map=["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP)
    def everything(size):
        """Documented."""
        return numbers(NumberReader(size))

    assert everything.__name__ == "everything"
    assert everything.__doc__ == "Documented."
    with everything(10, batch_size=4) as it:
        assert [np.asarray(b["x"]).ravel().tolist() for b in it] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_wrong_uses_of_the_decorator():
    sharding = NamedSharding(mesh(4), P("data"))
    with pytest.raises(ValueError, match="Only one of `sharding` and `devices`"):
        data_iterator(sharded_numbers, ["x"], sharding=sharding, devices=jax.devices())
    make = data_iterator(sharded_numbers, ["x"], sharding=sharding)
    with pytest.raises(ValueError, match="batch_size 6 cannot be split evenly in 4 parts"):
        make(batch_size=6)
    with pytest.raises(TypeError, match="batch_size must be given"):
        make()
    mixed = {"x": sharding, "y": NamedSharding(mesh(2), P("data"))}
    with pytest.raises(ValueError, match="all shardings must split the batch in the same way"):
        data_iterator(sharded_numbers, ["x", "y"], sharding=mixed)(batch_size=8)


@pytest.mark.parametrize(("count", "refused"), [(11, True), (10, False), (8, False)])
def test_a_last_batch_that_devices_cannot_share_is_refused_at_the_start(count, refused):
    pipe = pipeline(count, 4, pad=True)
    options = {"reader_name": "Reader", "sharding": NamedSharding(mesh(2), P("data"))}
    with pipe:
        if refused:
            with pytest.raises(
                ValueError, match="has 3 samples, which `sharding` cannot split into 2 equal parts"
            ):
                DataIterator(pipe, ["x"], last_batch_policy=LastBatchPolicy.PARTIAL, **options)
        else:
            it = DataIterator(pipe, ["x"], last_batch_policy=LastBatchPolicy.PARTIAL, **options)
            assert sum(len(batch["x"]) for batch in it) == count


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_batches_made_again_know_nothing_of_the_programs_mesh(axis_type):
    sharding = NamedSharding(mesh(2), P("data"))
    with DataIterator(images_and_numbers(4, count=8), ["image", "x"], size=8, sharding=sharding) as it:
        batch, sample = [dict(one) for one in it][1], it.sample(5)
        with jax.set_mesh(jax.make_mesh((8,), ("other",), axis_types=(axis_type,))):
            again, sample_again = it.batch_at(1), it.sample(5)
    for name in batch:
        shards_hold(again[name], np.asarray(batch[name]), batch[name].sharding)
        assert sample_again[name].sharding == sample[name].sharding
        np.testing.assert_array_equal(sample_again[name], sample[name])
