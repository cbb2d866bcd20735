"""Errors and warnings of `auto_aug` have DALI's words: the same wrong calls are made of both."""

from __future__ import annotations

import dataclasses
import importlib
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import refusals


@dataclasses.dataclass(frozen=True)
class Library:
    """DALI, or jdali in its place."""

    package: str

    def __getattr__(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.auto_aug.{name}")

    @property
    def fn(self) -> Any:
        return importlib.import_module(f"{self.package}.fn")

    @property
    def int32(self) -> Any:
        return importlib.import_module(f"{self.package}.types").INT32

    def aug(self, function: Any = lambda data, parameter: data, **settings: Any) -> Any:
        settings = {"name": "mine"} | settings
        return self.core.augmentation(**settings)(function)

    def define(self, call: Callable[[Library, Any], Any]) -> None:
        """Defines a pipeline that makes a call on a batch."""
        module = importlib.import_module(self.package)

        @module.pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
        def pipeline() -> Any:
            made = call(self, self.fn.external_source(lambda: np.zeros((2, 4, 4, 3), np.uint8), batch=True))
            return made if type(made).__name__ == "DataNode" else self.fn.random.coin_flip()

        made = pipeline()
        if self.package == "nvidia.dali":
            made.build()


def needs_size(data: Any, parameter: Any, size: Any) -> Any:
    return data


def policy(*operation: Any) -> Callable[[Library, Any], Any]:
    """A policy with one operation; `"mine"` and `"none"` stand for augmentations with magnitudes and without."""

    def call(m: Library, data: Any) -> Any:
        named = {"mine": m.aug(mag_range=(0, 1)), "none": m.aug(name="none")}
        return m.core.Policy("p", 5, [[tuple(named.get(part, part) for part in operation)]])

    return call


ERRORS: list[tuple[str, Callable[[Library, Any], Any]]] = [
    # the decorator
    ("The `@augmentation` decorator was used to decorate the object that is not callable",
     lambda m, d: m.core.augmentation(5)),
    ("The `@augmentation` was applied to already decorated Augmentation.",
     lambda m, d: m.core.augmentation(m.aug())),
    (("accepts 0 positional argument(s), but the functions decorated with `@augmentation` must accept at least two "
     "positional arguments: the samples and parameters."), lambda m, d: m.aug(lambda: None)),
    ("accepts 1 positional argument(s), but the functions decorated", lambda m, d: m.aug(lambda data, *, x: None)),
    # calls of augmentations
    ("The augmentation `mine` requires following named argument(s) which were not provided to the call: size.",
     lambda m, d: m.aug(needs_size)(d)),
    ("The augmentation `mine` has `mag_range` specified, so when called, it requires `magnitude_bin` parameter",
     lambda m, d: m.aug(mag_range=(0, 1))(d, num_magnitude_bins=3)),
    ("The `num_magnitude_bins` argument is missing in the call of the `mine` augmentation",
     lambda m, d: m.aug(mag_range=(0, 1))(d, magnitude_bin=3)),
    (("The augmentation `mine` has nd.array of length 4 specified as the `mag_range`. However, the "
     "`num_magnitude_bins` passed to the call is 3"),
     lambda m, d: m.aug(mag_range=np.arange(4))(d, magnitude_bin=1, num_magnitude_bins=3)),
    (("The `mag_range` must be a tuple of (low, high) ends of magnitude range or nd.array of explicitly defined "
     "magnitudes. Got `(1, 2, 3)` for augmentation `mine`."),
     lambda m, d: m.aug(mag_range=(1, 2, 3))(d, magnitude_bin=1, num_magnitude_bins=3)),
    ("The `mag_to_param` callback of `mine` augmentation returned `DataNode`",
     lambda m, d: m.aug(mag_range=(0, 1), mag_to_param=lambda x: d)(d, magnitude_bin=1, num_magnitude_bins=3)),
    (("The `mag_to_param` callback of `mine` augmentation must return the arrays of the same type and shape for different "
     "magnitudes. Got param of shape () and int64 type for magnitude 0, but"),
     lambda m, d: m.aug(mag_range=np.arange(3), mag_to_param=lambda x: 2 if x < 1 else [1, 2])(
         d, magnitude_bin=m.fn.random.uniform(values=[0, 1], dtype=m.int32), num_magnitude_bins=3)),
    (("The `magnitude_bin` must be an int or _DataNode (output of DALI op or `types.Constant`) representing batch of ints "
     "from `[0..num_magnitude_bins-1]` range. Got 0.5 instead."), lambda m, d: m.core.signed_bin(0.5)),
    ("The `random_sign` cannot be specified together with neither `seed` nor `shape`.",
     lambda m, d: m.core.signed_bin(1, random_sign=d, seed=1)),
    ("The solarize_add augmentation accepts shifts from 0 to 128", lambda m, d: m.augmentations.solarize_add_shift(200)),
    # policies
    ("The `num_magnitude_bins` must be a positive integer, got 0.", lambda m, d: m.core.Policy("p", 0, [])),
    ("The `sub_policies` must be a list or tuple of sub policies, got <class 'dict'>.",
     lambda m, d: m.core.Policy("p", 2, {})),
    ("Each sub policy must be a list or tuple, got 3.", lambda m, d: m.core.Policy("p", 2, [3])),
    ("Each operation in sub policy must be specified as a triple: (augmentation, probability, magnitude). Got",
     policy("mine", 0.5)),
    (("Each augmentation in sub policies must be an instance of Augmentation. Got `7`. Did you forget to use "
     "`@augmentation` decorator?"), policy(7, 0.5, 1)),
    ("Probability of applying the augmentation must be a number from `[0, 1]` range. Got `1.5` for augmentation `mine`",
     policy("mine", 1.5, 1)),
    (("The augmentation `mine` has `mag_range` specified, so the magnitude bin is required. However, got `None` in the "
     "policy `p`."), policy("mine", 0.5, None)),
    ("Magnitude of the augmentation must be an integer from `[0, 4]` range. Got `5` for augmentation `mine`",
     policy("mine", 0.5, 5)),
    # automatic augmentation
    ("The `policy_name` must be a string that takes one of the values: `image_net`, `reduced_image_net`",
     lambda m, d: m.auto_augment.auto_augment(d, policy_name="x")),
    (("The policy `reduced_image_net` does not contain any augmentations that rely on the image shape. The `shape` argument "
     "must not be specified in that case."),
     lambda m, d: m.auto_augment.auto_augment(d, policy_name="reduced_image_net", shape=(4, 4))),
    ("Cannot run empty policy. Got", lambda m, d: m.auto_augment.apply_auto_augment(m.core.Policy("p", 2, []), d)),
    ("in `apply_auto_augment` call.", lambda m, d: m.auto_augment.apply_auto_augment(m.core.Policy("p", 2, []), d)),
    ("The apply_auto_augment got unexpected kwarg. The kwarg `x` is not used by any of the augmentations.",
     lambda m, d: m.auto_augment.apply_auto_augment(m.core.Policy("p", 2, [[(m.aug(), 0.5, None)]]), d, x=1)),
    ("The apply_rand_augment got unexpected kwargs. The kwargs `x, y` are not used by any of the augmentations.",
     lambda m, d: m.rand_augment.apply_rand_augment([m.aug()], d, 1, 1, 3, x=1, y=2)),
    ("The number of operations to apply `n` must be a non-negative integer, got -1.",
     lambda m, d: m.rand_augment.rand_augment(d, -1, 1)),
    ("The `num_magnitude_bins` must be a positive integer, got 0.",
     lambda m, d: m.rand_augment.rand_augment(d, 1, 1, num_magnitude_bins=0)),
    ("The magnitude bin `m` must be an integer from `[0, 30]` range. Got 31.",
     lambda m, d: m.rand_augment.rand_augment(d, 1, 31)),
    ("The `augmentations` list cannot be empty, unless n=0. Got empty list in `apply_rand_augment` call.",
     lambda m, d: m.rand_augment.apply_rand_augment([], d, 1, 1, 3)),
    (("The `x` was specified in `excluded`, but the RandAugment suite does not contain augmentation with this name. The "
     "augmentations in the suite are: "), lambda m, d: m.rand_augment.rand_augment(d, 1, 1, excluded=["x"])),
    (("The `x` was specified in `excluded`, but the TrivialAugmentWide suite does not contain augmentation with this name. "
     "The augmentations in the suite are: "), lambda m, d: m.trivial_augment.trivial_augment_wide(d, excluded=["x"])),
    ("The `num_magnitude_bins` must be a positive integer, got -3.",
     lambda m, d: m.trivial_augment.trivial_augment_wide(d, num_magnitude_bins=-3)),
    ("The `augmentations` list cannot be empty. Got empty list in `apply_trivial_augment` call.",
     lambda m, d: m.trivial_augment.apply_trivial_augment([], d)),
    ("The `use_shape` is a flag that should be set to either True or False, got 3.",
     lambda m, d: m.rand_augment.get_rand_augment_suite(3)),
    ("The argument `max_translate_abs` cannot be used with image shapes. You may use `max_translate_rel` instead.",
     lambda m, d: m.trivial_augment.trivial_augment_wide(d, shape=(4, 4), max_translate_abs=3)),
    ("The argument `max_translate_rel` cannot be used without image shapes. You may use `max_translate_abs` instead.",
     lambda m, d: m.auto_augment.auto_augment(d, max_translate_rel=0.3)),
    (("The augmentation `translate_x` requires `shape` argument that describes image shape (in HWC layout). Please provide "
     "it as `shape` argument to `apply_rand_augment` call"),
     lambda m, d: m.rand_augment.apply_rand_augment([m.augmentations.translate_x], d, 1, 1, 3)),
]  # fmt: skip

WARNINGS: list[tuple[str, Callable[[Library, Any], Any]]] = [
    (("The augmentation `mine` was declared with `random_negate=True`, but unsigned `magnitude_bin` was passed to the "
     "augmentation call"),
     lambda m, d: m.aug(mag_range=(0, 1), randomly_negate=True)(d, magnitude_bin=1, num_magnitude_bins=3)),
    ("The augmentation `mine` in policy `p` is used with probability 0 in one of the sub-policies.",
     policy("mine", 0, 1)),
    (("The magnitude bin `1` for augmentation `none` in policy `p` will be ignored. The augmentation does not accept "
     "magnitudes (as it has no `mag_range` specified). You can specify `None` instead of `1` to silence this warning."),
     policy("none", 0.5, 1)),
    ("The `apply_rand_augment` was called with `n=0`, no augmentation will be applied.",
     lambda m, d: m.rand_augment.rand_augment(d, 0, 1)),
]  # fmt: skip


def define_in_dali(call: Callable[[Library, Any], Any]) -> None:
    Library("nvidia.dali").define(call)


def words_of(call: Callable[[Library, Any], Any]) -> tuple[str, list[str]]:
    """The message that a call raises, and those of its warnings."""
    error = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            Library("jdali").define(call)
        except Exception as raised:
            error = str(raised)
    return error, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(("words", "call"), ERRORS, ids=[words[:60] for words, _ in ERRORS])
def test_errors_have_dali_s_words(words: str, call: Callable[[Library, Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        Library("jdali").define(call)


@pytest.mark.parametrize(("words", "call"), WARNINGS, ids=[words[:60] for words, _ in WARNINGS])
def test_warnings_have_dali_s_words(words: str, call: Callable[[Library, Any], Any]) -> None:
    error, warned = words_of(call)
    assert not error
    assert any(words in one for one in warned), warned


@pytest.mark.cases(15)
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("words", "call"), ERRORS + WARNINGS, ids=[words[:60] for words, _ in ERRORS + WARNINGS]
)
def test_the_words_are_dali_s(words: str, call: Callable[[Library, Any], Any]) -> None:
    found = refusals.answer(define_in_dali, call)
    error = found.refusal.text if found.refusal else ""
    assert any(words in one for one in [error, *found.warned]), found
