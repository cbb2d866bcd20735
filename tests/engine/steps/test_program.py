"""Options of XLA that programs of a stage are compiled with."""

import numpy as np

import jdali
from jdali import fn
from jdali._system.jax_internals import OLDER_LOOPS, XlaOption, known_options
from jdali.engine.steps import program as _program
from jdali.engine.steps import stage as _stage


def test_options_of_programs_for_a_cpu_are_those_that_xla_knows(monkeypatch):
    one_thread = {"xla_disable_hlo_passes", "xla_cpu_multi_thread_eigen"}
    older = set(known_options(OLDER_LOOPS))
    assert set(_program.compiler_options("cpu") or {}) == older
    assert set(_program.compiler_options("cpu", one_thread=True)) == older | one_thread
    monkeypatch.setattr(_program, "OLDER_LOOPS", [XlaOption("xla_cpu_no_such_option", False)])
    assert _program.compiler_options("cpu") is None
    assert set(_program.compiler_options("cpu", one_thread=True)) == one_thread


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
    assert [(of or {}).get("xla_cpu_prefer_vector_width") for of in given] == [None, 512]
