"""`Pipeline.export` and `jdali.load`: the same bits without the code, and folders that are not taken."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import COUNT, ENCODED, PICTURES, first_batch, padded, pipeline

import jdali
from jdali import fn, types
from jdali._operators.record import REGISTRY
from jdali._system import limits
from jdali.engine.function import preprocess as preprocess_module
from jdali.engine.function.manifest import ExportedProgram, Manifest, ProgramFile

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")

SHAPES = [(48, 48), (64, 64)]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with the validation pipeline, and its fingerprint."""
    folder = tmp_path_factory.mktemp("exported")
    return folder, pipelines.validation().export(folder, shapes=SHAPES)


@pytest.fixture
def copied(exported: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the folder, to be damaged."""
    return Path(shutil.copytree(exported[0], tmp_path / "copied"))


FRESH = """
import sys
import jax.export, numpy as np
def packages():
    names = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
    return {name for name in names if not name.startswith("_")}
before = packages()
import jdali
folder, encoded, result = sys.argv[1:]
preprocess = jdali.load(folder)
data = np.load(encoded, allow_pickle=False)
np.save(result, preprocess([data[name].tobytes() for name in sorted(data)]))
# JAX itself imports SciPy when it first compiles, which imports charset_normalizer where it finds it.
codecs = {"PIL", "imagecodecs", "simplejpeg"}
others = {"jdali", "msgspec", "typing_extensions", "scipy", "charset_normalizer"}
assert packages() - before <= {*others, *codecs}, packages() - before
parts = ("jdali.pipeline", "jdali._pipeline", "jdali.fn", "jdali.dynamic", "jdali.iterator", "jdali._viewer", "jdali.serving")
assert not {name for name in sys.modules if name.startswith(parts)}
"""


def test_a_fresh_process_gives_the_same_bits(exported: tuple[Path, str], tmp_path: Path):
    encoded = {f"{i}": np.frombuffer(one, np.uint8) for i, one in enumerate(ENCODED)}
    np.savez(tmp_path / "encoded.npz", **encoded)
    root = Path(jdali.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    paths = [str(exported[0]), str(tmp_path / "encoded.npz"), str(tmp_path / "out.npy")]
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *paths], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    want = np.stack(first_batch(pipelines.validation())[0])
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), want, strict=True)


def test_what_a_loaded_folder_says(exported: tuple[Path, str]):
    folder, fingerprint = exported
    preprocess = jdali.load(folder, fingerprint=fingerprint)
    assert preprocess.inputs == ("encoded",)
    assert preprocess.outputs == ("normalized",)
    assert preprocess.shapes == [((48, 48, 3),), ((64, 64, 3),)]
    assert fingerprint in repr(preprocess)
    platforms = {path.name.split(".")[1] for path in folder.glob("*.stablehlo")}
    assert platforms == {"cpu", "cuda", "tpu"}
    assert "pickle" not in {path.suffix for path in folder.iterdir()}
    with pytest.raises(ValueError, match="threads is 0, it must be at least 1"):
        jdali.load(folder, threads=0)


def test_batches_of_any_size_and_arrays(exported: tuple[Path, str]):
    preprocess = jdali.load(exported[0])
    want = np.stack(first_batch(pipelines.validation())[0])
    np.testing.assert_array_equal(preprocess(ENCODED[1:2]), want[1:2], strict=True)
    of_jax = jnp.asarray(np.frombuffer(ENCODED[1], np.uint8))[None]
    np.testing.assert_array_equal(preprocess(of_jax), want[1:2], strict=True)
    three = [ENCODED[i] for i in (2, 2, 0)]
    np.testing.assert_array_equal(preprocess(three), want[[2, 2, 0]], strict=True)
    np.testing.assert_array_equal(preprocess.arrays(PICTURES[0][None]), want[:1], strict=True)


def test_programs_for_a_fixed_number_of_samples_take_more_in_several_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Such programs are written if an operator refuses a symbolic number of samples."""
    monkeypatch.setattr("jdali.engine.function.export.BATCH_SIZES", (1, 2))
    monkeypatch.setattr(jax.export, "symbolic_shape", lambda name: (name,))
    pipelines.validation().export(tmp_path / "folder", shapes=SHAPES, platforms=["cpu"])
    preprocess = jdali.load(tmp_path / "folder")
    assert {file.batch for program in preprocess._manifest.programs for file in program.files} == {1, 2}
    for compiles in preprocess.compiling(5):
        compiles()
    want = np.stack(first_batch(pipelines.validation())[0])
    five = [0, 2, 1, 2, 0]
    np.testing.assert_array_equal(preprocess([ENCODED[i] for i in five]), want[five], strict=True)


@pytest.mark.parametrize(("here", "other", "batch"), [([0], [1, 2], 0), ([1, 2], [0], 2)])
def test_only_programs_of_the_platform_count(here: list[int], other: list[int], batch: int):
    files = [ProgramFile("cpu", size, "a", "") for size in here] + [
        ProgramFile("cuda", size, "b", "") for size in other
    ]
    assert preprocess_module._size(ExportedProgram("", [], files), 8)[0] == batch


def test_a_relative_folder_stays_in_another_working_folder(
    exported: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Programs are read when they are first needed."""
    monkeypatch.chdir(exported[0].parent)
    preprocess = jdali.load(exported[0].name)
    monkeypatch.chdir(tmp_path)
    want = np.stack(first_batch(pipelines.validation())[0])
    np.testing.assert_array_equal(preprocess(ENCODED[1:2]), want[1:2], strict=True)


def test_one_bad_sample_does_not_fail_the_others(exported: tuple[Path, str]):
    preprocess = jdali.load(exported[0])
    large = pipelines.pillow(np.zeros((8, 80, 3), np.uint8), "png")
    out, good, errors = preprocess.attempt([ENCODED[0], b"damaged", ENCODED[2], large])
    want = np.stack(first_batch(pipelines.validation())[0])
    np.testing.assert_array_equal(out, want[[0, 2]], strict=True)
    assert good == [0, 2]
    assert isinstance(errors[1], jdali.OperatorError)
    assert "does not fit in the shapes" in str(errors[3])
    with pytest.raises(jdali.SampleError, match=r"sample 1: a sample of 8 x 80 x 3 does not fit"):
        preprocess([ENCODED[0], large])
    assert preprocess.attempt([b"damaged"])[:2] == ((), [])


def halved(pictures: Any) -> Any:
    return {"halved": pictures * np.float32(0.5)}


def test_the_element_type_of_the_start_is_its_makers(tmp_path: Path):
    def decoded() -> Any:
        return halved(fn.decoders.image(pipelines.encoded(), dtype=types.FLOAT, name="pictures"))

    pipelines.pipeline(decoded).export(tmp_path / "decoded", shapes=[(64, 64)], platforms=["cpu"])
    preprocess = jdali.load(tmp_path / "decoded")
    assert preprocess.outputs == ("halved",)
    want = np.float32(PICTURES[0]) / 255 / 2
    np.testing.assert_allclose(preprocess(ENCODED[:1]).array[0, :40, :60], want, atol=1e-6)

    def given() -> Any:
        numbers = [np.full((4, 4, 3), i, np.int16) for i in range(COUNT)]
        return halved(fn.external_source(lambda: numbers, dtype=types.INT16, layout="HWC", name="numbers"))

    pipelines.pipeline(given).export(tmp_path / "given", shapes=[(4, 4)], platforms=["cpu"])
    out = jdali.load(tmp_path / "given")([np.full((4, 4, 3), -3, np.int16)])
    np.testing.assert_array_equal(out.array, np.full((1, 4, 4, 3), -1.5, np.float32), strict=True)
    with pytest.raises(TypeError, match="'numbers' must be int16, got int32; say its type with dtypes= when"):
        jdali.load(tmp_path / "given")([np.full((4, 4, 3), -3, np.int32)])
    with pytest.raises(
        ValueError, match=r"dtypes is uint8 for 'pictures', and decoders\.image \(.*\) returns float32"
    ):
        pipelines.pipeline(decoded).export(tmp_path / "refused", dtypes=np.uint8)
    with pytest.raises(ValueError, match=r"dtypes must be one for each of \(pictures\), got"):
        pipelines.pipeline(decoded).export(tmp_path / "refused", dtypes=[np.uint8, np.uint8])


def test_speech(tmp_path: Path):
    pipelines.speech().export(tmp_path / "speech", shapes=[(512,)], platforms=["cpu"])
    preprocess = jdali.load(tmp_path / "speech")
    sounds = [np.sin(np.arange(n, dtype=np.float32) / 3) for n in (400, 500, 450, 333)]
    out = preprocess(sounds)
    for array, size, want in zip(*out, first_batch(pipelines.speech())[0], strict=True):
        np.testing.assert_array_equal(array[tuple(map(slice, size))], want, strict=True)


def test_random_values_are_of_the_pipeline_or_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"random values are drawn by random\.coin_flip 'flip'"):
        pipelines.training().export(tmp_path / "refused", shapes=[(64, 64)])
    pipe = pipelines.training()
    pipe.export(tmp_path / "random", shapes=[(64, 64)], deterministic=False, platforms=["cpu"])
    preprocess = jdali.load(tmp_path / "random")
    with pytest.raises(TypeError, match=r"random values are drawn in flip, left"):
        preprocess(ENCODED)
    want = np.stack(first_batch(pipe)[0])
    np.testing.assert_array_equal(preprocess(ENCODED, index=np.arange(COUNT)), want, strict=True)


def windows() -> Any:
    pictures = fn.decoders.image(pipelines.encoded(), device="mixed", name="pictures")
    nearest = types.INTERP_NN  # compiles quickly
    return fn.random_resized_crop(
        pictures, size=(12, 10), random_area=(0.2, 1.0), interp_type=nearest, name="window"
    )


def widths() -> Any:
    pictures = fn.decoders.image(pipelines.encoded(), device="mixed")
    return fn.crop(pictures, crop_h=9, crop_w=fn.random.uniform(range=(5.0, 30.0)))


def noisy_windows() -> Any:
    return fn.noise.salt_and_pepper(windows(), prob=0.3, name="noise")  # compiles quickly


def test_with_a_key_an_operator_draws_the_same_for_every_sample(tmp_path: Path):
    """As for the first sample with that key: any position, any index, by the function and by the folder."""
    key = jax.random.key(9)
    pipe = pipeline(noisy_windows)
    drawing = pipe.function("pictures")
    held = dict.fromkeys(drawing.random, key)
    still = pipe.function("pictures", deterministic=held)
    assert still.random == ()
    pipe.export(tmp_path / "held", start="pictures", shapes=[(64, 64)], deterministic=held, platforms=["cpu"])
    loaded = jdali.load(tmp_path / "held")
    assert loaded.random == ()
    array, sizes = padded(PICTURES)  # one shape, so one program
    alone = []
    for i in range(3):
        drawn = drawing(array[i : i + 1], extents=sizes[i : i + 1], key=key, index=[0])
        alone.append(np.asarray(drawn.array)[0][tuple(map(slice, np.asarray(drawn.extents)[0]))])
    for order in ([0, 2], [1, 1]):
        want = [alone[i] for i in order]
        encoded = [ENCODED[i] for i in order]
        np.testing.assert_array_equal(loaded(encoded), want, strict=True)
        np.testing.assert_array_equal(loaded(encoded, index=np.arange(5, 5 + len(order))), want, strict=True)
        check(still(*still.host(encoded)), want)


def test_a_key_is_for_compiled_operators_that_draw():
    pipe = pipeline(windows)
    with pytest.raises(ValueError, match=r"no compiled operator that draws random values"):
        pipe.function("pictures", deterministic={"pictures": jax.random.key(0)})
    with pytest.raises(TypeError, match=r"one of JAX's threefry"):
        pipe.function("pictures", deterministic={"window": jax.random.key(0, impl="rbg")})


@pytest.mark.cases(1)
@pytest.mark.parametrize("define", [windows, widths])
def test_random_values_that_are_drawn_on_the_host(define: Callable[[], Any], tmp_path: Path):
    """They decide windows or sizes, which the loaded folder plans for each sample by its key."""
    pipe = pipeline(define)
    pipe.export(tmp_path / "drawn", shapes=[(64, 64)], deterministic=False, platforms=["cpu"])
    preprocess = jdali.load(tmp_path / "drawn")
    first, second = (first_batch(pipeline(define))[0] for _ in range(2))
    for index, want in (([0, 1, 2, 3], first), ([3, 1, 1], [second[3], second[1], second[1]])):
        out = preprocess([ENCODED[i] for i in index], index=index)
        check(out, want)
    out, good, _ = preprocess.attempt([ENCODED[0], b"damaged", *ENCODED[2:]], index=np.arange(COUNT))
    assert good == [0, 2, 3]
    check(out, [first[i] for i in good])


def test_operators_on_the_host_that_do_not_decode(tmp_path: Path):
    """Random ones draw by the sample's key, as in the pipeline."""
    boxes = [np.float32([[0.1, 0.2, 0.8, 0.9], [0.3, 0.1, 0.5, 0.6]]) for _ in range(COUNT)]

    def define() -> Any:
        shapes = fn.peek_image_shape(pipelines.encoded(), name="shapes")
        given = fn.external_source(lambda info: boxes, batch_info=True, name="boxes")
        anchor, *_ = fn.random_bbox_crop(
            given, bbox_layout="xyXY", thresholds=[0.0], total_num_attempts=100, name="window"
        )
        return fn.cast(shapes, dtype=types.FLOAT), anchor * 2.0

    pipe = pipeline(define)
    pipe.export(
        tmp_path / "folder", start=("shapes", "window[0]"), shapes=[((3,), (2,))], dtypes=["int64", "float32"],
        deterministic=False, platforms=["cpu"],
    )  # fmt: skip
    got = jdali.load(tmp_path / "folder")(ENCODED, boxes, index=np.arange(COUNT))
    for out, want in zip(got, first_batch(pipe), strict=True):
        check(out, want)


def check(out: Any, want: list[np.ndarray]) -> None:
    """The array of an output, or the array and the sizes, holds these samples."""
    array, sizes = out if isinstance(out, tuple) else (out, [one.shape for one in out])
    for value, size, sample in zip(array, sizes, want, strict=True):
        np.testing.assert_array_equal(value[tuple(map(slice, size))], sample, strict=True)


DEFINED = """
import sys
from jdali import fn, pipeline_def, types
@pipeline_def(batch_size=2, num_threads=1, seed=7, enable_conditionals=True)
def training():
    encoded, labels = fn.readers.file(file_root=sys.argv[1])
    pictures = fn.decoders.image(encoded, device="mixed")
    if fn.random.coin_flip(name="coin"):
        pictures = fn.flip(pictures)
    pictures = fn.crop(pictures, crop=(8, 8))
    return fn.brightness(pictures, brightness=fn.random.uniform(range=(0.5, 1.5), name="light")), labels
fixed = {"coin": 1, "light": 0.75}
if "reversed" in sys.argv:
    fixed = dict(reversed(fixed.items()))
platforms = ["tpu", "cpu"] if "reversed" in sys.argv else ["cpu", "tpu"]
print(training().export(sys.argv[2], shapes=[(16, 16)], platforms=platforms, deterministic=fixed))
"""


def test_programs_and_fingerprint_say_what_is_computed_and_nothing_of_where(tmp_path: Path):
    """Two scripts in two folders, with other lines, data, orders and hash seeds."""
    found = []
    root = Path(jdali.__file__).parents[1]
    for name, code, seed, options in (("a", DEFINED, "1", []), ("b/c", f"#\n\n{DEFINED}", "2", ["reversed"])):
        folder = tmp_path / name
        (folder / "photos" / "cat").mkdir(parents=True)
        (folder / "photos" / "cat" / "1.png").write_bytes(ENCODED[0])
        (folder / f"program{seed}.py").write_text(code)
        command = [sys.executable, f"program{seed}.py", str(folder / "photos"), "out", *options]
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        programs = {path.name: path.read_bytes() for path in (folder / "out").glob("*.stablehlo")}
        assert len(programs) == 2
        assert not any(str(tmp_path).encode() in data or b".py" in data for data in programs.values())
        found.append((done.stdout, programs))
    assert found[0] == found[1]


# --- what is not taken ----------------------------------------------------------------------------
def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the description of a folder, and makes its fingerprint right again, as who forges one would."""
    path = folder / "preprocess.json"
    content = json.loads(path.read_bytes())
    change(content)
    forge(folder, content)


def forge(folder: Path, content: dict[str, Any]) -> None:
    """Writes a description with the fingerprint that it has, if it is one."""
    with contextlib.suppress(msgspec.ValidationError):
        content["fingerprint"] = msgspec.convert(content, Manifest).computed_fingerprint()
    (folder / "preprocess.json").write_bytes(msgspec.json.encode(content))


def replace_programs(folder: Path, data: bytes) -> None:
    """Puts another program in the place of those for CPU, with the checksums that it has."""
    for path in folder.glob("*.cpu.stablehlo"):
        path.write_bytes(data)

    def change(content: dict[str, Any]) -> None:
        for one in content["programs"]:
            for file in one["files"]:
                if file["platform"] == "cpu":
                    file["sha256"] = hashlib.sha256(data).hexdigest()

    changed(folder, change)


def test_another_fingerprint(exported: tuple[Path, str]):
    with pytest.raises(
        jdali.FolderError, match=r"its fingerprint is .* not 00: it was exported from another"
    ):
        jdali.load(exported[0], fingerprint="00")


def test_another_version(copied: Path):
    path = copied / "preprocess.json"
    path.write_bytes(path.read_bytes().replace(b'"jdali": "', b'"jdali": "9.'))
    with pytest.raises(jdali.FolderError, match=r"written by jdali 9\.\S+ in format \d; this is jdali"):
        jdali.load(copied)


def test_an_operator_of_a_plugin_that_is_not_loaded(
    exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
):
    others = {name: op for name, op in REGISTRY.items() if name != "crop_mirror_normalize"}
    monkeypatch.setattr("jdali.engine.function.graph_json.REGISTRY", others)
    with pytest.raises(
        jdali.FolderError,
        match=r"cannot be used in this process: there is no operator 'crop_mirror_normalize'; load its plugin",
    ):
        jdali.load(exported[0])


def test_damage(copied: Path):
    path = copied / "preprocess.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"seed": 5', b'"seed": 6'))
    with pytest.raises(jdali.FolderError, match=r"is damaged: it does not have the fingerprint"):
        jdali.load(copied)
    for damaged in (b"", whole[:200], b"[1]", b'{"version": 1}', whole.replace(b'"programs"', b'"program"')):
        path.write_bytes(damaged)
        with pytest.raises(jdali.FolderError, match=r"damaged|written by"):
            jdali.load(copied)
    path.unlink()
    with pytest.raises(jdali.FolderError, match=r"there is no preprocess\.json"):
        jdali.load(copied)


def test_a_program_that_jax_does_not_read(copied: Path):
    """As one of another version of JAX may be: its checksum is right."""
    data = b"a format of the future"
    replace_programs(copied, data)
    with pytest.raises(
        jdali.FolderError, match=rf"JAX {re.escape(jax.__version__)} cannot read it; JAX \d\S+ wrote it"
    ):
        jdali.load(copied)(ENCODED[:1])


def test_a_damaged_program(copied: Path):
    for path in copied.glob("*.cpu.stablehlo"):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(jdali.FolderError, match=r"cpu\.stablehlo is damaged: its checksum"):
        jdali.load(copied)(ENCODED[:1])


def test_a_program_that_calls_the_host_is_not_run(copied: Path):
    matrix = jax.ShapeDtypeStruct((3, 3), np.float32)
    data = bytes(jax.export.export(jax.jit(jnp.linalg.cholesky), platforms=["cpu"])(matrix).serialize())
    replace_programs(copied, data)
    with pytest.raises(jdali.FolderError, match=r"calls lapack_\w+ on the host: not run"):
        jdali.load(copied)(ENCODED[:1])


def test_operators_with_code_of_their_own_are_not_loaded(copied: Path):
    def change(content: dict[str, Any]) -> None:
        node = next(node for node in content["nodes"] if node["op"] == "decoders.image")
        node["op"], node["args"], node["device"] = "io.file.read", {}, "cpu"

    changed(copied, change)
    with pytest.raises(
        jdali.FolderError, match=r"holds io\.file\.read 'pictures', which runs code of its own"
    ):
        jdali.load(copied)


HOSTILE: list[Any] = [None, True, -1, 2**31, 2**63, 1.5, "x", [], [[]], {}, [2**62, 2**62], [[[[0]]]]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all parts of JSON; of what a list holds the first and the last one."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        if not isinstance(value, list) or key in (0, len(value) - 1):
            yield from places(part, (*path, key))


@pytest.mark.parametrize("hostile", HOSTILE, ids=repr)
def test_forged_folders_are_refused_in_words(exported: tuple[Path, str], tmp_path: Path, hostile: Any):
    """Each part of the description is replaced; the fingerprint is that of the result."""
    whole = json.loads((exported[0] / "preprocess.json").read_text())
    refused = 0
    for path in places(whole):
        if not path or path[0] == "fingerprint":
            continue
        content = json.loads(json.dumps(whole))
        *way, last = path
        functools.reduce(lambda value, key: value[key], way, content)[last] = hostile
        forge(tmp_path, content)
        try:
            jdali.load(tmp_path)
        except jdali.FolderError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("batch", 2**40, "damaged: Expected `int` <= 65536"),
        ("batch", -1, "damaged: Expected `int` >= 0"),
        ("shapes", [[2**31, 2, 3]], "larger than the limit"),
        ("shapes", [[48, 48]], r"a padded shape is \[48, 48\], of layout 'HWC'"),
    ],
)
def test_forged_programs(copied: Path, field: str, value: Any, message: str):
    def change(content: dict[str, Any]) -> None:
        program = content["programs"][0]
        if field == "batch":
            program["files"][0][field] = value
        else:
            program[field] = value + program[field][1:]

    changed(copied, change)
    with pytest.raises(jdali.FolderError, match=message):
        jdali.load(copied)


@pytest.mark.parametrize(("name", "value"), [("dtypes", ["float64"]), ("sizes", [[16, 16]])])
def test_programs_that_do_not_fit_their_description(copied: Path, name: str, value: Any):
    """A folder says what its answers are, or it is refused when a program runs."""
    changed(copied, lambda content: content.update({name: value}))
    with pytest.raises(jdali.FolderError, match="its outputs have other types, or other numbers of axes"):
        jdali.load(copied)(ENCODED[:1])


@pytest.mark.parametrize("name", ["../other", "/etc/passwd", "a/b", ""])
def test_names_of_programs_stay_in_the_folder(copied: Path, name: str):
    changed(copied, lambda content: content["programs"][0]["files"][0].update(file=name))
    with pytest.raises(jdali.FolderError, match="is not a name of a program"):
        jdali.load(copied)


def test_other_arguments_than_those_of_the_graph(copied: Path):
    def change(content: dict[str, Any]) -> None:
        next(node for node in content["nodes"] if node["op"] == "resize")["args"]["resize_shorter"] = 30

    changed(copied, change)
    with pytest.raises(jdali.FolderError, match="operators have other arguments"):
        jdali.load(copied)


def test_sizes_in_a_folder_have_limits(copied: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "_current", limits.Limits(max_sample_bytes=1000))
    with pytest.raises(
        jdali.FolderError, match=r"padded shape \[48, 48, 3\] is larger than the limit of 1000 bytes"
    ):
        jdali.load(copied)


def test_what_cannot_be_exported_is_named(tmp_path: Path):
    double = pipeline(
        lambda: fn.brightness(
            fn.python_function(pipelines.encoded(), function=np.copy, name="mine"), brightness=2
        )
    )
    with pytest.raises(
        ValueError, match=r"python_function 'mine' .* cannot be exported: it runs code or reads files"
    ):
        double.export(tmp_path / "python", shapes=[(8,)])
    largest = pipeline(lambda: fn.pad(fn.decoders.image(pipelines.encoded()), name="largest"))
    with pytest.raises(ValueError, match=r"pad 'largest' .* depends on the other samples of the batch"):
        largest.export(tmp_path / "pad", shapes=[(64, 64)])
    with pytest.raises(ValueError, match=r"shapes must be given"):
        pipelines.speech().export(tmp_path / "speech")


# --- with a model ----------------------------------------------------------------------------------
def test_fused_with_a_model_and_its_checkpoint(tmp_path: Path):
    """One program of preprocessing and a Flax model whose weights Orbax restored, and its results after `jax.export`."""
    nnx = pytest.importorskip("flax.nnx", reason="the model is one of Flax")
    orbax = pytest.importorskip("orbax.checkpoint", reason="the checkpoint is one of Orbax")

    class Model(nnx.Module):  # type: ignore[name-defined]
        def __init__(self, rngs: Any):
            self.dense = nnx.Linear(3, 2, rngs=rngs)

        def __call__(self, pictures: Any) -> Any:
            return self.dense(pictures.mean(axis=(2, 3)))

    trained = Model(nnx.Rngs(0))
    with orbax.StandardCheckpointer() as saver:
        saver.save(tmp_path / "model", nnx.state(trained))
    with orbax.StandardCheckpointer() as reader:
        graph, empty = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))
        model = nnx.merge(graph, reader.restore(tmp_path / "model", empty))

    pictures = np.stack([p[:40, :40] for p in PICTURES])

    def define() -> Any:
        source = fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures")
        return fn.crop_mirror_normalize(
            source, crop=(16, 16), mean=pipelines.MEAN, std=pipelines.STD, dtype=types.FLOAT
        )

    function = pipeline(define).function("pictures")
    (batch,) = jax.export.symbolic_shape("batch")
    spec = jax.ShapeDtypeStruct((batch, *pictures.shape[1:]), np.uint8)
    program = jax.jit(lambda x: model(function(x)))
    exported = jax.export.export(program, platforms=["cpu", "cuda", "tpu"])(spec)
    served = jax.export.deserialize(exported.serialize())
    want = np.stack(first_batch(pipeline(define))[0]).mean(axis=(2, 3))
    want = want @ np.asarray(trained.dense.kernel[...]) + np.asarray(trained.dense.bias[...])
    np.testing.assert_allclose(served.call(pictures), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(served.call(pictures[:3]), want[:3], rtol=1e-4, atol=1e-5)


def test_any_number_of_samples_in_a_users_own_export():
    """With random values of the pipeline's, bit for bit."""
    pictures = np.stack([p[:40, :40] for p in PICTURES])

    def bright() -> Any:
        source = fn.external_source(lambda info: pictures, batch_info=True, layout="HWC", name="pictures")
        return fn.brightness(source, brightness=fn.random.uniform(range=(0.5, 1.5)))

    function, want = pipeline(bright).function("pictures"), np.stack(first_batch(pipeline(bright))[0])
    (batch,) = jax.export.symbolic_shape("batch")
    specs = (
        jax.ShapeDtypeStruct((batch, *pictures.shape[1:]), np.uint8), jax.ShapeDtypeStruct((batch,), np.int32),
    )  # fmt: skip
    program = jax.jit(lambda x, index: function(x, index=index))
    exported = jax.export.deserialize(jax.export.export(program)(*specs).serialize())
    for numbers in (np.arange(COUNT, dtype=np.int32), np.int32([2, 0])):
        np.testing.assert_array_equal(exported.call(pictures[numbers], numbers), want[numbers], strict=True)
    largest = pipeline(
        lambda: fn.pad(fn.external_source(lambda info: pictures, batch_info=True, name="pictures"))
    )
    with pytest.raises(ValueError, match=r"pad .* depends on the other samples of the batch: their number"):
        jax.export.export(jax.jit(largest.function("pictures")))(specs[0])


def test_padded_samples_in_a_users_own_export(tmp_path: Path):
    """A plan is an argument of the exported program, like the pictures."""
    function = pipelines.training().function("pictures", deterministic={"flip": 1, "left": 0.0})
    array, sizes = padded(PICTURES)
    plan = function.plan(array, extents=sizes)
    leaves, tree = jax.tree.flatten(plan)
    program = jax.jit(lambda x, leaves: function(x, plan=jax.tree.unflatten(tree, leaves)).array)
    exported = jax.export.deserialize(jax.export.export(program)(array, leaves).serialize())
    np.testing.assert_array_equal(
        exported.call(array, leaves), function(array, extents=sizes).array, strict=True
    )
