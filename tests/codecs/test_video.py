"""Videos: the index, exact access to frames, pixels, bad and hostile data."""

import contextlib
import functools
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.data import SHARED
from support.videos import av, encode, numbers_of, pictures

from jdali import SampleError
from jdali.codecs import image, video
from jdali.codecs.video import PADDING, VideoDecoder, VideoIndex, build_index, in_memory
from jdali.codecs.video_frames import fill_values, pad, padding_mode
from jdali.types import YCbCr

av()
COUNT = 24
B_FRAMES = {"bf": "3", "b-pyramid": "normal", "b_strategy": "0", "g": "8", "sc_threshold": "0"}
CLIPS = {
    "H.264, B frames": {"options": B_FRAMES},
    "H.264, open GOP": {"options": B_FRAMES | {"x264-params": "open-gop=1"}},
    "H.264, one key frame": {"options": B_FRAMES | {"g": "250"}},
    "H.264, interlaced": {"options": B_FRAMES | {"x264-params": "interlaced=1"}},
    "H.264, mkv": {"container": "matroska", "options": B_FRAMES},
    "H.264, mov": {"container": "mov", "options": B_FRAMES},
    "H.264, ts": {"container": "mpegts", "options": B_FRAMES},
    "H.264, raw stream": {"container": "h264", "options": B_FRAMES},
    "H.264, fragmented": {
        "options": {"g": "8", "bf": "0"}, "container_options": {"movflags": "frag_keyframe+empty_moov"}
    },
    "H.264, 4:4:4": {"pix_fmt": "yuv444p", "options": {"g": "8"}},
    "HEVC": {"codec": "libx265", "options": {"x265-params": "log-level=none:pools=none:keyint=8"}},
    "HEVC, layers": {
        "codec": "libx265",
        "options": {"x265-params": "log-level=none:pools=none:keyint=8:bframes=3:temporal-layers=3"},
    },
    "HEVC, 10 bit": {
        "codec": "libx265", "pix_fmt": "yuv420p10le",
        "options": {"x265-params": "log-level=none:pools=none:keyint=8"},
    },
    "VP8, hidden frames": {
        "codec": "libvpx", "container": "webm", "options": {"auto-alt-ref": "1", "lag-in-frames": "16", "g": "12"}
    },
    "VP9": {"codec": "libvpx-vp9", "container": "webm", "options": {"g": "8"}},
    "VP9, mp4": {"codec": "libvpx-vp9", "options": {"g": "8"}},
    "MPEG-4": {"codec": "mpeg4", "container": "avi", "options": {"g": "8", "q": "3"}},
    "MPEG-4, B frames": {"codec": "mpeg4", "options": {"g": "8", "bf": "2", "q": "3"}},
    "MPEG-2": {"codec": "mpeg2video", "container": "mpeg", "options": {"g": "8", "bf": "2", "q": "3"}},
    "MJPEG": {"codec": "mjpeg", "container": "avi", "pix_fmt": "yuvj420p"},
    "AV1": {"codec": "libsvtav1", "options": {"g": "8"}},
    "FFV1": {"codec": "ffv1", "container": "matroska", "pix_fmt": "bgr0"},
}  # fmt: skip
# x265 writes past its memory when pictures are smaller than its blocks of 64 pixels, and may then hang or crash.
SIZES = {"HEVC": (64, 64), "HEVC, layers": (64, 64), "HEVC, 10 bit": (64, 64)}
TIMES = np.cumsum([0] + [40, 20, 33, 100, 50, 17, 66] * 4)[:COUNT]


@pytest.fixture(scope="module")
def clips():
    """Content of the clips, by name, made when they are asked for."""
    made = {}

    def clip(name):
        if name not in made:
            made[name] = encode(pictures(COUNT, *SIZES.get(name, (32, 48))), **CLIPS[name])
        return made[name]

    return clip


def opened(path):
    return VideoDecoder(str(path), build_index(str(path)))


@pytest.mark.parametrize("name", CLIPS)
def test_every_frame_from_everywhere(clips, name, tmp_path):
    path = tmp_path / "clip"
    path.write_bytes(clips(name))
    decoder = opened(path)
    whole = decoder.read(np.arange(COUNT))
    assert whole.shape == (COUNT, *SIZES.get(name, (32, 48)), 3)
    assert numbers_of(whole) == list(range(COUNT))
    for number in np.random.default_rng(0).permutation(COUNT).tolist():
        np.testing.assert_array_equal(decoder.read(np.array([number]))[0], whole[number])
    decoder.close()
    for number in (0, 7, 9, COUNT - 1):  # without anything decoded before
        decoder = opened(path)
        np.testing.assert_array_equal(decoder.read(np.array([number]))[0], whole[number])
        decoder.close()


