"""The border of a plan: what workers run, what this process runs, and which values cross."""

import dataclasses

import jdali
from jdali import fn, types
from jdali.graph.border import cut, steps_before_programs, with_late_steps
from jdali.graph.node import WHOLE_BATCH, Domain
from jdali.graph.plan import HostStep, make_plan


def defined(function):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1)
    with pipe:
        outputs = function()
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    return pipe.graph.nodes, pipe.outputs_of_graph


def cut_of(function, *, one_device=False):
    nodes, outputs = defined(function)
    border = cut(make_plan(nodes, outputs, one_device=one_device), one_device=one_device)
    names = [
        [n.op.name for step in part.steps for n in step.nodes] for part in (border.elsewhere, border.here)
    ]
    return border, *names


def pictures():
    encoded, label = fn.readers.file(files=["a.jpg"])
    picture = fn.resize(fn.decoders.image(encoded), size=(8, 8))
    return fn.rotate(picture.gpu(), angle=fn.random.uniform(), keep_size=True), label


def test_without_an_accelerator_workers_run_everything():
    border, elsewhere, here = cut_of(pictures, one_device=True)
    assert not here
    assert {"readers.file", "decoders.image", "resize", "rotate", "random.uniform"} <= set(elsewhere)
    assert [o.name for o in border.elsewhere.outputs] == [o.name for o in border.here.outputs]


def test_stages_of_the_accelerator_stay_here():
    border, elsewhere, here = cut_of(pictures)
    assert "rotate" in here
    assert "resize" in elsewhere
    assert not set(here) & {"readers.file", "decoders.image", "resize"}
    crossing = {value.source.op.name for value in border.elsewhere.outputs}
    assert {"resize", "readers.file"} <= crossing  # the picture, and the label


def test_what_comes_back_from_the_accelerator_stays_here():
    def define():
        encoded, _ = fn.readers.file(files=["a.jpg"])
        picture = fn.flip(fn.decoders.image(encoded).gpu())
        return fn.python_function(picture.cpu(), function=lambda x: x)

    _, elsewhere, here = cut_of(define)
    assert "python_function" in here
    assert "decoders.image" in elsewhere


def test_conditions_cross():
    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1, enable_conditionals=True)
    def define():
        encoded, _ = fn.readers.file(files=["a.jpg"])
        picture = fn.resize(fn.decoders.image(encoded), size=(8, 8))
        moved = picture.gpu()
        if fn.random.coin_flip():
            moved = fn.flip(moved)
        return moved

    pipe = define()
    border = cut(make_plan(pipe.graph.nodes, pipe.outputs_of_graph), one_device=False)
    # The predicate of the branch, which says which samples the step here works on.
    branches = [step.domain for step in border.here.steps if step.domain is not WHOLE_BATCH]
    assert branches
    crossing = {id(value) for value in border.elsewhere.outputs}
    assert all(id(branch.predicate) in crossing for branch in branches)


def test_each_value_is_dropped_after_its_last_use():
    border, _, _ = cut_of(pictures)
    crossing = {id(v) for v in border.elsewhere.outputs}
    outputs = {id(v) for v in border.here.outputs}
    dropped = [id(v) for values in border.here.last_uses for v in values]
    assert len(dropped) == len(set(dropped))
    assert crossing - outputs <= set(dropped)
    assert not {id(v) for values in border.elsewhere.last_uses for v in values} & crossing


def test_steps_that_need_no_program():
    def define():
        encoded, label = fn.readers.file(files=["a.jpg"])
        picture = fn.decoders.image(encoded)
        doubled = fn.python_function(label, function=lambda x: 2 * x)
        resized = fn.python_function(fn.resize(picture, size=(8, 8)), function=lambda x: x)
        return resized, doubled

    nodes, outputs = defined(define)
    plan = make_plan(nodes, outputs, one_device=True)
    names = [plan.steps[number].nodes[0].op.name for number in steps_before_programs(plan)]
    # The other function works on what `resize` computes.
    assert sorted(names) == ["decoders.image", "python_function", "readers.file"]


# --- steps whose samples may be made late: decoders whose output one stage reads, as data ------------
def late(define, **options):
    """The names of the operators that may be late."""
    pipe = jdali.pipeline_def(batch_size=2, num_threads=1, seed=1, **options)(define)()
    nodes, outputs = pipe.graph.nodes, pipe.outputs_of_graph
    plan = with_late_steps(make_plan(nodes, outputs, one_device=True))
    assert [o.name for o in plan.outputs] == [o.name for o in outputs]
    return [step.node.op.name for step in plan.steps if isinstance(step, HostStep) and step.may_be_late]


def encoded():
    return fn.readers.file(files=["a.jpg"])[0]


def test_a_decoder_in_front_of_a_stage():
    def define():
        pictures = fn.resize(fn.decoders.image_random_crop(encoded()), size=(8, 8))
        return fn.crop_mirror_normalize(pictures, mirror=fn.random.coin_flip())

    assert late(define) == ["decoders.image_random_crop"]


def test_two_readers_of_one_stage_are_one():
    def define():
        pictures = fn.decoders.image(encoded())
        return fn.flip(pictures, horizontal=1) + fn.flip(pictures, vertical=1)

    assert late(define) == ["decoders.image"]


def test_not_what_is_an_output_too():
    def define():
        pictures = fn.decoders.image(encoded())
        return pictures, fn.resize(pictures, size=(8, 8))

    assert not late(define)


def test_not_what_a_host_operator_or_two_stages_read():
    def seen():
        pictures = fn.decoders.image(encoded())
        return fn.resize(pictures, size=(8, 8)), fn.python_function(pictures, function=lambda x: x)

    def twice():
        pictures = fn.decoders.image(encoded())
        angle = fn.cast(fn.reductions.mean(pictures), dtype=types.FLOAT)  # the host needs it for the canvas
        return fn.rotate(pictures, angle=angle)

    assert not late(seen)
    assert not late(twice)


def test_not_what_a_stage_that_mixes_samples_reads():
    assert not late(lambda: fn.normalize(fn.decoders.image(encoded()), batch=True))


def test_not_what_a_stage_of_other_samples_reads():
    pipe = jdali.pipeline_def(batch_size=2, num_threads=1)(lambda: fn.flip(fn.decoders.image(encoded())))()
    plan = make_plan(pipe.graph.nodes, pipe.outputs_of_graph, one_device=True)
    (stage,) = plan.stages
    other = dataclasses.replace(stage, domain=Domain(WHOLE_BATCH))
    steps = tuple(other if step is stage else step for step in plan.steps)
    for changed, expected in ((plan, 1), (dataclasses.replace(plan, steps=steps), 0)):
        marked = with_late_steps(changed).steps
        assert sum(isinstance(step, HostStep) and step.may_be_late for step in marked) == expected


def test_not_what_a_branch_reads():
    def define():
        pictures = fn.decoders.image(encoded())
        if fn.random.coin_flip(dtype=types.BOOL):
            pictures = fn.flip(pictures)
        return pictures

    assert not late(define, enable_conditionals=True)


def test_not_what_has_no_probe():
    assert not late(lambda: fn.flip(fn.decoders.numpy(encoded())))
