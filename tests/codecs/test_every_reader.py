"""Every file that DALI, Pillow or OpenCV read without an error is read, with their pixels, or listed in docs/differences.md."""

import fnmatch
import io
import re
import warnings
from pathlib import Path

import numpy as np
import PIL
import pytest
from PIL import Image
from support import oracle, refusals
from support.image_files import KINDS, files

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.types import GRAY, RGB, YCbCr

LISTED = (Path(__file__).parents[2] / "docs/differences.md").read_text()

# Patterns of names of files that are refused, though others read them: what docs/differences.md says of them.
_MISSING = "of which a part is missing, or damaged"
_OTHERS = "that Pillow or OpenCV read and DALI does not"
REFUSED = {
    "jpeg": {"*cut*": _MISSING, "restarts, *": _MISSING},
    "png": {
        "no IEND": _OTHERS, "IEND without a checksum": _OTHERS, "data with*": _OTHERS, "no palette": _OTHERS,
        "a palette of ten bytes": _OTHERS, "the palette behind the data": _OTHERS,
    },
    "bmp": {"*, cut": _MISSING, "runs of * that are cut": _MISSING},
    "tiff": {"LZW, cut": _MISSING, "Lab, planes": _OTHERS},
    "pnm": {"PAM": _OTHERS, "PFM": _OTHERS},
}  # fmt: skip
# By what reads them, patterns of names of files whose pixels differ by more than `ROUNDING`, and why. Of DALI:
# what docs/differences.md says of them.
_RANGE = "takes another value for full intensity"
_FULL, _MASKS = "channels of 5 and 6 bits fill the range", "masks of 32 bits count with every header"
_FILL, _START = "where DALI reads past the file", "DALI takes its header for pixels"
_PLANES, _SECOND = "planes of 16 bits are put together", "takes each channel for a pixel"
_SYCC, _PROFILE = "DALI takes those of analog YUV", "Four channels with a CMYK profile are CMYK"
OTHER_PIXELS = {
    "pillow": {
        "pnm": {
            "* up to 1": _RANGE,
            "* up to 1??": _RANGE,
            "* up to 1?": _RANGE,
            "* up to 1023": _RANGE,
            "values *": _RANGE,
        },
        "jpeg2000": {
            "? bits": _RANGE,
            "1? bits": _RANGE,
            "CMYK by its profile": "takes it for RGB and alpha",
        },
        "tiff": {
            "*zero, 12 bits": _RANGE,
            "float": _RANGE,
            "white is zero, 16 bits": "leaves white and black as they are",
            "*, 16 bits, planes": "mixes planes",
            "RGB and extra 1, *": "divides by alpha",
            "Lab, *": "D65 in place of D50",
        },
    },
    "opencv": {
        "bmp": {
            "16 bits, *": _FULL,
            "5:?:5, header of 40": _FULL,
            "RGBX, header of ??": _MASKS,
            "XBGR, header of ??": _MASKS,
            "10*, header of ??": _MASKS,
            "* bits, no start": _START,
        },
        "jpeg2000": {
            "1? bits": _RANGE,
            "colours 18": _SYCC,
            "YCbCr by Pillow": _SYCC,
            "CMYK by its profile": _PROFILE,
        },
        "tiff": {"RGB and extra 2, *": "multiplies by alpha"},
    },
    "dali": {
        "bmp": {
            "5:?:5, header of 40": _FULL,
            "RGBX, header of ??": _MASKS,
            "XBGR, header of ??": _MASKS,
            "10*, header of ??": _MASKS,
            "* bits, no fill": _FILL,
            "* bits, no start": _START,
            "runs of 8 bits, longer than a row": "a run that is longer than its row ends with it",
        },
        "tiff": {
            "white is zero, 1? bits": "white is zero counts with 10 to 16 bits",
            "RGB*, 16 bits, planes": _PLANES,
            "four*, 16 bits, planes": _PLANES,
            "RGB and extra 2, 8 bits, planes": "an alpha in a plane of its own",
            "gray and *": _SECOND,
            "palette and alpha": _SECOND,
        },
        "jpeg2000": {"colours 18": _SYCC, "YCbCr by Pillow": _SYCC, "CMYK by its profile": _PROFILE},
        "pnm": {"gray up to 1023": "DALI keeps the upper 8", "RGB up to 1023": "DALI keeps the upper 8"},
    },
}
if int(PIL.__version__.partition(".")[0]) < 13:
    OTHER_PIXELS["pillow"]["bmp"] = {
        "runs of * with a move": "moves elsewhere",
        "runs of 4 bits as they are": "loses its place",
    }
    OTHER_PIXELS["pillow"]["tiff"]["YCbCr, planes"] = "takes them for RGB"
# Of DALI, and of GRAY alone.
OTHER_GRAYS = {"png": dict.fromkeys(("*gAMA", "*sRGB", "animation"), "weighs light")}
# Other readers round in another place: where 16 bits become 8, ink becomes light, colours come from a palette of 16 bits.
ROUNDING = {"pillow": 2, "opencv": 2, "dali": 0}


