"""How often the suites and policies draw each augmentation, magnitude and sign: as stated, in jdali and in DALI.

Each augmentation of a suite is replaced by one of the same name and settings that writes down its number and its
magnitude bin, with the sign. So what was done to a sample can be read from the result.
"""

from __future__ import annotations

import collections
import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import oracle
from support.frequencies import check_frequencies

BATCH, BATCHES = 500, 16
BINS = 7
WIDTH = 2000  # of the code of one application

PURE = "jdali, as pure functions"
each_library = pytest.mark.parametrize(
    "package", ["jdali", PURE, pytest.param("nvidia.dali", marks=pytest.mark.oracle)]
)


def module(package: str, name: str) -> Any:
    if package == PURE:
        package = "jdali"
    if package == "nvidia.dali":
        oracle.dali()
    return importlib.import_module(f"{package}.{name}")


def code(number: int, signed_bin: int) -> int:
    """What augmentation `number` writes for the bin (0 to `BINS` - 1, plus 1, negated or not); 0: no magnitude."""
    return 100 * number + 50 + signed_bin


def writing(package: str, augmentation: Any, number: int, bins: int) -> Any:
    """An augmentation in place of another one, which writes down what it does."""
    types = module(package, "types")

    def write(data: Any, magnitude: Any) -> Any:
        done = (
            code(number, 0)
            if magnitude is None
            else magnitude + types.Constant(code(number, 0), dtype=types.INT32)
        )
        return data * types.Constant(WIDTH, dtype=types.INT32) + done

    return module(package, "auto_aug.core").augmentation(
        mag_range=None if augmentation.mag_range is None else np.arange(1, bins + 1, dtype=np.int32),
        randomly_negate=augmentation.randomly_negate,
        name=augmentation.name,
    )(write)


def outcomes(augmentation: Any, number: int, bins: Any) -> dict[int, float]:
    """The codes that one application may write, with their probabilities, all bins being as likely."""
    if augmentation.mag_range is None:
        return {code(number, 0): 1.0}
    signs = (1, -1) if augmentation.randomly_negate else (1,)
    return {code(number, sign * (b + 1)): 1 / len(bins) / len(signs) for b in bins for sign in signs}


def drawn(package: str, function: Callable[..., Any], seed: int) -> list[int]:
    """The numbers written for `BATCH` · `BATCHES` samples."""
    if package == PURE:
        keys = jax.random.split(jax.random.key(seed), BATCH * BATCHES)
        numbers = jax.jit(jax.vmap(lambda key: function(jnp.int32(0), key=key)))(keys)
        return np.asarray(numbers).tolist()
    fn = module(package, "fn")
    zeros = np.zeros(BATCH, np.int32)

    @importlib.import_module(package).pipeline_def(
        batch_size=BATCH, num_threads=1, device_id=None, seed=seed, enable_conditionals=True
    )
    def pipeline() -> Any:
        return function(fn.external_source(source=[zeros], cycle=True))

    pipe = pipeline()
    pipe.build()
    batches = [np.asarray(pipe.run()[0].as_array()) for _ in range(BATCHES)]
    return [int(number) for number in np.concatenate(batches).reshape(-1)]


@pytest.mark.cases(1)
@each_library
@pytest.mark.parametrize("use_shape", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_trivial_augment_wide(package: str, use_shape: bool) -> None:
    library = module(package, "auto_aug.trivial_augment")
    suite = library.get_trivial_augment_wide_suite(use_shape=use_shape)
    written = [writing(package, one, i, BINS) for i, one in enumerate(suite)]
    expected: collections.Counter[int] = collections.Counter()
    for number, one in enumerate(suite):
        for value, share in outcomes(one, number, range(BINS)).items():
            expected[value] += share / len(suite)
    apply = functools.partial(library.apply_trivial_augment, written, num_magnitude_bins=BINS)
    found = drawn(package, apply, 21)
    check_frequencies(found, expected)


@pytest.mark.cases(1)
@each_library
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_rand_augment(package: str, n: int) -> None:
    library = module(package, "auto_aug.rand_augment")
    suite = library.get_rand_augment_suite()
    written = [writing(package, one, i, BINS) for i, one in enumerate(suite)]
    expected = {0: 1.0}
    for _ in range(n):
        following: collections.Counter[int] = collections.Counter()
        for before, share in expected.items():
            for number, one in enumerate(suite):
                for value, part in outcomes(one, number, [3]).items():
                    following[before * WIDTH + value] += share * part / len(suite)
        expected = following
    apply = functools.partial(library.apply_rand_augment, written, n=n, m=3, num_magnitude_bins=BINS)
    found = drawn(package, apply, 22)
    check_frequencies(found, expected)


@pytest.mark.cases(1)
@each_library
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("image_net", marks=pytest.mark.exhaustive),
        pytest.param("reduced_image_net", marks=pytest.mark.exhaustive),
        "svhn",
    ],
)
def test_auto_augment(package: str, name: str) -> None:
    library = module(package, "auto_aug.auto_augment")
    stated = getattr(library, f"get_{name}_policy")()
    bins = stated.num_magnitude_bins
    numbers = {one: number for number, one in enumerate(stated.augmentations.values())}
    written = {one: writing(package, one, number, bins) for one, number in numbers.items()}
    policy = module(package, "auto_aug.core").Policy(
        name, bins, [[(written[one], p, b) for one, p, b in sub] for sub in stated.sub_policies]
    )
    expected: collections.Counter[int] = collections.Counter()
    for sub in stated.sub_policies:
        path = {0: 1 / len(stated.sub_policies)}
        for one, probability, magnitude in sub:
            following: collections.Counter[int] = collections.Counter()
            for before, share in path.items():
                following[before] += share * (1 - probability)
                for value, part in outcomes(one, numbers[one], [magnitude]).items():
                    following[before * WIDTH + value] += share * probability * part
            path = following
        expected.update(path)
    found = drawn(package, functools.partial(library.apply_auto_augment, policy), 23)
    check_frequencies(found, expected)
