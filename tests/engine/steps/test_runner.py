"""Runners of steps: what holds unless a kind says otherwise."""

import pytest

from jdali.engine.steps.values import StepRunner


class Plain(StepRunner):
    shown = "does nothing"

    def run(self, env, ids, pool):
        env.append(ids)


def test_one_batch_at_a_time_in_threads_and_no_random_values():
    runner, env = Plain(), []
    assert (runner.at_once, runner.policy) == (1, None)
    runner.set_seed(3)
    runner.set_seed(3, 4)
    runner.run(env, "ids", None)
    assert env == ["ids"]


def test_a_runner_must_run():
    with pytest.raises(TypeError, match="run"):
        StepRunner()  # type: ignore[abstract]