def test_lossless_frames_are_exact(tmp_path):
    frames = np.random.default_rng(0).integers(0, 256, (5, 31, 47, 3), np.uint8)
    path = tmp_path / "clip"
    path.write_bytes(encode(frames, "ffv1", "matroska", pix_fmt="bgr0"))
    decoder = opened(path)
    np.testing.assert_array_equal(decoder.read(np.array([4, 0, 4, 2])), frames[[4, 0, 4, 2]])
    padded = decoder.read(np.array([1, PADDING, PADDING]), fill=(1, 2, 3))
    np.testing.assert_array_equal(padded[0], frames[1])
    assert (padded[1:] == [1, 2, 3]).all()
    assert decoder.read(np.zeros(0, np.int64)).shape == (0, 31, 47, 3)
    with pytest.raises(SampleError, match="there is no frame 5, the video has 5"):
        decoder.read(np.array([5]))
    decoder.close()
    decoder.close()


@pytest.mark.parametrize("start", [0, 1500])
@pytest.mark.parametrize(
    ("codec", "container"), [("libx264", "matroska"), ("libx264", "mp4"), ("libvpx", "webm")]
)
def test_variable_rate_and_late_start(codec, container, start, tmp_path):
    path = tmp_path / "clip"
    path.write_bytes(encode(pictures(COUNT), codec, container, times_ms=TIMES + start))
    index = build_index(str(path))
    # Files tell times in ticks of at most 1 ms; the first frame is at 0 whatever the file says.
    np.testing.assert_allclose(index.seconds(), TIMES / 1000, rtol=0, atol=1e-9)
    decoder = VideoDecoder(str(path), index)
    order = np.random.default_rng(1).permutation(COUNT)
    for number in order.tolist():
        assert numbers_of(decoder.read(np.array([number]))) == [number]
    decoder.close()


def test_neighbours_are_not_searched_for(clips, tmp_path, monkeypatch):
    path = tmp_path / "clip"
    path.write_bytes(clips("H.264, one key frame"))
    decoder = opened(path)
    moves = []
    for name in ("_seek", "_begin"):
        monkeypatch.setattr(decoder, name, lambda *a, n=name: moves.append(n))
    for first in range(0, COUNT, 4):
        assert numbers_of(decoder.read(np.arange(first, first + 4))) == list(range(first, first + 4))
    assert not moves
    decoder.close()


@pytest.mark.parametrize(
    ("name", "some_left_out"),
    [("H.264, one key frame", True), ("H.264, interlaced", False), ("HEVC", True), ("HEVC, layers", False)],
)
def test_frames_before_the_wanted_one_that_no_other_needs_are_left_out(
    clips, name, some_left_out, tmp_path, monkeypatch
):
    path = tmp_path / "clip"
    path.write_bytes(clips(name))
    decoder = opened(path)
    seen, number_of = [], decoder._number
    monkeypatch.setattr(decoder, "_number", lambda frame: seen.append(number_of(frame)) or seen[-1])
    assert numbers_of(decoder.read(np.array([7]))) == [7]
    if name == "H.264, interlaced":  # it is decoded again once its first frame shows that it is
        assert seen.pop(0) == 0
    assert (seen != list(range(seen[0], 8))) == some_left_out
    assert numbers_of(decoder.read(np.arange(8, COUNT, 5))) == list(range(8, COUNT, 5))
    decoder.close()


class Misled:
    """A container of which a seek leads to a frame after the one asked for, also to one that is no key frame."""

    def __init__(self, container, ticks, shift):
        self._container, self._ticks, self._shift = container, ticks, shift
        self.seeks = 0

    def seek(self, tick, stream):
        index = min(int(np.searchsorted(self._ticks, tick)) + self._shift, len(self._ticks) - 1)
        self._container.seek(int(self._ticks[index]), stream=stream, any_frame=True)
        self.seeks += 1

    def __getattr__(self, name):
        return getattr(self._container, name)


