"""Which values of a plan a step alone reads."""

import jdali
from jdali import fn
from jdali.graph import current_graph, make_plan, sole_uses


def alone(define):
    """The operators whose outputs a step of the pipeline's plan may drop."""
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        encoded, label = fn.readers.file(files=["a.jpg"])
        outputs, current = define(encoded, label), current_graph()
    plan = make_plan(current.nodes, outputs, one_device=True)
    return [value.source.op.name for values in sole_uses(plan) for value in values]


def test_a_picture_that_one_stage_reads_is_its_own():
    assert alone(lambda encoded, label: [fn.resize(fn.decoders.image(encoded), size=8), label]) == [
        "decoders.image"
    ]


def test_what_others_hold_or_read_is_not():
    def also_given(encoded, _):
        picture = fn.decoders.image(encoded)
        return [fn.resize(picture, size=8), picture]

    def also_read(encoded, _):
        picture = fn.decoders.image(encoded)
        return [fn.resize(picture, size=8), fn.python_function(picture, function=lambda x: x)]

    def of_the_user(encoded, _):
        return [fn.resize(fn.python_function(encoded, function=lambda x: x), size=8)]

    assert alone(also_given) == alone(also_read) == alone(of_the_user) == []
