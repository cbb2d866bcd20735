"""Policies, suites, magnitudes and signatures are DALI's."""

from __future__ import annotations

import importlib
import inspect
import itertools
from typing import Any

import numpy as np
import pytest
from support import oracle

from jdali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from jdali.auto_aug.core._parameters import magnitudes_of, table_of
from jdali.auto_aug.core.policy import Policy

MOVING = ["image_net", "reduced_cifar10", "svhn"]
SUITES = [
    (rand_augment, "get_rand_augment_suite"),
    (rand_augment, "get_rand_augment_non_monotonic_suite"),
    (trivial_augment, "get_trivial_augment_wide_suite"),
]
SIZES = [
    {}, {"max_translate_abs": (40, 20)}, {"max_translate_abs": 7}, {"use_shape": True},
    {"use_shape": True, "max_translate_rel": (0.5, 0.25)},
]  # fmt: skip


def theirs(module: Any) -> Any:
    """DALI's module of the same name."""
    oracle.dali()
    return importlib.import_module(module.__name__.replace("jdali", "nvidia.dali"))


def described(augmentation: Any, bins: int) -> dict[str, Any]:
    """All that an augmentation is but its function, with the parameter of each magnitude."""
    if augmentation.mag_range is None:
        parameters = None
    else:
        magnitudes = magnitudes_of(augmentation.mag_range, bins, "")
        signed = [m for v in magnitudes for m in ((v, -v) if augmentation.randomly_negate else (v,))]
        parameters = table_of(signed, augmentation.mag_to_param, "").tolist()
    return {
        "name": augmentation.name, "function": augmentation.op.__name__, "parameters": parameters,
        "device": augmentation.param_device, "negate": augmentation.randomly_negate,
    }  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "sizes"), [*itertools.product(MOVING, SIZES), ("reduced_image_net", {})], ids=str
)
def test_policies_are_dalis(name: str, sizes: dict[str, Any]) -> None:
    ours, other = (getattr(m, f"get_{name}_policy")(**sizes) for m in (auto_augment, theirs(auto_augment)))
    assert ours.name == other.name
    assert ours.num_magnitude_bins == other.num_magnitude_bins
    assert list(ours.augmentations) == list(other.augmentations)
    rows = [[[(a.name, p, m) for a, p, m in sub] for sub in policy.sub_policies] for policy in (ours, other)]
    assert rows[0] == rows[1]
    for key, augmentation in ours.augmentations.items():
        assert described(augmentation, 11) == described(other.augmentations[key], 11)


@pytest.mark.oracle
@pytest.mark.parametrize(("module", "name"), SUITES, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_suites_are_dalis(module: Any, name: str, sizes: dict[str, Any]) -> None:
    ours, other = getattr(module, name)(**sizes), getattr(theirs(module), name)(**sizes)
    assert [described(a, 31) for a in ours] == [described(a, 31) for a in other]


@pytest.mark.oracle
def test_augmentations_are_dalis() -> None:
    other = theirs(augmentations)
    names = [name for name, value in vars(other).items() if type(value).__name__ == "Augmentation"]
    assert len(names) == 18
    for name in names:
        ours = getattr(augmentations, name)
        assert described(ours, 11) == described(getattr(other, name), 11)
        assert parameters(ours.op) == parameters(getattr(other, name).op)


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "module", ["auto_augment", "rand_augment", "trivial_augment", "augmentations", "core"]
)
def test_signatures_are_dalis(module: str) -> None:
    ours = importlib.import_module(f"jdali.auto_aug.{module}")
    other = theirs(ours)
    checked = 0
    for name, value in vars(other).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            mine = [p for p in parameters(getattr(ours, name)) if p[0] != "key"]  # jdali's own
            assert mine == parameters(value), name
            checked += 1
    assert checked >= 3


@pytest.mark.oracle
def test_names_that_stand_twice_are_told_apart_as_in_dali() -> None:
    found = []
    for module in (auto_augment, theirs(auto_augment)):
        core = importlib.import_module(module.__name__.replace("auto_augment", "core"))
        moved = importlib.import_module(module.__name__.replace("auto_augment", "augmentations"))
        weak, strong = (moved.rotate.augmentation((0, top)) for top in (10, 90))
        policy = core.Policy(
            "p", 3, [[(weak, 0.5, 1), (moved.invert, 1, None)], [(strong, 0.5, 1), (weak, 1, 2)]]
        )
        found.append([[(a.name, a.mag_range) for a, _, _ in sub] for sub in policy.sub_policies])
    assert found[0] == found[1]


def test_the_papers_policy_for_cifar10_has_25_sub_policies_of_up_to_two_operations() -> None:
    policy = auto_augment.get_reduced_cifar10_policy()
    assert isinstance(policy, Policy)
    assert len(policy.sub_policies) == 25
    assert {len(sub) for sub in policy.sub_policies} == {1, 2}


@pytest.mark.parametrize(
    ("kept", "mask"), [(0, 0x80), (0.4, 0x80), (1, 0x80), (3.6, 0xF0), (4, 0xF0), (8, 0xFF), (9, 0xFF)]
)
def test_a_poster_mask_keeps_at_least_one_bit(kept: float, mask: int) -> None:
    found = augmentations.poster_mask_uint8(np.float32(kept))
    assert (found.dtype, int(found)) == (np.uint8, mask)


def test_the_sharpness_kernel_keeps_the_sum_and_is_the_identity_in_the_middle() -> None:
    for magnitude in (-0.9, -0.3, 0.0, 0.6):
        np.testing.assert_allclose(augmentations.sharpness_kernel(magnitude).sum(), 1, atol=1e-6)
    identity = np.zeros((3, 3), np.float32)
    identity[1, 1] = 1
    np.testing.assert_array_equal(augmentations.sharpness_kernel_shifted(1.0), identity)
