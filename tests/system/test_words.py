"""Words of texts for people."""

import pytest

from jdali._system.words import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "worker", "0 workers"),
        (1, "worker", "1 worker"),
        (1, "batch", "1 batch"),
        (3, "batch", "3 batches"),
    ],
)
def test_a_number_of_things(number, noun, text):
    assert counted(number, noun) == text
