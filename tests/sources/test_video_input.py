"""experimental.inputs.video: batches of sequences of videos that are fed, by hand and against DALI."""

import json
import threading

import numpy as np
import pytest
from support import oracle
from support.videos import av, encode, numbers_of, pictures

from jdali import OperatorError, fn, pipeline_def

av()


@pytest.fixture(scope="module")
def videos():
    return [np.frombuffer(encode(pictures(n), "libvpx-vp9", "webm"), np.uint8) for n in (12, 3)]


def made(batch_size=3, sequence_length=5, **args):
    @pipeline_def(batch_size=batch_size, num_threads=1)
    def pipe():
        return fn.experimental.inputs.video(name="v", sequence_length=sequence_length, **args)

    return pipe()


def taken(pipe):
    """Frames of each sequence of the next batch; -1 for zeros."""
    (batch,) = pipe.run()
    assert batch.layout() == "FHWC"
    sequences = [np.asarray(batch.at(i)) for i in range(len(batch))]
    return [[n if frame.any() else -1 for n, frame in zip(numbers_of(s), s, strict=True)] for s in sequences]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, [[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]], [[0, 1, 2]]]),
        (
            {"last_sequence_policy": "pad"},
            [[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, -1, -1, -1]], [[0, 1, 2, -1, -1]]],
        ),
        (
            {"batch_size": 1, "sequence_length": 6},
            [[[0, 1, 2, 3, 4, 5]], [[6, 7, 8, 9, 10, 11]], [[0, 1, 2]]],
        ),
    ],
    ids=str,
)
def test_batches_of_sequences(videos, args, expected):
    pipe = made(**args)
    pipe.build()
    pipe.feed_input("v", [videos[0]])
    pipe.feed_input("v", videos[1])
    assert [taken(pipe) for _ in expected] == expected
    with pytest.raises(
        OperatorError, match=r"experimental.inputs.video 'v': no data; call pipeline.feed_input"
    ):
        pipe.run()
    pipe.feed_input("v", bytes(videos[1]))
    assert taken(pipe) == expected[-1]
    pipe.close()


@pytest.mark.oracle
@pytest.mark.parametrize("policy", ["partial", "pad"])
def test_as_dali(videos, policy):
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    theirs = dali.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with theirs:
        theirs.set_outputs(
            dali_fn.experimental.inputs.video(name="v", sequence_length=5, last_sequence_policy=policy)
        )
    theirs.build()
    mine = made(batch_size=2, last_sequence_policy=policy)
    mine.build()
    for pipe in (mine, theirs):
        for video in videos:
            pipe.feed_input("v", [video])
    for _ in range(3):
        (got,), (expected,) = mine.run(), theirs.run()
        assert len(got) == len(expected)
        for i in range(len(got)):
            np.testing.assert_array_equal(np.asarray(got.at(i)), np.array(expected.at(i)))
    mine.close()


@pytest.mark.oracle
def test_it_is_an_input_that_is_fed():
    dali = oracle.dali()
    with dali.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1) as theirs:
        theirs.set_outputs(dali.fn.experimental.inputs.video(name="v", sequence_length=5))
    theirs.build()
    mine = made()
    assert mine.fed_inputs == ["v"]
    assert mine.input_feed_count("v") == theirs.input_feed_count("v") == 1
    for pipe in (mine, theirs):
        with pytest.raises((KeyError, RuntimeError), match='have an input named "w"'):
            pipe.input_feed_count("w")


def test_a_state_holds_the_place_in_a_video(videos):
    """The same pipeline, and a new one, go on after it when the unfinished video and those after it are fed again."""
    first, second = made(batch_size=1), made(batch_size=1)
    first.feed_input("v", videos[1])
    first.feed_input("v", np.zeros(9, np.uint8))  # a bad video is used, too
    first.feed_input("v", videos[0])
    assert taken(first) == [[0, 1, 2]]
    with pytest.raises(OperatorError, match="it cannot be opened as a video"):
        first.run()
    assert taken(first) == [[0, 1, 2, 3, 4]]
    state = json.loads(json.dumps(first.get_state()))
    assert state["sources"]["v"]["taken"] == 2
    assert taken(first) == [[5, 6, 7, 8, 9]]
    for pipe in (first, second):
        pipe.set_state(state)
        pipe.feed_input("v", videos[0])
        assert [taken(pipe) for _ in range(2)] == [[[5, 6, 7, 8, 9]], [[10, 11]]]
    second.set_state(state)
    second.feed_input("v", videos[1])
    with pytest.raises(
        OperatorError, match="goes on at frame 5 of the video, and the one that was fed has 3"
    ):
        second.run()
    for pipe in (first, second):
        pipe.close()


def test_blocking(videos):
    pipe = made(blocking=True)
    pipe.build()
    timer = threading.Timer(0.2, lambda: pipe.feed_input("v", [videos[1]]))
    timer.start()
    assert taken(pipe) == [[0, 1, 2]]
    timer.join()
    pipe.close()


def test_wrong_input(videos):
    with pytest.raises(ValueError, match="last_sequence_policy is 'drop'"):
        made(last_sequence_policy="drop")
    with pytest.raises(ValueError, match="sequence_length is 0"):
        made(sequence_length=0)
    pipe = made()
    pipe.build()
    with pytest.raises(ValueError, match="2 videos were fed, it takes one at a time"):
        pipe.feed_input("v", videos)
    with pytest.raises(TypeError, match=r"given as uint8 \[bytes\], not float32 \(3,\)"):
        pipe.feed_input("v", [np.zeros(3, np.float32)])
    pipe.feed_input("v", [np.zeros(100, np.uint8)])
    pipe.feed_input("v", [videos[1]])
    with pytest.raises(OperatorError, match="experimental.inputs.video: .*it cannot be opened as a video"):
        pipe.run()
    assert taken(pipe) == [[0, 1, 2]]  # the bad one is done with
    pipe.close()
