"""Options of XLA that programs of a stage are compiled with."""

from jdali.engine import _program


def test_an_option_that_this_version_of_xla_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(_program, "_SAME_LOOPS", {"xla_cpu_no_such_option": False})
    monkeypatch.setattr(_program, "_known_loops", _program._known_loops.__wrapped__)
    assert _program.compiler_options("cpu") is None
    assert set(_program.compiler_options("cpu", one_thread=True)) == {"xla_disable_hlo_passes"}


def test_only_programs_for_the_cpu_have_options():
    assert _program.compiler_options("gpu", one_thread=True) is None
