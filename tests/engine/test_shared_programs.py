"""Pipelines and eager calls that compute the same run one program, wherever they are defined."""

import gc
import os
import subprocess
import sys
import weakref

import jax.numpy as jnp
import numpy as np
import pytest
from support.shared_programs import compilations, forget

import jdali
import jdali.dynamic as ndd
from jdali import fn
from jdali._operators.record import REGISTRY
from jdali.engine.steps import stage as _stage
from jdali.plugin.operators import operator

RANDOM = np.random.default_rng(3)
PICTURES = [RANDOM.integers(0, 256, (40, 30, 3), np.uint8) for _ in range(2)]


@pytest.fixture(autouse=True)
def _nothing_compiled_before():
    forget()


def first_batch(define, *, others=0, batch=PICTURES, **options):
    """The first batch of a new pipeline with `others` unrelated nodes before; and its number of programs."""
    pipe = jdali.Pipeline(batch_size=len(batch), num_threads=1, **{"seed": 1, **options})
    with pipe:
        for _ in range(others):
            fn.external_source(lambda: batch)
        pipe.set_outputs(define(fn.external_source(lambda: batch, layout="HWC")))
    (output,) = pipe.run()
    samples, programs = [np.asarray(output.at(i)) for i in range(len(batch))], pipe.internals().programs
    pipe.close()
    return samples, programs


def stages(noted):
    """Programs of stages, without those that gather rows and the like."""
    return [name for name in noted if name in ("function", "jit(function)")]


def test_a_second_pipeline_compiles_nothing():
    with compilations() as noted:
        before, programs = first_batch(lambda x: fn.flip(fn.crop(x, crop=(20, 20))))
    assert len(stages(noted)) == programs == 1
    gc.collect()  # the first pipeline is gone, its program is not
    with compilations() as noted:
        after, programs = first_batch(lambda y: fn.flip(fn.crop(y, crop=(20, 20))), others=2)
    assert stages(noted) == []
    assert programs == 1  # the limit of a pipeline does not depend on others
    np.testing.assert_array_equal(after, before)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "other",
    [
        lambda x: fn.brightness(x, brightness=1.25),
        lambda x: fn.brightness(x, brightness=1.5, dtype=jdali.types.FLOAT),
        lambda x: fn.brightness(fn.flip(x), brightness=1.5),
        lambda x: fn.flip(fn.brightness(x, brightness=1.5)),
    ],
)
def test_other_arguments_are_another_program(other):
    first_batch(lambda x: fn.brightness(x, brightness=1.5))
    with compilations() as noted:
        first_batch(other)
    assert len(stages(noted)) == 1


def test_seeds_and_numbers_of_nodes_are_operands():
    def noisy(x):
        return fn.noise.gaussian(x, stddev=20.0)

    one, _ = first_batch(noisy)
    with compilations() as noted:
        same, _ = first_batch(noisy)
        other, _ = first_batch(noisy, seed=2)
        later, _ = first_batch(noisy, others=2)
    assert stages(noted) == []
    np.testing.assert_array_equal(same, one)
    assert (np.array(other) != np.array(one)).mean() > 0.5
    assert (np.array(later) != np.array(one)).mean() > 0.5


def bright(x):
    return fn.brightness(x, brightness=1.5)


def test_small_batches_share_whatever_their_size():
    """Large pictures run one a call, small ones eight; nothing changes but the number of calls."""
    large = [RANDOM.integers(0, 256, (200, 300, 3), np.uint8) for _ in range(8)]
    for pictures in (PICTURES * 4, large):
        with compilations() as noted:
            alone, _ = first_batch(bright, batch=pictures[:1])
        assert len(stages(noted)) == 1
        with compilations() as noted:
            found = {size: first_batch(bright, batch=pictures[:size])[0] for size in (2, 3, 8)}
        assert stages(noted) == []
        for samples in found.values():
            np.testing.assert_array_equal(samples[0], alone[0])
            for sample, picture in zip(samples, pictures, strict=False):
                expected = np.minimum(np.floor(picture * 1.5 + 0.5), 255)  # halves away from zero
                np.testing.assert_array_equal(sample, expected)


def test_more_than_eight_samples_have_programs_of_their_own():
    first_batch(bright)
    with compilations() as noted:
        first_batch(bright, batch=PICTURES * 5)
    assert len(stages(noted)) == 1


