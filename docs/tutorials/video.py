# %% [markdown]
# # Video
#
# Sequences of frames for a model of clips: read, cut and augmented alike in all frames of a sequence. A film of a moving disc is
# written here with PyAV (extra `video`); put your own files in its place.

# %%
import av
import numpy as np

HEIGHT, WIDTH, FRAMES = 96, 128, 48
rows, columns = np.mgrid[:HEIGHT, :WIDTH]
with av.open("disc.mp4", "w") as container:
    stream = container.add_stream("mpeg4", rate=24)
    stream.width, stream.height, stream.pix_fmt, stream.bit_rate = WIDTH, HEIGHT, "yuv420p", 2_000_000
    for number in range(FRAMES):
        x, y = 20 + 2 * number % 90, HEIGHT / 2 + 25 * np.sin(number / 6)
        inside = (columns - x) ** 2 + (rows - y) ** 2 < 15**2
        frame = np.where(inside[..., None], np.uint8([240, 180, 40]), np.uint8([40, 60, 100 + number]))
        for packet in stream.encode(av.VideoFrame.from_ndarray(frame.astype(np.uint8), format="rgb24")):
            container.mux(packet)
    for packet in stream.encode():
        container.mux(packet)

# %% [markdown]
# ## Sequences
#
# `sequence_length=6, stride=2` takes every second frame, six of them; `step` is from the beginning of one sequence to the next.

# %%
from jdali import fn, pipeline_def


@pipeline_def(batch_size=2, num_threads=2, seed=1)
def clips():
    return fn.readers.video(filenames=["disc.mp4"], sequence_length=6, stride=2, step=12, name="Reader")


pipe = clips()
(frames,) = pipe.run()
print(frames.shape(), frames.layout())
pipe.close()

# %%
import matplotlib.pyplot as plt


def show(frames):
    _, axes = plt.subplots(len(frames), frames.shape[1], figsize=(8, 2.4))
    for line, sequence in zip(axes, frames, strict=True):
        for axis, frame in zip(line, sequence, strict=True):
            axis.imshow(frame)
            axis.axis("off")
    plt.tight_layout()
    plt.show()


show(np.asarray(frames.as_cpu().as_array()))

# %% [markdown]
# ## The same for all frames, and another for each
#
# Operators on images take sequences as they are: one random angle turns all frames of a sequence. `fn.per_frame` marks an
# argument that has a value for each frame.


# %%
@pipeline_def(batch_size=2, num_threads=2, seed=1)
def augmented():
    frames = fn.readers.video(
        filenames=["disc.mp4"], sequence_length=6, stride=2, step=12, random_shuffle=True, name="Reader"
    )
    frames = fn.rotate(frames, angle=fn.random.uniform(range=[-25, 25]), keep_size=True, fill_value=0)
    light = fn.external_source(lambda sample: np.linspace(0.5, 1.5, 6, dtype=np.float32), batch=False)
    frames = fn.brightness(frames, brightness=fn.per_frame(light))
    return fn.resize(frames, size=[64, 64])


pipe = augmented()
(frames,) = pipe.run()
show(np.asarray(frames.as_cpu().as_array()))
assert frames.as_cpu().as_array().shape == (2, 6, 64, 64, 3)
pipe.close()
