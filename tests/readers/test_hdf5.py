"""HDF5 files: how they may be written, windows, several files, what is refused, and damage."""

import numpy as np
import pytest
from support.faults import child
from support.fuzz import refusals
from support.readers import everything, failures, opened, reads

from jdali import SampleError, storage
from jdali._operators.record import REGISTRY
from jdali.readers import hdf5

h5py = pytest.importorskip("h5py", reason="h5py is not installed")

VALUES = np.arange(10 * 7 * 5, dtype=np.int32).reshape(10, 7, 5)


def written(path, values=VALUES, name="x", **options):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=values, **options)
    return str(path)


def same(found, values, axis=0):
    expected = np.moveaxis(values, axis, 0)
    assert len(found) == len(expected)
    for (mine,), theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


CHUNKED = {"chunks": (3, 4, 5)}
FORMS = {
    "without chunks": {},
    "chunks": CHUNKED,
    "chunks past the end": {"chunks": (3, 9, 2), "maxshape": (None, None, None)},
    "gzip": CHUNKED | {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": CHUNKED | {"compression": "lzf"},
    "scale-offset": CHUNKED | {"scaleoffset": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_however_it_was_written(tmp_path, form):
    path = written(tmp_path / "x.h5", **FORMS[form])
    same(everything("hdf5", paths=path, dataset="x"), VALUES)
    same(everything("hdf5", paths=path, dataset="/x", axis=-1), VALUES, 2)
    found = everything("hdf5", paths=path, dataset="x", axis=1, roi_start=[4, 1], roi_shape=[6, 2])
    same(found, VALUES[4:, :, 1:3], 1)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", ">i4", "<u8", "f2", "f4", ">f8"])
def test_every_type(tmp_path, dtype):
    values = (np.arange(20) % 2).reshape(10, 2).astype(dtype)
    path = written(tmp_path / "x.h5", values, chunks=(4, 2))
    same(everything("hdf5", paths=path, dataset="x"), values.astype(values.dtype.newbyteorder("=")))


def test_several_files_and_data_sets(tmp_path):
    paths = []
    for number, chunks in enumerate([(3, 7, 5), (3, 4, 5), (2, 7, 2)]):
        paths.append(written(tmp_path / f"{number}.h5", VALUES + number, "a/x", chunks=chunks))
        written(paths[-1], np.arange(10) + 10 * number, "label")
    found = everything("hdf5", paths=paths, dataset=["a/x", "label"])
    assert [int(label) for _, label in found] == list(range(30))
    for number in range(3):
        same([sample[:1] for sample in found[10 * number :][:10]], VALUES + number)
    assert opened("hdf5", paths=paths, dataset="label").source(25) == f"{paths[2]}#sample 5"


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True, "initial_fill": 6}])
def test_a_chunk_is_decoded_once_a_pass(tmp_path, monkeypatch, options):
    path = written(tmp_path / "x.h5", **CHUNKED)
    decoded = []
    real = hdf5.Hdf5Array.read
    monkeypatch.setattr(hdf5.Hdf5Array, "read", lambda self, at: decoded.append(at) or real(self, at))
    reader = opened("hdf5", paths=path, dataset="x", seed=1, **options)
    for _ in range(5):
        assert not reader.load_many(reader.take(2).indices).failures
    assert len(decoded) == len(set(decoded)) == 8


def refused(tmp_path, words, name="x"):
    with pytest.raises(ValueError, match=rf"readers.hdf5: .*data.h5 .*{words}"):
        opened("hdf5", paths=str(tmp_path / "data.h5"), dataset=name)


def test_what_lies_in_other_files_is_refused(tmp_path):
    secret = written(tmp_path / "secret.h5")
    raw = tmp_path / "raw"
    raw.write_bytes(bytes(400))
    layout = h5py.VirtualLayout(shape=(10, 7, 5), dtype="i4")
    layout[...] = h5py.VirtualSource(secret, "x", shape=(10, 7, 5))
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["link"] = h5py.ExternalLink(secret, "x")
        file["g/soft"] = h5py.SoftLink("/link")
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("raw", (100,), "i4", external=[(str(raw), 0, 400)])
    refused(tmp_path, r"has in 'link' a link \(ExternalLink\), which is not followed", "link")
    refused(tmp_path, r"has in 'g/soft' a link \(SoftLink\), which is not followed", "g/soft")
    refused(tmp_path, "keeps 'virtual' in other files, which are not read", "virtual")
    refused(tmp_path, "keeps 'raw' in other files, which are not read", "raw")