def test_samples_have_a_program_each_where_shapes_are_exact():
    with compilations() as noted:
        first_batch(bright, exact_shapes=True)
        first_batch(bright)
    assert len(stages(noted)) == 2


PROGRAM = """
import jax, numpy as np
found = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event.rpartition("/")[2]))
from jdali import Pipeline, fn
{lines}
with Pipeline(batch_size=1, num_threads=1, seed={seed}) as pipe:
    for i in range({others}):
        fn.external_source(lambda: [], name=f"{{'{name}'}}{{i}}")
    {name} = fn.external_source(lambda: [np.zeros((4, 4, 1), np.uint8)], layout="HWC", name="{name}")
    pipe.set_outputs(fn.noise.gaussian(fn.flip({name}), stddev=2.0))
pipe.run()
print(found.count("cache_hits"), found.count("cache_misses"))
"""


def test_another_process_that_defines_the_same_elsewhere_reads_programs_from_the_cache(tmp_path):
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }  # fmt: skip
    counts = []
    for name, lines, others in (("first", "", 0), ("second", "\n" * 30, 3)):
        file = tmp_path / name / f"{name}.py"
        file.parent.mkdir()
        file.write_text(PROGRAM.format(name=name, lines=lines, others=others, seed=others))
        done = subprocess.run(
            [sys.executable, file], env=environment, capture_output=True, text=True, check=True
        )
        counts.append(tuple(map(int, done.stdout.split())))
    (hits, compiled), (found, missed) = counts
    assert (hits, missed) == (0, 0)
    assert found == compiled > 0


def test_the_limit_counts_programs_of_others():
    first_batch(bright)
    with pytest.raises(jdali.CompileLimitError, match="max_compiles is 0"):
        first_batch(bright, max_compiles=0)


def test_an_error_while_tracing_names_the_line_of_its_own_pipeline():
    @operator(name="_fails_when_traced")
    def fails(image, /):
        raise ValueError("not today")

    def define(x):
        return jdali.graph.call_operator(fails, [fn.flip(x)], {})

    try:
        for _ in range(2):  # what failed is not kept
            with pytest.raises(
                jdali.OperatorError, match=r"fails_when_traced: ValueError: not today"
            ) as caught:
                first_batch(define)
            assert f"{__file__}:{define.__code__.co_firstlineno + 1}" in str(caught.value)
    finally:
        del REGISTRY["_fails_when_traced"]


def test_an_operator_of_the_user_does_not_outlive_its_pipeline():
    @operator(name="_kept_by_nobody")
    def kept_by_nobody(image, /):
        return jnp.flip(image, 0)

    run = weakref.ref(kept_by_nobody)
    first_batch(lambda x: jdali.graph.call_operator(REGISTRY["_kept_by_nobody"], [x], {}))
    del REGISTRY["_kept_by_nobody"], kept_by_nobody
    gc.collect()
    assert run() is None


def test_eager_calls_share_with_each_other():
    def call(picture):
        return np.asarray(ndd.flip(ndd.as_tensor(picture, layout="HWC"), vertical=1).cpu())

    first = call(PICTURES[0])
    with compilations() as noted:
        np.testing.assert_array_equal(call(PICTURES[0]), first)
    assert noted == []


def test_arguments_that_decide_sizes_share_a_program(monkeypatch):
    """What `resize` makes lies in one square, whatever the argument that says its size."""
    calls = [
        {"size": [24, 20]}, {"resize_x": 18}, {"resize_shorter": 18.0, "max_size": 24},
        {"size": [-24, 20], "interp_type": jdali.types.INTERP_TRIANGULAR},
        {"size": [20, 22], "roi_start": [2, 3], "roi_end": [33, 29]},
    ]  # fmt: skip
    with compilations() as noted:
        found = [first_batch(lambda x, call=call: fn.resize(x, **call))[0] for call in calls]
    assert len(stages(noted)) == 1
    assert [sample.shape[:2] for sample in (batch[0] for batch in found)] == [
        (24, 20), (24, 18), (24, 18), (24, 20), (20, 22)
    ]  # fmt: skip
    forget()
    monkeypatch.setattr(_stage, "FEW_SAMPLES", 0)
    with compilations() as noted:
        alone = [first_batch(lambda x, call=call: fn.resize(x, **call))[0] for call in calls]
    assert len(stages(noted)) > 1
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_array_equal(one, other)
