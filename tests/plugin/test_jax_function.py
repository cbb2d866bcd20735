"""jax_function: the user's own JAX in the middle of a pipeline."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jdali.plugin.jax as dax
from jdali import OperatorError, Pipeline, fn

IMAGES = [np.arange(24, dtype=np.uint8).reshape(2, 4, 3) + i for i in range(3)]


def run(function, *batches, layout="HWC", device="cpu", **options):
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        nodes = [fn.external_source([list(batch)], layout=layout, device=device) for batch in batches]
        result = (
            dax.fn.jax_function(function, **options)(*nodes)
            if options
            else dax.fn.jax_function(function)(*nodes)
        )
        pipe.set_outputs(
            *(() if result is None else (result,) if not isinstance(result, tuple) else result), nodes[0]
        )
    try:
        return pipe.run()
    finally:
        pipe.close()


def samples(batch):
    return np.stack(batch.as_cpu().to_samples())


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_flip(device):
    seen = []

    @dax.fn.jax_function
    def flip(images):
        seen.append(images)
        return images[:, :, ::-1, :]

    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        pipe.set_outputs(flip(fn.external_source([IMAGES], layout="HWC", device=device)))
    (out,) = pipe.run()
    pipe.close()
    assert isinstance(seen[0], jax.Array)
    assert seen[0].shape == (3, 2, 4, 3)
    assert (out.device, out.layout()) == (device, "HWC")
    np.testing.assert_array_equal(samples(out), np.stack(IMAGES)[:, :, ::-1])


def test_jit_vmap_and_several_outputs():
    @jax.jit
    @jax.vmap
    def moments(image):
        x = image.astype(jnp.float32)
        return x.mean(), x - x.mean()

    mean, rest, _ = run(moments, IMAGES, num_outputs=2)
    stacked = np.stack(IMAGES).astype(np.float32)
    np.testing.assert_allclose(samples(mean), stacked.mean(axis=(1, 2, 3)), rtol=1e-6)
    assert mean.layout() == ""
    assert mean.ndim() == 0
    assert samples(rest).shape == (3, 2, 4, 3)


def test_its_output_goes_on_in_the_pipeline():
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        images = fn.external_source([IMAGES], layout="HWC")
        pipe.set_outputs(dax.fn.jax_function(lambda x: x + 1)(images + 1) + 1)
    np.testing.assert_array_equal(samples(pipe.run()[0]), np.stack(IMAGES) + 3)
    pipe.close()


def test_layouts():
    def two(images):
        return images.transpose(0, 3, 1, 2), images[..., 0]

    chw, hw, _ = run(two, IMAGES, num_outputs=2, output_layouts=("CHW", "HW"))
    assert (chw.layout(), hw.layout()) == ("CHW", "HW")
    assert run(lambda x: x + 1, IMAGES, output_layouts="WHC")[0].layout() == "WHC"
    with pytest.raises(OperatorError, match="1 layouts for 2 outputs"):
        run(two, IMAGES, num_outputs=2, output_layouts=["CHW"])


def test_64_bits_become_32():
    out, _ = run(lambda x: x + 1, [np.array([2**20 + i]) for i in range(3)], layout="")
    assert out.spec.dtype == np.int32
    np.testing.assert_array_equal(samples(out).ravel(), 2**20 + np.arange(3) + 1)


@pytest.mark.parametrize("preserve", [True, False])
def test_no_outputs(preserve):
    seen = []
    assert len(run(lambda x: seen.append(x.shape), IMAGES, num_outputs=0, preserve=preserve)) == 1
    assert bool(seen) is preserve
    with pytest.raises(OperatorError, match="num_outputs is 0, the function returned"):
        run(lambda x: x, IMAGES, num_outputs=0)


def test_moved_first():
    seen = []

    def look(x):
        seen.append(x)
        return x

    assert run(look, IMAGES, device="gpu")[0].device == "gpu"
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        pipe.set_outputs(dax.fn.jax_function(look, device="gpu")(fn.external_source([IMAGES], device="cpu")))
    assert pipe.run()[0].device == "gpu"
    pipe.close()


def test_sharded():
    sharding = NamedSharding(Mesh(np.array(jax.devices()[:3]), ("d",)), P("d"))
    seen = []

    def look(x):
        seen.append(x.sharding)
        return x * 2

    out, _ = run(look, IMAGES, sharding=sharding)
    assert seen[0].is_equivalent_to(sharding, 4)
    np.testing.assert_array_equal(samples(out), np.stack(IMAGES) * 2)


def test_wrong_functions():
    with pytest.raises(
        OperatorError,
        match=r"expected to return .* outputs, but returned 1; .* it returned ArrayImpl",
    ):
        run(lambda x: x, IMAGES, num_outputs=2)
    with pytest.raises(OperatorError, match=r"each must be a jax.Array, and it returned ndarray"):
        run(np.asarray, IMAGES)
    with pytest.raises(OperatorError, match=r"shape \(2, 2, 4, 3\) for a batch of 3"):
        run(lambda x: x[:2], IMAGES)
    with pytest.raises(OperatorError, match="batch of samples with different shapes"):
        run(lambda x: x, [np.zeros((n, 2)) for n in (1, 2, 3)], layout="")
    with pytest.raises(OperatorError, match="ZeroDivisionError"):
        run(lambda x: 1 / 0, IMAGES)


def test_names_of_all_inputs(tmp_path):
    """Joined, as DALI does it."""
    paths = [tmp_path / f"{i}.bin" for i in range(4)]
    for path in paths:
        path.write_bytes(b"1234")
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        a, b = (fn.readers.file(files=list(map(str, files)))[0] for files in (paths[:2], paths[2:]))
        pipe.set_outputs(
            dax.fn.jax_function(lambda x, y: x + y)(a, b), dax.fn.jax_function(lambda x: x)(a), a + b
        )
    both, one, sum_ = pipe.run()
    pipe.close()
    assert both.source_info() == [f"{paths[i]};{paths[i + 2]}" for i in range(2)]
    assert one.source_info() == list(map(str, paths[:2]))
    assert sum_.source_info() == ["", ""]


def test_samples_of_different_shapes():
    ragged = [np.zeros((2 + i, 4, 3), np.uint8) for i in range(3)]
    with pytest.raises(
        RuntimeError, match=r"batch of samples with different shapes \(\(2, 4, 3\), \(3, 4, 3\)"
    ):
        run(lambda x: x, ragged)


@pytest.mark.parametrize("copy", [False, True])
def test_tensors_as_arrays(copy):
    out = run(lambda x: x, IMAGES, device="gpu")[0]
    for tensor, image in zip(out, IMAGES, strict=True):
        array = dax.integration._to_jax_array(tensor, copy)
        assert isinstance(array, jax.Array)
        assert dax.integration._jax_device(array) == jax.devices()[0]
        np.testing.assert_array_equal(array, image)
