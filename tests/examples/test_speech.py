"""The speech example: recordings of different lengths, and a loss that falls."""

import importlib
import json

import numpy as np
import pytest

pytest.importorskip("flax")
pytest.importorskip("optax")

EXAMPLE = "speech"

# What other packages deprecate is not tested here.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def manifests(example, tmp_path):
    tones = importlib.import_module("_tones")
    rng = np.random.default_rng(0)
    return [
        tones.write_tones(tmp_path, split, count, rng, longest=3)
        for split, count in (("train", 16), ("val", 5))
    ]


@pytest.mark.exhaustive  # classification trains in a normal run
def test_the_loss_falls(example, manifests, capsys):
    train, val = map(str, manifests)
    history = example.run(
        example.parse(
            ["--train", train, "--val", val, "--epochs", "5", "--steps", "10", "--batch-size", "8",
             "--bands", "20", "--width", "16", "--threads", "1"]
        )
    )  # fmt: skip
    assert len(history["loss"]) == 10  # 2 an epoch
    assert len(history["accuracy"]) == 5
    assert np.mean(history["loss"][-3:]) < 0.8 * np.mean(history["loss"][:3])
    out = capsys.readouterr().out
    assert "16 recordings to train, 5 to validate" in out
    assert "of the time waiting for data" in out


def test_text_of_the_best_labels(example, manifests):
    alphabet = example.Alphabet(str(manifests[0]))
    texts = [json.loads(line)["text"] for line in manifests[0].read_text().splitlines()]
    assert len(alphabet) == len(set("".join(texts))) + 1
    first, second = (alphabet.numbers[ord(c)] for c in sorted(set("".join(texts)))[:2])
    expected = "".join(sorted(set("".join(texts)))[i] for i in (0, 0, 1))
    assert alphabet.text([0, first, first, 0, 0, first, second, second, 0]) == expected
    assert alphabet.text([]) == ""


def test_tones_are_those_of_the_keys(example):
    tones = importlib.import_module("_tones")
    samples = tones.dial("5", np.random.default_rng(1))
    power = np.abs(np.fft.rfft(samples, 8000))  # bins of 1 Hz
    assert {int(power[:1000].argmax()) // 10, int(power[1000:].argmax() + 1000) // 10} == {77, 133}
