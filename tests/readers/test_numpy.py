"""readers.numpy: which files, all types, windows with every option; against DALI and by NumPy."""

import json

import numpy as np
import pytest
from support import oracle
from support.data import SHARED
from support.readers import assert_same, dali_everything, failures
from support.readers import everything as everything_read
from support.readers import opened as opened_reader

import jdali
from jdali import SampleError, fn, pipeline_def
from jdali._operators.record import REGISTRY

TREE = [
    "b.npy", "a/1.npy", "a/10.npy", "a/2.NPY", "a/sub/deep.npy", "Z/k.npy", "c.txt", "a/x.npz",
    "with space/1.npy", ".h/q.npy", "b/.hidden.npy", "a.npy/z.npy",
]  # fmt: skip
IN_ORDER = [
    "b.npy", ".h/q.npy", "Z/k.npy", "a/1.npy", "a/10.npy", "a.npy/z.npy", "b/.hidden.npy", "with space/1.npy",
]  # fmt: skip


def converted(args):
    """Arguments in the form in which the engine passes them on."""
    op = REGISTRY["readers.numpy"]
    return {key: op.args[key].convert(value) for key, value in args.items()}


def opened(**args):
    return opened_reader("numpy", **converted(args))


def everything(**args):
    return everything_read("numpy", **converted(args))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Files that hold their number in `TREE`."""
    root = tmp_path_factory.mktemp("tree")
    for number, name in enumerate(TREE):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        with open(root / name, "wb") as file:
            np.save(file, np.array([number], np.int32))
    return root


def names(**args):
    return [TREE[int(sample[0][0])] for sample in everything(**args)]


def test_folders(tree):
    # A folder's own files, then those of its subfolders, by their bytes; capital letters count.
    assert names(file_root=str(tree)) == IN_ORDER
    assert names(file_root=str(tree), file_filter="*.NPY") == ["a/2.NPY"]
    assert names(file_root=str(tree), file_filter="[0-9]*.np?") == ["a/1.npy", "a/10.npy", "with space/1.npy"]
    with pytest.raises(ValueError, match=r"readers.numpy: No files found: none match '\*.none' in .*tree"):
        opened(file_root=str(tree), file_filter="*.none")
    with pytest.raises(FileNotFoundError, match="readers.numpy: Failed to open /nowhere"):
        opened(file_root="/nowhere")


def test_lists(tree, monkeypatch):
    file_list = tree / "list"
    for text in (b"a/1.npy\nb.npy\n", b"\na/1.npy\r\n\r\n  b.npy  \n\n"):
        file_list.write_bytes(text)
        assert names(file_list=str(file_list)) == ["a/1.npy", "b.npy"]
    file_list.write_text("1.npy\n10.npy")
    assert names(file_list=str(file_list), file_root=str(tree / "a")) == ["a/1.npy", "a/10.npy"]
    assert names(files=["a/1.npy", str(tree / "b.npy")], file_root=str(tree)) == ["a/1.npy", "b.npy"]
    monkeypatch.chdir(tree)
    assert names(files="b.npy") == ["b.npy"]
    file_list.write_bytes(b"\n \n")
    with pytest.raises(ValueError, match="names no files"):
        opened(file_list=str(file_list))
    with pytest.raises(ValueError, match="provided through ``files`` or ``file_list`` but not both"):
        opened(file_list=str(file_list), files=["b.npy"])
    with pytest.raises(ValueError, match="``file_root`` argument is required when not using"):
        opened()
    with pytest.raises(FileNotFoundError, match="Cannot open: "):
        opened(file_list="nowhere")
    with pytest.raises(SampleError, match="readers.numpy: .*nowhere.npy"):
        opened(files=["nowhere.npy"]).load(0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"file_filter": "*.NPY"},
        {"file_filter": "[a-b]*.npy"},
        {"files": ["b.npy", "a/1.npy"]},
        {"file_filter": "1*"},
    ],
    ids=str,
)
def test_folders_as_dali(tree, args):
    args = {"file_root": str(tree), **args}
    assert_same(everything(**args), dali_everything("numpy", **args))


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """Paths of a C and a Fortran array, and the array."""
    root = tmp_path_factory.mktemp("arrays")
    array = np.arange(5 * 7, dtype=np.int16).reshape(5, 7)
    np.save(root / "c.npy", array)
    np.save(root / "f.npy", np.asfortranarray(array))
    return [str(root / "c.npy"), str(root / "f.npy")], array


WINDOWS = [
    ({"roi_start": [1, 2]}, np.s_[1:, 2:]),
    ({"roi_start": 1}, np.s_[1:, 1:]),
    ({"roi_start": [1, 2], "roi_shape": [2, 3]}, np.s_[1:3, 2:5]),
    ({"roi_start": [1, 2], "roi_end": [3, 4]}, np.s_[1:3, 2:4]),
    ({"roi_end": [3, 4]}, np.s_[:3, :4]),
    ({"roi_shape": [0, 3]}, np.s_[:0, :3]),
    ({"roi_start": [1], "roi_axes": [1]}, np.s_[:, 1:]),
    ({"roi_start": [1], "roi_axes": [-2]}, np.s_[1:, :]),
    ({"roi_axes": [1, 0], "roi_start": [2, 1], "roi_shape": [3, 2]}, np.s_[1:3, 2:5]),
    # Both borders are rounded, half away from zero: 1.25 and 3.75 of 5, 1.75 and 5.25 of 7.
    ({"rel_roi_start": [0.25, 0.25], "rel_roi_shape": [0.5, 0.5]}, np.s_[1:4, 2:5]),
    ({"rel_roi_start": [0.25, 0.25], "rel_roi_end": [0.5, 0.5]}, np.s_[1:3, 2:4]),
    ({"rel_roi_start": [0.25, 0.25], "roi_shape": [2, 2]}, np.s_[1:3, 2:4]),
    ({"roi_start": [1, 1], "rel_roi_shape": [0.5, 0.5]}, np.s_[1:4, 1:5]),
    ({"roi_start": [], "roi_shape": [2, 3]}, np.s_[:2, :3]),
    ({"roi_axes": [1]}, np.s_[:, :]),
    ({"roi_start": [-1, -2], "roi_shape": [3, 9], "out_of_bounds_policy": "trim_to_shape"}, np.s_[:2, :7]),
    ({"roi_start": [9, 9], "roi_shape": [2, 2], "out_of_bounds_policy": "trim_to_shape"}, np.s_[:0, :0]),
]


@pytest.mark.parametrize(("args", "window"), WINDOWS, ids=str)
def test_windows(arrays, args, window):
    files, array = arrays
    for cache in (False, True):
        for (got,) in everything(files=files, cache_header_information=cache, **args):
            np.testing.assert_array_equal(got, array[window], strict=True)


PADDED = [
    ({"roi_shape": [6, 9], "fill_value": 7.5}, [(0, 1), (0, 2)], np.s_[:, :], 8),
    ({"roi_start": [-1, -2], "roi_shape": [6, 9], "fill_value": 1e9}, [(1, 0), (2, 0)], np.s_[:, :], 32767),
    ({"roi_start": [-2, 3], "roi_shape": [4, 7], "fill_value": -2.5}, [(2, 0), (0, 3)], np.s_[:2, 3:], -3),
    ({"roi_start": [9, 9], "roi_shape": [2, 2]}, [(0, 2), (0, 2)], np.s_[:0, :0], 0),
]


@pytest.mark.parametrize(("args", "pad", "window", "fill"), PADDED, ids=str)
def test_padding(arrays, args, pad, window, fill):
    files, array = arrays
    for (got,) in everything(files=files, out_of_bounds_policy="pad", **args):
        np.testing.assert_array_equal(got, np.pad(array[window], pad, constant_values=fill), strict=True)


@pytest.mark.oracle
def test_windows_as_dali(arrays):
    # One pipeline of DALI's for all: starting one takes longer than the reading.
    files, _ = arrays
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    cases = [args for args, _ in WINDOWS]
    cases += [{"out_of_bounds_policy": "pad", **args} for args, *_ in PADDED]
    pipe = dali.Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(*[dali_fn.readers.numpy(files=files, **args) for args in cases])
    pipe.build()
    for args, batch in zip(cases, pipe.run(), strict=True):
        expected = [(np.array(batch.at(i)),) for i in range(2)]
        assert_same(everything(files=files, **args), expected)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (
            {"roi_shape": [9, 9]},
            r"window at \[0, 0\] of size \[9, 9\] reaches out of the array of shape \[5, 7\]",
        ),
        ({"roi_start": [-1, 0]}, "reaches out"),
        ({"roi_start": [3, 3], "roi_end": [2, 2]}, "end coordinates can't be before start coordinates"),
        ({"roi_shape": [-1, 2]}, "roi_shape .* is negative"),
        ({"roi_start": [1, 2, 3]}, 'Argument "roi_start" expected shape 2'),
        ({"roi_axes": [5], "roi_start": [1]}, "Axis 5 out of range"),
        ({"roi_axes": [1, 1], "roi_start": [1, 1]}, "Axis index 1 occurs more than once"),
    ],
    ids=str,
)
def test_windows_that_are_wrong(arrays, args, reason):
    files, _ = arrays
    with pytest.raises(ValueError, match=reason) as raised:
        opened(files=files, **args).load(0)
    assert str(raised.value).count("readers.numpy: ") <= 1


def test_arguments_that_are_wrong(arrays):
    files, _ = arrays
    one = [1, 1]
    with pytest.raises(ValueError, match='"roi_start" and "rel_roi_start" arguments are mutually exclusive'):
        opened(files=files, roi_start=one, rel_roi_start=one)
    with pytest.raises(ValueError, match="arguments are mutually exclusive, got roi_end and roi_shape"):
        opened(files=files, roi_end=one, roi_shape=one)
    with pytest.raises(ValueError, match="Not supported out_of_bounds_policy: x"):
        opened(files=files, out_of_bounds_policy="x")


# --- the shared data ------------------------------------------------------------------------
NUMBERS = [p.name for p in sorted((SHARED / "records" / "numpy").glob("*.npy"))]
NO_NUMBERS = {"complex64.npy", "datetime64.npy", "structured.npy", "unicode.npy"}


@pytest.mark.parametrize("name", NUMBERS)
def test_shared_files(name):
    path = SHARED / "records" / "numpy" / name
    reader = opened(files=[str(path)])
    if name in NO_NUMBERS:
        assert str(path) in failures(reader)[0]
        return
    expected = np.load(path)
    expected = expected.astype(expected.dtype.newbyteorder("="))
    np.testing.assert_array_equal(reader.load(0)[0], expected, strict=True)


@pytest.mark.oracle
def test_shared_files_as_dali(shared_data):
    facts = json.loads((shared_data / "MANIFEST.json").read_text())["files"]
    facts = {f["path"]: f for f in facts} if isinstance(facts, list) else facts
    readable = [
        n for n in NUMBERS if facts[f"records/numpy/{n}"]["numpy"]["dali_cpu"]["readers.numpy"] == "equal"
    ]
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    files = [str(shared_data / "records" / "numpy" / n) for n in readable]
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(*[dali_fn.readers.numpy(files=[file]) for file in files])
    pipe.build()
    for file, batch in zip(files, pipe.run(), strict=True):
        assert_same(everything(files=[file]), [(np.array(batch.at(0)),)])
    assert len(files) > 20


BAD = [p.name for p in sorted((SHARED / "bad" / "numpy").glob("*.npy"))]


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name):
    path = str(SHARED / "bad" / "numpy" / name)
    if name == "extra_trailing.npy":  # as NumPy and DALI: what follows the array does not matter
        np.testing.assert_array_equal(opened(files=[path]).load(0)[0], np.load(path))
        return
    for args in ({}, {"roi_end": 1}):
        (message,) = failures(opened(files=[path], **args)).values()
        assert message.startswith(f"readers.numpy: {path}: ")


# --- in pipelines ---------------------------------------------------------------------------
@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(4)
    paths = []
    for i in range(10):
        np.save(tmp_path / f"{i}.npy", np.full(rng.integers(20, 30, 2), i, np.int32))
        paths.append(str(tmp_path / f"{i}.npy"))
    return paths


@pytest.fixture
def build():
    made = []

    def make(define, **options):
        made.append(pipeline_def(define, batch_size=4, num_threads=2, device_id=None, seed=3, **options)())
        return made[-1]

    yield make
    for pipe in made:
        pipe.close()


def run(pipe, batches):
    """The samples of some batches: for each a tuple of the outputs."""
    samples = []
    for _ in range(batches):
        outputs = pipe.run()
        samples += [tuple(np.asarray(o.at(i)) for o in outputs) for i in range(len(outputs[0]))]
    return samples


def test_windows_that_differ_by_sample(build, files):
    def define():
        start = fn.random.uniform(range=[0.0, 0.5], shape=[2])
        end = fn.external_source(lambda info: np.array([10 + info.idx_in_epoch], np.int32), batch=False)
        relative = fn.readers.numpy(files=files, rel_roi_start=start, roi_shape=[3, 2])
        return start, relative, end, fn.readers.numpy(files=files, roi_end=end, roi_axes=[1])

    for i, (start, relative, end, absolute) in enumerate(run(build(define), 3)):
        array = np.load(files[i % 10])
        top, left = (int(np.floor(np.float32(s) * n + 0.5)) for s, n in zip(start, array.shape, strict=True))
        np.testing.assert_array_equal(relative, array[top : top + 3, left : left + 2], strict=True)
        assert end == 10 + i
        np.testing.assert_array_equal(absolute, array[:, : 10 + i], strict=True)


@pytest.mark.oracle
def test_windows_that_differ_by_sample_as_dali(files):
    rng = np.random.default_rng(5)
    starts = rng.uniform(-0.2, 0.6, (10, 2)).astype(np.float32)
    ends = rng.integers(18, 40, (10, 2)).astype(np.int32)
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    def define(f):
        start = f.external_source(source=[list(starts)], batch=True)
        end = f.external_source(source=[list(ends)], batch=True)
        return f.readers.numpy(
            files=files, rel_roi_start=start, roi_end=end, out_of_bounds_policy="pad", fill_value=9
        )

    theirs = dali.Pipeline(batch_size=10, num_threads=1, device_id=None, seed=1)
    with theirs:
        theirs.set_outputs(define(dali_fn))
    theirs.build()
    (expected,) = theirs.run()
    with pipeline_def(lambda: define(fn), batch_size=10, num_threads=2, device_id=None)() as ours:
        (got,) = ours.run()
    for i in range(10):
        np.testing.assert_array_equal(np.asarray(got.at(i)), np.array(expected.at(i)), strict=True)


def test_state(build, files):
    def define():
        start = fn.random.uniform(range=[0.0, 0.5], shape=[2])
        return fn.readers.numpy(files=files, random_shuffle=True, num_shards=3, rel_roi_start=start)

    pipe = build(define)
    run(pipe, 2)
    state = json.loads(json.dumps(pipe.get_state()))
    expected = run(pipe, 3)
    fresh = build(define)
    fresh.set_state(state)
    assert_same(run(fresh, 3), expected)


def test_a_damaged_file_is_named_or_skipped(build, files):
    with open(files[2], "r+b") as file:
        file.truncate(200)

    def define(**roi):
        return lambda: fn.readers.numpy(files=files, **roi)

    for roi in ({}, {"roi_shape": [5, 5]}):
        with pytest.raises(
            jdali.OperatorError,
            match=r"readers.numpy: .*2.npy: Expected data numpy size .*: the header promises .* cut short",
        ):
            run(build(define(**roi)), 1)
        pipe = build(define(**roi), on_error="skip")
        assert [int(a[0, 0]) for (a,) in run(pipe, 2)] == [0, 1, 3, 3, 4, 5, 6, 7]


def test_windows_that_fail_are_skipped(build, files):
    shape = np.array([[5, 5], [5, 5], [99, 5], [5, 5], [6, 6], [6, 6], [6, 6], [6, 6]], np.int32)

    def define():
        size = fn.external_source(source=[list(shape[:4]), list(shape[4:])], batch=True)
        return fn.readers.numpy(files=files, roi_shape=size)

    with pytest.raises(
        jdali.OperatorError, match=r"2.npy: .* the window at \[0, 0\] of size \[99, 5\] reaches out"
    ):
        run(build(define), 1)


def test_a_batch_has_one_type(build, tmp_path):
    np.save(tmp_path / "0.npy", np.zeros((2, 2), np.float32))
    np.save(tmp_path / "1.npy", np.zeros((2, 2), np.int32))
    with pytest.raises(jdali.OperatorError, match="a batch has one type"):
        run(build(lambda: fn.readers.numpy(file_root=str(tmp_path))), 1)


def test_urls(build, files):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    memory = fsspec.filesystem("memory")
    try:
        for i, path in enumerate(files):
            memory.put(path, f"/jdali-arrays/{i // 5}/{i}.npy")

        def define():
            start = fn.random.uniform(range=[0.0, 0.5], shape=[2])
            whole = fn.readers.numpy(file_root="memory://jdali-arrays")
            return (
                whole,
                start,
                fn.readers.numpy(file_root="memory://jdali-arrays", rel_roi_start=start, roi_shape=[3, 4]),
            )

        for i, (whole, start, window) in enumerate(run(build(define), 3)):
            array = np.load(files[i % 10])
            np.testing.assert_array_equal(whole, array, strict=True)
            top, left = (
                int(np.floor(np.float32(s) * n + 0.5)) for s, n in zip(start, array.shape, strict=True)
            )
            np.testing.assert_array_equal(window, array[top : top + 3, left : left + 4], strict=True)
    finally:
        memory.rm("/jdali-arrays", recursive=True)
