"""Arrays of Zarr: how they may be written, windows, chunks that are read once, damage, and what is refused."""

import json

import numpy as np
import pytest
from support.fuzz import refusals
from support.readers import everything, failures, opened, reads

from jdali import SampleError, fn, pipeline_def, storage
from jdali.readers.formats import zarr_arrays

zarr = pytest.importorskip("zarr", reason="zarr is not installed")
numcodecs = pytest.importorskip("numcodecs", reason="numcodecs is not installed")

VALUES = np.arange(10 * 7 * 5, dtype=np.int32).reshape(10, 7, 5)


def written(path, values=VALUES, chunks=(3, 4, 5), version=3, **options):
    array = zarr.create_array(
        str(path), shape=values.shape, chunks=chunks, dtype=values.dtype, zarr_format=version, **options
    )
    array[...] = values
    return str(path)


def same(found, values, axis=0):
    expected = np.moveaxis(values, axis, 0)
    assert len(found) == len(expected)
    for (mine,), theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


FORMS = {
    "3": {},
    "3, plain": {"compressors": None},
    "3, chunks past the end": {"chunks": (3, 9, 2)},
    "3, gzip": {"compressors": zarr.codecs.GzipCodec()},
    "3, blosc": {"compressors": zarr.codecs.BloscCodec(cname="lz4", shuffle="bitshuffle")},
    "3, zstd with a checksum": {
        "compressors": [zarr.codecs.ZstdCodec(checksum=True), zarr.codecs.Crc32cCodec()]
    },
    "3, big endian": {"serializer": zarr.codecs.BytesCodec(endian="big")},
    "3, transposed": {"filters": zarr.codecs.TransposeCodec(order=(2, 0, 1))},
    "3, dots": {"chunk_key_encoding": {"name": "default", "separator": "."}},
    "3, keys of 2": {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
    "3, shards": {"shards": (6, 8, 10)},
    "2": {"version": 2},
    "2, plain": {"version": 2, "compressors": None},
    "2, slashes": {"version": 2, "chunk_key_encoding": {"name": "v2", "separator": "/"}},
    "2, Fortran": {"version": 2, "order": "F"},
    **{
        f"2, {codec.codec_id}": {"version": 2, "compressors": codec}
        for codec in (numcodecs.Blosc(), numcodecs.LZ4(), numcodecs.Zlib(), numcodecs.GZip(), numcodecs.BZ2())
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_however_it_was_written(tmp_path, form):
    path = written(tmp_path / "x.zarr", **FORMS[form])
    same(everything("zarr", path=path), VALUES)
    same(everything("zarr", path=path, axis=-1), VALUES, 2)
    same(everything("zarr", path=path, axis=1, roi_start=[4, 1]), VALUES[4:, :, 1:], 1)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", ">i4", "<u8", "f2", "f4", ">f8"])
@pytest.mark.parametrize("version", [2, 3])
def test_every_type(tmp_path, dtype, version):
    values = (np.arange(20) % 2).reshape(10, 2).astype(dtype)
    path = written(tmp_path / "x.zarr", values, (4, 2), version)
    same(everything("zarr", path=path), values.astype(values.dtype.newbyteorder("=")))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("fill", [7, np.nan])
def test_chunks_that_are_not_there(tmp_path, version, fill):
    array = zarr.create_array(
        str(tmp_path / "x.zarr"),
        shape=(6, 2),
        chunks=(2, 2),
        dtype="f4",
        fill_value=fill,
        zarr_format=version,
    )
    array[2:4] = 1
    expected = np.full((6, 2), fill, np.float32)
    expected[2:4] = 1
    same(everything("zarr", path=str(tmp_path / "x.zarr")), expected)


def test_windows_by_sample(tmp_path):
    path = written(tmp_path / "x.zarr")

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=1)
    def windows():
        corner = fn.external_source(
            lambda info: np.int32([info.idx_in_epoch % 4, info.idx_in_epoch % 3]), batch=False
        )
        return fn.readers.zarr(path=path, roi_start=corner, roi_shape=[3, 2]), corner

    with windows() as pipe:
        found, corners = pipe.run()
        for i in range(4):
            y, x = np.asarray(corners.at(i))
            np.testing.assert_array_equal(found.at(i), VALUES[i, y : y + 3, x : x + 2])


def test_windows_that_reach_out(tmp_path):
    path = written(tmp_path / "x.zarr")
    for roi, words in (
        ({"roi_start": [5, 0], "roi_shape": [3, 5]}, r"the window at \[5, 0\] of shape \[3, 5\] reaches out"),
        ({"roi_start": [-1, 0]}, "the window at .* reaches out"),
        ({"roi_shape": [2]}, "roi_shape has 1 values for a sample of 2 axes"),
    ):
        with pytest.raises(SampleError, match=rf"readers.zarr: .*x.zarr#sample 3: {words}"):
            opened("zarr", path=path, **roi).load(3)


def test_several_arrays(tmp_path):
    written(tmp_path / "g.zarr" / "a" / "image")
    written(tmp_path / "g.zarr" / "label", np.arange(10), (4,))
    found = everything("zarr", path=str(tmp_path / "g.zarr"), array=["a/image", "label"], roi_shape=[2, 2])
    for i, (image, label) in enumerate(found):
        np.testing.assert_array_equal(image, VALUES[i, :2, :2])
        assert label == i
    written(tmp_path / "g.zarr" / "short", np.arange(9), (4,))
    with pytest.raises(ValueError, match=r"g.zarr has \[10, 9\] samples along axis 0"):
        opened("zarr", path=str(tmp_path / "g.zarr"), array=["label", "short"])


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True, "initial_fill": 6}])
@pytest.mark.parametrize("chunks", [(3, 4, 5), (2, 7, 5), (1, 7, 3)])
def test_a_chunk_is_decoded_once_a_pass(tmp_path, monkeypatch, options, chunks):
    path = written(tmp_path / "x.zarr", chunks=chunks)
    decoded = []
    real = zarr_arrays.ZarrArray.read
    monkeypatch.setattr(zarr_arrays.ZarrArray, "read", lambda self, at: decoded.append(at) or real(self, at))
    reader = opened("zarr", path=path, seed=1, **options)
    for _ in range(5):
        assert not reader.load_many(reader.take(2).indices).failures
    assert (
        len(decoded)
        == len(set(decoded))
        == np.prod([-(-n // c) for n, c in zip((10, 7, 5), chunks, strict=True)])
    )


def test_only_chunks_of_the_window_are_read(tmp_path):
    path = written(tmp_path / "x.zarr", chunks=(2, 4, 5))
    for chunk in (tmp_path / "x.zarr" / "c").glob("*/1/*"):
        chunk.write_bytes(b"damaged")
    assert not failures(opened("zarr", path=path, roi_shape=[4, 5]))
    found = failures(opened("zarr", path=path))
    assert list(found) == list(range(10))
    assert "x.zarr#sample 4: the chunk at [2, 1, 0]: its data are not a frame of Zstandard" in found[4]


def test_memory_is_bounded(tmp_path):
    """Chunks are dropped beyond `bytes_ahead`."""
    path = written(tmp_path / "x.zarr", np.zeros((64, 1 << 12), np.int32), (2, 1 << 12))
    before = storage.configure(bytes_ahead=1 << 16)
    try:
        reader = opened("zarr", path=path)
        for index in range(64):
            reader.load(index)
        assert len(reader._kept) == 2  # of 32 KiB
    finally:
        storage.configure(bytes_ahead=before.bytes_ahead)


def edited(path, **changes):
    file = next(f for f in (path / "zarr.json", path / ".zarray") if f.exists())
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(("version", "changes", "words"), [
    (2, {"dtype": "|O", "filters": [{"id": "pickle"}]}, r"is of type '\|O'"),
    (2, {"dtype": "<U9"}, "is of type '<U9'"),
    (2, {"dtype": [["a", "<i4"]]}, "is of type .*numbers and booleans are read"),
    (2, {"filters": [{"id": "delta"}]}, "has filters, which are not read"),
    (2, {"compressor": {"id": "os.system"}}, "is compressed by 'os.system'; zstd, blosc"),
    (2, {"dimension_separator": "/../"}, "in the names of its files, where '/' or '.' should be"),
    (2, {"chunks": [1, 1]}, r"is damaged: of shape \[10, 7, 5\] in chunks of \[1, 1\]"),
    (2, {"chunks": [0, 4, 5]}, "is damaged"),
    (2, {"shape": [10, -7, 5]}, "is not a shape"),
    (2, {"chunks": [1 << 40, 1 << 40, 5]}, "max_sample_bytes of jdali.storage.configure"),
    (3, {"data_type": "string"}, "is of type 'string'"),
    (3, {"codecs": [{"name": "vlen-utf8"}]}, r"has codecs that are not read: \['vlen-utf8'\]"),
    (3, {"codecs": [{"name": "bytes"}, {"name": "numcodecs.pickle"}]}, "is compressed by 'numcodecs.pickle'"),
    (3, {"chunk_key_encoding": {"name": "../x"}}, "has damaged metadata"),
    (3, {"node_type": "group"}, "is a 'group', no array"),
    (3, {"fill_value": [1]}, "has the fill value"),
    (3, {"zarr_format": 4}, "is of version 4"),
])  # fmt: skip
def test_what_is_refused(tmp_path, version, changes, words):
    path = tmp_path / "x.zarr"
    written(path, version=version)
    edited(path, **changes)
    with pytest.raises(ValueError, match=rf"readers.zarr: .*x.zarr/(zarr.json|.zarray) .*{words}"):
        opened("zarr", path=str(path))


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"x.zarr has no zarr.json and no .zarray"):
        opened("zarr", path=str(tmp_path / "x.zarr"))
    path = written(tmp_path / "x.zarr")
    with pytest.raises(ValueError, match=r"of shape \[10, 7, 5\] has no axis 3"):
        opened("zarr", path=path, axis=3)
    with pytest.raises(ValueError, match=r"names found in data|lead out"):
        opened("zarr", path=path, array="../y")


@pytest.mark.parametrize("codec", ["zstd", "blosc", "lz4", "zlib", "bz2"])
def test_chunks_that_become_more(tmp_path, codec):
    """A chunk of 60 elements that holds a million bytes more."""
    path = tmp_path / "x.zarr"
    made = {"zstd": numcodecs.Zstd(), "blosc": numcodecs.Blosc(), "lz4": numcodecs.LZ4(), "zlib": numcodecs.Zlib(),
            "bz2": numcodecs.BZ2()}[codec]  # fmt: skip
    written(path, version=2, compressors=made)
    for size in (1 << 20, 239):
        (path / "0.0.0").write_bytes(bytes(made.encode(np.zeros(size, np.uint8))))
        found = failures(opened("zarr", path=str(path)))
        assert list(found) == [0, 1, 2]
        assert "the chunk at [0, 0, 0]: it" in found[0]


@pytest.fixture
def _small_limits():
    before = storage.configure(max_sample_bytes=1 << 20, max_items=500)
    yield
    storage.configure(max_sample_bytes=before.max_sample_bytes, max_items=before.max_items)


@pytest.mark.usefixtures("_small_limits")
def test_many_chunks_of_a_sample(tmp_path):
    path = tmp_path / "x.zarr"
    written(path, version=2)
    edited(path, shape=[10, 70000, 1], chunks=[3, 4, 1])
    with pytest.raises(
        SampleError, match="its number of chunks, 17500, is larger than the limit of 500 entries"
    ):
        opened("zarr", path=str(path)).load(0)


@pytest.mark.cases(1)
@pytest.mark.usefixtures("_small_limits")
@pytest.mark.parametrize("form", ["3", "3, shards", "3, blosc", "2", "2, lz4", "2, zlib"])
def test_fuzz(tmp_path, form):
    path = tmp_path / "x.zarr"
    written(path, **FORMS[form])
    law = {"says": r"readers.zarr: .*x.zarr"}
    chunk = sorted(
        f for f in path.rglob("*") if f.is_file() and f.name not in ("zarr.json", ".zarray", ".zattrs")
    )[0]
    good = chunk.read_bytes()
    read = reads("readers.zarr", chunk, path=str(path))
    assert refusals(read, good, count=300, **law) > 40
    chunk.write_bytes(good)
    metadata = next(f for f in (path / "zarr.json", path / ".zarray") if f.exists())
    read = reads("readers.zarr", metadata, path=str(path))
    assert refusals(read, metadata.read_bytes(), count=300, **law) > 50