@pytest.mark.parametrize("shift", [1, 3, 8, 11])
@pytest.mark.parametrize("name", ["H.264, B frames", "HEVC", "VP9, mp4", "MPEG-4, B frames", "AV1"])
def test_a_seek_that_leads_too_far_gives_no_frame_without_its_key_frame(clips, name, shift, tmp_path):
    path = tmp_path / "clip"
    path.write_bytes(clips(name))
    decoder = opened(path)
    whole = decoder.read(np.arange(COUNT))
    misled = 0
    for number in (COUNT - 1, 12, 19, 9, 17, 21, 14):
        if not isinstance(decoder._container, Misled):  # it is opened again where no key frame helps
            decoder._container = Misled(decoder._container, decoder._index.ticks, shift)
        container = decoder._container
        np.testing.assert_array_equal(decoder.read(np.array([number]))[0], whole[number])
        misled += container.seeks
    decoder.close()
    assert misled


def test_no_threads_and_no_output(clips, tmp_path):
    path = tmp_path / "clip"
    data = bytearray(clips("HEVC"))
    data[2500:2540] = bytes(40)  # damaged: FFmpeg has something to say
    path.write_bytes(data)
    script = (
        "import os, sys, numpy as np\n"
        "from jdali.codecs.video import VideoDecoder, build_index\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "before = count()\n"
        f"index = build_index({str(path)!r})\n"
        f"decoder = VideoDecoder({str(path)!r}, index)\n"
        "try:\n    decoder.read(np.arange(len(index)))\nexcept ValueError:\n    pass\n"
        "assert count() == before, (count(), before)\n"
    )
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("the system does not tell the threads of a process")
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_index_as_arrays(clips):
    with in_memory(clips("H.264, B frames")) as source:
        index = build_index(source)
    again = VideoIndex.of_arrays(index.as_arrays())
    assert (again.tick, again.height, again.width, again.counted) == (index.tick, 32, 48, False)
    np.testing.assert_array_equal(again.ticks, index.ticks)
    np.testing.assert_array_equal(again.keys, [0, 8, 16])


@pytest.mark.parametrize(
    ("matrix", "red", "blue"), [(1, 0.2126, 0.0722), (5, 0.299, 0.114), (2, 0.299, 0.114)]
)
@pytest.mark.parametrize("full", [False, True])
def test_matrix_and_range_are_those_of_the_video(matrix, red, blue, full, tmp_path):
    """Flat frames of known Y, Cb, Cr (stored without loss) against the formula."""
    library = av()
    colours = np.array([(80, 100, 160), (180, 150, 90), (120, 128, 128), (60, 110, 140)])
    planes = np.empty((4, 3, 32, 48), np.uint8)
    planes[:] = colours[:, :, None, None]
    with library.open(str(tmp_path / "clip.mkv"), "w") as file:
        stream = file.add_stream("ffv1", rate=25)
        stream.height, stream.width, stream.pix_fmt = 32, 48, "yuv444p"
        context = stream.codec_context
        context.colorspace, context.color_range = matrix, 2 if full else 1
        for picture in planes:
            frame = library.VideoFrame.from_ndarray(picture, format="yuv444p")
            frame.colorspace, frame.color_range = matrix, 2 if full else 1
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    y, cb, cr = colours.T.astype(float)
    y, chroma = (y, 1.0) if full else ((y - 16) * 255 / 219, 255 / 224)
    r = y + 2 * (1 - red) * (cr - 128) * chroma
    b = y + 2 * (1 - blue) * (cb - 128) * chroma
    expected = np.stack([r, (y - red * r - blue * b) / (1 - red - blue), b], axis=-1)
    decoder = opened(tmp_path / "clip.mkv")
    got = decoder.read(np.arange(4))
    assert (got == got[:, :1, :1]).all()
    # 1: FFmpeg works with fixed-point coefficients.
    np.testing.assert_allclose(got[:, 0, 0], np.clip(expected, 0, 255), rtol=0, atol=1)
    ycbcr = decoder.read(np.arange(4), image_type=YCbCr)
    if not full and matrix != 1:  # then it is what is stored
        np.testing.assert_array_equal(ycbcr[:, 5, 5], colours)
    # By BT.601 in studio range, whatever the video has.
    rgb = np.clip(expected, 0, 255)
    luma = 16 + (rgb @ [0.299, 0.587, 0.114]) * 219 / 255
    np.testing.assert_allclose(ycbcr[:, 0, 0, 0], luma, rtol=0, atol=1.5)
    decoder.close()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [1, -1, -1, 2, -1, -1]), ("edge", [1, 4, 4, 2, 0, 4]),
        ("reflect_1001", [1, 4, 0, 2, 1, 3]), ("reflect_101", [1, 3, 0, 2, 2, 2]),
    ],
)  # fmt: skip
def test_padding(mode, expected):
    # Frames 0 to 4; by hand: 0 1 2 3 4 4 3 2 1 0 0 1 ... and 0 1 2 3 4 3 2 1 0 1 ...
    numbers = np.array([1, 5, 9, 2, -2, 6])
    if mode == "reflect_101":
        numbers = np.array([1, 5, 8, 2, -2, 6])
    np.testing.assert_array_equal(pad(numbers, 5, mode), expected)


