"""Where the platform of a program is known, only its branch is traced."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jdali import Pipeline, fn
from jdali._kernels import resample as _resample
from jdali._kernels.by_platform import by_platform
from jdali._numerics.platform import (
    forced,
    known_platform,
    of_whole_batch,
    one_program,
    platform_dependent,
    tracing_for,
)


def either(value):
    return platform_dependent(value, cpu=lambda v: v + 1, default=lambda v: v * 2)


def branches(function):
    return [e for e in jax.make_jaxpr(function)(jnp.float32(3)).eqns if e.primitive.name == "cond"]


@pytest.mark.parametrize(("platform", "expected"), [("cpu", 4), ("gpu", 6), ("tpu", 6)])
def test_the_branch_of_the_platform(platform, expected):
    with tracing_for(platform):
        assert known_platform() == platform
        assert not branches(lambda v: either(v))
        assert either(np.float32(3)) == expected
    assert known_platform() is None


def test_all_branches_where_it_is_not_known():
    assert len(branches(lambda v: either(v))) == 1
    assert jax.jit(either)(np.float32(3)) == (4 if jax.default_backend() == "cpu" else 6)


def test_a_forced_platform_is_that_of_all_programs():
    with forced("gpu"):
        assert jax.jit(lambda v: either(v))(np.float32(3)) == 6
        with tracing_for("cpu"):
            assert known_platform() == "gpu"
            assert either(np.float32(3)) == 6
    assert known_platform() is None


def test_a_platform_is_forced_in_all_threads():
    with forced("gpu"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(known_platform).result() == "gpu"


def test_a_tpu_may_have_a_branch_of_its_own():
    def each(value):
        return platform_dependent(value, cpu=lambda v: v, default=lambda v: v * 2, tpu=lambda v: v * 3)

    for platform, factor in (("cpu", 1), ("cuda", 2), ("tpu", 3)):
        with tracing_for(platform):
            assert each(np.float32(2)) == 2 * factor
    assert jax.jit(each)(np.float32(2)) == (2 if jax.default_backend() == "cpu" else 4)


def test_what_was_traced_for_one_platform_is_not_used_for_another():
    program = one_program()(either)
    for _ in range(2):
        for platform, expected in (("cpu", 4), ("gpu", 6)):
            with tracing_for(platform):
                assert program(np.float32(3)) == expected
    assert program.__name__ == "either"


def test_a_flag_of_a_batch_stays_a_branch_under_vmap():
    def own(value):
        return jax.lax.cond(
            of_whole_batch(value > 0), lambda v: v + 1, lambda v: jnp.maximum(v + 1, 0), value
        )

    twice = jax.vmap(jax.vmap(own))
    values = np.float32([[1, 2], [-3, 4]])
    # As a `select` both branches would be worked out for all.
    primitives = str(jax.make_jaxpr(twice)(values))
    assert "cond" in primitives
    assert "select_n" not in primitives
    np.testing.assert_array_equal(twice(values), [[2, 3], [0, 5]])
    np.testing.assert_array_equal(jax.grad(lambda v: twice(v).sum())(values), [[1, 1], [0, 1]])


def test_a_stage_on_a_cpu_traces_no_branch_for_accelerators(monkeypatch):
    def refuse(*_):
        raise AssertionError("the branch of accelerators was traced")

    monkeypatch.setattr(_resample, "resample_whole", refuse)
    pictures = [np.full((60, 61, 3), i, np.uint8) for i in range(2)]
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.resize(fn.external_source(source=lambda: pictures, layout="HWC"), size=[57, 50]))
    with pipe:
        (out,) = pipe.run()
    assert out.at(1).shape == (57, 50, 3)
    assert (np.asarray(out.at(1)) == 1).all()


def test_a_stage_traces_the_kernel_of_resize_once(monkeypatch):
    """`vmap` of a function with a rule traces it for one sample, too, if it is not told apart."""
    traced, taps = [], _resample.resample_taps

    def counted(*arguments):
        traced.append(arguments[0].shape)
        return taps(*arguments)

    monkeypatch.setattr(_resample, "resample_taps", counted)
    pictures = [np.full((60, 61, 3), i, np.uint8) for i in range(9)]
    pipe = Pipeline(batch_size=9, num_threads=1)
    with pipe:
        # A size that no other test has: what `_batched_taps` keeps was traced before.
        pipe.set_outputs(fn.resize(fn.external_source(source=lambda: pictures, layout="HWC"), size=[55, 53]))
    pipe.run()
    assert len(traced) == pipe.internals().programs == 1
    pipe.close()


@pytest.mark.parametrize("size", [1, 3])
def test_a_loop_on_a_cpu_is_traced_once_whatever_the_number_of_samples(size):
    traced = []

    def doubled(value):
        traced.append(value.shape)
        return value * 2

    function = by_platform(doubled, doubled)
    with tracing_for("cpu"):
        result = jax.jit(jax.vmap(function))(np.ones((size, 4), np.float32))
    assert traced == [(4,)]
    np.testing.assert_array_equal(result, np.full((size, 4), 2))


def test_functions_of_one_program_see_no_numpy_where_the_platform_is_known():
    seen = []

    @one_program(static_argnums=1)
    def function(value, count):
        seen.append((type(value), count))
        return value * count

    with tracing_for("cpu"):
        np.testing.assert_array_equal(function(np.float32([1, 2]), 3), [3, 6])
    assert seen == [(type(jnp.zeros(2)), 3)]
