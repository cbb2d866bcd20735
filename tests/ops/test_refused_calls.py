"""What operators refuse is an error of DALI's type, in DALI's words; the words are asked of DALI itself."""

from __future__ import annotations

import pytest
from ops import refused_calls, refused_images, refused_tensors
from support import wrong_calls

from jdali import OperatorError

CALLS = refused_calls.CALLS + refused_images.CALLS + refused_tensors.CALLS


@pytest.mark.oracle
@pytest.mark.parametrize(("words", "call"), CALLS, ids=[words for words, _ in CALLS])
def test_type_and_words_are_dalis(words, call):
    wrong_calls.check(words, call)


def test_an_error_of_a_run_names_operator_and_line():
    words, call = next(row for row in CALLS if row[0].startswith("Slice can't be placed"))
    error = wrong_calls.raised(call)
    assert isinstance(error, OperatorError)
    assert error.operator == "crop"
    assert str(error).startswith(f"crop: {words}")
    assert "refused_calls.py:" in str(error)
