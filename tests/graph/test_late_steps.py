"""Which steps may make their samples late: decoders whose output one stage reads, as data."""

import dataclasses

import jdali
from jdali import fn, types
from jdali.graph import WHOLE_BATCH, Domain, HostStep, make_plan, with_late_steps


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
