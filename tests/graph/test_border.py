"""The border of a plan: what workers run, what this process runs, and which values cross."""

import jdali
from jdali import fn
from jdali.graph.border import cut, steps_before_programs
from jdali.graph.node import WHOLE_BATCH
from jdali.graph.plan import make_plan


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