def test_padding_of_one_frame_and_errors():
    for mode in ("edge", "reflect_1001", "reflect_101"):
        np.testing.assert_array_equal(pad(np.arange(4), 1, mode), [0, 0, 0, 0])
    with pytest.raises(SampleError, match="frame 9 is beyond the 5 frames"):
        pad(np.array([1, 9]), 5, "none")
    assert [padding_mode("op", m) for m in ("repeat", "symmetric", "reflect")] == [
        "edge", "reflect_1001", "reflect_101",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="op: Invalid pad_mode: wrap Valid options are: none, constant"):
        padding_mode("op", "wrap")
    for bad in (256, -1, (1, 2)):
        with pytest.raises(
            ValueError, match="op: (fill_value must be in range|Fill value size must be 1 or equal)"
        ):
            fill_values("op", bad)


# --- bad data -------------------------------------------------------------------------------
def read_all(source):
    index = build_index(source)
    with contextlib.closing(VideoDecoder(source, index)) as decoder:
        return decoder.read(np.arange(len(index)))


def reason(data):
    with pytest.raises(SampleError) as caught, in_memory(data) as source:
        read_all(source)
    return str(caught.value)


def test_bad_data(clips, tmp_path):
    good = clips("H.264, B frames")
    assert "it is empty" in reason(b"")
    assert "cannot be opened as a video" in reason(np.random.default_rng(0).bytes(4000))
    assert "cannot be opened as a video" in reason(good[: len(good) // 2])  # the table is at the end
    assert "cannot be opened as a video" in reason(b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n" * 9)
    moved = encode(pictures(COUNT), options={"g": "8"}, container_options={"movflags": "faststart"})
    assert "cut off" in reason(moved[: len(moved) * 3 // 4])
    with pytest.raises(SampleError, match="No such file"):
        build_index(str(tmp_path / "none.mp4"))
    with pytest.raises(SampleError, match="directory"):
        build_index(str(tmp_path))


def test_sound_alone(tmp_path):
    library = av()
    with library.open(str(tmp_path / "sound.mkv"), "w") as file:
        stream = file.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = library.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    with pytest.raises(SampleError, match="no stream of pictures"):
        build_index(str(tmp_path / "sound.mkv"))


def test_limits(clips, tmp_path, monkeypatch):
    path = tmp_path / "clip"
    path.write_bytes(clips("H.264, B frames"))
    index = build_index(str(path))
    decoder = VideoDecoder(str(path), index)
    monkeypatch.setattr(video, "MAX_BYTES", 10 * 32 * 48 * 3)
    assert len(decoder.read(np.arange(10))) == 10
    with pytest.raises(
        SampleError, match=f"11 frames of 32x48 is larger than the limit of {10 * 32 * 48 * 3} bytes"
    ):
        decoder.read(np.arange(11))
    decoder.close()
    monkeypatch.setattr(image, "MAX_PIXELS", 32 * 48 - 1)
    with pytest.raises(SampleError, match=r"video of 32x48 is larger than the limit of 1535 pixels"):
        build_index(str(path))


FUZZ = """
import sys
import numpy as np
from support.fuzz import refusals
from support.videos import encode, pictures
from jdali.ops.decoders._video import video

def read(data):
    return video.run(np.frombuffer(data, np.uint8))

for codec, container, options in (
    ("libx264", "mp4", {"bf": "2", "g": "5"}), ("libx264", "mpegts", {"g": "5"}), ("libvpx", "webm", {}),
    ("libvpx-vp9", "matroska", {}), ("mjpeg", "avi", {}), ("mpeg4", "avi", {"g": "5"}),
    ("libx265", "mp4", {"x265-params": "log-level=none:pools=none:keyint=5"}), ("libsvtav1", "webm", {"g": "5"}),
):
    pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    data = encode(pictures(10, 64, 64), codec, container, options=options, pix_fmt=pix_fmt)
    wrong = refusals(read, data, count=120, memory=512 << 20, says="decoders.video: ")
    assert wrong > 20, (codec, container, wrong)
print("survived", flush=True)
"""


def test_fuzz():
    """In a process of its own: a fault in a codec may kill it, but must not hang."""
    tests = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, str(Path(video.__file__).parents[2])])}
    limit = 120 * int(os.environ.get("JDALI_FUZZ", "1"))
    result = subprocess.run(
        [sys.executable, "-c", FUZZ], capture_output=True, text=True, env=environment, timeout=limit
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert (result.stdout, result.stderr) == ("survived\n", "")


# --- the shared data ------------------------------------------------------------------------
def manifest(prefix):
    file = SHARED / "MANIFEST.json"
    entries = json.loads(file.read_text())["files"] if file.exists() else []
    return {e["path"]: e for e in entries if e["path"].startswith(prefix) and not e["path"].endswith(".txt")}


GOOD, BAD = manifest("video/"), manifest("bad/video/")


def bar_codes(frames):
    """Numbers that the frames carry: 10 blocks in the top left corner, white, 8 bits, black."""
    height, width = frames.shape[1:3]
    size = min(16, width // 10, height // 4)
    bits = [frames[:, size // 2, size // 2 + i * size].mean(axis=-1) > 128 for i in range(1, 9)]
    return sum(bit.astype(int) << (7 - i) for i, bit in enumerate(bits)).tolist()


def native_hashes(path, index):
    """SHA-256 of the codec's own planes of the first and the last frame, got through the decoder."""
    decoder = VideoDecoder(str(path), index)
    hashes = []
    for number in (len(index) - 1, 0):
        frame = decoder._frame(number)
        deep = frame.format.components[0].bits > 8
        digest = hashlib.sha256()
        for plane in frame.planes:
            rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
            digest.update(rows[: plane.height, : plane.width * (1 + deep)].tobytes())
        hashes.append(digest.hexdigest())
    decoder.close()
    return hashes


@pytest.mark.cases(24)
@pytest.mark.parametrize("path", GOOD or [pytest.param("", marks=pytest.mark.skip("no shared data"))])
def test_shared_videos(path):
    facts = GOOD[path]["video"]
    index = build_index(str(SHARED / path))
    assert len(index) == facts["frames"]
    if facts.get("pts_ms") is not None:
        times = np.array(facts["pts_ms"]) - facts["pts_ms"][0]
        np.testing.assert_allclose(index.seconds() * 1000, times, rtol=0, atol=1e-3)  # as the manifest rounds
    assert native_hashes(SHARED / path, index) == [
        facts["native_sha256_last"], facts["native_sha256_frame0"],
    ]  # fmt: skip
    decoder = VideoDecoder(str(SHARED / path), index)
    some = np.random.default_rng(2).permutation(len(index))[:6]
    one_by_one = [decoder.read(np.array([n]))[0] for n in some.tolist()]
    np.testing.assert_array_equal(decoder.read(some), one_by_one)
    if facts.get("barcodes_right") == f"{facts['frames']}/{facts['frames']}":
        assert bar_codes(np.array(one_by_one)) == some.tolist()
    decoder.close()


REASONS = {
    "audio_only": "no stream of pictures", "bit_flips.mp4": "damaged", "bit_flips.webm": "", "cut50": "",
    "faststart_cut60": "cut off or damaged: the header tells of 60 frames", "garbage": "cannot be opened",
    "jpeg_renamed": "cannot be opened", "moov_missing": "cannot be opened", "zero_length": "cannot be opened",
}  # fmt: skip


@pytest.mark.parametrize("path", BAD or [pytest.param("", marks=pytest.mark.skip("no shared data"))])
def test_shared_bad_videos(path):
    expected = next(text for name, text in REASONS.items() if name in path)
    read = functools.partial(read_all, str(SHARED / path))
    if expected:
        with pytest.raises(SampleError, match=expected):
            read()
    else:  # what is damaged there no decoder can see
        assert len(read()) == int(BAD[path]["pyav"].split()[0])
