"""Stages with samples of ever new sizes: shapes follow from size and level, programs have a bound, values stay right."""

from unittest import mock

import numpy as np
import pytest
from support import accelerator
from support.nodes import node_of, source_node

import jdali
from jdali import dynamic, fn
from jdali._batches import BatchSpec
from jdali.engine.eager.call import compiled_programs
from jdali.engine.shapes.cost import SHORTEST_CALL
from jdali.engine.shapes.stage_shapes import MOST_SHAPES, StageShapes
from jdali.engine.steps import stage as _stage
from jdali.engine.steps.stage import StageRunner
from jdali.graph import Graph, step_of
from jdali.iterator.replay import PipelineTwin


# --- the law ---------------------------------------------------------------------------------------
def stage_shapes(operator="color_twist", **options):
    graph = Graph()
    stage = step_of(node_of(graph, operator, source_node(graph).outputs[0]))
    return StageShapes(stage, "cpu", {stage.nodes[0]: {}}, **options)


def group(shapes, extents, layout="HWC", **options):
    spec = BatchSpec(np.asarray(extents), np.dtype(np.uint8), layout)
    return shapes.group([spec, spec], [None], **options)


def stream(shapes, extents, batch_size, layout="HWC"):
    """Yields, for each sample, its size, the level that it is padded at and its group."""
    for start in range(0, len(extents), batch_size):
        batch = extents[start : start + batch_size]
        for one in group(shapes, batch, layout):
            for sample in one.samples.tolist():
                yield tuple(batch[sample].tolist()), shapes.level, one


def crops(count, seed=0, largest=512):
    sizes = np.random.default_rng(seed).integers(1, largest + 1, (count, 2))
    return np.concatenate([sizes, np.full((count, 1), 3)], axis=1)


def test_a_shape_is_a_function_of_size_and_level():
    samples = crops(240)
    known = {}
    rng = np.random.default_rng(1)
    for order in [np.arange(240), np.arange(240)[::-1], rng.permutation(240)]:
        for batch_size in (1, 8):
            last = 0
            for size, number, one in stream(stage_shapes(), samples[order], batch_size):
                assert known.setdefault((size, number), one.shape) == one.shape
                assert number >= last
                last = number
    levels = {number for _, number in known}
    assert 0 in levels
    assert len(levels) > 2
    # Nor does a sample's shape at a level depend on which samples were counted at it, or are beside it.
    alone = stage_shapes(most=10**9)
    for (size, number), shape in list(known.items())[::7]:
        alone.level = number
        (one,) = group(alone, [size])
        assert one.shape == shape


@pytest.mark.cases(3)
@pytest.mark.parametrize(("batch_size", "in_all"), [(1, 64), (8, 64), (128, 3 * MOST_SHAPES)])
@pytest.mark.parametrize("largest", [28, 512, 4000])
def test_programs_of_random_crops_have_a_bound_and_little_waste(batch_size, in_all, largest):
    """Any size and aspect ratio: at most 16 shapes are in use at the end, and few levels were gone through."""
    shapes, programs, at_level = stage_shapes(), set(), {}
    last = 0
    for size, number, one in stream(shapes, crops(1500, 2, largest), batch_size):
        assert number >= last
        last = number
        programs.add((number, one.shape))
        at_level.setdefault(number, set()).add(one.shape)
        held = np.array(one.shape).reshape(2, 3)
        assert (held >= size).all()
    assert all(len(found) <= MOST_SHAPES for found in at_level.values())
    assert len(programs) <= in_all
    # What is computed at the end, by the cost model; sharing the first dozen shapes of such samples took 2.0 to 2.7.
    spent = allowed = 0.0
    for start in range(0, 1500, 8):
        groups = group(shapes, crops(1500, 3, largest)[start : start + 8])
        spent += sum(one.seconds for one in groups)
        allowed += 2.0 * sum(one.needed for one in groups)
        allowed += SHORTEST_CALL * 7 if len(groups) == 1 else 0  # one call in place of up to eight
    assert spent <= allowed


@pytest.mark.parametrize(
    ("channels", "sides", "count"),
    [
        ((3,), (20, 60), 1),
        ((1, 3), (20, 60), None),  # channels are not padded
        ((3,), (200, 1500), None),  # padding would take longer than calls
    ],
)
def test_small_samples_of_a_batch_share_a_call(channels, sides, count):
    rng = np.random.default_rng(0)
    sizes = np.concatenate([rng.integers(*sides, (32, 2)), rng.choice(channels, (32, 1))], axis=1)
    groups = group(stage_shapes(), sizes)
    assert len(groups) == count if count else len(groups) > len(channels)
    for one in groups:
        held = np.array(one.shape).reshape(2, 1, 3)  # of the input and of the output
        assert (held >= sizes[one.samples]).all()
        assert (held[..., 2] == sizes[one.samples, 2]).all()


def test_numbers_beside_small_samples_of_several_sizes():
    """The mean of all axes is a number: it has no axis, and thus no channels."""
    samples = [np.arange(rows * 4, dtype=np.float32).reshape(rows, 4) for rows in (3, 5)]
    with jdali.Pipeline(batch_size=2, num_threads=1) as pipe:
        data = fn.external_source(lambda: samples)
        pipe.set_outputs(fn.reductions.std_dev(data, fn.reductions.mean(data)))
    (found,) = pipe.run()
    np.testing.assert_allclose(np.asarray(found.as_cpu().as_array()), [s.std() for s in samples], rtol=1e-6)
    pipe.close()


@pytest.mark.parametrize("kind", ["lengths", "videos"])
def test_sounds_and_videos_have_a_bound_and_little_waste(kind):
    rng = np.random.default_rng(4)
    if kind == "lengths":
        operator, layout, most = "preemphasis_filter", "t", 1.2
        extents = (16000 * np.exp(rng.normal(1.5, 0.45, (1000, 1))).clip(0.5, 30)).astype(np.int64)
    else:
        operator, layout, most = "color_twist", "FHWC", 2.5
        sides = np.array([[240, 320, 3], [256, 340, 3], [340, 256, 3], [480, 640, 3], [720, 1280, 3]])
        frames = rng.integers(16, 65, (1000, 1))
        extents = np.concatenate([frames, sides[rng.integers(0, 5, 1000)]], axis=1)
    found = list(stream(stage_shapes(operator), extents, 8, layout=layout))
    last = found[-1][1]
    groups = {id(one): one for _, number, one in found if number == last}
    assert len({one.shape for one in groups.values()}) <= MOST_SHAPES
    assert len({(number, one.shape) for _, number, one in found}) <= 64
    assert sum(g.seconds for g in groups.values()) <= most * sum(g.needed for g in groups.values())


@pytest.mark.cases(4)
@pytest.mark.parametrize("batch_size", [1, 50])
@pytest.mark.parametrize(
    ("layout", "ndim", "largest", "most"),
    [
        ("", 3, 20, 8), ("", 4, 20, 16), ("", 5, 20, 10), ("abcd", 4, 20, 16), ("HWC", 3, 60, 6), ("CHW", 3, 100, 6),
        ("FHWC", 4, 20, 32), ("DHWC", 4, 40, 10),
    ],
)  # fmt: skip
def test_samples_of_which_all_axes_differ_are_padded_within_reason(layout, ndim, largest, most, batch_size):
    """Sizes that no level pads (channels, small axes) leave too many shapes at any: coarse ones cost time and save nothing."""
    extents = np.random.default_rng(0).integers(1, largest + 1, (400, ndim))
    found = list(stream(stage_shapes("normalize"), extents, batch_size, layout=layout))
    groups = {id(one): one for _, _, one in found}.values()
    # Somewhat above what was measured; the largest is that of samples of 30 us, for which programs are what costs.
    assert sum(g.seconds for g in groups) <= most * sum(g.needed for g in groups)
    elements = [np.prod(one.shape[:ndim], dtype=float) for one in groups]
    assert max(elements) <= 8 * extents.prod(axis=1, dtype=float).max()


def test_sizes_that_no_level_pads_do_not_make_others_coarse():
    """Channels are never padded: the stage stays where its pictures waste nothing."""
    extents = np.array([[64, 64, channels] for channels in range(1, 61)])
    found = list(stream(stage_shapes("flip"), extents, 4))
    assert {number for _, number, _ in found} == {0}
    assert len({one.shape for _, _, one in found}) == 60


def test_samples_in_one_shape_have_levels_as_well():
    shapes, found = stage_shapes(), set()
    for start in range(0, 800, 4):
        (one,) = group(shapes, crops(800, 5)[start : start + 4], together=True)
        assert len(one.samples) == 4
        found.add((shapes.level, one.shape))
    assert len({shape for number, shape in found if number == shapes.level}) <= MOST_SHAPES


def test_branches_have_fewer():
    found = list(stream(stage_shapes(most=4), crops(400), 8))
    last = found[-1][1]
    assert len({one.shape for _, number, one in found if number == last}) <= 4


# --- whole pipelines -------------------------------------------------------------------------------
def planes(count, step):
    """Of which hardly two share a padded shape; with 1 to 3 channels, which are never padded; small ones at first."""
    rng = np.random.default_rng(3)
    return [
        rng.integers(0, 99, (*sorted(rng.integers(5, 20 + step * i, 2)), 1 + i % 3)).astype(np.int32)
        for i in range(count)
    ]


SAMPLES = planes(24, 18)
BATCHES = len(SAMPLES) // 4
FEW = 8  # instead of `MOST_SHAPES`: each shape is a program to be compiled


def few_at_most():
    return mock.patch.object(_stage, "MOST_SHAPES", FEW)


@pytest.fixture
def few_shapes():
    with few_at_most():
        yield


ALONE = {
    "exec_async": False,
    "exec_pipelined": False,
}  # nothing is made ahead, so levels are those of what was taken


def pipeline(**options):
    options = {"batch_size": 4, "num_threads": 1, "seed": 1, "compilation_cache": False} | options
    pipe = jdali.Pipeline(**options)
    with pipe:
        data = fn.external_source(
            lambda info: SAMPLES[info.idx_in_epoch % len(SAMPLES)], batch=False, layout="HWC"
        )
        noise = fn.random.uniform(range=[1, 2])
        pipe.set_outputs(data * 2 + 1, data * noise)
    return pipe


def run(pipe, batches):
    """Returns the bytes of each sample."""
    found = []
    for _ in range(batches):
        outputs = pipe.run()
        found += [[np.asarray(out.at(i)).tobytes() for out in outputs] for i in range(len(outputs[0]))]
    return found


def levels_of(pipe):
    return [stage["shape_level"] for stage in pipe.executor_statistics()["stages"].values()]


@pytest.fixture(scope="module")
def whole_run():
    """The bytes of all samples, and the states after each batch."""
    with few_at_most(), pipeline(**ALONE) as pipe:
        samples, states = [], []
        for _ in range(BATCHES):
            samples += run(pipe, 1)
            states.append(pipe.get_state())
        return samples, states, pipe.executor_statistics()["programs"], pipe.plan(), levels_of(pipe)


@pytest.mark.usefixtures("few_shapes")
def test_values_are_right_at_all_levels_and_programs_have_a_bound(whole_run):
    samples, _, programs, plan, levels = whole_run
    assert [first for first, _ in samples] == [(2 * sample + 1).tobytes() for sample in SAMPLES]
    assert max(levels) > 0
    # One of them is for the random values.
    assert FEW < programs <= 3 * FEW + 1
    (line,) = [line for line in plan.splitlines() if f"level {max(levels)} (" in line]
    assert "programs, waste " in line


@pytest.mark.usefixtures("few_shapes")
def test_a_level_changes_no_bit(whole_run):
    """At level 0, and at the last one: with exact shapes each sample is a program."""
    samples, states, *_ = whole_run
    with pipeline(exact_shapes=True) as pipe:
        assert run(pipe, 1) == samples[:4]
        pipe.set_state(states[-2])
        assert run(pipe, 1) == samples[-4:]
        assert levels_of(pipe) == [0] * len(levels_of(pipe))


@pytest.mark.usefixtures("few_shapes")
def test_the_same_bits_whatever_level_a_stage_has_risen_to(whole_run):
    """Again from the beginning, from two states in a process that is at level 0, and with several threads."""
    samples, states, _, _, levels = whole_run
    with pipeline(num_threads=3) as pipe:
        start = pipe.get_state()
        run(pipe, BATCHES)
        assert max(levels_of(pipe)) > 0
        pipe.set_state(start)
        assert run(pipe, BATCHES) == samples
        assert pipe.get_state() == states[-1]
    with pipeline(**ALONE) as pipe:
        for done in (5, 1):
            pipe.set_state(states[done - 1])
            assert run(pipe, 1) == samples[4 * done : 4 * done + 4]
        assert levels_of(pipe) == [0] * len(levels)


@pytest.mark.usefixtures("few_shapes")
def test_no_state_knows_of_levels_and_one_of_an_older_version_is_restored(whole_run):
    samples, states, *_ = whole_run
    assert all("levels" not in state for state in states)
    old = states[4] | {"levels": {"arithmetic 1": 7}, "ahead": {}}
    with pipeline() as pipe:
        pipe.set_state(old)
        assert run(pipe, 1) == samples[20:24]
        assert pipe.get_state() == states[5]


