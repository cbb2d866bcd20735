"""Every frame is the one that FFmpeg gives as it decodes the whole video, whatever the container tells of times and key
frames, and wherever decoding begins.
"""

import functools
import io
import struct
from fractions import Fraction

import numpy as np
import pytest
from support.videos import av, encode, moving

from jdali import SampleError
from jdali.codecs.video import VideoDecoder, build_index
from jdali.codecs.video_decoder import Converter

av()
COUNT = 20
B_FRAMES = {"bf": "3", "b-pyramid": "normal", "b_strategy": "0", "g": "8", "sc_threshold": "0"}
REFRESH = {"g": "8", "bf": "0", "intra-refresh": "1"}
X265 = "log-level=none:pools=none:keyint=8:bframes=3:open-gop="
MPEG = {"g": "8", "bf": "2", "q": "3"}
STREAMS = {
    "H.264, no B frames": ("libx264", {"bf": "0", "g": "8"}),
    "H.264, closed groups": ("libx264", B_FRAMES),
    "H.264, open groups": ("libx264", B_FRAMES | {"x264-params": "open-gop=1"}),
    "H.264, one key frame": ("libx264", B_FRAMES | {"g": "250"}),
    "H.264, B frames that are not used": (
        "libx264",
        {"g": "8", "x264-params": "b-adapt=2:scenecut=0:b-bias=-100"},
    ),
    "H.264, refreshed bit by bit": ("libx264", REFRESH),
    "H.264, refreshed in slices": ("libx264", REFRESH | {"x264-params": "slices=4"}),
    "H.264, refreshed with B frames": ("libx264", REFRESH | {"bf": "3", "b_strategy": "0"}),
    "HEVC, closed groups": ("libx265", {"x265-params": X265 + "0"}),
    "HEVC, open groups": ("libx265", {"x265-params": X265 + "1"}),
    "MPEG-4": ("mpeg4", MPEG | {"bf": "0"}),
    "MPEG-4, open groups": ("mpeg4", MPEG),
    "MPEG-4, closed groups": ("mpeg4", MPEG | {"flags": "+cgop", "sc_threshold": "1000000000"}),
    "MPEG-2": ("mpeg2video", MPEG),
    "MPEG-1": ("mpeg1video", MPEG),
    "VP8, hidden frames": ("libvpx", {"auto-alt-ref": "1", "lag-in-frames": "16", "g": "8"}),
    "VP9": ("libvpx-vp9", {"auto-alt-ref": "1", "lag-in-frames": "16", "g": "8"}),
    "AV1": ("libsvtav1", {"g": "8"}),
    "WMV": ("wmv2", {"g": "8"}),
    "Sorenson": ("flv", {"g": "8"}),
    "MPEG-4 of Microsoft": ("msmpeg4", {"g": "8"}),
    "MJPEG": ("mjpeg", {}),
    "PNG": ("png", {}),
    "FFV1": ("ffv1", {"g": "4"}),
    "HuffYUV": ("huffyuv", {}),
    "ProRes": ("prores_ks", {}),
    "raw": ("rawvideo", {}),
}
PIX_FMT = {
    "mjpeg": "yuvj420p",
    "png": "rgb24",
    "ffv1": "bgr0",
    "huffyuv": "yuv422p",
    "prores_ks": "yuv422p10le",
}
CONTAINERS = {
    "libx264": ["mp4", "matroska", "avi", "asf", "mxf", "mpegts", "mpeg", "flv", "nut", "h264"],
    "libx265": ["mp4", "matroska", "mpegts", "flv", "hevc"],
    "mpeg4": ["mp4", "matroska", "avi", "asf", "mpegts", "m4v"],
    "mpeg2video": ["mp4", "matroska", "avi", "asf", "mxf", "mpegts", "mpeg", "mpeg2video"],
    "mpeg1video": ["matroska", "avi", "asf", "mpeg", "mpeg1video"],
    "libvpx": ["webm", "avi", "ivf"],
    "libvpx-vp9": ["webm", "mp4", "avi"],
    "libsvtav1": ["mp4", "webm", "obu"],
    "wmv2": ["asf", "avi"],
    "flv": ["flv", "avi"],
    "msmpeg4": ["asf", "avi", "matroska"],
    "mjpeg": ["avi", "mov", "matroska", "mjpeg"],
    "png": ["mov", "avi"],
    "ffv1": ["matroska", "avi", "nut"],
    "huffyuv": ["avi"],
    "prores_ks": ["mov", "mxf"],
    "rawvideo": ["avi", "nut"],
}


