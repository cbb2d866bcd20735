"""Which steps may make their samples late: decoders whose output one stage reads, as data."""

import jdali
from jdali import fn, types
from jdali.graph import HostStep, make_plan, with_late_steps


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


def test_not_what_a_branch_reads():
    def define():
        pictures = fn.decoders.image(encoded())
        if fn.random.coin_flip(dtype=types.BOOL):
            pictures = fn.flip(pictures)
        return pictures

    assert not late(define, enable_conditionals=True)


def test_not_what_has_no_probe():
    def define():
        numbers = fn.python_function(encoded(), function=lambda x: x)
        return fn.flip(fn.reshape(numbers, shape=[1, 1, 1], layout="HWC"))

    assert not late(define)