@pytest.mark.parametrize("values", [
    np.array([b"ab", b"cd"]), np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]), np.array([1j]),
])  # fmt: skip
def test_what_is_no_number_is_refused(tmp_path, values):
    written(tmp_path / "data.h5", values)
    refused(tmp_path, "is of type .*; numbers and booleans are read")


def test_objects_are_refused(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("x", data=["a", "b"], dtype=h5py.string_dtype())
        file.create_dataset("r", (2,), dtype=h5py.vlen_dtype(np.int32))
    refused(tmp_path, "is of type object")
    refused(tmp_path, "is of type object", "r")


def test_plugins_are_not_loaded(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        facts = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        facts.set_chunk((2,))
        facts.set_filter(32001, h5py.h5z.FLAG_OPTIONAL, ())
        h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((4,)), facts)
    refused(tmp_path, "needs filter 32001 for 'x', a plugin, which is not loaded")


def test_what_is_not_there(tmp_path):
    written(tmp_path / "data.h5", name="g/x")
    refused(tmp_path, "has no data set 'y'; / has 'g'", "y")
    refused(tmp_path, "has no data set 'g', that is a group of 'x'", "g")
    refused(tmp_path, "has no data set 'g/x/y'", "g/x/y")
    (tmp_path / "data.h5").write_bytes(b"no such file")
    refused(tmp_path, "is not an HDF5 file, or damaged")
    with pytest.raises(FileNotFoundError, match="z.h5"):
        opened("hdf5", paths=str(tmp_path / "z.h5"), dataset="x")


def test_a_damaged_file_and_a_damaged_chunk(tmp_path):
    good = written(tmp_path / "good.h5")
    bad = tmp_path / "bad.h5"
    bad.write_bytes(b"no such file")
    reader = REGISTRY["readers.hdf5"].run(paths=(good, str(bad), good), dataset=("x",), _goes_on=True)
    found = failures(reader)
    assert list(found) == [10]
    assert "bad.h5 is not an HDF5 file" in found[10]
    path = written(tmp_path / "x.h5", chunks=(2, 7, 5), fletcher32=True)
    data = bytearray((tmp_path / "x.h5").read_bytes())
    data[data.index(VALUES[4].tobytes()) + 5] ^= 1
    (tmp_path / "x.h5").write_bytes(data)
    found = failures(opened("hdf5", paths=path, dataset="x"))
    assert list(found) == [4, 5]
    assert "x.h5#sample 4: the chunk at [2, 0, 0] is damaged" in found[4]


def test_a_process_that_met_a_file_cut_short_ends_well(tmp_path):
    path = tmp_path / "x.h5"
    written(path)
    path.write_bytes(path.read_bytes()[:36])
    script = """
        import sys
        from support.readers import opened

        try:
            opened("hdf5", paths=sys.argv[1], dataset="x")
        except ValueError as error:
            print(error)
    """
    ended = child(script, path)
    assert (ended.code, ended.err) == (0, "")
    assert "is not an HDF5 file, or damaged" in ended.out


def test_chunks_that_claim_much(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("x", (10, 1 << 30), "f8", chunks=(1, 1 << 27))
    before = storage.configure(max_sample_bytes=1 << 24)
    try:
        refused(tmp_path, "max_sample_bytes of jdali.storage.configure")
        with h5py.File(tmp_path / "small.h5", "w") as file:
            file.create_dataset("x", (10, 1 << 30), "f8", chunks=(1, 1 << 10))
        with pytest.raises(SampleError, match="its window of 8589934592 bytes is larger than the limit"):
            opened("hdf5", paths=str(tmp_path / "small.h5"), dataset="x").load(0)
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.cases(1)
@pytest.mark.parametrize("form", ["without chunks", "gzip", "lzf"])
def test_fuzz(tmp_path, form):
    path = tmp_path / "x.h5"
    written(path, **FORMS[form])
    before = storage.configure(max_sample_bytes=1 << 20, max_items=500)
    try:
        read = reads("readers.hdf5", path, paths=(str(path),), dataset=("x",))
        law = {"says": r"readers.hdf5: .*x.h5", "memory": 1 << 30}
        assert refusals(read, path.read_bytes(), count=300, **law) > 50
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes, max_items=before.max_items)
