"""No byte of data chooses more memory or time than the limits: hostile headers of every format, read in a child process.

Each case is a small file that asks for much. It is read as its header deserves: with an error that says what is asked
for, or, where it is harmless after all, with a value. Neither takes more than `SECONDS` of processor time (not of the
clock) or `MEMORY` beyond what the process has.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from support import hostile
from support.data import SHARED
from support.fuzz import survives
from support.readers import everything

from jdali import storage
from jdali.codecs import audio, fits, image, npy, video
from jdali.ops.decoders import _video

SECONDS, MEMORY = 4, 160 << 20
LIMITS = {"max_pixels": 4_000_000, "max_sample_bytes": 32 << 20, "max_items": 100_000}
MILLION = 1_000_000


def has(module):
    return importlib.util.find_spec(module) is not None


def window(data):
    image.decode(data, window=(0, 0, 2, 2))


def resampled(data):
    audio.decode(data, sample_rate=16000)


def frames(data):
    with video.in_memory(data) as source:
        video.build_index(source)


def long_sequence(data):
    _video.video.run(np.frombuffer(data, np.uint8), sequence_length=1 << 40)


def hdu(data):
    fits.decode(data, [2])


def stored(name, **args):
    """A reader of the file `name` in the working folder."""

    def read(data):
        Path(name).write_bytes(data)
        everything(args.pop("reader"), **args)

    return read


def lists(reader, argument="file_list", **args):
    return stored("list.txt", reader=reader, **{argument: "list.txt"}, **args)


def coco(**args):
    return stored("a.json", reader="coco", file_root=".", annotations_file="a.json", **args)


def annotations(images, objects):
    categories = [{"id": n} for n in range(1 + len(objects))]
    return json.dumps({"images": images, "annotations": objects, "categories": categories}).encode()


def masks_of_many_labels():
    size = {"height": 1000, "width": 1000}
    runs = [{"counts": [n, MILLION - 2 * n, n], "size": [1000, 1000]} for n in range(12_000)]
    objects = [
        {"image_id": 1, "category_id": n, "bbox": [0, 0, 1, 1], "segmentation": r} for n, r in enumerate(runs)
    ]
    return annotations([{"id": 1, "file_name": "a.json", **size}], objects)


def zigzag():
    """A polygon each of whose edges crosses all columns."""
    polygon = [n % 2 * 1e6 if n % 2 == 0 else 0 for n in range(2)] + [
        v for n in range(5000) for v in (n % 2 * 1e6, n)
    ]
    thing = {"image_id": 1, "category_id": 0, "bbox": [0, 0, 1, 1], "segmentation": [polygon]}
    return annotations([{"id": 1, "file_name": "a.json", "height": 1, "width": MILLION}], [thing])


IMAGES = {
    "surplus of a PNG": (hostile.png_with_surplus(40, 2000), image.decode, None),
    "surplus of a PNG, a window of it": (hostile.png_with_surplus(40, 2000), window, None),
    "surplus of an interlaced PNG": (hostile.png_with_surplus(40, 2000, interlaced=True), image.decode, None),
    "scans of a JPEG": (hostile.jpeg_of_scans(2000, 3000), image.decode, "at least 101 scans is larger than the limit of 100"),
    "pixels of a TIFF": (hostile.tiff(1900, 1900), image.decode, "bytes of data cannot hold 3610000 bytes"),
    "pixels of a Deflate TIFF": (hostile.tiff(1900, 1900, compression=8), image.decode, "8 bytes of data cannot"),
    "pixels of a TIFF of runs": (hostile.tiff(1900, 1900, compression=32773), image.decode, "8 bytes of data"),
    "channels of a TIFF": (hostile.tiff(9, 9, channels=9000, compression=1, size=729_000), image.decode, "1024 channels"),
    "tiles of a TIFF": (hostile.tiff(9, 9, tile=(1 << 15, 1 << 15)), image.decode, "tiles are far larger"),
    "pixels of a BMP": (hostile.bmp(1900, 1900, 8), image.decode, "0 bytes of 3610000"),
    "pixels of a BMP of 32 bits": (hostile.bmp(1900, 1900, 32), image.decode, "0 bytes of 14440000"),
    "pixels of a WebP": (hostile.webp(16000, 16000), image.decode, r"16000x16000x3 is larger .* 4000000 pixels"),
    "numbers after a PNM": (b"P2\n1 1\n255\n" + b"1 " * 3 * MILLION, image.decode, None),
    "pixels of a PNM": (b"P3\n2000 2000\n255\n1", image.decode, "1 numbers of 12000000"),
    "components of a JPEG 2000": (
        hostile.jpeg2000(8, 8, components=16000), image.decode, "8x8x16000 is larger .* 1024 channels"),
    "tiles of a JPEG 2000": (hostile.jpeg2000(250, 250, tile=(1, 1)), image.decode, "cannot hold 62500 tiles"),
    "precincts of a JPEG 2000": (
        hostile.jpeg2000(2000, 2000, precinct=0), image.decode, "cannot hold 4000000 packets"),
    "layers of a JPEG 2000": (
        hostile.jpeg2000(1000, 1000, precinct=4, layers=60000), image.decode, "cannot hold 238140000 packets"),
    "code-blocks of a JPEG 2000": (
        hostile.jpeg2000(1000, 4000, block=0, components=8), image.decode, "claim 2000000 code-blocks"),
    "precincts that a tile tells": (
        hostile.jpeg2000(2000, 2000, precinct=0, where="tile"), image.decode, "cannot hold 4000000 packets"),
    "precincts that a component tells": (
        hostile.jpeg2000(2000, 2000, precinct=0, where="component"), image.decode, "cannot hold 4000000 packets"),
    "samples of a JPEG 2000": (
        hostile.jpeg2000(1900, 1900, components=3), image.decode, "image of 1900x1900x3 takes.*max_sample_bytes"),
}  # fmt: skip
WITH_IMAGECODECS = {
    "surplus of an interlaced PNG of 16 bits": (
        hostile.png_with_surplus(40, 2000, depth=16, interlaced=True), image.decode, None),
    "surplus of a PNG of 16 bits": (hostile.png_with_surplus(40, 2000, depth=16), image.decode, None),
}  # fmt: skip
SOUNDS = {
    "1 Hz to 16000 Hz": (hostile.wav([1, 2, 3, 4, 5], 1), resampled, None),
    "odd rates": (hostile.wav(range(300), 7), resampled, None),
    "channels that are resampled": (hostile.wav([1] * 10 * 1024, 40, channels=1024), resampled, None),
    "a minute of 1 Hz": (hostile.wav([1] * 60_000, 1), resampled, "60000 samples.* to 16000 Hz, 960000000 values"),
    "length of a FLAC": (hostile.flac((1 << 36) - 1), audio.decode, "68719476735 samples .* is larger than"),
}  # fmt: skip
ARRAYS = {
    "size of an array": (
        hostile.npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,), }"), npy.decode, "promises"),
    "an axis without elements": (
        hostile.npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000000), }"), npy.decode, None),
    "a long header": (
        hostile.npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", padding=60_000), npy.decode, None),
}  # fmt: skip
LISTS = {
    "lines of a list": (b"\n" * MILLION, lists("file"), "1000000 lines are more than the limit of 100000 entries"),
    "lines of a list of arrays": (b"\n" * MILLION, lists("numpy"), "1000000 lines are more than the limit"),
    "lines of a manifest": (
        b"\n" * MILLION, lists("nemo_asr", "manifest_filepaths"), "1000000 lines are more than the limit"),
    "lines of an index": (
        b"\n" * MILLION, lists("mxnet", "index_path", path="list.txt"), "1000000 lines are more than the limit"),
    "lines of an index of an archive": (
        b"\n" * MILLION, lists("webdataset", "index_paths", paths="list.txt", ext="a"), "1000000 lines are more"),
    "entries of a JSON": (b'{"images": [' + b"{}," * MILLION, coco(), "1000001 entries are more than the limit"),
    "pixels of a mask": (
        annotations(
            [{"id": 1, "file_name": "a.json", "height": 1 << 20, "width": 1 << 20}],
            [{"image_id": 1, "category_id": 0, "bbox": [0, 0, 1, 1], "segmentation": [[0, 0, 1, 1, 0, 1]]}],
        ),
        coco(pixelwise_masks=True), "1048576 x 1048576 is larger than the limit of 4000000 pixels"),
    "labels of masks": (masks_of_many_labels(), coco(pixelwise_masks=True), None),
    "edges of polygons": (zigzag(), coco(pixelwise_masks=True), "more than 16777216 are not drawn"),
}  # fmt: skip
WITH_AV = {
    "table of a video": (hostile.mp4(60 * MILLION), frames, "60000000 frames in 648 bytes"),
    "fragment of a video": (hostile.mp4(60 * MILLION, fragment=True), frames, "60000000 frames in"),
    "frames without bytes": (
        hostile.mp4(60 * MILLION, frame_bytes=0, fragment=True), frames, "60000000 frames in"),
    "compressed header of a video": (hostile.mp4(60 * MILLION, compressed=True), frames, "60000000 frames in"),
    "frames that are asked for": (hostile.mp4(10), long_sequence, "1099511627776 frames is larger.*max_frames"),
}  # fmt: skip


def cases():
    found = IMAGES | SOUNDS | ARRAYS | LISTS
    if has("imagecodecs"):
        found |= WITH_IMAGECODECS
    if has("av"):
        found |= WITH_AV
    if has("astropy"):
        found["tiles of a FITS image"] = (
            hostile.fits_of_gzip(400),
            hdu,
            "a tile of it has more than 128 bytes",
        )
    return found


def read_all():
    """Reads all cases, and all bad files of the data pack; prints the names of those that did not behave."""
    storage.configure(**LIMITS)
    image.decode(hostile.png_with_surplus(8, 0))  # what is loaded on first use counts for no case
    resampled(hostile.wav([1, 2, 3], 8000))
    for name, (data, read, says) in cases().items():
        try:
            was_read = survives(read, data, says=says or "", seconds=SECONDS, memory=MEMORY)
            assert was_read == (says is None), "it was read" if was_read else "it was refused"
        except AssertionError as error:
            print(f"{name}: {str(error)[:500]}", flush=True)
    decoders = {"audio": audio.decode, "numpy": npy.decode} | ({"video": frames} if has("av") else {})
    for path in sorted((SHARED / "bad").glob("*/*.*")):
        read = decoders.get(path.parent.name, image.decode)
        try:
            survives(read, path.read_bytes(), seconds=SECONDS, memory=MEMORY)
        except AssertionError as error:
            print(f"{path}: {str(error)[:500]}", flush=True)


def test_hostile_headers(tmp_path):
    """One process for all of them: importing takes longer than the cases."""
    folder = Path(__file__).parent
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(folder.parent)!r}]\n"
    code += "import test_limits\ntest_limits.read_all()\nprint('done')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=280, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr[-3000:]) == (0, "done\n", "")
