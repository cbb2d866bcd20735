"""Every module of the engine has a test of its own: tests/engine/flow/test_gate.py for jdali/engine/flow/gate.py."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE, TESTS = ROOT / "jdali" / "engine", ROOT / "tests" / "engine"

# Modules that another file tests, and why.
ELSEWHERE = {
    **{
        f"function/{module}.py": "function/test_function.py: a part of a function, which gives what the pipeline gives"
        for module in ("draw", "host", "making", "part", "planning", "running")
    },
    **{
        f"function/{module}.py": "function/test_export.py: a part of an export, which is loaded in a fresh process"
        for module in ("graph_json", "load", "manifest", "preprocess", "representatives")
    },
    "function/one_sample.py": "../auto_aug/test_pure.py: augmentations of one sample are its only user",
    "eager/traced.py": "eager/test_graph.py, ../auto_aug/test_pure.py: functions traced for batches and for one sample",
    "eager/inspector.py": "eager/test_stepwise.py: it looks at a pipeline by the stepwise engine",
    "eager/debug_node.py": "eager/test_debug.py: the class is nothing without the iteration that it belongs to",
    "eager/debug_step.py": "eager/test_debug.py: it compares one iteration's calls with another's",
    "steps/host_runner.py": "steps/test_host_op.py, steps/test_host_batch_op.py: the base of both, which has no `run`",
}

MODULES = sorted(p.relative_to(ENGINE).as_posix() for p in ENGINE.rglob("*.py") if p.name != "__init__.py")


def own_test(module):
    path = Path(module)
    return TESTS / path.parent / f"test_{path.name}"


def test_there_are_modules():
    assert len(MODULES) > 40


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ELSEWHERE])
def test_a_module_has_a_test_of_its_own(module):
    file = own_test(module)
    assert file.exists(), f"jdali/engine/{module} has no {file.relative_to(ROOT)}"
    assert "def test_" in file.read_text()


def test_exceptions_are_still_needed_and_name_tests_that_exist():
    for module, reason in ELSEWHERE.items():
        assert module in MODULES, f"jdali/engine/{module} is gone"
        assert not own_test(module).exists(), f"{module} has a test by now"
        for name in reason.split(":")[0].split(", "):
            assert (TESTS / name).exists(), f"tests/engine/{name} does not exist"


def test_every_test_in_a_room_is_of_a_module():
    """Behaviour of several modules is tested in tests/engine itself."""
    names = {own_test(module) for module in MODULES}
    behaviour = {"test_failure.py"}
    for file in TESTS.rglob("test_*.py"):
        if file.parent != TESTS or file.name in behaviour:
            assert file in names, f"{file.relative_to(ROOT)} is of no module"
