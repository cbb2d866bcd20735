"""The examples of docs/padded.md run, and what they show is so."""

import jax
import numpy as np
import pytest
from support import pages

# What the output of the example with these words must hold.
EXPECTED = {
    "mean_brightness": "[  0. 100.]",
    "to_square": "(8, 8, 3) [8 4 3]\n(8, 8, 3) [4 8 3]",
    "coefficient": "0.54 0.347 0.486",
}


@pytest.mark.parametrize("code", list(pages.examples("padded.md")))
def test_example(code, capsys):
    names = {}
    exec(compile(code, "docs/padded.md", "exec"), names)
    out = capsys.readouterr().out
    assert any(word in code and text in out for word, text in EXPECTED.items())
    if "loss" in names:
        check_gradient(names)


def check_gradient(names):
    """The learned coefficient is the best one, by NumPy and signal by signal."""

    def by_signal(coefficient):
        rests = []
        for signal in names["signals"]:
            signal = np.asarray(signal, np.float64)
            rests.append(signal - coefficient * np.concatenate([signal[:1], signal[:-1]]))
        return np.mean([np.mean(rest**2) for rest in rests])

    found = float(names["coefficient"])
    assert by_signal(found) == pytest.approx(float(names["loss"](found, names["signals"])), rel=1e-5)
    assert by_signal(found) < min(by_signal(found - 0.01), by_signal(found + 0.01))
    slope = jax.grad(names["loss"])(0.0, names["signals"])
    assert slope == pytest.approx((by_signal(1e-4) - by_signal(-1e-4)) / 2e-4, rel=1e-3)
