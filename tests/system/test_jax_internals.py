"""Names of JAX that no version promises: they are there, and a version without them is refused in words."""

import ast
import importlib
import subprocess
import sys
import types
from pathlib import Path

import jax
import numpy as np
import pytest

import jdali
from jdali._system import jax_internals


def test_jax_has_started_once_it_has_devices():
    program = (
        "from jdali._system.jax_internals import jax_has_started as started; before = started()\n"
        "import jax; jax.devices(); print(before, started())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


@pytest.mark.parametrize("has_function", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, bool])
def test_arrays_are_placed_as_by_device_put(has_function, dtype, monkeypatch):
    if not has_function:  # another version of JAX
        monkeypatch.setattr(jax_internals, "_placing_functions", lambda: None)
    memory = np.zeros(4096, np.uint8)
    values = memory[-memory.ctypes.data % 64 :][:512].view(dtype)
    values[:] = np.arange(values.size) % 2
    device = jax.devices("cpu")[0]
    placed = jax_internals.placed_on_host(values, device)
    expected = jax.device_put(values, device)
    assert (placed.aval, placed.sharding, placed.committed) == (expected.aval, expected.sharding, True)
    assert placed.unsafe_buffer_pointer() == values.ctypes.data
    np.testing.assert_array_equal(placed, values)


def test_a_version_without_a_name_is_refused_in_words(monkeypatch):
    monkeypatch.delattr(importlib.import_module("jax._src.xla_bridge"), "backends_are_initialized")
    words = rf"jax._src.xla_bridge.backends_are_initialized, which JAX {jax.__version__}"
    with pytest.raises(jax_internals.UnsupportedJaxError, match=words):
        jax_internals.jax_has_started()


def test_a_first_batch_imports_no_module_that_makes_jax_compile_anew():
    """`jax.extend` brings Pallas, whose settings are a part of every program's key: all would be compiled again."""
    program = (
        "import sys; import numpy as np; from jdali import Pipeline, fn\n"
        "with Pipeline(batch_size=1, num_threads=1, seed=1) as pipe:\n"
        "    pipe.set_outputs(fn.noise.gaussian(np.zeros((4, 4, 3), np.uint8), stddev=2.0))\n"
        "pipe.run(); print([name for name in sys.modules if 'pallas' in name or name == 'jax.extend'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_sizes_of_a_scan():
    def function(start, more, values):
        def step(state, value):
            return (state[0] * more[0] + value[0], state[1] + more[1]), (state[0], value[1])

        return jax.lax.scan(step, (start, start), (values, values + 1))

    (scan,) = [
        eqn
        for eqn in jax.make_jaxpr(function)(1.0, (2.0, 3.0), np.arange(4.0)).eqns
        if eqn.primitive.name == "scan"
    ]
    assert jax_internals.scan_sizes(scan.params, scan.invars) == (2, 2)
    with pytest.raises(jax_internals.UnsupportedJaxError, match="ft_in"):
        jax_internals.scan_sizes({}, scan.invars)


def test_options_that_xla_lacks_are_left_out():
    known = [*jax_internals.ONE_THREAD, *jax_internals.WIDE_VECTORS]
    unknown = jax_internals.XlaOption("xla_no_such_option", 1)
    assert jax_internals.known_options([*known, unknown]) == {option.name: option.value for option in known}


def test_no_other_module_uses_such_names():
    for path in sorted(Path(jdali.__file__).parent.rglob("*.py")):
        if path.name != "jax_internals.py":
            assert "jax._src" not in path.read_text(), path


def test_varying_axes_are_those_of_shard_map():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("batch",))
    spec, found = jax.sharding.PartitionSpec("batch"), []

    def function(value):
        found.append(jax_internals.varying_axes(value))
        return value

    jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec)(np.zeros(2))
    assert found == [frozenset({"batch"})]
    assert jax_internals.varying_axes(np.zeros(2)) == frozenset()


def test_values_that_vmap_maps_over():
    found = []

    def function(mapped, same):
        found.append((jax_internals.is_mapped(mapped), jax_internals.is_mapped(same)))
        return mapped

    jax.vmap(function, in_axes=(0, None))(np.zeros(2), np.zeros(2))
    jax.jit(function)(np.zeros(2), np.zeros(2))
    function(np.zeros(2), np.zeros(2))
    assert found == [(True, False), (False, False), (False, False)]


def names_of_jax(path: Path) -> set[str]:
    """All names of JAX, with dots, that a file imports or reads."""
    tree, modules, names = ast.parse(path.read_text()), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "jax":
                    names.add(alias.name)
                    modules[alias.asname or "jax"] = alias.name if alias.asname else "jax"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jax":
            for alias in node.names:
                names.add(f"{node.module}.{alias.name}")
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        chain, at = [], node
        while isinstance(at, ast.Attribute):
            chain.append(at.attr)
            at = at.value
        if chain and isinstance(at, ast.Name) and at.id in modules:
            names.add(".".join([modules[at.id], *reversed(chain)]))
    return names


def look_up(name: str) -> None:
    """Reads a name of JAX, or as much of it as modules and classes have: arrays have attributes of their own."""
    module, rest = "jax", name.split(".")[1:]
    found = importlib.import_module(module)
    while rest:
        attribute, rest = rest[0], rest[1:]
        module = f"{module}.{attribute}"
        if isinstance(found, types.ModuleType) and not hasattr(found, attribute):
            found = importlib.import_module(module)
        elif isinstance(found, types.ModuleType | type):
            found = getattr(found, attribute)
        else:
            break


def test_no_name_of_jax_is_deprecated():
    """Warnings are errors in all tests; a name that JAX has deprecated warns as soon as it is read."""
    package = Path(jdali.__file__).parent
    names = {
        name: path
        for path in sorted(package.rglob("*.py"))
        for name in names_of_jax(path)
        if not name.startswith("jax._src")  # told apart by version: see the tests above
    }
    assert {"jax.jit", "jax.numpy.where", "jax.extend.core"} <= set(names)
    for name, path in names.items():
        try:
            look_up(name)
        except Exception as error:
            raise AssertionError(f"{name}, which {path} reads") from error
