"""What is loaded when: `import jdali` loads nothing, an operator only what it needs."""

import pickle
import subprocess
import sys
import types

import pytest

import jdali
from jdali import dynamic, fn, ops
from jdali._operators.record import REGISTRY
from jdali._system.lazy import attribute

HEAVY = ("PIL", "av", "cffi", "fsspec", "imagecodecs", "msgspec", "scipy", "simplejpeg", "soundfile")

LOADED = """
import sys
{code}
print(*sorted(m for m in sys.modules if m.split(".")[0] in ({roots}) or m.startswith(("jdali.ops.", "jdali.readers."))))
"""


def loaded(code, roots):
    """Of these packages, and of the operators, what a fresh process has loaded after the code."""
    script = LOADED.format(code=code, roots=", ".join(map(repr, roots)))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing():
    assert loaded("import jdali; dir(jdali)", [*HEAVY, "numpy", "jax"]) == set()


def test_an_operator_loads_only_what_it_needs():
    found = loaded(
        "from jdali import Pipeline, dynamic, fn, ops, pipeline_def, types; from jdali.iterator import DataIterator; "
        "dir(fn), dir(ops), dir(dynamic.readers); fn.flip, ops.Flip, ops.flip, dynamic.flip",
        HEAVY,
    )
    assert {name for name in found if name.split(".")[0] in HEAVY} == set()
    of_the_engine = ("jdali.ops.flow.", "jdali.ops.tensor._subscript")
    operators = {REGISTRY[name].run.__module__ for name in REGISTRY}
    assert {name for name in found & operators if not name.startswith(of_the_engine)} == {
        "jdali.ops.image._flip"
    }


def test_a_training_script_loads_neither_what_a_notebook_shows_nor_the_decoder_of_videos():
    found = loaded(
        "from jdali import fn, pipeline_def, types; from jdali.iterator import DataIterator", ["jdali"]
    )
    shown = ("jdali._display.batches", "jdali._display.figures", "jdali._display.graph", "jdali.codecs.video")
    assert "jdali.fn" in found
    assert {name for name in found if name.startswith(shown)} == set()


def surface_names(surface):
    """The dotted names of all functions and classes of a surface that are made from operators."""
    found, pending = set(), [(surface, "")]
    while pending:
        module, path = pending.pop()
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, types.ModuleType):
                if value.__name__ == f"{module.__name__}.{name}" and not name.startswith("_"):
                    pending.append((value, f"{path}{name}."))
            elif hasattr(value, "__operator__"):
                found.add(path + name)
    return found


def test_dir_knows_what_was_not_made_yet():
    public = {name for name in REGISTRY if not name.startswith(("_", "math."))}
    assert public <= surface_names(fn)
    assert {"Resize", "resize", "readers.File", "Uniform", "Compose"} - surface_names(ops) == {"Compose"}
    assert {"resize", "readers.File", "random.uniform"} <= surface_names(dynamic)
    assert "Pipeline" in dir(jdali)


def test_import_with_a_star():
    scope = {}
    exec("from jdali.fn.transforms import *", scope)
    assert scope["rotation"] is fn.transforms.rotation
    assert not [name for name in fn.__all__ if name.startswith("_")]


@pytest.mark.parametrize(
    "value", [fn.readers.file, ops.readers.File, ops.flip, dynamic.resize, dynamic.readers.COCO]
)
def test_pickled_by_name(value):
    assert pickle.loads(pickle.dumps(value)) is value


def test_pickles_and_families_load_what_they_need_in_another_process():
    data = pickle.dumps(ops.random.Uniform)
    found = loaded(
        f"import pickle; assert pickle.loads({data!r}).__name__ == 'Uniform'\n"
        "import jdali.fn.experimental.decoders as decoders; decoders.image",
        [],
    )
    assert {"jdali.ops.random._uniform", "jdali.ops.decoders._image"} <= found


@pytest.mark.parametrize("module", [jdali, fn, fn.readers, ops.noise, dynamic])
def test_a_name_that_is_not_there(module):
    with pytest.raises(
        AttributeError, match=f"module '{module.__name__}' has no attribute 'resise'"
    ) as caught:
        module.resise  # noqa: B018
    assert (caught.value.name, caught.value.obj) == (
        "resise",
        module,
    )  # for Python's "Did you mean: 'resize'?"


def test_an_attribute_is_made_once_and_may_be_replaced():
    module, made = types.ModuleType("made_up"), []
    attribute(module, "size", lambda: made.append(1) or len(made))
    assert (dir(module)[-1], made) == ("size", [])
    assert (module.size, module.size, made) == (1, 1, [1])
    attribute(module, "size", lambda: "other")
    assert module.size == "other"