def in_order(data):
    """The frames as FFmpeg gives them, converted as jdali converts them: the order alone is in question here."""
    convert, frames = Converter(), []
    with av().open(io.BytesIO(data)) as container:
        container.streams.video[0].thread_type = "NONE"
        for frame in container.decode(video=0):
            frames.append(np.empty((frame.height, frame.width, 3), np.uint8))
            convert(frame, frames[-1])
    return np.stack(frames)


def check(data):
    """Compares all frames, read in order, singly by one decoder, and singly by new ones; returns how many there are."""
    expected = in_order(data)
    index = build_index(io.BytesIO(data))
    assert len(index) == len(expected)
    decoder = VideoDecoder(io.BytesIO(data), index)
    np.testing.assert_array_equal(decoder.read(np.arange(len(index))), expected)
    order = np.random.default_rng(0).permutation(len(index)).tolist()
    for number in order:
        np.testing.assert_array_equal(decoder.read(np.array([number]))[0], expected[number], str(number))
    decoder.close()
    for number in order[:4]:
        decoder = VideoDecoder(io.BytesIO(data), index)
        np.testing.assert_array_equal(decoder.read(np.array([number]))[0], expected[number], str(number))
        decoder.close()
    return len(expected)


@functools.cache
def clip(name, container, count=COUNT):
    codec, options = STREAMS[name]
    return encode(moving(count), codec, container, pix_fmt=PIX_FMT.get(codec, "yuv420p"), options=options)


@pytest.mark.cases(20)
@pytest.mark.parametrize(
    ("name", "container"),
    [(name, container) for name in STREAMS for container in CONTAINERS[STREAMS[name][0]]],
)
def test_order(name, container):
    assert check(clip(name, container)) == COUNT


def remuxed(data, first, container):
    """A video without the packets before number `first`."""
    target = io.BytesIO()
    with av().open(io.BytesIO(data)) as source, av().open(target, "w", format=container) as result:
        stream = source.streams.video[0]
        copy = result.add_stream_from_template(stream)
        for number, packet in enumerate(source.demux(stream)):
            if packet.size and number >= first:
                packet.stream = copy
                result.mux(packet)
    return target.getvalue()


@pytest.mark.parametrize("container", ["mp4", "matroska"])
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("H.264, refreshed in slices", 8), ("H.264, refreshed bit by bit", 8), ("H.264, open groups", 8),
        ("H.264, closed groups", 3), ("HEVC, open groups", 8), ("HEVC, open groups", 3), ("MPEG-2", 4),
    ],
)  # fmt: skip
def test_videos_that_begin_in_the_middle(name, first, container):
    assert check(remuxed(clip(name, "matroska"), first, container)) <= COUNT - first


@pytest.mark.parametrize(
    ("shared", "keys"), [((3, 6, 12), [0, 8, 16]), ((1, 12), [8, 16]), (range(1, COUNT, 2), [])], ids=str
)
@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("H.264, closed groups", "matroska"), ("HEVC, open groups", "matroska"), ("VP8, hidden frames", "webm"),
        ("VP9", "webm"),
    ],
)  # fmt: skip
def test_frames_that_share_a_time(name, container, shared, keys):
    """Frames `shared` are shown less than a tick of the file after the ones before them."""
    times = np.array([40 * number - 40 * (number in shared) for number in range(COUNT)])
    codec, options = STREAMS[name]
    data = encode(moving(COUNT), codec, container, options=options, times_ms=times)
    index = build_index(io.BytesIO(data))
    np.testing.assert_allclose(index.seconds(), times / 1000, rtol=0, atol=1e-9)
    assert set(index.keys) <= set(keys)
    assert check(data) == COUNT


# --- packets that are no frames -------------------------------------------------------------
NO_PICTURE = bytes.fromhex("000001b6504f")  # of MPEG-4


