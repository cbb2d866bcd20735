"""Windows of JPEG files with restart markers: pixels of the whole picture, without what lies between them and its borders."""

import contextlib
import io
import itertools

import numpy as np
import pytest
from PIL import Image
from support.data import image
from support.fuzz import mutations
from support.image_files.jpeg import END, SAMPLINGS, flat, plain
from support.pictures import cmyk, exif, jpeg_with_exif, noise, pillow

import jdali
from jdali import SampleError, fn, types
from jdali.codecs import image as codec
from jdali.types import GRAY, RGB

HEIGHT, WIDTH = 99, 131
# y, x, height, width: at corners, at borders of tiles, within one, over most of the picture.
WINDOWS = [
    (0, 0, 16, 16),
    (20, 122, 30, 9),
    (98, 130, 1, 1),
    (31, 47, 2, 2),
    (64, 8, 16, 50),
    (4, 4, 90, 120),
]


def jpeg(interval, subsampling=2, channels=3):
    picture = noise(HEIGHT, WIDTH, channels) // 4 + image(HEIGHT, WIDTH, channels) // 2
    return pillow(picture, "jpeg", quality=90, subsampling=subsampling, restart_marker_blocks=interval)


def by_pillow(data, mode="RGB", denominator=1):
    picture = Image.open(io.BytesIO(data))
    picture.draft(mode, tuple(n // denominator for n in picture.size))
    return np.asarray(picture.convert(mode))


def markers(data):
    """Positions of the restart markers and of the end."""
    start = data.index(b"\xff\xda")
    return [i for i in range(start, len(data) - 1) if data[i] == 0xFF and 0xD0 <= data[i + 1] <= 0xD9]


def without(data, tiles):
    """The file with other codes in all segments but `tiles`."""
    changed = bytearray(data)
    ends = markers(data)
    for i, (begin, end) in enumerate(itertools.pairwise(ends), 1):
        if i not in tiles:
            changed[begin + 2 : end] = b"\x12" * (end - begin - 2)
    return bytes(changed)


# A tile of 1 or 3 MCUs, a row, a row and a half, two rows, several segments in 7 rows, all of the picture.
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("interval", [1, 3, 9, 17, 18, 34, 5, 1000])
def test_windows_are_those_of_the_whole_picture(interval, subsampling):
    data = jpeg(interval, subsampling)
    for denominator in (1, 2, 4, 8):
        want = by_pillow(data, denominator=denominator)
        for window in WINDOWS:
            got = codec.decode(data, window=window, denominator=denominator)
            y, x = (
                min(n // denominator, m - k)
                for n, m, k in zip(window, want.shape[:2], got.shape[:2], strict=False)
            )
            np.testing.assert_array_equal(got, want[y : y + got.shape[0], x : x + got.shape[1]], str(window))


@pytest.mark.parametrize(
    "factors", [*SAMPLINGS, [(2, 2)], [(1, 2), (1, 1), (1, 1)], [(4, 1), (1, 1), (1, 1)]], ids=str
)
def test_any_sampling(factors):
    data = flat(HEIGHT, WIDTH, factors, interval=1)
    whole = codec.decode(data)
    for y, x, height, width in WINDOWS:
        got = codec.decode(data, window=(y, x, height, width))
        np.testing.assert_array_equal(got, whole[y : y + height, x : x + width])


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_gray_and_turned(orientation):
    data = jpeg_with_exif(jpeg(17, channels=None), exif(orientation))
    for space in (GRAY, RGB):
        whole = codec.decode(data, output_type=space)
        got = codec.decode(data, output_type=space, window=(31, 27, 20, 30))
        np.testing.assert_array_equal(got, whole[31:51, 27:57])
    np.testing.assert_array_equal(
        codec.decode(jpeg(17, channels=None), output_type=GRAY, window=(9, 9, 9, 9))[..., 0],
        by_pillow(jpeg(17, channels=None), "L")[9:18, 9:18],
    )


def test_what_lies_outside_of_the_tiles_is_not_decoded():
    # 7 rows of 9 MCUs of 16 pixels; the window touches those of rows 2 and 3, columns 4 and 5.
    data = jpeg(1)
    changed = without(data, [2 * 9 + 4, 2 * 9 + 5, 3 * 9 + 4, 3 * 9 + 5])
    window = (40, 70, 20, 20)
    np.testing.assert_array_equal(codec.decode(changed, window=window), by_pillow(data)[40:60, 70:90])
    with pytest.raises(SampleError):
        codec.decode(changed)
    with pytest.raises(SampleError):
        codec.decode(changed, window=(40, 70, 20, 30))


@pytest.mark.cases(1)
@pytest.mark.parametrize("scaled", [False, True])
def test_every_decoder_gives_the_pixels_of_a_file_without_markers(scaled):
    @jdali.pipeline_def(batch_size=3, num_threads=1, device_id=None, scaled_decoding=scaled, seed=3)
    def pipeline(encoded):
        jpegs = fn.external_source(lambda: [np.frombuffer(encoded, np.uint8)] * 3)
        parts = [
            fn.decoders.image_crop(jpegs, crop=(40, 40)),
            fn.decoders.image_slice(jpegs, start=[70, 30], shape=[40, 50]),
            fn.decoders.image_random_crop(jpegs, random_area=[0.1, 0.5]),
        ]
        kind = types.INTERP_LINEAR if scaled else types.INTERP_NN  # compiles quickly
        return tuple(fn.resize(part, size=[16, 16], interp_type=kind) for part in parts)

    for got, want in zip(pipeline(jpeg(1)).run(), pipeline(jpeg(0)).run(), strict=True):
        np.testing.assert_array_equal(got.as_array(), want.as_array())


def test_the_decoder_of_dynamic_mode_leaves_out_the_same():
    data = jpeg(1)
    spoilt = without(data, [row * 9 + column for row in (2, 3) for column in (4, 5)])
    got = jdali.dynamic.decoders.image_slice(np.frombuffer(spoilt, np.uint8), start=[70, 40], shape=[20, 20])
    np.testing.assert_array_equal(got, by_pillow(data)[40:60, 70:90])


def changed_markers(data):
    """Files whose markers are missing, wrong, doubled or in another order."""
    ends = markers(data)
    rng = np.random.default_rng(1)
    for _ in range(150):
        one = bytearray(data)
        p, q = sorted(rng.choice(ends, 2, replace=False).tolist())
        match rng.integers(6):
            case 0:
                one[p + 1] = 0xD0 + rng.integers(10)
            case 1:
                del one[p : p + 2]
            case 2:
                one[p:p] = bytes([0xFF, 0xD0 + rng.integers(8)])
            case 3:
                del one[p:q]
            case 4:
                one[p:p] = rng.bytes(3)
            case 5:
                one[p], one[p + 1], one[q], one[q + 1] = one[q], one[q + 1], one[p], one[p + 1]
        yield bytes(one)


@pytest.mark.cases(1)
@pytest.mark.parametrize("interval", [1, 5, 3])
def test_damaged_files_never_give_other_pixels(interval, monkeypatch):
    monkeypatch.setattr(codec, "MAX_PIXELS", 1_000_000)
    data = jpeg(interval)
    shown = 0
    for damaged in [*mutations(data, count=150), *changed_markers(data)]:
        try:
            whole = codec.decode(damaged)
        except SampleError:
            whole = None
        for y, x, height, width in ((40, 70, 20, 20), (0, 100, 40, 20), (66, 0, 14, 60)):
            if whole is None:
                with contextlib.suppress(SampleError):  # damage that nobody looked at is no error
                    assert codec.decode(damaged, window=(y, x, height, width)).shape == (height, width, 3)
            elif whole.shape[0] >= y + height and whole.shape[1] >= x + width:
                got = codec.decode(damaged, window=(y, x, height, width))
                np.testing.assert_array_equal(got, whole[y : y + height, x : x + width])
                shown += 1
    assert shown > 50


@pytest.mark.parametrize(
    "data",
    [
        plain(progressive=True, restart_marker_blocks=1),
        cmyk(noise(40, 56, 4), "jpeg", restart_marker_blocks=1),
        flat(40, 56, [(1, 1)] * 3, [[0], [1], [2]], interval=1),
    ],
    ids=["progressive", "CMYK", "a scan a component"],
)
def test_files_that_are_decoded_whole(data):
    whole = codec.decode(data)
    np.testing.assert_array_equal(codec.decode(data, window=(3, 20, 9, 30)), whole[3:12, 20:50])


def test_a_file_without_an_end_raises():
    data = jpeg(1)
    for end in (b"", bytes(900)):
        with pytest.raises(SampleError, match="premature end|restart markers are missing"):
            codec.decode(data[: 2 * len(data) // 3] + end, window=(0, 0, 20, 20))
    ended = codec.decode(data[:-2] + END + b"\xff\xd0 and more", window=(0, 0, 20, 20))
    np.testing.assert_array_equal(ended, by_pillow(data)[:20, :20])
