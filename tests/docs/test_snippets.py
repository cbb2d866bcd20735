"""Every Python snippet of README and docs runs and prints what the page says, or has a reason not to."""

from __future__ import annotations

import dataclasses
import importlib.util
import linecache
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest
from support import every_format, pages
from support.faults import PATIENCE

from jdali import dynamic, fn, ops, storage
from jdali._operators.record import REGISTRY
from jdali._system import limits

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Page:
    """How the snippets of a page run.

    Attributes:
        prints: for a word of a snippet lines that it prints, in this order, a text that its output contains, or a
            function of its lines.
        data: writes the files that the page reads.
        mode: "each" alone; "together" in one namespace, in order; "script": as one program in a process.
        needs: modules without which the page is skipped.
        only_with: modules without which snippets that name them are left out.
        check: what else must hold of the names of a snippet.
    """

    prints: dict[str, list[str] | str | Callable[[list[str]], bool]]
    data: Callable[[Path], None] = lambda root: None
    mode: str = "each"
    needs: tuple[str, ...] = ()
    only_with: tuple[str, ...] = ()
    check: Callable[[dict], None] = lambda names: None


def check_gradient(names):
    """The learned coefficient is the best one, by NumPy and signal by signal."""
    if "coefficient" not in names:
        return

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


PAGES = {
    "convert.md": Page(
        {"training()": "[(24, 32, 3), (24, 32, 3), (24, 32, 3), (24, 32, 3)] [b'0', b'0', b'0', b'0']"},
        pages.write_photos,
    ),
    "custom_operators.md": Page(
        {"acme.tint(": ["[100  50   0]", "[[[1. 2. 3.]]]"]},
        lambda root: (root / "acme_tint.py").write_text(pages.snippets("custom_operators.md")[0].code),
    ),
    "debug.md": Page({"debug=True": ["shapes: [(4, 4, 3), (4, 4, 3)]", "first pixel: 2.0"]}),
    "ecosystem.md": Page(
        {
            "as_numpy_iterator": "(4, 32, 32, 3)",
            "iterator.report()": "python_function (host) takes",
            "Grain's position": lambda lines: len(lines) == 2 and lines[0] == lines[1],
            "CheckpointRestore": "resumed True",
        },
        pages.write_photos,
        only_with=("grain",),
    ),
    "function.md": Page(
        {
            "def training": ["('pictures',) -> ('mirror',)", "(3, 3, 32, 32)"],
            "sizes = ": ["(3, 3, 32, 32) [[3, 32, 32], [3, 32, 32], [3, 32, 32]]"],
            "f.plan(": ["True"],
            "still = ": ["() (3, 3, 32, 32)"],
            "still.host": ["(4, 3, 32, 32)"],
            "pipe.export": ["(4, 3, 32, 32) True"],
            "exported =": ["('cpu', 'cuda', 'tpu') (ShapedArray(float32[2,2]),)"],
            "orbax": ["(3, 2)"],
            "tf.saved_model": "",
        },
        lambda root: pages.write_photos(root, count=4, height=48, width=64),
        mode="together",
        needs=("flatbuffers", "flax", "orbax.checkpoint"),
        only_with=("tensorflow",),
    ),
    "getting_started.md": Page(
        {
            "images.shape()": "[(64, 64, 3), (64, 64, 3), (64, 64, 3), (64, 64, 3)]",
            "epoch in range": "1 (4, 64, 64, 3)",
            "augmented()": "uint8",
            "jd.imread": "(8, 8, 3)\n(2, 8, 8, 3)",
        },
        pages.write_photos,
        mode="together",
    ),
    "index.md": Page({"training": ""}),
    "migration/albumentations.md": Page(
        {
            "segmentation()": "(4, 32, 32, 3) [0, 1]",
            "sometimes()": "(4, 32, 32, 3)",
            "detection()": "[0.1, 0.5]",
            "jd.rotate": "(24, 32, 3)",
        },
        pages.write_photos,
        mode="together",
    ),
    "migration/grain.md": Page(
        {
            "lambda v: v * 2": "[[0.0, 2.0, 4.0, 6.0], [8.0, 10.0, 12.0, 14.0]]",
            "random_map": "(4, 32, 32, 3)",
            "doubled()": "[[0.0, 2.0, 4.0, 6.0], [8.0, 10.0, 12.0, 14.0]]",
            "def training": "(4, 32, 32, 3)",
            "get_state": "True",
        },
        pages.write_photos,
        mode="together",
        only_with=("grain",),
    ),
    "migration/tf_data.md": Page(
        {
            "FEATURES =": "(4, 32, 32, 3) float32 (4, 1)",
            "generated()": "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]",
            "get_state": "True",
        },
        every_format.write,
        mode="together",
    ),
    "migration/torchvision.md": Page(
        {
            "MEAN": "(4, 3, 32, 32) float32",
            "evaluation()": "[3, 3, 2]",
            "solarized()": "True",
            "jax.vmap": "(2, 8, 8, 3)",
        },
        pages.write_photos,
        mode="together",
    ),
    "migration/webdataset.md": Page(
        {
            "def training": "(4, 32, 32, 3) (4, 2)",
            "seen": "[0, 1, 2, 3, 4, 5, 6, 7]",
            "on_error": "0 skipped",
        },
        every_format.write,
        mode="together",
    ),
    "migration.md": Page(
        {
            "DALIGenericIterator": "(8, 3, 32, 32) float32",
            "nvidia.dali": "True",
        },
        lambda root: pages.write_photos(root, count=16, height=48, width=64),
        mode="together",
        only_with=("nvidia.dali",),
    ),
    "viewer.md": Page({"pipe.view()": "http://127.0.0.1:"}, needs=("starlette", "uvicorn")),
    "padded.md": Page(
        {
            "mean_brightness": "[  0. 100.]",
            "to_square": "(8, 8, 3) [8 4 3]\n(8, 8, 3) [4 8 3]",
            "coefficient": "0.54 0.347 0.486",
        },
        check=check_gradient,
    ),
    "pytorch.md": Page(
        {
            "DALIClassificationIterator": "torch.Size([3, 3, 32, 32]) torch.float32 tensor([0, 0, 0], dtype=torch.int32)",
            "DALIServer": ["torch.Size([4, 3, 32, 32]) torch.float32 torch.Size([4])"] * 4,
            "tn.Prefetcher": "torch.Size([4, 32, 32, 3]) tensor(True)",
            "LoaderEvaluator": [
                "  Mode: log",
                "  Mode: replay",
                "  Cache size: 2/2",
                "  Number of batches: 16",
            ],
        },
        pages.write_photos,
        needs=("torch", "torchdata"),
    ),
    "readers.md": Page(
        {
            'weights="balanced"': ["6 of 8 {0: 3, 1: 3}", "2 of 8 {0: 1, 1: 1}"],
            "fn.readers.bucket": ["(4, 24, 32, 3)"],
            "fn.readers.pack": ["[1 1 1 1 1 2 2 2 2 2 0 0] [0 1 2 3 4 0 1 2 3 4 0 0]"],
            "fn.tokenize": ["[2 3 4 5 0 0] [ True  True  True  True False False]"],
            "readers.mix": ["[0, 0, 0, 1]"],
            "readers.lerobot": "(4, 2, 24, 24, 3) (4, 3) (4, 3)",
            "pairs()": "(4, 32, 32, 3) (4, 32, 32, 1)",
            "damaged": "damaged.rec#record 2",
            "storage.configure": "",
        },
        every_format.write,
    ),
    "recipes.md": Page(
        {
            "class Batch": "{'images': (4, 8, 8, 3), 'labels': (4,)}",
            "lax.scan": "lax.scan () (2,)",
            "nnx.jit": "nnx 2",
            "nnx.to_pure_dict(nnx.state(model))": "orbax True",
            "make_mesh": "sharded True 2",
        },
        pages.write_photos,
        mode="together",
        needs=("flax", "optax", "orbax"),
    ),
    "resuming.md": Page({"set_state": ["True"]}, pages.write_photos),
    "scaling.md": Page({"workers=2": ["[(4, 32, 32, 3), (4, 32, 32, 3)]"], "max_workers=4": "True"}),
    "serving.md": Page(
        {
            "training().export": ["('files[0]',)"],
            "model_repository": ["models/preprocess ['1', 'config.pbtxt']"],
        },
        lambda root: pages.write_photos(root, count=4, height=48, width=64),
        needs=("flatbuffers",),
    ),
    "tasks.md": Page(
        {
            "image_random_crop": ["(4, 224, 224, 3) [1 0 0 1]", "(4, 224, 224, 3) [0 1 0 1]"],
            "random_bbox_crop": "(4, 20, 4) [1 1 1 1]",
            "def view": "(4, 32, 32, 3) True",
            "fn.mixup(": "smoothed (4, 2) True",
            "ops.cutmix(": "mixed (4, 8, 8, 3) (4, 2)",
            "readers.paired": "(4, 32, 32, 3) (4, 32, 32, 1) 3",
            "fn.tokenize": "(4, 32, 32, 3) (4, 16) [4 4 4 4]",
            "nemo_asr": "(2, 40, 20) (2, 32)",
            "readers.nifti": "(2, 4, 4, 4) (2, 3)",
            "video_resize": "(2, 4, 32, 32, 3) [3 3]",
            'filter=[("label"': "int32 (4, 32)",
            'weights="balanced"': "{0: 4, 1: 4}",
            "FOLDS": ["0 3 1", "1 3 1", "2 3 1", "3 3 1"],
            "fn.stack": ["(4, 3) 4", "(4, 3) 4"],
            "num_shards=jax": "(8, 32, 32, 3) P('batch',)",
        },
        every_format.write,
    ),
    "tensorflow.md": Page(
        {
            "keras": ["(4, 32, 32, 3) (4,)", "(4, 32, 32, 3) (4,)", "2 epochs"],
            "input_datasets": ["(4, 32, 32, 3) [0 1 2 3]", "(4, 32, 32, 3) [4 5 6 7]"],
        },
        pages.write_photos,
        needs=("tensorflow",),
    ),
    "workers.md": Page({"parallel=True": ["(4, 4, 3) 3", "[0. 0. 0. 0. 0. 0. 0. 0.]"]}, mode="script"),
}

