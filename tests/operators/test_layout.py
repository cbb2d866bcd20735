"""Adapting layouts."""

import pytest

from jdali._operators.layout import make_adapter


@pytest.mark.parametrize("layout", ["", "ABCD"])
@pytest.mark.parametrize("ndim", range(5))
def test_an_operator_without_layouts_changes_nothing(ndim, layout):
    """Without names too: whether an adapter changes anything is no matter of how many axes have a letter."""
    assert make_adapter("any", (), True, layout[:ndim], ndim).is_identity


def test_data_in_another_order_or_without_channels_is_changed():
    assert make_adapter("any", ("HWC",), True, "", 3).is_identity
    for layout in ("CHW", "HW", "FHWC"):
        assert not make_adapter("any", ("HWC",), True, layout, len(layout)).is_identity
