"""`Pipeline.function`: the bits of the pipeline, inside of users' programs too, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import COUNT, ENCODED, PICTURES, SEED, STD, first_batch, padded, pipeline
from jax.sharding import Mesh, PartitionSpec
from support.data import image

import jdali
from jdali import fn, types
from jdali._errors import TracedArgumentError

IDS = np.arange(COUNT)
ARRAY, SIZES = padded(PICTURES)


@pytest.fixture(scope="module")
def training() -> Any:
    pipe = pipelines.training()
    return pipe.function("pictures"), np.stack(first_batch(pipe)[0])


def same(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want), strict=True)


def test_a_ragged_batch_has_the_bits_of_the_pipeline(training: Any):
    function, want = training
    out = function(ARRAY, extents=SIZES, index=IDS)
    same(out.array, want)
    same(out.extents, np.full((COUNT, 3), (3, 16, 16), np.int32))
    # One sample has those of a batch, whatever its position.
    alone = function(ARRAY[2:3], extents=SIZES[2:3], index=[2])
    same(alone.array, want[2:3])


def test_the_second_epoch_and_batch_have_other_random_values(training: Any):
    function, want = training
    for other in ({"index": IDS + COUNT}, {"index": IDS, "epoch": 1}):
        assert (np.asarray(function(ARRAY, extents=SIZES, **other).array) != want).any()


def test_the_second_batch_of_the_pipeline_is_that_of_its_indices():
    with pipelines.training() as pipe:
        pipe.run()
        (second,) = pipe.run()
        out = pipe.function("pictures")(ARRAY, extents=SIZES, index=IDS + COUNT)
        same(out.array, second.as_cpu().as_array())


def test_jit_and_vmap_with_a_plan(training: Any):
    function, want = training
    plan = function.plan(jax.ShapeDtypeStruct(ARRAY.shape, np.uint8), extents=SIZES, index=IDS)
    whole = jax.jit(lambda x, plan, index: function(x, plan=plan, index=index).array)
    same(whole(ARRAY, plan, IDS), want)
    each = jax.jit(jax.vmap(lambda x, plan, index: function.sample(x, plan=plan, index=index).array))
    same(each(ARRAY, plan, IDS), want)


def test_dense_arrays_need_no_plan():
    pictures = np.stack([image(30, 40, 3, np.uint8, i) for i in range(COUNT)])

    def define() -> Any:
        source = fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures")
        return fn.flip(
            fn.brightness(source.gpu(), brightness=fn.random.uniform(range=(0.5, 1.5))), horizontal=1
        )

    pipe = pipeline(define)
    function = pipe.function("pictures")
    want = np.stack(first_batch(pipe)[0])
    same(function(pictures, index=IDS), want)
    same(jax.jit(lambda x, index: function(x, index=index))(pictures, IDS), want)
    same(jax.jit(jax.vmap(lambda x, index: function.sample(x, index=index)))(pictures, IDS), want)


def test_single_samples_of_near_sizes_share_a_program(training: Any):
    function, _ = training
    forms = [
        function.plan(
            jax.ShapeDtypeStruct((1, 160, 200, 3), np.uint8), extents=[[150 + i, 190, 3]], index=[0]
        ).form
        for i in range(6)
    ]
    assert len(set(forms)) == 1


def test_shard_map():
    pictures = np.stack([image(30, 40, 3, np.uint8, i) for i in range(COUNT)])
    function = pipeline(
        lambda: fn.normalize(
            fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures"),
            axes=(0, 1),
        )
    ).function("pictures")
    mesh = Mesh(np.array(jax.devices()[:2]), ("batch",))
    spec = PartitionSpec("batch")
    sharded = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec))
    same(sharded(pictures), function(pictures))


def test_a_key_is_the_seed(training: Any):
    function, want = training
    same(function(ARRAY, extents=SIZES, key=jax.random.key(SEED)).array, want)
    same(function(ARRAY, extents=SIZES, key=jax.random.PRNGKey(SEED)).array, want)
    assert (np.asarray(function(ARRAY, extents=SIZES, key=jax.random.key(6)).array) != want).any()


def test_a_key_is_also_of_operators_with_a_seed_of_their_own():
    pipe = pipeline(
        lambda: fn.noise.gaussian(
            fn.external_source(lambda info: np.zeros((COUNT, 5), np.float32), batch_info=True, name="zeros"),
            seed=3,
        )
    )
    function, zeros = pipe.function("zeros"), np.zeros((COUNT, 5), np.float32)
    same(function(zeros, index=IDS), np.stack(first_batch(pipe)[0]))
    keys = jax.random.split(jax.random.key(0), COUNT)
    drawn = jax.jit(jax.vmap(lambda x, key: function.sample(x, key=key)))(zeros, keys)
    assert len(np.unique(np.asarray(drawn))) == drawn.size


def test_the_default_start_is_behind_the_decoder():
    pipe = pipelines.validation()
    function = pipe.function()
    assert (function.start, function.outputs) == (("pictures",), ("normalized",))
    batch = function.host(ENCODED)
    same(function(*batch).array, np.stack(first_batch(pipe)[0]))
    assert function.host.inputs == ("encoded",)
    assert "decoders.image" in repr(function.host)
    assert "crop_mirror_normalize" in repr(function)


CROP = 9


@pytest.mark.parametrize("name", ["image_crop", "image_slice"])
def test_behind_a_decoder_of_windows(name: str):
    windows = {
        "image_crop": lambda jpegs: fn.decoders.image_crop(jpegs, crop=[CROP, CROP], name="windows"),
        "image_slice": lambda jpegs: fn.decoders.image_slice(
            jpegs, np.int32([2, 1]), np.int32([CROP, CROP]), axes=(0, 1), name="windows"
        ),
    }
    function = pipeline(lambda: fn.flip(windows[name](pipelines.encoded()))).function()
    assert (function.start, function.layouts) == (("windows",), ("HWC",))
    middle = [[int((n - CROP) / 2 + 0.5) for n in picture.shape[:2]] for picture in PICTURES]
    starts = middle if name == "image_crop" else [[2, 1]] * COUNT
    want = [p[y : y + CROP, x : x + CROP][:, ::-1] for p, (y, x) in zip(PICTURES, starts, strict=True)]
    same(function(*function.host(ENCODED)).array[:, :CROP, :CROP], np.stack(want))


def test_behind_a_decoder_of_random_windows():
    pipe = pipeline(
        lambda: fn.resize(fn.decoders.image_random_crop(pipelines.encoded()), size=(12, 10), antialias=False)
    )
    function = pipe.function()
    assert function.layouts == ("HWC",)
    same(function(*function.host(ENCODED, index=IDS)).array, np.stack(first_batch(pipe)[0]))


def test_an_output_that_is_also_the_start():
    def define() -> Any:
        pictures = fn.decoders.image(pipelines.encoded(), name="pictures")
        drawn = fn.random.uniform(range=(0.0, 1.0), name="drawn")
        mirrored = fn.flip(pictures)
        return {
            "mirrored": mirrored,
            "whole": pictures,
            "drawn": drawn,
            "upside_down": fn.flip(pictures, vertical=1),
        }

    pipe = pipeline(define)
    function = pipe.function()
    assert (function.start, function.outputs) == (("pictures",), ("mirrored", "upside_down"))
    mirrored, _ = function(*function.host(ENCODED[:1]))
    same(mirrored.array[0, :40, :60], PICTURES[0][:, ::-1])
    assert pipe.function(outputs="drawn").outputs == ("drawn",)


def test_a_damaged_file_fails_alone():
    host = pipelines.validation().function().host
    batches, good, errors = host.attempt([ENCODED[0], ENCODED[1][:60], b"none", ENCODED[3]])
    assert good == [0, 3]
    assert sorted(errors) == [1, 2]
    assert "sample 2 of the batch" in str(errors[2])
    for sample, picture in zip(batches[0].to_samples(), (PICTURES[0], PICTURES[3]), strict=True):
        same(sample, picture)
    with pytest.raises(jdali.OperatorError, match="sample 1 of the batch"):
        host([ENCODED[0], ENCODED[1][:60]])


def test_an_error_names_the_position_among_all_files():
    """Headers are read first: the damaged data fail once the file without a header is left out."""
    host = pipelines.validation().function().host
    cut = ENCODED[1][: len(ENCODED[1]) * 3 // 4]
    _, good, errors = host.attempt([b"none", cut, ENCODED[2]])
    assert good == [2]
    assert [errors[position].sample for position in (0, 1)] == [0, 1]


def test_speech_has_the_bits_of_the_pipeline():
    pipe = pipelines.speech()
    function = pipe.function("sounds")
    sounds, sizes = padded([np.sin(np.arange(n, dtype=np.float32) / 3) for n in (400, 500, 450, 333)])
    plan = function.plan(sounds, extents=sizes)
    program = jax.jit(lambda x, plan: function(x, plan=plan), compiler_options=function.compiler_options)
    for out in (function(sounds, extents=sizes), program(sounds, plan)):
        for array, size, want in zip(*map(np.asarray, out), first_batch(pipelines.speech())[0], strict=True):
            same(array[tuple(map(slice, size))], want)


def test_gradients():
    """Of a normalized crop: 1 / std within the window, and 0 elsewhere."""
    pictures = np.stack([image(20, 24, 3, np.float32, i) for i in range(2)])

    def define() -> Any:
        source = fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures")
        return fn.crop_mirror_normalize(source, crop=(10, 12), std=STD, dtype=types.FLOAT)

    function = pipeline(define).function("pictures")
    want = np.zeros_like(pictures)
    want[:, 5:15, 6:18] = 1 / np.float32(STD)
    gradient = jax.grad(lambda x: jnp.sum(function(x)))
    np.testing.assert_allclose(jax.jit(gradient)(pictures), want, rtol=1e-6)
    each = jax.vmap(jax.grad(lambda x: jnp.sum(function.sample(x))))
    np.testing.assert_allclose(each(pictures), want, rtol=1e-6)


def test_random_values_that_decide_sizes():
    def define() -> Any:
        pictures = fn.decoders.image(pipelines.encoded(), device="mixed", name="pictures")
        return fn.crop(
            pictures, crop_h=9, crop_w=fn.random.uniform(range=(5.0, 30.0), name="width"), name="window"
        )

    pipe = pipeline(define)
    function = pipe.function()
    want = first_batch(pipe)[0]
    plan = function.plan(ARRAY, extents=SIZES, index=IDS)
    for out in (
        function(ARRAY, extents=SIZES, index=IDS),
        jax.jit(lambda x, plan: function(x, plan=plan, index=IDS))(ARRAY, plan),
    ):
        for array, size, sample in zip(*map(np.asarray, out), want, strict=True):
            same(array[tuple(map(slice, size))], sample)
    with pytest.raises(
        TracedArgumentError, match=r"crop 'window'.*random values of 'width' are not known.*f\.plan"
    ):
        jax.jit(lambda x, index: function(x, extents=SIZES, index=index))(ARRAY, IDS)
    with pytest.raises(ValueError, match=r"'window' differ in size: give extents"):
        function(ARRAY[:, :40, :40], index=IDS)


def test_values_that_decide_sizes():
    """From the elements of a sample: known outside of a program only. From its size: known in a program too."""
    boxes = np.float32([[0.5], [0.25], [0.75], [1.0]])

    def define() -> Any:
        share = fn.external_source(lambda info: boxes, batch_info=True, name="share")
        picture = fn.external_source(
            lambda info: PICTURES[0][None][[0] * COUNT], batch_info=True, layout="HWC", name="one"
        )
        by_value = fn.crop(picture, crop_h=9, crop_w=share[0] * 20.0, name="by_value")
        return by_value, fn.crop(picture, crop=fn.cast(picture.shape(), dtype=types.FLOAT)[:2] * 0.5)

    pipe = pipeline(define)
    picture = PICTURES[0][None][[0] * COUNT]
    by_value, by_size = first_batch(pipe)
    function = pipe.function(("share", "one"), outputs="by_value")
    out = function(boxes, picture, extents=(None, picture.shape[1:]))
    for array, size, sample in zip(*map(np.asarray, out), by_value, strict=True):
        same(array[tuple(map(slice, size))], sample)
    with pytest.raises(
        TracedArgumentError, match=r"crop 'by_value'.*computed from 'share', whose values are not known"
    ):
        jax.jit(lambda x, y: function(x, y, extents=(None, picture.shape[1:])))(boxes, picture)
    halved = pipe.function("one", outputs=pipe.outputs_of_graph[1])
    same(jax.jit(halved)(picture), np.stack(by_size))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "decoder behind the start": (
        lambda: pipelines.training().function("encoded"),
        r"decoders\.image 'pictures' .*pipelines\.py:\d+\) runs on the host, and is behind the start, 'encoded'",
    ),
    "another reader": (
        lambda: pipelines.validation().function("pictures", outputs="numbers"),
        r"needs the data of external_source 'numbers'.*name it in start",
    ),
    "no such node": (
        lambda: pipelines.training().function("picture"),
        r"no node 'picture'; those with names are encoded, pictures, flip, left, normalized",
    ),
    "nothing compiled": (lambda: pipeline(pipelines.encoded).function(), "no output is computed from the start"),
    "random": (
        lambda: pipelines.training().function(deterministic=True),
        r"random values are drawn by random\.coin_flip 'flip' .*random\.uniform 'left'.*deterministic=\{'flip': 0\}",
    ),
    "random but one": (
        lambda: pipelines.training().function(deterministic={"flip": 0}),
        r"random values are drawn by random\.uniform 'left'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_operators_on_whole_batches_are_refused_by_name():
    def define() -> Any:
        pictures = fn.decoders.image(pipelines.encoded(), name="pictures")
        return fn.permute_batch(pictures, indices=[3, 2, 1, 0], name="order")

    with pytest.raises(ValueError, match=r"permute_batch 'order' .* works on the batch and not on a sample"):
        pipeline(define).function("pictures")


def test_calls_that_are_refused(training: Any):
    function, _ = training
    with pytest.raises(TypeError, match=r"draws random values in flip, left: pass key"):
        function(ARRAY, extents=SIZES)
    with pytest.raises(TypeError, match=r"takes \(pictures\), 1 arrays, got 2"):
        function(ARRAY, ARRAY, index=IDS)
    wrong = SIZES.copy()
    wrong[1, 0] = 99
    with pytest.raises(ValueError, match=r"sample 1 is \(99, 44, 3\), of an array of shape"):
        function(ARRAY, extents=wrong, index=IDS)
    with pytest.raises(ValueError, match=r"must have as many samples each, at least 1, got \[0\]"):
        function(ARRAY[:0], index=[])
    with pytest.raises(ValueError, match=r"must have the axes NHWC"):
        function(ARRAY[0], index=IDS)
    with pytest.raises(TracedArgumentError, match=r"sizes of 'pictures' are traced.*f\.plan"):
        jax.jit(lambda x, sizes: function(x, extents=sizes, index=IDS))(ARRAY, SIZES)
    with pytest.raises(ValueError, match=r"index must be one integer, or one for each of the 4 samples"):
        function(ARRAY, extents=SIZES, index=[1, 2])
    with pytest.raises(jdali.OperatorError, match=r"crop_mirror_normalize"):
        function(ARRAY[..., :2], extents=SIZES - np.array([0, 0, 1]), index=IDS)


def test_deterministic_values_take_the_place_of_operators(training: Any):
    with pipelines.training() as pipe:
        function = pipe.function(deterministic={"flip": 0, "left": 0.5})
    assert function.random == ()
    want = pipeline(
        lambda: fn.crop_mirror_normalize(
            fn.resize(fn.decoders.image(pipelines.encoded()), size=(24, 28), interp_type=types.INTERP_NN), crop=(16, 16),
            mean=pipelines.MEAN, std=STD, dtype=types.FLOAT,
        )
    )  # fmt: skip
    same(function(ARRAY, extents=SIZES).array, np.stack(first_batch(want)[0]))


def test_debug_mode_has_no_function():
    pipe = jdali.pipeline_def(pipelines.encoded)(batch_size=1, num_threads=1, debug=True)
    with pytest.raises(RuntimeError, match="in debug mode a pipeline has no graph"):
        pipe.function()