# Pages and snippets that do not run here, with the reason.
ELSEWHERE = {
    "../README.md": "test_readme.py runs it with a training step, at smaller sizes",
    "../ARCHITECTURE.md": "a signature without its body",
}
NOT_RUN = {
    ("custom_operators.md", 0): "the module that the other snippet imports",
    ("scaling.md", 2): "test_ray.py runs it on a cluster",
    ("scaling.md", 3): "test_ray_train.py runs such trainers, where Ray Train is installed",
}
# First lines of snippets that show what users of another library have: Python at least.
OF_OTHERS = tuple(
    f"# {name}\n" for name in ("torchvision", "tf.data", "Grain", "datasets", "albumentations", "webdataset")
)


def written() -> list[str]:
    """Names of all pages with Python code, relative to docs."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(os.path.relpath(p, ROOT / "docs") for p in found if "```py" in p.read_text())


def test_every_page_with_code_runs_or_has_a_reason():
    assert set(written()) == PAGES.keys() | ELSEWHERE.keys()


def test_examples_by_task_are_short():
    assert max(s.code.count("\n") for s in pages.snippets("tasks.md")) <= 30


def test_snippets_of_others_are_python():
    others = [s for name in PAGES for s in pages.snippets(name) if s.code.startswith(OF_OTHERS)]
    assert len(others) > 10
    for snippet in others:
        compile(snippet.code, f"{snippet.title}, line {snippet.line}", "exec")


def cases():
    for name, page in PAGES.items():
        snippets = [
            s
            for s in pages.snippets(name)
            if (name, s.number) not in NOT_RUN and not s.code.startswith(OF_OTHERS)
        ]
        marks = [pytest.mark.oracle] * ("nvidia.dali" in page.only_with) + [pytest.mark.slow] * (
            page.mode == "script"
        )
        groups = [[s] for s in snippets] if page.mode == "each" else [snippets]
        for group in groups:
            title = group[0].title if page.mode == "each" else page.mode
            yield pytest.param(name, group, id=f"{name}-{title}", marks=marks)


@pytest.fixture
def clean(monkeypatch):
    """Undoes what snippets change for the whole process."""
    monkeypatch.setattr(limits, "_current", storage.options())
    yield
    REGISTRY.pop("acme.tint", None)
    sys.modules.pop("acme_tint", None)
    for surface in (fn, ops, dynamic):
        vars(surface).pop("acme", None)
        sys.modules.pop(f"{surface.__name__}.acme", None)


_FOLDERS: dict[str, Path] = {}


def folder_of(name: str) -> Path:
    """The folder with the data of a page, written once."""
    if name not in _FOLDERS:
        root = Path(tempfile.mkdtemp(prefix="jdali-docs-"))
        PAGES[name].data(root)
        _FOLDERS[name] = root
    return _FOLDERS[name]


@pytest.mark.cases(7)
@pytest.mark.parametrize(("name", "snippets"), list(cases()))
def test_snippet(name, snippets, clean, monkeypatch, capsys):
    page = PAGES[name]
    for module in page.needs:
        pytest.importorskip(module)
    monkeypatch.chdir(folder_of(name))
    monkeypatch.syspath_prepend(".")
    if page.mode == "script":
        check_output(page, "\n".join(s.code for s in snippets), run_script(snippets))
        return
    names = {"__name__": "example"}
    snippets = [s for s in snippets if not any(m in s.code and not is_installed(m) for m in page.only_with)]
    if not snippets:
        pytest.skip(f"needs {' and '.join(page.only_with)}")
    for snippet in snippets:
        file = f"docs/{name}:{snippet.line}"
        # Conditionals are made from the source, which Python looks up here.
        linecache.cache[file] = (len(snippet.code), None, snippet.code.splitlines(keepends=True), file)
        exec(compile(snippet.code, file, "exec"), names)
        check_output(page, snippet.code, capsys.readouterr().out)
        page.check(names)


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def run_script(snippets) -> str:
    """The output of a program of all snippets, in a process."""
    script = Path("script.py")
    script.write_text("\n".join(snippet.code for snippet in snippets))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_output(page: Page, code: str, out: str) -> None:
    """The output is that of the words in the code; a snippet that none describes prints something."""
    expected = [text for word, text in page.prints.items() if word in code]
    assert expected or out, "the snippet prints nothing, and nothing says that it should not"
    lines = out.splitlines()
    for text in expected:
        if callable(text):
            assert text(lines), lines
        elif isinstance(text, str):
            assert text in out
        else:
            rest = iter(lines)
            assert all(line in rest for line in text), (text, lines)


def test_what_the_debug_page_says_is_printed():
    for line in PAGES["debug.md"].prints["debug=True"]:
        assert f"`{line}`" in pages.text("debug.md")


def test_every_reader_is_on_its_page():
    names = [f"fn.readers.{name}" for name in dir(fn.readers) if not name.startswith("_")]
    names += [f"fn.experimental.readers.{n}" for n in dir(fn.experimental.readers) if not n.startswith("_")]
    assert len(names) > 10
    text = pages.text("readers.md")
    assert [name for name in names if f"{name}(" not in text and f"`{name}`" not in text] == []
