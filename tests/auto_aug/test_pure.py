"""Augmentations and policies as pure functions of a key and an image, in the user's own programs."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest
from support.some import drawn

import jdali
from jdali import fn
from jdali.auto_aug import augmentations as a
from jdali.auto_aug.core import augmentation, select, signed_bin
from jdali.auto_aug.rand_augment import apply_rand_augment, rand_augment
from jdali.auto_aug.trivial_augment import trivial_augment_wide

BINS = 5
NAMES = [
    "shear_x", "translate_y", "translate_x_no_shape", "rotate", "brightness", "contrast", "color", "sharpness",
    "posterize", "solarize", "solarize_add", "invert", "equalize", "auto_contrast", "identity",
]  # fmt: skip
RUN = drawn(NAMES, 5)
FEW = [a.posterize.augmentation((8, 4)), a.invert, a.solarize.augmentation((256, 0))]
IMAGES = np.random.default_rng(3).integers(0, 256, (2 * BINS, 12, 9, 3), np.uint8)
SIGNED_BINS = [np.repeat(np.arange(BINS, dtype=np.int32), 2), np.tile(np.arange(2, dtype=np.int32), BINS)]


def with_all(data: Any, bins: Any, signs: Any) -> list[Any]:
    signed = signed_bin(bins, signs)
    return [
        getattr(a, name)(data, magnitude_bin=signed, num_magnitude_bins=BINS, shape=[12, 9]) for name in RUN
    ]


def test_every_augmentation_has_the_bits_of_the_pipeline() -> None:
    @jdali.pipeline_def(batch_size=len(IMAGES), num_threads=1)
    def pipeline() -> Any:
        feed = [
            fn.external_source(source=[list(v)], layout=layout)
            for v, layout in zip([IMAGES, *SIGNED_BINS], ["HWC", None, None], strict=True)
        ]
        return tuple(with_all(*feed))

    expected = [np.asarray(output.as_cpu().as_array()) for output in pipeline().run()]
    found = jax.jit(jax.vmap(with_all))(IMAGES, *SIGNED_BINS)
    differing = [n for n, x, y in zip(RUN, found, expected, strict=True) if not np.array_equal(x, y)]
    assert differing == []


def test_a_program_for_one_image_is_that_for_a_batch() -> None:
    keys = jax.random.split(jax.random.key(5), 4)
    few = functools.partial(apply_rand_augment, FEW, n=2, m=3, num_magnitude_bins=BINS)

    def one(key: Any, image: Any) -> Any:
        return few(image, key=key)

    batch = jax.jit(jax.vmap(one))(keys, IMAGES[:4])
    assert len({np.asarray(image).tobytes() for image in batch}) == 4
    np.testing.assert_array_equal(
        batch, jax.jit(lambda *x: jax.lax.map(lambda o: one(*o), x))(keys, IMAGES[:4])
    )
    np.testing.assert_array_equal(
        batch, [one(key, image) for key, image in zip(keys, IMAGES[:4], strict=True)]
    )
    words = jax.random.key_data(keys[0])  # as of jax.random.PRNGKey
    np.testing.assert_array_equal(batch[0], apply_rand_augment(words, FEW, IMAGES[0], 2, 3, BINS))


def test_a_policy_takes_the_key_first_and_keeps_size_and_type() -> None:
    excluded = [
        "rotate",
        "equalize",
        "sharpness",
        "shear_x",
        "shear_y",
        "translate_x",
        "translate_y",
        "contrast",
    ]
    function = functools.partial(trivial_augment_wide, num_magnitude_bins=BINS, excluded=excluded)
    found = jax.eval_shape(jax.vmap(function), jax.random.split(jax.random.key(0), 10), IMAGES)
    assert (found.shape, found.dtype) == (IMAGES.shape, np.uint8)


def test_an_if_of_an_augmentation_decides_for_the_sample() -> None:
    @augmentation(mag_range=(0, 4))
    def brighten(data: Any, magnitude: Any) -> Any:
        if magnitude > 1.5:
            data = fn.brightness(data, brightness=2)
        return data

    image = np.full((2, 2, 3), 10, np.uint8)
    values = [brighten(image, magnitude_bin=np.int32(i), num_magnitude_bins=5)[0, 0, 0] for i in range(5)]
    assert [int(v) for v in values] == [10, 10, 20, 20, 20]


def test_random_operators_of_an_augmentation_draw_from_the_key() -> None:
    @augmentation
    def speckle(data: Any, _: Any) -> Any:
        return fn.cast_like(fn.random.uniform(range=[0, 255], shape=[4, 4, 3]), data)

    image = np.zeros((4, 4, 3), np.uint8)
    first, second, again = (np.asarray(speckle(image, key=jax.random.key(k))) for k in (0, 1, 0))
    assert (first != second).any()
    np.testing.assert_array_equal(first, again)


def test_a_key_comes_first_or_by_name() -> None:
    key = jax.random.key(2)
    rotated = functools.partial(a.rotate, num_magnitude_bins=BINS)
    with pytest.warns(UserWarning, match="signs are drawn here") as found:
        first = rotated(key, IMAGES[0], magnitude_bin=3)
    assert found[0].filename == __file__
    by_name = rotated(IMAGES[0], magnitude_bin=3, key=key)
    np.testing.assert_array_equal(first, by_name)
    with pytest.raises(TypeError, match=r"rotate draws random values.*rotate\(key, \.\.\.\)"):
        rotated(IMAGES[0], magnitude_bin=3)


def test_a_batch_of_dynamic_mode_draws_from_a_key_each_sample_its_own() -> None:
    batch = jdali.dynamic.as_batch(list(IMAGES[:1]) * 8)
    found = [
        np.stack([np.asarray(x) for x in apply_rand_augment(FEW, batch, 1, 3, BINS, key=jax.random.key(k))])
        for k in (0, 1, 0)
    ]
    np.testing.assert_array_equal(found[0], found[2])
    assert (found[0] != found[1]).any()
    assert len({image.tobytes() for image in found[0]}) > 1


def test_an_augmentation_of_one_magnitude_and_sign_needs_no_key() -> None:
    image = np.full((3, 3, 3), 100, np.uint8)
    found = a.brightness(image, magnitude_bin=signed_bin(2, 1), num_magnitude_bins=BINS)
    np.testing.assert_array_equal(found, np.full((3, 3, 3), 55, np.uint8))  # 1 - 0.9 · 2/4 of 100


def test_what_cannot_be() -> None:
    key, image = jax.random.key(0), IMAGES[0]
    with pytest.raises(TypeError, match=r"rand_augment draws random values.*rand_augment\(key, \.\.\.\)"):
        rand_augment(image, n=1, m=3)
    with pytest.raises(ValueError, match=r"shape \[10, 12, 9, 3\].*jax.vmap"):
        rand_augment(IMAGES, n=1, m=3, key=key)
    with pytest.raises(TypeError, match=r"a batch of 3 keys.*jax.vmap"):
        rand_augment(image, n=1, m=3, key=jax.random.split(key, 3))
    with pytest.raises(TypeError, match=r"a key or a seed="):
        rand_augment(image, n=1, m=3, key=key, seed=3)
    with pytest.raises(TypeError, match=r"key= is 3, which is not a key"):
        rand_augment(image, n=1, m=3, key=3)
    with pytest.raises(TypeError, match=r"a pipeline draws from its seed"):
        rand_augment(fn.external_source(source=[IMAGES]), n=1, m=3, key=key)


def test_a_choice_of_shapes_and_work_on_the_host_are_refused() -> None:
    @augmentation
    def half(data: Any, _: Any) -> Any:
        return data[:6]

    @augmentation
    def python(data: Any, _: Any) -> Any:
        return fn.python_function(data, function=lambda image: image)

    image = IMAGES[0]
    with pytest.raises(
        ValueError, match=r"select: choice 1 .*uint8 \[6, 9, 3\], choice 0 uint8 \[12, 9, 3\]"
    ):
        jax.jit(lambda i, index: select([a.identity, half], index, i))(image, 1)
    with pytest.raises(ValueError, match=r"python.*runs on the host"):
        python(image)
