"""What operators refuse is an error of DALI's type, in DALI's words; the words are asked of DALI itself."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from ops import refused_calls, refused_images, refused_tensors

from jdali import OperatorError

CALLS = refused_calls.CALLS + refused_images.CALLS + refused_tensors.CALLS


class Library:
    """DALI, or jdali: what calls of operators are made with."""

    def __init__(self, name: str):
        self.pipeline = importlib.import_module(f"{name}.pipeline").Pipeline
        self.fn, self.types, self.math = (
            importlib.import_module(f"{name}.{m}") for m in ("fn", "types", "math")
        )

    def feed(self, *samples: np.ndarray, layout: str | None = None) -> Any:
        """A batch of two samples; of one that is given, twice the same."""
        batch = list(samples) * (2 // len(samples))
        return self.fn.external_source(source=[batch], cycle=True, batch=True, layout=layout)

    def raised(self, call: Any) -> Exception:
        """What a pipeline with this call raises."""
        with pytest.raises(Exception, match=".") as caught:
            self._run(call)
        return caught.value

    def _run(self, call: Any) -> None:
        pipe = self.pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
        with pipe:
            result = call(self)
            pipe.set_outputs(*(result if isinstance(result, (list, tuple)) else (result,)))
        pipe.build()
        pipe.run()


@pytest.mark.oracle
@pytest.mark.parametrize(("words", "call"), CALLS, ids=[words for words, _ in CALLS])
def test_type_and_words_are_dalis(words, call):
    pytest.importorskip("nvidia.dali", reason="the oracle nvidia-dali-cuda120 is not installed")
    expected, error = Library("nvidia.dali").raised(call), Library("jdali").raised(call)
    assert words in str(expected)
    assert words in str(error)
    assert isinstance(error, type(expected))


def test_an_error_of_a_run_names_operator_and_line():
    words, call = next(row for row in CALLS if row[0].startswith("Slice can't be placed"))
    error = Library("jdali").raised(call)
    assert isinstance(error, OperatorError)
    assert error.operator == "crop"
    assert str(error).startswith(f"crop: {words}")
    assert "refused_calls.py:" in str(error)
