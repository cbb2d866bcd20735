"""decoders.video: which frames, by hand and against DALI; as fn and in dynamic mode."""

import numpy as np
import pytest
from support import oracle
from support.videos import av, encode, numbers_of, pictures

import jdali.dynamic as jd
from jdali import OperatorError, Pipeline, SampleError, fn, pipeline_def
from jdali._operators.record import REGISTRY

av()
COUNT = 12
OP = REGISTRY["decoders.video"]


@pytest.fixture(scope="module")
def encoded():
    return np.frombuffer(encode(pictures(COUNT), "libvpx-vp9", "webm", options={"g": "5"}), np.uint8)


CASES = [
    ({}, range(12)), ({"frames": [0, 5, 5, 3]}, [0, 5, 5, 3]), ({"frames": 5}, [5]),
    ({"stride": 5, "start_frame": 1}, [1, 6, 11]), ({"end_frame": 7, "stride": 3}, [0, 3, 6]),
    ({"start_frame": 4, "sequence_length": 3, "build_index": False}, [4, 5, 6]), ({"sequence_length": 0}, []),
    ({"start_frame": 8, "sequence_length": 6, "stride": 2, "pad_mode": "none"}, [8, 10]),
    ({"start_frame": 9, "end_frame": 15, "pad_mode": "none"}, [9, 10, 11]),
    ({"frames": [0, 15, 3], "pad_mode": "edge"}, [0, 11, 3]),
    ({"frames": [0, 15, 3], "pad_mode": "reflect_101"}, [0, 7, 3]),
    ({"frames": [0, 15, 3], "pad_mode": "symmetric"}, [0, 8, 3]),
    ({"start_frame": 8, "sequence_length": 6, "stride": 2, "pad_mode": "reflect"}, [8, 10, 10, 8, 6, 4]),
    ({"start_frame": 8, "sequence_length": 6, "stride": 2, "pad_mode": "reflect_1001"}, [8, 10, 11, 9, 7, 5]),
    ({"start_frame": 10, "end_frame": 14, "pad_mode": "repeat"}, [10, 11, 11, 11]),
]  # fmt: skip


@pytest.mark.parametrize(("args", "expected"), CASES, ids=str)
def test_which_frames(encoded, args, expected):
    got = OP.run(encoded, **args)
    assert (got.dtype, got.shape) == (np.uint8, (len(expected), 32, 48, 3))
    assert numbers_of(got) == list(expected)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [args for args, _ in CASES]
    + [
        {"frames": [0, 15]},
        {"frames": [-1, 2]},
        {"start_frame": 10, "sequence_length": 4, "fill_value": (1, 2, 3)},
    ],
    ids=str,
)
def test_as_dali(encoded, args):
    ((expected,),) = oracle.run("decoders.video", [[encoded]], args)
    np.testing.assert_array_equal(OP.run(encoded, **args), expected)  # the same swscale is behind both


def test_padding_value(encoded):
    got = OP.run(encoded, start_frame=10, sequence_length=4, fill_value=(9, 8, 7))
    assert numbers_of(got[:2]) == [10, 11]
    assert (got[2:] == (9, 8, 7)).all()


@pytest.mark.parametrize("name", ["decoders.video", "experimental.decoders.video"])
def test_in_a_pipeline(encoded, name):
    """Arguments that differ by sample, also in size; a batch of different codecs."""
    other = np.frombuffer(encode(pictures(7, 16, 32), "mpeg4", "avi"), np.uint8)

    @pipeline_def(batch_size=2, num_threads=2)
    def pipe():
        def per_sample(first, second, dtype=np.int32):
            return fn.external_source(source=[[np.array(first, dtype), np.array(second, dtype)]], cycle=True)

        videos = fn.external_source(source=[[encoded, other]], cycle=True)
        decode = fn.decoders.video if name == "decoders.video" else fn.experimental.decoders.video
        modes = [np.frombuffer(mode, np.uint8) for mode in (b"edge", b"constant")]
        mode = fn.external_source(source=[modes], cycle=True)
        return (
            decode(videos, frames=per_sample([3, 0, 1], [6])),
            decode(videos, start_frame=per_sample(2, 5), sequence_length=3, pad_mode=mode),
            decode(videos, end_frame=per_sample(2, 4), device="mixed"),
        )

    made = pipe()
    picked, cut, upto = ([np.asarray(o.as_cpu().at(i)) for i in range(2)] for o in made.run())
    assert [numbers_of(v) for v in picked] == [[3, 0, 1], [6]]
    assert [v.shape for v in picked] == [(3, 32, 48, 3), (1, 16, 32, 3)]
    assert numbers_of(cut[0]) == [2, 3, 4]
    assert numbers_of(cut[1][:2]) == [5, 6]
    assert not cut[1][2].any()
    assert [numbers_of(v) for v in upto] == [[0, 1], [0, 1, 2, 3]]
    assert made.run()[0].layout() == "FHWC"
    made.close()


def test_in_dynamic_mode(encoded):
    got = jd.decoders.video(encoded, start_frame=10, sequence_length=3, pad_mode="edge")
    assert got.layout == "FHWC"
    assert numbers_of(np.asarray(got)) == [10, 11, 11]
    assert numbers_of(np.asarray(jd.decoders.video(encoded, frames=[4, 2]))) == [4, 2]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"frames": [1], "stride": 2}, "Cannot specify both `frames` and any of .*; there are stride"),
        ({"end_frame": 3, "sequence_length": 2}, "Cannot specify both `sequence_length` and `end_frame` arguments"),
        ({"frames": [0, 15], "pad_mode": "none"}, "frame 15 is beyond the 12 frames"),
        ({"start_frame": 12}, "start_frame 12 is not one of the 12 frames"),
        ({"start_frame": 5, "end_frame": 5}, "end_frame 5 is not after start_frame 5"),
        ({"stride": 0}, "stride is 0"), ({"sequence_length": -1}, "sequence_length is -1"),
        ({"pad_mode": "wrap"}, "Invalid pad_mode: wrap"), ({"fill_value": 256}, "fill_value must be in range .* got 256"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments(encoded, args, message):
    with pytest.raises(ValueError, match=f"^decoders.video: .*{message}"):
        OP.run(encoded, **args)


@pytest.mark.parametrize("surface", ["fn.decoders.video", "fn.experimental.decoders.video"])
def test_a_wrong_fill_value_is_no_error_of_a_sample(encoded, surface):
    """By either name, and also where no frame is padded."""
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
        video = fn.external_source(lambda: [encoded])
        decode = fn.decoders.video if surface == "fn.decoders.video" else fn.experimental.decoders.video
        pipe.set_outputs(decode(video, fill_value=[1, 2]))
    with pytest.raises(
        OperatorError, match=r"^decoders.video: Fill value size must be 1 .* Got 2 "
    ) as caught:
        pipe.run()
    assert caught.value.sample is None
    pipe.close()


def test_bad_data():
    with pytest.raises(
        SampleError, match=r"decoders.video: Video decoder does not support empty input samples"
    ):
        OP.run(np.zeros(0, np.uint8))

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        data = [np.zeros(50, np.uint8), np.ones(60, np.uint8)]
        return fn.decoders.video(fn.external_source(source=[data], cycle=True))

    made = pipe()
    with pytest.raises(
        OperatorError, match="decoders.video: Failed to create video decoder: it cannot be opened"
    ) as caught:
        made.run()
    assert (caught.value.operator, caught.value.sample) == ("decoders.video", 0)
    made.close()
