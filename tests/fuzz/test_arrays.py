"""Damaged .npy and FITS files, and LZ4 data."""

import io

import numpy as np
import pytest
from support import host_run
from support.fuzz import refusals
from support.readers import reads

from jdali._operators.record import REGISTRY

ARRAYS = {
    "plain": np.arange(40, dtype=np.int16).reshape(5, 8),
    "fortran": np.arange(40, dtype=np.float32).reshape(5, 8, order="F"),
    "big-endian": np.arange(12, dtype=">i4").reshape(2, 3, 2),
    "one number": np.array(3.5),
}


def saved(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version)
    return out.getvalue()


@pytest.mark.parametrize("name", ARRAYS)
def test_decoder(name):
    def read(data):
        host_run.one(REGISTRY["decoders.numpy"], np.frombuffer(data, np.uint8))

    for version in ((1, 0), (2, 0)):
        assert refusals(read, saved(ARRAYS[name], version), count=500, says="decoders.numpy: ") > 150


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ARRAYS)
def test_reader(tmp_path, name):
    path = tmp_path / "a.npy"
    one = np.ones(1, np.int32)
    for window in (
        {},
        {"roi_start": one, "roi_axes": (0,)},
        {"rel_roi_end": 0.5 * one, "out_of_bounds_policy": "pad"},
    ):
        window = {} if name == "one number" else window
        read = reads("readers.numpy", path, files=[str(path)], **window)
        law = {"says": "readers.numpy: .*a.npy: "}
        assert refusals(read, saved(ARRAYS[name]), seed=len(window), count=200, **law) > 50


def image(shape, dtype=np.int16):
    return np.random.default_rng(1).integers(0, 2000, shape).astype(dtype)


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    "kind", ["plain", "scaled", "float", "RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1", "PLIO_1"]
)
@pytest.mark.filterwarnings("ignore::Warning:astropy")  # about damaged headers; what counts is the outcome
def test_fits(tmp_path, kind):
    fits = pytest.importorskip("astropy.io.fits", reason="astropy is not installed")
    hdus = [fits.PrimaryHDU()]
    if kind == "plain":
        hdus.append(fits.ImageHDU(image((6, 7))))
    elif kind == "scaled":
        hdus.append(fits.ImageHDU(image((6, 7), np.uint16)))
    elif kind == "float":
        hdus.append(fits.ImageHDU(image((2, 3, 4), np.float32)))
    else:
        hdus.append(fits.CompImageHDU(image((12, 14)), compression_type=kind))
    path = tmp_path / "a.fits"
    fits.HDUList(hdus).writeto(path)
    read = reads("experimental.readers.fits", path, files=[str(path)])
    assert refusals(read, path.read_bytes(), count=150, says="readers.fits: .*a.fits: ") > 20


def test_inflate():
    block = pytest.importorskip("lz4.block", reason="lz4 is not installed")
    data = np.repeat(image(60, np.uint8), 3)
    op = REGISTRY["decoders.inflate"]

    def read(chunk):
        op.run(np.frombuffer(chunk, np.uint8), shape=np.array([180]), dtype=np.dtype(np.uint8))

    good = block.compress(data.tobytes(), store_size=False)
    assert refusals(read, good, count=2000, says="decoders.inflate: chunk 0") > 800
