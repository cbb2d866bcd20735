"""JAX's strict modes, which find mistakes in users' programs: who sets them does not notice jdali."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec
from ops.pure_calls import call, samples
from ops.pure_cases import CASES, LARGE, Case
from ops.test_pure_functions import variables, with_values
from support.data import image

import jdali
from jdali import fn, types
from jdali.auto_aug.augmentations import brightness, invert
from jdali.auto_aug.trivial_augment import apply_trivial_augment
from jdali.iterator import DataIterator

MODES = {
    "jax_numpy_dtype_promotion": "strict",
    "jax_numpy_rank_promotion": "raise",
    "jax_transfer_guard": "disallow",
    "jax_debug_nans": True,
    "jax_debug_infs": True,
}


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """All of them, in all threads, as `jax.config.update` sets them."""
    before = {name: getattr(jax.config, name) for name in MODES}
    for name, value in MODES.items():
        jax.config.update(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


@pytest.mark.cases(20)
@pytest.mark.parametrize(
    "case",
    # A normal run has every second case.
    [
        pytest.param(case, marks=pytest.mark.exhaustive if number % 2 else ())
        for number, case in enumerate([*CASES, *LARGE])
    ],
    ids=str,
)
def test_every_operator_is_traced(case: Case):
    """Under `vmap`, with derivatives, and when rules for these are applied after the call."""
    batch = samples(case, 2)
    once = jax.jit(functools.partial(call, case))

    def total(values: list[Any]) -> Any:
        outs = jax.vmap(once)(with_values(batch, dict(zip(case.grad, values, strict=True))))
        return sum(out.astype(np.float32).sum() for out in outs)

    with strict():
        if case.grad:
            jax.eval_shape(jax.grad(total), list(variables(case, batch).values()))
        else:
            jax.eval_shape(jax.vmap(once), batch)


NEAREST = {"interp_type": types.INTERP_NN}  # compiles quickly
PICTURES = [image(30 + i, 40, 3, np.uint8, seed=i) for i in range(4)]
SOUNDS = [np.linspace(-1, 1, 400 + 8 * i, dtype=np.float32) for i in range(4)]


def pipeline() -> jdali.Pipeline:
    with jdali.Pipeline(batch_size=4, num_threads=2, seed=3) as pipe:
        pictures = fn.external_source([PICTURES], name="pictures", layout="HWC", cycle=True)
        small = fn.resize(pictures, size=[24, 24], **NEAREST)
        shown = fn.color_twist(small, hue=fn.random.uniform(range=[-20, 20]), saturation=1.2)
        cut = fn.crop_mirror_normalize(shown, mean=[1.0, 2, 3], mirror=fn.random.coin_flip(), name="cut")
        sounds = fn.external_source([SOUNDS], cycle=True)
        spectra = fn.spectrogram(fn.pad(sounds), nfft=64, window_length=64, window_step=32)
        pipe.set_outputs(cut, fn.normalize(spectra), small * 2.0 + 1)
    return pipe


def taken(**options: Any) -> list[np.ndarray]:
    with DataIterator(pipeline(), ["pictures", "sounds", "sums"], size=8, **options) as batches:
        return [jax.device_get(value) for batch in batches for value in batch.values()]


def used(key: jax.Array) -> list[np.ndarray]:
    """What ways to use jdali give."""
    eight = jax.devices()[:4]
    mesh = jax.make_mesh((4,), ("batch",), devices=eight)
    function = pipeline().function("pictures", "cut")
    stacked = np.stack([picture[:30] for picture in PICTURES])
    picture = jdali.dynamic.tensor(PICTURES[0], layout="HWC")
    results = [
        *taken(),
        *taken(sharding=NamedSharding(mesh, PartitionSpec("batch"))),
        function(stacked, index=np.arange(4)),
        jax.jit(lambda arrays: function(arrays, index=np.arange(4)))(jax.device_put(stacked)),
        apply_trivial_augment([brightness.augmentation((0.1, 1.9)), invert], PICTURES[0], key=key),
        jdali.ops.rotate(PICTURES[0], angle=30.0, layout="HWC", **NEAREST),
        jdali.dynamic.rotate(picture, angle=30.0, **NEAREST) * 2 + 1,
        *(value.as_cpu().as_array() for value in pipeline().run() if value.is_dense_tensor()),
    ]
    return jax.device_get(results)  # NumPy would ask for a transfer that nobody wrote


def test_results_are_those_without():
    key = jax.random.key(1)
    want = used(key)
    with strict():
        found = used(key)
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_padding_is_not_checked(monkeypatch: pytest.MonkeyPatch):
    """It is memory that nobody has written, in which anything may lie."""
    monkeypatch.setattr(
        "jdali._batches.gathering.aligned_empty", lambda shape, dtype: np.full(shape, np.nan, dtype)
    )
    pictures = [picture.astype(np.float32) for picture in PICTURES]
    with jdali.Pipeline(batch_size=4, num_threads=1) as pipe:
        picture = fn.external_source([pictures], name="pictures", layout="HWC")
        pipe.set_outputs(picture * 2.0)
    padded = np.full((1, 40, 40, 3), np.nan, np.float32)
    padded[0, :30] = pictures[0]
    with strict():
        doubled = pipe.run()[0].to_samples()
        of_function = pipe.function("pictures")(padded, extents=np.array([[30, 40, 3]]))
    for got, expected in zip(doubled, pictures, strict=True):
        np.testing.assert_array_equal(got, 2 * expected)
    np.testing.assert_array_equal(jax.device_get(of_function.array)[0, :30, :40], 2 * pictures[0])
    pipe.close()


def test_the_modes_of_the_program_stay():
    with strict():
        jdali.ops.resize(PICTURES[0], size=(8, 9), layout="HWC")
        with pytest.raises(ValueError, match="rank_promotion"):
            jax.eval_shape(lambda a, b: a + b, np.zeros(3), np.zeros((2, 3)))
