"""Options of XLA that programs of a stage are compiled with."""

import numpy as np

import jdali
from jdali import fn
from jdali.engine.steps import program as _program
from jdali.engine.steps import stage as _stage


def test_an_option_that_this_version_of_xla_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(_program, "SAME_LOOPS", {"xla_cpu_no_such_option": False})
    assert _program.compiler_options("cpu") is None
    options = _program.compiler_options("cpu", one_thread=True)
    assert set(options) == {"xla_disable_hlo_passes", "xla_cpu_multi_thread_eigen"}


def test_programs_for_the_cpu_have_the_loops_that_do_not_depend_on_shapes():
    """All programs of these tests have them, so no result would show it."""
    assert _program.compiler_options("cpu") == {"xla_cpu_use_fusion_emitters": False}


def test_only_programs_for_the_cpu_have_options():
    assert _program.compiler_options("gpu", one_thread=True) is None


def test_a_small_program_has_no_threads_of_its_own(monkeypatch):
    asked = []
    monkeypatch.setattr(_stage, "compiler_options", lambda *_, one_thread: asked.append(one_thread))
    for side in (8, 400):
        pipe = jdali.Pipeline(batch_size=1, num_threads=1)
        with pipe:
            images = fn.external_source(lambda side=side: [np.zeros((side, side, 1), np.uint8)], layout="HWC")
            pipe.set_outputs(fn.flip(images))
        pipe.run()
        pipe.close()
    assert asked == [True, False]


def test_an_operator_may_ask_for_wide_vectors(monkeypatch):
    options, given = _program.compiler_options, []
    monkeypatch.setattr(
        _stage, "compiler_options", lambda *a, **k: given.append(options(*a, **k)) or given[-1]
    )
    for make in (fn.flip, fn.sphere):
        pipe = jdali.Pipeline(batch_size=1, num_threads=1)
        with pipe:
            images = fn.external_source(lambda: [np.zeros((8, 8, 1), np.uint8)], layout="HWC")
            pipe.set_outputs(make(images))
        pipe.run()
        pipe.close()
    assert [of.get("xla_cpu_prefer_vector_width") for of in given] == [None, 512]
