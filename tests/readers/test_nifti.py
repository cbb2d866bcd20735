"""NIfTI files: types, versions, scaling and affines as nibabel gives them, and damage."""

import gzip

import numpy as np
import pytest
from support.fuzz import refusals
from support.readers import everything, opened, reads

from jdali import SampleError, storage

nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed")

VALUES = np.arange(4 * 3 * 2, dtype=np.int16).reshape(4, 3, 2)
AFFINE = np.array([[0, -2, 0, 5], [1.5, 0, 0, -7], [0, 0, 3, 1], [0, 0, 0, 1.0]])


def written(path, values=VALUES, kind=nibabel.Nifti1Image, change=lambda image: None, **options):
    image = kind(values, AFFINE, **options)
    change(image)
    nibabel.save(image, str(path))
    return str(path)


def scaled(image):
    image.header.set_slope_inter(0.25, -3)


KINDS = {
    "": {},
    "2": {"kind": nibabel.Nifti2Image},
    "scaled": {"change": scaled},
    "of time": {"values": np.float32(VALUES[..., None] + np.arange(5))},
    "without a code": {"change": lambda image: image.header.set_sform(None, 0)},
    "by quaternion": {"change": lambda image: (image.set_qform(AFFINE, 1), image.set_sform(None, 0))},
    **{dtype: {"values": VALUES.astype(dtype)} for dtype in ("u1", "i1", "u2", ">i4", "<f4", ">f8", "u8")},
}


@pytest.mark.parametrize("name", ["x.nii", "x.nii.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_nibabel_reads_it(tmp_path, name, kind):
    options = {"dtype": KINDS[kind]["values"].dtype} if kind in ("u8",) else {}
    path = written(tmp_path / name, **KINDS[kind], **options)
    theirs = nibabel.load(path)
    ((mine, affine, spacing),) = everything("nifti", files=path, with_affine=True, with_spacing=True)
    np.testing.assert_array_equal(mine, theirs.get_fdata().astype(np.float32), strict=True)
    np.testing.assert_array_equal(affine, theirs.affine.astype(np.float32), strict=True)
    np.testing.assert_array_equal(spacing, np.float32(theirs.header.get_zooms()), strict=True)
    ((stored,),) = everything("nifti", files=path, scaled=False)
    expected = np.asarray(theirs.dataobj.get_unscaled())
    np.testing.assert_array_equal(stored, expected.astype(expected.dtype.newbyteorder("=")), strict=True)


def test_a_folder(tmp_path):
    for number, name in enumerate(("a.nii", "b.nii.gz", "c.nii")):
        written(tmp_path / name, VALUES + number)
    (tmp_path / "list.txt").write_text("no volume")
    found = everything("nifti", file_root=str(tmp_path), scaled=False)
    assert [int(volume.min()) for (volume,) in found] == [0, 1, 2]


def refused(path, words, **options):
    with pytest.raises(SampleError, match=rf"readers.nifti: .*{path.name}: {words}"):
        opened("nifti", files=str(path), **options).load(0)


def patched(path, offset, content):
    data = bytearray(path.read_bytes())
    data[offset : offset + len(content)] = content
    path.write_bytes(data)


def test_what_is_refused(tmp_path):
    path = tmp_path / "x.nii"
    written(path, VALUES.astype(np.complex64))
    refused(path, "it is of type complex64")
    written(path, np.zeros((2, 2, 2), [("R", "u1"), ("G", "u1"), ("B", "u1")]))
    refused(path, "it is of type .*; integers and floats")
    path.write_bytes(b"no such file")
    refused(path, "it is not a NIfTI file")
    for offset, content, words in (
        (344, b"ni1\0", "it has no values: pairs of .hdr and .img"),
        (108, np.float32(100).tobytes(), "it claims to have its values at byte 100, within the header"),
        (
            108,
            np.float32(1e30).tobytes(),
            "its header, up to byte 1000000015047466219876688855040, is larger than",
        ),
        (108, np.float32(np.nan).tobytes(), "it is damaged: cannot convert float NaN"),
        (42, np.int16(-5).tobytes(), r"it claims to be of shape \[-5, 3, 2\]"),
        (42, np.int16(99).tobytes(), r"it ends after 48 bytes of values, its shape \[99, 3, 2\] has 1188"),
        (70, np.int16(999).tobytes(), "it is damaged: .*999"),
        (116, np.float32(np.inf).tobytes(), "it is damaged: Valid slope but invalid intercept"),
    ):
        written(path, change=scaled)
        patched(path, offset, content)
        refused(path, words)


def test_damaged_gzip(tmp_path):
    path = tmp_path / "x.nii.gz"
    written(path)
    data = path.read_bytes()
    path.write_bytes(data[:-30])
    refused(path, "it is damaged: Compressed file ended")
    path.write_bytes(data[:-8] + bytes(8))
    refused(path, "it is damaged: CRC check failed")


def test_few_bytes_that_become_many(tmp_path):
    before = storage.configure(max_sample_bytes=1 << 20)
    try:
        path = tmp_path / "x.nii.gz"
        written(path, np.zeros((128, 128, 64), np.uint8))
        refused(path, r"its volume of shape \[128, 128, 64\] is larger than the limit of 1048576 bytes")
        written(path, np.zeros((64, 64, 32), np.uint8), change=lambda image: None)
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + bytes(1 << 26)))
        assert opened("nifti", files=str(path)).load(0)[0].shape == (64, 64, 32)
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.parametrize("name", ["x.nii", "x.nii.gz"])
def test_fuzz(tmp_path, name):
    path = tmp_path / name
    written(path, change=scaled)
    read = reads(
        "readers.nifti", path, files=(str(path),), file_filter="*", with_affine=True, with_spacing=True
    )
    before = storage.configure(max_sample_bytes=1 << 22)
    try:
        assert refusals(read, path.read_bytes(), count=500, says=f"readers.nifti: .*{name}") > 50
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)