def by_pillow(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        picture = Image.open(io.BytesIO(data))
        picture.load()
    samples = np.asarray(picture if picture.mode in ("I", "I;16", "I;16B") else picture.convert("RGB"))
    if samples.ndim == 3:
        return samples
    return ((samples.astype(np.int64) * 255 + 32767) // 65535).astype(np.uint8)[..., None].repeat(3, 2)


def by_opencv(data):
    cv2 = pytest.importorskip("cv2")
    options = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), options)
    if picture is None:
        raise ValueError("OpenCV does not read it")
    return picture[..., ::-1]


def here(data, space=RGB):
    """The picture as stored, or None."""
    try:
        return codec.decode(data, output_type=space, adjust_orientation=False)
    except SampleError:
        return None


def listed(patterns, name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def problems(reader, read, wanted):
    """What is to be said of files that `read` reads; `wanted`: for each name the data, the picture here, the tolerance."""
    found = []
    for name, (data, got, most) in wanted.items():
        try:
            other = read(data)
        except Exception:
            continue
        if got is None:
            found.append(f"{name}: {reader} reads it")
        elif other.shape != got.shape:
            found.append(f"{name}: {got.shape}, {reader} has {other.shape}")
        elif (difference := int(np.abs(other.astype(int) - got.astype(int)).max())) > most:
            found.append(f"{name}: differs by {difference} from {reader}")
    return found


def wanted_of(kind, reader, space=RGB):
    """Files whose pixels must be those of a reader."""
    wanted = {}
    patterns = OTHER_PIXELS[reader].get(kind, {})
    if space == GRAY:
        patterns = patterns | OTHER_GRAYS.get(kind, {})
    for name, data in files(kind).items():
        if not listed(REFUSED.get(kind, ()), name):
            wanted[name] = (data, here(data, space), 255 if listed(patterns, name) else ROUNDING[reader])
    return wanted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("reader", "read"), [("pillow", by_pillow), ("opencv", by_opencv)])
def test_what_others_read(kind, reader, read):
    assert problems(reader, read, wanted_of(kind, reader)) == []


# Not ANY_DATA: of gray JPEG DALI writes past its buffer.
@pytest.mark.cases(5)
@pytest.mark.oracle
@pytest.mark.parametrize("space", [RGB, GRAY, YCbCr], ids=lambda space: space.name)
@pytest.mark.parametrize("kind", KINDS)
def test_what_dali_reads(kind, space):
    found = refusals.answer(say_problems, wanted_of(kind, "dali", space), space.name)
    assert found.refusal is None, found.refusal.text


def say_problems(wanted, space):
    """In the process with DALI, which may refuse a file."""
    dali = oracle.dali()

    def by_dali(data):
        pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            encoded = dali.fn.external_source(
                source=[[np.frombuffer(data, np.uint8)]], cycle=True, batch=True
            )
            space_there = getattr(dali.types, space)
            pipe.set_outputs(
                dali.fn.decoders.image(encoded, output_type=space_there, adjust_orientation=False)
            )
        pipe.build()
        return np.array(pipe.run()[0].at(0))

    found = problems("DALI", by_dali, wanted)
    if found:
        raise LookupError("\n".join(found))


@pytest.mark.parametrize("kind", REFUSED)
def test_listed_files_are_refused(kind):
    for name, data in files(kind).items():
        assert not listed(REFUSED[kind], name) or here(data) is None, name


def test_what_is_listed_is_in_the_documentation():
    words = re.sub(r"\s+", " ", LISTED)
    kinds = [*REFUSED.values(), *OTHER_PIXELS["dali"].values(), *OTHER_GRAYS.values()]
    assert {w for patterns in kinds for w in patterns.values() if w not in words} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_every_pattern_has_files(kind):
    patterns = [REFUSED, *OTHER_PIXELS.values(), OTHER_GRAYS]
    for pattern in (p for one in patterns for p in one.get(kind, ())):
        assert fnmatch.filter(files(kind), pattern), pattern


@pytest.mark.parametrize("kind", ["png", "tiff", "webp", "jpeg2000"])
def test_the_same_without_imagecodecs(kind, monkeypatch):
    """Or an error that says what to install."""
    before = {name: here(data) for name, data in files(kind).items()}
    for module in ("png", "tiff", "webp", "jpeg2000", "base"):
        monkeypatch.setattr(f"jdali.codecs.{module}.imagecodecs", lambda: None)
    compared = 0
    for name, data in files(kind).items():
        try:
            got = here(data)
        except ImportError:
            continue
        if got is not None and before[name] is not None:
            np.testing.assert_array_equal(got, before[name], err_msg=name)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("kind", KINDS)
def test_windows(kind):
    for name, data in files(kind).items():
        whole = here(data)
        if whole is not None and min(whole.shape[:2]) > 8:
            part = codec.decode(data, adjust_orientation=False, window=(2, 3, 5, 4))
            np.testing.assert_array_equal(part, whole[2:7, 3:7], err_msg=name)
