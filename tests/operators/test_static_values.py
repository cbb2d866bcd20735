"""Constants for arguments that are one for the batch: converted as DALI converts them, or refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from support import oracle, refusals

import jdali.dynamic as jd
from jdali import Pipeline, fn, ops
from jdali._operators.record import REGISTRY

DATA = np.arange(6, dtype=np.float32).reshape(2, 3)

# Numbers of another type, text, and an array of one element; a list where one number is expected is in REFUSED.
CONVERTED: list[tuple[str, dict[str, Any]]] = [
    ("expand_dims", {"axes": [0.5]}),
    ("expand_dims", {"axes": [1.9]}),
    ("expand_dims", {"axes": 0.0}),
    ("expand_dims", {"axes": "1"}),
    ("expand_dims", {"axes": ["0", 1.5]}),
    ("expand_dims", {"axes": np.array([1.0])}),
    ("transpose", {"perm": [1.2, 0.7]}),
    ("stack", {"axis": 1.5}),
    ("stack", {"axis": "1"}),
    ("stack", {"axis": np.array([1])}),
    ("reductions.sum", {"axes": [-0.5]}),
    ("normalize", {"axes": [1.5], "batch": False}),
    ("power_spectrum", {"power": "1", "axis": 1.0}),
]
REFUSED: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("expand_dims", {"axes": ["first"]}, ValueError),
    ("expand_dims", {"axes": [float("nan")]}, ValueError),
    ("expand_dims", {"axes": [float("inf")]}, ValueError),  # DALI: an OverflowError
    ("stack", {"axis": [1]}, TypeError),
    ("power_spectrum", {"power": [1]}, TypeError),
    ("normalize", {"axis_names": 5}, TypeError),
    ("squeeze", {"axis_names": 5}, TypeError),
    ("pad", {"axis_names": 7.5}, TypeError),
    ("reinterpret", {"layout": 5}, TypeError),
]


def _run(name: str, args: Mapping[str, Any]) -> np.ndarray:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        data = fn.external_source([[DATA]], cycle=True)
        function = fn.reductions.sum if name == "reductions.sum" else getattr(fn, name)
        pipe.set_outputs(function(data, **args))
    (found,) = pipe.run()
    return np.asarray(found.at(0))


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "args"), CONVERTED)
def test_converted_as_dali_does(name: str, args: Mapping[str, Any]):
    ((expected,),) = oracle.run(name, [[DATA]], args)
    found = _run(name, args)
    assert found.shape == expected.shape
    # Sums of three numbers in another order.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "args", "error"), REFUSED)
def test_refused_by_name(name: str, args: dict[str, Any], error: type[Exception]):
    (argument,) = args
    words = rf"{name}: argument '{argument}' got "
    with pytest.raises(error, match=words):
        _run(name, args)
    with pytest.raises(error, match=words):
        getattr(jd, name)(DATA, **args)
    with pytest.raises(error, match=words):
        getattr(ops, name)(DATA, **args)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "args", "_"), REFUSED)
def test_refused_by_dali(name: str, args: Mapping[str, Any], _: type[Exception]):
    refusals.check((TypeError, ValueError, OverflowError, RuntimeError), "", oracle.run, name, [[DATA]], args)


def test_floats_that_stand_for_an_integer_are_one():
    """They are compile keys: 1.0 and 1 must not be two programs."""
    for value in (1.5, np.float64(1), np.array([1.0]), "1", True):
        found = REGISTRY["stack"].args["axis"].convert(value)
        assert (type(found), found) == (int, 1)


@pytest.mark.oracle
@pytest.mark.parametrize("wrap", [lambda path: path, lambda path: [path], lambda path: (path,)])
def test_paths_are_text(wrap, tmp_path):
    """One path or a list of them, as text is: DALI's notebooks pass both."""
    oracle.dali()
    import nvidia.dali.experimental.dynamic as ndd

    file = tmp_path / "one"
    file.write_bytes(b"abc")
    for surface in (jd, ndd):
        data, _ = surface.readers.File(files=[file], file_root=tmp_path)()
        assert np.asarray(data).tobytes() == b"abc"
    for surface in (jd, ndd):
        array = tmp_path / "array.npy"
        np.save(array, DATA)
        found = surface.readers.Numpy(files=wrap(array))()
        np.testing.assert_array_equal(found[0] if isinstance(found, tuple) else found, DATA)
