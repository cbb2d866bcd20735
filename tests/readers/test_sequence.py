"""readers.sequence: which images make which sequences; by hand and against DALI."""

import itertools

import numpy as np
import pytest
from PIL import Image
from support import oracle
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened

from jdali import fn, pipeline_def, types
from jdali._operators.record import REGISTRY, ReaderOp

STREAMS = [
    "a/1.png", "a/10.png", "a/2.PNG", "a/.3.png", "a/3.bmp", "a/4.ppm", "a/5.tif", "a/6.tiff", "a/A.webp",
    "B/0.png", ".h/1.png", "c d/1.png", "c d/2.png", "top.png", "a/sub/1.png",
]  # fmt: skip
# In the order of their names, as bytes; the number of each is its position above.
ORDER = [[9], [0, 1, 2, 4, 5, 6, 7, 8], [11, 12]]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("streams")
    for i, name in enumerate(STREAMS):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        lossless = {"lossless": True} if name.endswith("webp") else {}
        Image.fromarray(np.full((3, 4, 3), 10 * i, np.uint8)).save(root / name, **lossless)
    (root / "a" / "x.gif").write_bytes(b"GIF")
    (root / "a" / "t.txt").write_text("x")
    (root / "empty").mkdir()
    return root


def numbers(**args):
    """For each sequence the numbers of its images."""
    samples = everything("sequence", **args)
    assert all(len(s) == 1 and s[0].dtype == np.uint8 and s[0].shape[1:] == (3, 4, 3) for s in samples)
    return [(s[0][:, 0, 0, 0] // 10).tolist() for s in samples]


def test_sequences(root):
    a = ORDER[1]
    assert numbers(file_root=str(root), sequence_length=1) == [[n] for stream in ORDER for n in stream]
    assert numbers(file_root=str(root), sequence_length=2) == [
        *([x, y] for x, y in itertools.pairwise(a)), [11, 12]
    ]  # fmt: skip
    assert numbers(file_root=str(root), sequence_length=2, step=3, stride=4) == [[a[0], a[4]], [a[3], a[7]]]
    assert numbers(file_root=str(root), sequence_length=8) == [a]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"sequence_length": 1}, {"sequence_length": 2}, {"sequence_length": 2, "step": 3, "stride": 4},
        {"sequence_length": 3, "step": 2}, {"sequence_length": 8, "step": 5},
    ],
    ids=str,
)  # fmt: skip
def test_as_dali(root, args):
    expected = dali_everything("sequence", file_root=str(root), **args)
    assert_same(everything("sequence", file_root=str(root), **args), expected)


@pytest.mark.oracle
@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
@pytest.mark.parametrize("kind", [types.RGB, types.GRAY, types.BGR], ids=str)
def test_data_pack_as_dali(kind):
    oracle.dali()
    args = {"file_root": str(SHARED / "sequence"), "sequence_length": 3, "step": 2, "stride": 2}
    expected = dali_everything("sequence", **args, image_type=oracle.translate(kind))
    assert_same(everything("sequence", **args, image_type=kind), expected)


def test_bad_frames_are_of_their_sequence(tmp_path):
    (tmp_path / "s").mkdir()
    for i in range(6):
        size = (4, 5) if i == 4 else (4, 3)
        Image.new("RGB", size).save(tmp_path / "s" / f"{i}.png")
    (tmp_path / "s" / "1.png").write_bytes(b"nothing")
    found = failures(opened("sequence", file_root=str(tmp_path), sequence_length=2))
    assert sorted(found) == [0, 1, 3, 4]
    assert "s/1.png: not an image of a known format" in found[0]
    assert "s/4.png: it is 5 x 4 x 3, but the first image of the sequence, " in found[3]
    assert "s/3.png, is 3 x 4 x 3" in found[3]
    (tmp_path / "s" / "2.png").unlink()


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ({"sequence_length": 0}, ValueError, "Sequence length must be positive, sequence_length is 0"),
        ({"sequence_length": 1, "step": 0}, ValueError, "Step must be positive, step is 0"),
        ({"sequence_length": 1, "stride": -1}, ValueError, "Stride must be positive, stride is -1"),
        ({"sequence_length": 9}, ValueError, "not a sequence of 9 images with a stride of 1: the longest of 3 streams has 8"),
        ({"sequence_length": 1, "file_root": "/no/such"}, FileNotFoundError, "cannot list .* /no/such: No such"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments(root, args, error, message):
    with pytest.raises(error, match=f"^readers.sequence: .*{message}"):
        opened("sequence", **{"file_root": str(root), **args})


def test_no_images(root, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path, root / "c d"):
        with pytest.raises(ValueError, match="there are no images in the subfolders of "):
            opened("sequence", file_root=str(folder), sequence_length=1)


def test_in_a_pipeline(root):
    @pipeline_def(batch_size=2, num_threads=2, device_id=None)
    def pipeline():
        return fn.readers.sequence(file_root=str(root), sequence_length=2, name="r")

    pipe = pipeline()
    try:
        (frames,) = pipe.run()
        assert frames.layout() == "FHWC"
        assert frames.at(1).shape == (2, 3, 4, 3)
        assert pipe.reader_meta("r")["epoch_size"] == 8
    finally:
        pipe.close()


def test_a_remote_sequence_has_its_layout(root):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for name in ("c d/1.png", "c d/2.png"):
        memory.pipe(f"/sequences/{name}", (root / name).read_bytes())

    @pipeline_def(batch_size=1, num_threads=2, device_id=None)
    def pipeline():
        return fn.readers.sequence(file_root="memory://sequences", sequence_length=2)

    pipe = pipeline()
    try:
        (frames,) = pipe.run()
        assert frames.layout() == "FHWC"
        assert (frames.at(0)[:, 0, 0, 0] // 10).tolist() == [11, 12]
    finally:
        pipe.close()


def test_record():
    record = REGISTRY["readers.sequence"]
    assert (type(record), record.outputs) == (ReaderOp, 1)
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument
