"""Programs without the places that they came from: the same bytes from any file, and the same values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jdali.engine.function.export import without_places

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")

CODE = "def program(x):\n    return jnp.cumsum(jnp.sin(x) * 2, axis=1) + x.shape[0]\n"


def exported(file: str, lines: int) -> jax.export.Exported:
    """A program for any number of rows, as a file of that name defines it below some lines."""
    names = {"jnp": jnp}
    exec(compile("\n" * lines + CODE, file, "exec"), names)
    (rows,) = jax.export.symbolic_shape("rows")
    spec = jax.ShapeDtypeStruct((rows, 5), np.float32)
    return jax.export.export(jax.jit(names["program"]), platforms=["cpu", "cuda", "tpu"])(spec)


def test_programs_of_two_files_are_one():
    here, there = exported("/one/here.py", 0), exported("/another/there.py", 7)
    assert bytes(here.serialize()) != bytes(there.serialize())
    stripped = [bytes(without_places(program).serialize()) for program in (here, there)]
    assert stripped[0] == stripped[1]
    assert b".py" not in stripped[0]


def test_values_and_shapes_stay():
    program = exported("file.py", 0)
    loaded = jax.export.deserialize(bytearray(without_places(program).serialize()))
    assert loaded.platforms == ("cpu", "cuda", "tpu")
    for rows in (1, 3):
        x = np.linspace(0, 3, rows * 5, dtype=np.float32).reshape(rows, 5)
        want = np.cumsum(np.sin(x.astype(np.float64)) * 2, axis=1) + rows
        np.testing.assert_allclose(loaded.call(x), want, rtol=1e-5)
        np.testing.assert_array_equal(loaded.call(x), program.call(x), strict=True)
