"""Augmentations and policies of the user's: what they are made of, and what is refused."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn
from jdali.auto_aug import augmentations as a
from jdali.auto_aug import auto_augment, rand_augment, trivial_augment
from jdali.auto_aug.core import Policy, _Augmentation, augmentation, select, signed_bin
from jdali.auto_aug.core._args import MissingArgException, UnusedArgException
from jdali.auto_aug.core._parameters import rows_of


def run(function: Any, *sources: Any, batch_size: int = 4, **options: Any) -> list[np.ndarray]:
    """The first output of a pipeline over batches that are the same each time."""

    @jdali.pipeline_def(batch_size=batch_size, num_threads=1, enable_conditionals=True, seed=1, **options)
    def pipeline() -> Any:
        return function(*(fn.external_source(source=[s], cycle=True) for s in sources))

    output = pipeline().run()[0].as_cpu()
    return [np.asarray(output.at(i)) for i in range(len(output))]


FOUR = np.arange(4, dtype=np.float32)


@augmentation(mag_range=(0, 10))
def added(data: Any, magnitude: Any, factor: Any = 1) -> Any:
    return data + magnitude * factor


# --- augmentations --------------------------------------------------------------------------------
def test_what_an_augmentation_is_made_of_can_be_read_and_replaced() -> None:
    def op(data: Any, parameter: Any) -> Any:
        return data

    plain = augmentation(op)
    assert (plain.op, plain.mag_range, plain.randomly_negate, plain.param_device, plain.name) == (
        op, None, False, "cpu", "op",
    )  # fmt: skip
    np.testing.assert_array_equal(plain.mag_to_param(2.5), np.array(2.5))
    changed = plain.augmentation(mag_range=(1, 2), randomly_negate=True, param_device="auto", name="other")
    assert (changed.mag_range, changed.randomly_negate, changed.param_device, changed.name) == (
        (1, 2), True, "auto", "other",
    )  # fmt: skip
    again = changed.augmentation(randomly_negate=None, name=None)
    assert (again.mag_range, again.randomly_negate, again.name) == ((1, 2), False, "op")
    assert plain.mag_range is None
    assert "mag_range=(1, 2)" in repr(changed)
    assert "name" not in repr(plain)

    class Own(_Augmentation):
        pass

    assert type(plain.augmentation(augmentation_cls=Own)) is Own
    assert type(augmentation(op, augmentation_cls=Own)) is Own


def test_a_magnitude_bin_may_be_one_for_all_or_one_for_each() -> None:
    def function(data: Any, bins: Any) -> Any:
        same = added(data, magnitude_bin=2, num_magnitude_bins=5)
        return added(same, magnitude_bin=bins, num_magnitude_bins=5, factor=2, unknown="left out")

    # Bins 0 to 4 are 0, 2.5, 5, 7.5 and 10.
    found = run(function, FOUR, np.array([0, 1, 2, 4], np.int32))
    assert [float(f) for f in found] == [5.0, 1 + 5 + 5.0, 2 + 5 + 10.0, 3 + 5 + 20.0]


def test_magnitudes_may_be_an_array_and_parameters_of_any_shape_and_type() -> None:
    magnitudes = np.array([1, 1 << 30], np.int64)

    @augmentation(mag_range=magnitudes, mag_to_param=lambda m: np.array([[m, 0], [1, m + 1]], np.int32))
    def given(data: Any, parameter: Any) -> Any:
        return parameter

    found = run(lambda bins: given(bins, magnitude_bin=bins), np.array([0, 1, 1, 0], np.int32))
    # Exact past 2²⁴, where float32 is not.
    np.testing.assert_array_equal(found[1], [[1 << 30, 0], [1, (1 << 30) + 1]])
    np.testing.assert_array_equal(found[3], [[1, 0], [1, 2]])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.bool_])
def test_rows_of_a_table(dtype: Any) -> None:
    table = np.random.default_rng(0).integers(0, 2 if dtype == np.bool_ else 200, (4, 2, 3)).astype(dtype)
    found = run(lambda index: rows_of(table, index), np.array([3, 0, 2, 2], np.int32))
    assert found[0].dtype == dtype
    np.testing.assert_array_equal(found, table[[3, 0, 2, 2]])


def test_signs_that_are_given_negate() -> None:
    negated = added.augmentation(randomly_negate=True)

    def function(data: Any, bins: Any, signs: Any) -> Any:
        return negated(data, magnitude_bin=signed_bin(bins, signs), num_magnitude_bins=11)

    bins, signs = np.array([[1, 3, 5, 10], [0, 1, 1, 0]], np.int32)
    assert [float(f) for f in run(function, FOUR, bins, signs)] == [1.0, -2.0, -3.0, 13.0]


def test_an_augmentation_without_signs_draws_them_and_says_so() -> None:
    negated = added.augmentation(randomly_negate=True)
    with pytest.warns(UserWarning, match="signs"):
        found = run(
            lambda data: negated(data, magnitude_bin=4, num_magnitude_bins=11),
            np.zeros(64, np.float32), batch_size=64,
        )  # fmt: skip
    assert {float(f) for f in found} == {4.0, -4.0}


def test_signed_bins_for_several_augmentations_can_be_indexed() -> None:
    negated = added.augmentation(randomly_negate=True)

    def function(data: Any, bins: Any) -> Any:
        signed = signed_bin(bins, shape=(2,))
        for i in range(2):
            data = negated(data, magnitude_bin=signed[i], num_magnitude_bins=11)
        return data

    bins = np.tile(np.array([1, 5], np.int32), (64, 1))
    found = run(function, np.zeros(64, np.float32), bins, batch_size=64)
    assert {float(f) for f in found} == {6.0, 4.0, -4.0, -6.0}


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda d: added(d, magnitude_bin=1), TypeError, "num_magnitude_bins.*`added`"),
        (lambda d: added(d, num_magnitude_bins=3), TypeError, "added.*magnitude_bin"),
        (lambda d: signed_bin(2.5), TypeError, "magnitude_bin"),
        (lambda d: signed_bin(2, random_sign=d, seed=3), ValueError, "random_sign"),
        (
            lambda d: added.augmentation(mag_range=np.arange(3.0))(d, magnitude_bin=1, num_magnitude_bins=4),
            ValueError, "nd.array of length 3",
        ),
        (
            lambda d: added.augmentation(mag_range=(1, 2, 3))(d, magnitude_bin=1, num_magnitude_bins=4),
            ValueError, "mag_range",
        ),
        (
            lambda d: added.augmentation(mag_to_param=lambda m: d)(d, magnitude_bin=1, num_magnitude_bins=4),
            TypeError, "`added` augmentation returned `DataNode`",
        ),
        (
            lambda d: added.augmentation(mag_to_param=lambda m: [0] * int(1 + m))(
                d, magnitude_bin=signed_bin(1).random_sign, num_magnitude_bins=4
            ),
            ValueError, "arrays of the same type and shape",
        ),
        (lambda d: a.translate_x(d, magnitude_bin=signed_bin(1), num_magnitude_bins=4), MissingArgException, "shape"),
        (lambda d: select([], d, data=d), ValueError, "nothing"),
    ],
)  # fmt: skip
def test_calls_that_are_refused(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        run(call, FOUR)


@pytest.mark.parametrize(
    "function", [3, added, lambda data: data], ids=["no function", "one already", "no parameter"]
)
def test_what_the_decorator_refuses(function: Any) -> None:
    with pytest.raises(TypeError):
        augmentation(function)


# --- choosing -------------------------------------------------------------------------------------
def test_each_augmentation_sees_the_samples_that_chose_it_once_and_no_others() -> None:
    seen: dict[str, list[float]] = {}

    def watching(name: str) -> Any:
        def op(data: Any, parameter: Any) -> Any:
            def note(value: np.ndarray) -> np.ndarray:
                seen.setdefault(name, []).append(float(value))
                return value

            return fn.python_function(data, function=note)

        return augmentation(op, name=name)

    names = ["first", "second", "never"]
    index = np.array([1, 0, 1, 1], np.int32)
    run(
        lambda data, chosen: select([watching(n) for n in names], chosen, data),
        FOUR,
        index,
        prefetch_queue_depth=1,
    )
    assert seen["first"][:1] == [1.0]
    assert seen["second"][:3] == [0.0, 2.0, 3.0]
    assert "never" not in seen


def test_an_augmentation_may_have_conditionals_of_its_own() -> None:
    @augmentation(mag_range=(0, 10))
    def added_to_large(data: Any, magnitude: Any) -> Any:
        if data > 1.5:
            data = data + magnitude
        return data

    def function(data: Any, chosen: Any) -> Any:
        return select([added_to_large, a.identity], chosen, data, magnitude_bin=1, num_magnitude_bins=2)

    found = run(function, FOUR, np.array([0, 1, 0, 1], np.int32))
    assert [float(f) for f in found] == [0.0, 1.0, 12.0, 3.0]


def test_a_choice_needs_no_conditionals_in_the_rest_of_the_pipeline() -> None:
    @jdali.pipeline_def(batch_size=4, num_threads=1)
    def pipeline() -> Any:
        data, chosen = (
            fn.external_source(source=[v], cycle=True) for v in (FOUR, np.array([0, 1, 0, 1], np.int32))
        )
        return select([added, a.identity], chosen, data, magnitude_bin=1, num_magnitude_bins=2)

    assert pipeline().run()[0].as_array().tolist() == [10.0, 1.0, 12.0, 3.0]


def test_an_index_past_the_augmentations_is_an_error() -> None:
    with pytest.raises(jdali.OperatorError, match="choice of 2 cases: the index of sample 2 is 2"):
        run(
            lambda data, chosen: select([a.identity, a.identity], chosen, data),
            FOUR,
            np.array([0, 1, 2, 1], np.int32),
        )


# --- policies -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("bins", "sub_policies"),
    [
        (0, []), (2.5, []), (3, {}), (3, [a.invert]), (3, [[a.invert]]), (3, [[(a.invert, 1)]]),
        (3, [[(lambda data, _: data, 1, None)]]), (3, [[(a.invert, 1.5, None)]]), (3, [[(a.rotate, 0.5, None)]]),
        (3, [[(a.rotate, 0.5, 3)]]), (3, [[(a.rotate, 0.5, -1)]]), (3, [[(a.rotate, 0.5, 1.0)]]),
    ],
    ids=["no bins", "half a bin", "a dict", "not in lists", "no tuple", "two of three", "a plain function",
         "probability over 1", "no magnitude", "magnitude 3 of 3", "magnitude -1", "a float as magnitude"],
)  # fmt: skip
def test_policies_that_are_refused(bins: Any, sub_policies: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="Policy"):
        Policy("p", bins, sub_policies)


@pytest.mark.parametrize(
    "operation", [(a.rotate, 0, 1), (a.invert, 0.5, 1)], ids=["never applied", "no magnitude"]
)
def test_policies_that_are_warned_of(operation: Any) -> None:
    with pytest.warns(UserWarning, match="policy `p`"):
        Policy("p", 3, [[operation]])


def test_a_policy_shows_what_it_is() -> None:
    text = repr(Policy("mine", 3, [[(a.rotate, 0.5, 1)], [(a.invert, 1, None)]]))
    assert "name='mine', num_magnitude_bins=3" in text
    assert "[('rotate', 0.5, 1)]" in text
    assert "'invert': Augmentation(" in text


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda d: auto_augment.auto_augment(d, "cifar"), ValueError, "policy_name"),
        (lambda d: auto_augment.auto_augment(d, "reduced_image_net", shape=[2, 2]), ValueError, "shape"),
        (lambda d: auto_augment.auto_augment(d, max_translate_rel=0.5), ValueError, "max_translate_rel"),
        (lambda d: auto_augment.auto_augment(d, shape=[2, 2], max_translate_abs=5), ValueError, "max_translate_abs"),
        (lambda d: auto_augment.apply_auto_augment(Policy("p", 1, []), d), ValueError, "Cannot run empty policy"),
        (
            lambda d: auto_augment.apply_auto_augment(auto_augment.get_image_net_policy(True), d),
            TypeError, "translate_y.*shape.*get_image_net_policy",
        ),
        (
            lambda d: auto_augment.apply_auto_augment(auto_augment.get_image_net_policy(), d, wrong=1),
            UnusedArgException, "wrong",
        ),
        (lambda d: rand_augment.rand_augment(d, -1, 0), ValueError, "`n` must be a non-negative integer, got -1"),
        (lambda d: rand_augment.rand_augment(d, 1, 31), ValueError, "The magnitude bin `m` must be an integer from"),
        (lambda d: rand_augment.rand_augment(d, 1, 0, 0), ValueError, "num_magnitude_bins"),
        (lambda d: rand_augment.rand_augment(d, 1, 0, excluded=["blur"]), ValueError, "The `blur` was specified.*identity"),
        (lambda d: rand_augment.apply_rand_augment([], d, 1, 0), ValueError, "The `augmentations` list cannot be empty"),
        (lambda d: rand_augment.get_rand_augment_suite(use_shape=d), TypeError, "use_shape"),
        (lambda d: trivial_augment.trivial_augment_wide(d, 0), ValueError, "num_magnitude_bins"),
        (lambda d: trivial_augment.trivial_augment_wide(d, excluded=["blur"]), ValueError, "The `blur` was specified"),
        (lambda d: trivial_augment.apply_trivial_augment([], d), ValueError, "The `augmentations` list cannot be empty"),
    ],
)  # fmt: skip
def test_automatic_augmentations_that_are_refused(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        run(call, FOUR)


def test_rand_augment_of_none_leaves_the_batch_alone_and_says_so() -> None:
    with pytest.warns(UserWarning, match="called with `n=0`"):
        found = run(lambda data: rand_augment.rand_augment(data, 0, 0), FOUR)
    assert [float(f) for f in found] == [0.0, 1.0, 2.0, 3.0]


def test_excluded_augmentations_are_never_chosen() -> None:
    suite = [x.name for x in trivial_augment.get_trivial_augment_wide_suite()]
    data = np.full((4, 3, 3, 3), 7, np.uint8)
    found = run(
        lambda d: trivial_augment.trivial_augment_wide(d, excluded=[n for n in suite if n != "posterize"], max_translate_abs=3),
        data,
    )  # fmt: skip
    # All that posterizing can make of 7: its upper 2 to 8 bits.
    assert {int(f[0, 0, 0]) for f in found} <= {7 & (0xFF << k) for k in range(7)}


# What is wrong with sub-policies, and what DALI says of it.
REFUSED_POLICIES = {
    "The `num_magnitude_bins` must be a positive integer, got 0.": (0, lambda a: [[(a, 0.5, 0)]]),
    "The `sub_policies` must be a list or tuple of sub policies, got <class 'int'>.": (3, lambda a: 5),
    "Each sub policy must be a list or tuple, got 5.": (3, lambda a: [5]),
    "Each operation in sub policy must be specified as a triple: (augmentation, probability, magnitude). Got": (
        3, lambda a: [[(a, 0.5)]],
    ),
    "Each augmentation in sub policies must be an instance of Augmentation. Got `x`. Did you forget to use": (
        3, lambda a: [[("x", 0.5, 1)]],
    ),
    "Probability of applying the augmentation must be a number from `[0, 1]` range. Got `1.5` for": (
        3, lambda a: [[(a, 1.5, 1)]],
    ),
    "has `mag_range` specified, so the magnitude bin is required.": (3, lambda a: [[(a, 0.5, None)]]),
    "Magnitude of the augmentation must be an integer from `[0, 2]` range. Got `3` for": (3, lambda a: [[(a, 0.5, 3)]]),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("text", REFUSED_POLICIES)
def test_policies_are_refused_as_dali_does(text):
    oracle.dali()
    bins, make = REFUSED_POLICIES[text]
    for package in ("jdali", "nvidia.dali"):
        core = importlib.import_module(f"{package}.auto_aug.core")
        one = core.augmentation(mag_range=(0, 1))(lambda data, parameter: data)
        with pytest.raises(Exception, match=re.escape(text)):  # DALI's is of no other type
            core.Policy("p", bins, make(one))
