"""experimental.readers.fits: every kind of image, against astropy and by hand; damaged files."""

import json

import numpy as np
import pytest
from support.data import SHARED

import jdali
from jdali import SampleError, dynamic, fn, pipeline_def, types
from jdali._operators.record import REGISTRY

astropy = pytest.importorskip("astropy.io.fits", reason="astropy is not installed")
OP = REGISTRY["experimental.readers.fits"]


def opened(**args):
    return OP.run(**{key: OP.args[key].convert(value) for key, value in args.items()})


def first(path, **args):
    return opened(files=[str(path)], **args).load(0)


def card(text):
    return text.encode().ljust(80)


def simple(shape, bits, data, *extra, head="SIMPLE  =                    T"):
    """A FITS file of one HDU, written by hand."""
    cards = [head, f"BITPIX  = {bits}", f"NAXIS   = {len(shape)}"]
    cards += [f"NAXIS{i + 1}  = {n}" for i, n in enumerate(reversed(shape))]
    header = b"".join(map(card, [*cards, *extra, "END"]))
    return header.ljust(-(-len(header) // 2880) * 2880) + data.ljust(-(-len(data) // 2880) * 2880, b"\0")


IMAGE = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize(
    ("bits", "stored"), [(8, ">u1"), (16, ">i2"), (32, ">i4"), (64, ">i8"), (-32, ">f4"), (-64, ">f8")]
)
def test_types(tmp_path, bits, stored):
    path = tmp_path / "a.fits"
    path.write_bytes(simple((3, 4), bits, IMAGE.astype(stored).tobytes()))
    (got,) = first(path, hdu_indices=1)
    np.testing.assert_array_equal(got, IMAGE.astype(np.dtype(stored).newbyteorder("=")), strict=True)
    assert got.dtype.isnative


@pytest.mark.parametrize(
    ("bits", "stored", "zero", "dtype"),
    [
        (16, ">i2", 1 << 15, "u2"),
        (32, ">i4", 1 << 31, "u4"),
        (64, ">i8", 1 << 63, "u8"),
        (8, ">u1", -128, "i1"),
    ],
)
def test_unsigned_by_convention(tmp_path, bits, stored, zero, dtype):
    path = tmp_path / "a.fits"
    path.write_bytes(simple((3, 4), bits, IMAGE.astype(stored).tobytes(), f"BZERO   = {zero}"))
    (got,) = first(path, hdu_indices=[1])
    np.testing.assert_array_equal(got, (IMAGE.astype(object) + zero).astype(dtype), strict=True)


def test_scaling_and_dtypes(tmp_path):
    path = tmp_path / "a.fits"
    path.write_bytes(simple((3, 4), 16, IMAGE.astype(">i2").tobytes(), "BSCALE  = 0.5", "BZERO   = -2.0"))
    (got,) = first(path, hdu_indices=1)
    np.testing.assert_array_equal(got, (IMAGE * 0.5 - 2).astype(np.float32), strict=True)
    (got,) = first(path, hdu_indices=1, dtypes=types.UINT8)
    # -2, -1.5, ..., 3.5: rounded half away from zero, and not below 0.
    np.testing.assert_array_equal(got, np.uint8([[0, 0, 0, 0], [0, 1, 1, 2], [2, 3, 3, 4]]), strict=True)
    with pytest.raises(ValueError, match="2 dtypes for 1 outputs"):
        opened(files=[str(path)], dtypes=[types.UINT8, types.FLOAT])


@pytest.mark.parametrize("kind", ["RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1", "PLIO_1"])
def test_compressed(tmp_path, kind):
    image = (
        np.random.default_rng(1)
        .integers(0, 4000, (24, 40))
        .astype(np.int16 if kind != "RICE_1" else np.int32)
    )
    hdus = [
        astropy.PrimaryHDU(),
        astropy.CompImageHDU(image, compression_type=kind),
        astropy.ImageHDU(image.T),
    ]
    astropy.HDUList(hdus).writeto(tmp_path / "a.fits")
    compressed, plain = first(tmp_path / "a.fits", hdu_indices=[2, 3])
    np.testing.assert_array_equal(compressed, image)
    np.testing.assert_array_equal(plain, image.T, strict=True)


FILES = sorted((SHARED / "images" / "fits").glob("*.fits"))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_shared_files(path, shared_data):
    with astropy.open(path, memmap=False) as file:
        indices = [i for i, hdu in enumerate(file, 1) if hdu.data is not None]
        expected = [file[i - 1].data for i in indices]
    got = first(path, hdu_indices=indices)
    facts = json.loads((shared_data / "MANIFEST.json").read_text())["files"]
    facts = {f["path"]: f for f in facts} if isinstance(facts, list) else facts
    noted = facts[path.relative_to(shared_data).as_posix()]["fits_hdus"]
    assert [[list(image.shape), image.dtype.name] for image in got] == noted
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs.astype(theirs.dtype.newbyteorder("=")), strict=True)


GOOD = simple((3, 4), 16, IMAGE.astype(">i2").tobytes())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\x89PNG", "not a FITS file"),
        (GOOD[:100], "no end"),
        (GOOD[:2890], "24 bytes of data"),
        (GOOD.replace(b"NAXIS1  = 4", b"NAXIS1  = -"), "NAXIS1 of HDU 1 must be an integer"),
        (simple((3, -4), 16, b""), "damaged"),
        (simple((1 << 40, 1 << 40), 16, b""), "promises"),
        (simple((), 16, b""), "HDU 1 has no image"),
        (simple((3, 4), 17, b""), "BITPIX is 17"),
        (simple((3, 4), 16, bytes(24), "PCOUNT  = -4"), "PCOUNT"),
        (simple((1,) * 40, 16, bytes(24)), "40 axes"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, data, reason):
    path = tmp_path / "a.fits"
    path.write_bytes(data)
    with pytest.raises(SampleError, match=f"experimental.readers.fits: {path}: .*{reason}"):
        first(path, hdu_indices=1)


def test_other_parts(tmp_path):
    path = tmp_path / "a.fits"
    path.write_bytes(GOOD)
    with pytest.raises(SampleError, match="no HDU 2 in a FITS file of 1"):
        first(path)
    table = astropy.BinTableHDU.from_columns([astropy.Column("x", "J", array=np.arange(4))])
    astropy.HDUList([astropy.PrimaryHDU(), table]).writeto(path, overwrite=True)
    with pytest.raises(SampleError, match="HDU 2 is not an image but a BINTABLE"):
        first(path)
    with pytest.raises(ValueError, match="hdu_indices"):
        first(path, hdu_indices=[0])


def test_claims_of_compressed_images(tmp_path):
    path = tmp_path / "a.fits"
    hdus = [astropy.PrimaryHDU(), astropy.CompImageHDU(np.zeros((8, 8), np.int16), compression_type="RICE_1")]
    astropy.HDUList(hdus).writeto(path)
    data = path.read_bytes()
    for key, reason in (
        ("ZNAXIS1", "tiles, but 8 are stored"),
        ("ZTILE2", "1 tiles, but 8 are stored"),
        ("ZTILE1", "claims"),
    ):
        start = data.index(key.encode())
        bad = data[:start] + card(f"{key:8}= {1 << 40 if '1' in key else 8:20}") + data[start + 80 :]
        path.write_bytes(bad)
        with pytest.raises(SampleError, match=reason):
            first(path)


@pytest.fixture
def files(tmp_path):
    for i in range(10):
        image = np.full((4 + i % 3, 5), i, ">i2")
        (tmp_path / f"{i}.fits").write_bytes(simple(image.shape, 16, image.tobytes()))
    return tmp_path


def pipeline(root, **options):
    pipe = {key: options.pop(key) for key in ("on_error",) if key in options}

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3, **pipe)
    def define():
        return fn.experimental.readers.fits(file_root=str(root), hdu_indices=[1], name="r", **options)

    return define()


def run(pipe, batches):
    found = []
    for _ in range(batches):
        (images,) = pipe.run()
        found += [int(np.asarray(images.at(i)).max()) for i in range(len(images))]
    return found


def test_a_damaged_file_is_named_or_skipped(files):
    with open(files / "2.fits", "r+b") as file:
        file.truncate(2885)
    with pytest.raises(jdali.OperatorError, match=r"2.fits: HDU 1 promises 60 bytes"):
        run(pipeline(files), 1)
    with pipeline(files, on_error="skip") as pipe:
        assert run(pipe, 2) == [0, 1, 3, 3, 4, 5, 6, 7]


def test_dynamic(files):
    reader = dynamic.experimental.readers.Fits(file_root=str(files), hdu_indices=[1])
    assert [int(np.asarray(reader()).max()) for _ in range(3)] == [0, 1, 2]
