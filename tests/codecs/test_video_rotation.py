"""Videos that are to be turned by their metadata: as they are stored, as DALI gives them, or upright if asked for."""

import io

import numpy as np
import pytest
from support import oracle
from support.videos import av, encode, moving

import jdali.dynamic
from jdali import Pipeline, SampleError, fn
from jdali.codecs.video import PADDING, VideoDecoder, build_index

av()
COUNT = 5
WIDE = np.repeat(moving(COUNT)[:, :32, :, :1], 3, axis=-1)  # grey: libraries differ in how they spread chroma


def clip(degrees=0, along_width=False, along_height=False, container="mp4"):
    return encode(WIDE, container=container, turned=(degrees, along_width, along_height))


def read(data, numbers=range(COUNT), **args):
    decoder = VideoDecoder(io.BytesIO(data), build_index(io.BytesIO(data)))
    try:
        return decoder.read(np.array(numbers), **args)
    finally:
        decoder.close()


@pytest.mark.parametrize("container", ["mp4", "matroska"])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("along_width", [False, True])
@pytest.mark.parametrize("along_height", [False, True])
def test_all_turns(degrees, along_width, along_height, container):
    data = clip(degrees, along_width, along_height, container)
    stored = read(data)
    assert np.abs(stored.astype(int) - WIDE).mean() < 5  # what is lost; turned, it is 30 or more
    expected = np.rot90(stored, degrees // 90, axes=(1, 2))
    expected = expected[:, :, ::-1] if along_width else expected
    expected = expected[:, ::-1] if along_height else expected
    np.testing.assert_array_equal(read(data, upright=True), expected)
    np.testing.assert_array_equal(read(data, [3, PADDING], upright=True)[0], expected[3])
    assert read(data, [PADDING], upright=True).shape[1:] == expected.shape[1:]


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_as_opencv_turns(degrees, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    data = clip(degrees)
    (tmp_path / "clip.mp4").write_bytes(data)
    capture = cv2.VideoCapture(str(tmp_path / "clip.mp4"))
    shown = np.stack([capture.read()[1][..., ::-1] for _ in range(COUNT)])
    capture.release()
    got = read(data, upright=True)
    assert got.shape == shown.shape
    # Another converter to RGB: a rounding each.
    np.testing.assert_allclose(got.astype(int), shown, rtol=0, atol=2)


def test_angles_between():
    with pytest.raises(SampleError, match="turned by 45°, which is not a multiple of 90°"):
        read(clip(45), upright=True)
    assert read(clip(45)).shape == (COUNT, 32, 64, 3)


def turned(data, tmp_path, **args):
    """What the operators and readers give of one video."""
    path = tmp_path / "clip.mp4"
    path.write_bytes(data)
    encoded = np.frombuffer(data, np.uint8)

    of = {"filenames": str(path), "sequence_length": COUNT, **args}
    built = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with built:
        built.set_outputs(
            fn.decoders.video(fn.external_source(lambda: [encoded], batch=True), **args),
            fn.readers.video(**of),
            fn.experimental.readers.video(**of),
            fn.readers.video_resize(size=(64, 32) if args else (32, 64), **of),
            fn.experimental.inputs.video(name="fed", sequence_length=COUNT, **args),
        )
    built.feed_input("fed", encoded)
    results = [np.asarray(output.at(0)) for output in built.run()]
    built.close()
    return [*results, np.asarray(jdali.dynamic.decoders.video(encoded, **args))]


def test_everywhere(tmp_path):
    data = clip(90)
    for result in turned(data, tmp_path):
        np.testing.assert_array_equal(result, read(data))
    for result in turned(data, tmp_path, apply_rotation=True):
        np.testing.assert_array_equal(result, read(data, upright=True))


@pytest.mark.oracle
def test_dali_does_not_turn():
    data = encode(WIDE, "libvpx-vp9", turned=(90, False, False))  # no H.264 on its CPU backend
    ((given,),) = oracle.run("decoders.video", [[np.frombuffer(data, np.uint8)]], {})
    np.testing.assert_array_equal(given, read(data))
