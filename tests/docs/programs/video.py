"""Sequences of a video's frames, labels by a list, arguments by frame, and a video that is fed."""

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from support.target import GPU, MIXED, device_id, keep

with open("list.txt", "w") as rows:
    rows.write("clip.mp4 0 0 6\nclip.mp4 1 6 12\n")
options = {
    "file_list": "list.txt", "sequence_length": 2, "image_type": types.RGB, "dtype": types.UINT8,
    "file_list_frame_num": True, "enable_frame_num": True, "enable_timestamps": True,
    "file_list_include_preceding_frame": True,
}  # fmt: skip


@pipeline_def(batch_size=2, num_threads=2, device_id=device_id)
def sequences():
    frames = fn.readers.video(device=GPU, filenames=["clip.mp4"], sequence_length=4)
    angle = fn.per_frame(fn.constant(fdata=[0.0, 90.0, 180.0, 270.0], shape=[4]))
    listed, label, number, time = fn.readers.video(device=GPU, **options)
    return frames, fn.rotate(frames, angle=angle, keep_size=True), listed, label, number, time


pipe = sequences()
pipe.build()
frames, turned, listed, label, number, time = (output.as_cpu() for output in pipe.run())
assert frames.at(0).shape == (4, 32, 48, 3)
np.testing.assert_array_equal(turned.at(0)[0], frames.at(0)[0])
np.testing.assert_array_equal(turned.at(0)[2], frames.at(0)[2][::-1, ::-1])
assert [label.at(i).item() for i in range(2)] == [0, 0]
assert [number.at(i).item() for i in range(2)] == [0, 2]
np.testing.assert_allclose(time.at(1), [2 / 25, 3 / 25], atol=1e-9)
keep(frames=frames)

reader = ndd.readers.Video(device=GPU, **options)
clips = [np.asarray(first.select(0).cpu()) for first, *_ in reader.next_epoch(batch_size=1)]
assert len(clips) == 6
np.testing.assert_array_equal(clips[1], listed.at(1))


@pipeline_def(batch_size=1, num_threads=2, device_id=device_id)
def fed():
    return fn.experimental.inputs.video(name="clip", sequence_length=5, device=MIXED)


pipe = fed()
pipe.build()
pipe.feed_input("clip", [np.fromfile("clip.mp4", np.uint8)])
np.testing.assert_array_equal(pipe.run()[0].as_cpu().at(0)[:4], frames.at(0))
