"""Options of an engine."""

import jax
import pytest

from jdali.engine import EngineOptions


@pytest.mark.parametrize("number", [0, 1])
def test_the_accelerator_may_be_the_device_of_the_host(number):
    host, other = jax.devices("cpu")[0], jax.devices("cpu")[number]
    options = EngineOptions(2, 1, 0, 1, {"cpu": host, "gpu": other})
    assert options.one_device is (number == 0)