@pytest.mark.usefixtures("few_shapes")
def test_batches_that_are_looked_at_again_change_no_bit(whole_run):
    samples, states, *_ = whole_run
    with pipeline() as pipe:
        pipe.build()
        twin = PipelineTwin(pipe.internals().engine)
        for number in range(BATCHES):
            outputs = twin.take_result().outputs
            assert [out.at(3).tobytes() for out in outputs] == samples[4 * number + 3]
        assert max(levels_of(pipe)) > 0
        assert run(pipe, BATCHES) == samples
        assert pipe.get_state() == states[-1]


@pytest.mark.usefixtures("few_shapes")
def test_warming_up_compiles_the_programs_of_the_level_that_it_rises_to():
    with pipeline() as pipe:
        compiled = pipe.warmup(progress=False)  # more batches than there are here
        assert max(levels_of(pipe)) > 0
        run(pipe, BATCHES)
        assert pipe.executor_statistics()["programs"] == compiled


def test_calls_in_dynamic_mode_have_a_bound():
    before = compiled_programs()
    for sample in planes(48, 9) * 2:
        batch = dynamic.as_batch([sample], layout="HWC")
        (result,) = dynamic.flip(batch, horizontal=1)
        np.testing.assert_array_equal(np.asarray(result), sample[:, ::-1])
    assert MOST_SHAPES <= compiled_programs() - before <= 3 * MOST_SHAPES


# --- rows that calls on an accelerator have to spare ---------------------------------------------
def test_samples_left_over_from_full_calls_go_to_larger_shapes():
    extents = [(200, 300, 3)] * 5 + [(400, 600, 3)] * 6 + [(600, 400, 3)] * 1
    alone = group(stage_shapes(), extents)
    assert sorted(len(one.samples) for one in alone) == [1, 5, 6]
    found = group(stage_shapes(), extents, rows=lambda _: 4)
    # The fifth goes beside the last one; two rows of the second shape stay empty, for the third is not smaller.
    assert sorted(len(one.samples) for one in found) == [2, 4, 6]
    assert sorted(i for one in found for i in one.samples.tolist()) == list(range(12))
    for one in found:
        assert (np.array(one.shape).reshape(2, 3) >= np.array(extents)[one.samples].max(axis=0)).all()
    # Whoever is padded to a larger shape takes longer, and needs no longer.
    assert sum(one.needed for one in found) == pytest.approx(sum(one.needed for one in alone))
    assert sum(one.seconds for one in found) > sum(one.seconds for one in alone)


def test_calls_on_an_accelerator_work_on_at_most_half_as_many_pixels_again():
    """Batches of 128 pictures of 300 to 640 pixels a side; rows without a sample count."""
    device = accelerator.find()
    sides = np.random.default_rng(0).integers(300, 641, (3, 128, 2))
    empty = np.zeros(1, np.uint8)
    pictures = [[np.broadcast_to(empty, (*size, 3)) for size in batch.tolist()] for batch in sides]
    worked_on = []

    def call(self, job, *_):
        worked_on.append(job.program.batch * np.prod(job.shapes[0][:2]))
        return [np.zeros((job.program.batch, *job.shapes[-1]), np.uint8)]

    with (
        accelerator.as_default(device),
        accelerator.declared_as_gpu([device]),
        mock.patch.object(StageRunner, "_call", call),
        jdali.Pipeline(batch_size=128, num_threads=1, prefetch_queue_depth=1) as pipe,
    ):
        pipe.set_outputs(fn.resize(fn.external_source(pictures, layout="HWC").gpu(), size=[224, 224]))
        for batch in sides:
            worked_on.clear()
            pipe.run()
            assert sum(worked_on) <= 1.5 * batch.prod(axis=1).sum()
            assert len(worked_on) <= 12


@pytest.mark.parametrize("count", [1, 3])
def test_samples_of_one_shape_are_one_group(count):
    pipe = jdali.Pipeline(batch_size=count, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(fn.external_source(lambda: [np.ones((6, 7), np.int32)] * count) + 1)
    with pipe:
        for _ in range(3):
            assert pipe.run()[0].as_array().shape == (count, 6, 7)
        assert pipe.executor_statistics()["programs"] == 1