def mpeg4_of(change, data, container="avi"):
    """A video of MPEG-4 of other packets.

    Args:
        change: makes them, (content, whether it is a key frame), of those that there are.
        data: the video.
        container: of the result.
    """
    with av().open(io.BytesIO(data)) as source:
        packets = [(bytes(packet), packet.is_keyframe) for packet in source.demux(video=0) if packet.size]
        target = io.BytesIO()
        with av().open(target, "w", format=container) as result:
            copy = result.add_stream_from_template(source.streams.video[0])
            for number, (content, is_key) in enumerate(change(packets)):
                packet = av().Packet(content)
                packet.stream, packet.time_base, packet.is_keyframe = copy, Fraction(1, 25), is_key
                packet.pts = packet.dts = number
                packet.duration = 1  # without it the edit list that FFmpeg 8.0 writes leaves out the last one
                result.mux(packet)
    return target.getvalue()


def packed(packets):
    """As DivX and XviD write them: a B frame lies in the packet of the frame that it follows, and a packet without a
    picture stands in its place.
    """
    result = []
    for content, is_key in packets:
        at = content.index(b"\0\0\1\xb6")
        if content[at + 4] >> 6 == 2:  # a B frame
            result[-1] = result[-1][0] + content, result[-1][1]
            content = NO_PICTURE
        elif is_key:  # to which the mark of this form belongs
            content = content[:at] + b"\0\0\1\xb2DivX503b1393p" + content[at:]
        result.append((content, is_key))
    return result


def with_empty_ones(packets):
    return [
        *packets[:3],
        (NO_PICTURE, False),
        *packets[3:9],
        (NO_PICTURE, False),
        (NO_PICTURE, False),
        *packets[9:],
    ]


def test_packed_b_frames():
    data = encode(moving(COUNT), "mpeg4", "avi", options=MPEG | {"bf": "1", "sc_threshold": "1000000000"})
    assert check(mpeg4_of(packed, data)) == check(data) == COUNT


@pytest.mark.parametrize("container", ["avi", "mp4", "matroska"])
def test_packets_without_a_picture(container):
    assert check(mpeg4_of(with_empty_ones, clip("MPEG-4", "avi"), container)) == COUNT


# --- edit lists -----------------------------------------------------------------------------
FRAMES, TICKS, MS = 40, 512, 40  # of the clip below; media ticks and milliseconds of a frame


def edited(data, *parts):
    """An MP4 file of another edit list: parts of (first frame, or None for a pause; number of frames)."""
    at = data.index(b"elst") - 4
    size = int.from_bytes(data[at : at + 4], "big")
    begin = struct.unpack_from(">i", data, at + 20)[0]
    rows = [(count * MS, -1 if first is None else begin + first * TICKS, 1 << 16) for first, count in parts]
    body = struct.pack(">II", 0, len(rows)) + b"".join(struct.pack(">IiI", *row) for row in rows)
    box = struct.pack(">I4s", 8 + len(body), b"elst") + body
    result, place = bytearray(data), 0
    for name in (b"moov", b"trak", b"edts"):
        while data[place + 4 : place + 8] != name:
            place += int.from_bytes(data[place : place + 4], "big")
        grown = int.from_bytes(data[place : place + 4], "big") + len(box) - size
        result[place : place + 4] = grown.to_bytes(4, "big")
        place += 8
    return bytes(result[:at] + box + result[at + size :])


EDITS = {
    "whole groups left out": ((25, 15),),
    "from a key frame on": ((24, 16),),
    "the middle": ((10, 20),),
    "a pause first": ((None, 10), (0, 40)),
    "parts in another order": ((30, 10), (5, 10)),
    "a part twice": ((5, 10), (5, 10)),
    "a pause between": ((5, 10), (None, 10), (25, 10)),
}


@pytest.mark.cases(7)
@pytest.mark.parametrize("name", ["H.264, no B frames", "H.264, closed groups", "H.264, refreshed in slices"])
@pytest.mark.parametrize("edit", EDITS)
def test_edit_lists(edit, name):
    check(edited(clip(name, "mp4", FRAMES), *EDITS[edit]))


def test_an_edit_list_hides_no_damage():
    codec, options = STREAMS["H.264, no B frames"]
    data = encode(moving(FRAMES), codec, "mp4", options=options, container_options={"movflags": "faststart"})
    trimmed = edited(data, (0, 20))
    with pytest.raises(SampleError, match="cut off or damaged: the header tells of 40 frames"):
        build_index(io.BytesIO(trimmed[: len(trimmed) * 3 // 4]))
