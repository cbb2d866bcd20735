# %% [markdown]
# # Speech
#
# From sound files to log-mel spectrograms for a model, with silence cut off and random gaps as augmentation (SpecAugment).
# Words are synthesized here: rising or falling tones in noise, with silence around them. A NeMo manifest says where they are and
# what is said; put your own in its place.

# %%
import json
from pathlib import Path

import numpy as np
import soundfile

RATE = 16000
random = np.random.default_rng(0)
Path("words").mkdir(exist_ok=True)
lines = []
for number in range(8):
    seconds = random.uniform(0.65, 0.75)
    time = np.arange(int(seconds * RATE)) / RATE
    rising = number % 4 < 2
    pitch = 300 + 500 * (time / seconds if rising else 1 - time / seconds)
    tone = 0.4 * np.sin(2 * np.pi * np.cumsum(pitch) / RATE) * np.sin(np.pi * time / seconds)
    silence = np.zeros(int(random.uniform(0.2, 0.25) * RATE))
    sound = np.concatenate([silence, tone, silence]) + random.normal(0, 1e-4, 2 * len(silence) + len(tone))
    path = f"words/{number}.wav"
    soundfile.write(path, sound, RATE)
    lines.append(
        json.dumps(
            {"audio_filepath": path, "duration": len(sound) / RATE, "text": "rising" if rising else "falling"}
        )
    )
Path("manifest.json").write_text("\n".join(lines))
print(lines[0])

# %% [markdown]
# ## A pipeline
#
# Sounds differ in length, and so do the results: the batch is ragged until `fn.pad`.

# %%
from jdali import fn, pipeline_def


def log_mel():
    """Reads a sound, cuts off its silence, and gives its spectrogram in decibels, and its text."""
    sound, text = fn.readers.nemo_asr(
        manifest_filepaths=["manifest.json"],
        read_sample_rate=False,
        read_text=True,
        downmix=True,
        random_shuffle=True,
        name="Reader",
    )
    begin, length = fn.nonsilent_region(sound, cutoff_db=-40.0, window_length=256)
    sound = fn.slice(sound, begin, length, axes=[0])
    sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
    spectrum = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)
    mel = fn.mel_filter_bank(spectrum, sample_rate=16000.0, nfilter=64)
    return fn.to_decibels(mel, multiplier=10.0, cutoff_db=-80.0), text


@pipeline_def(batch_size=4, num_threads=2, seed=1)
def plain():
    return log_mel()


pipe = plain()
mel, text = pipe.run()
print(mel.shape())
words = [bytes(np.asarray(text.as_cpu().at(i))).decode().rstrip("\0") for i in range(4)]
print(words)

# %%
import matplotlib.pyplot as plt


def show(mel, titles):
    _, axes = plt.subplots(1, len(titles), figsize=(8, 2.2))
    for i, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        picture = np.asarray(mel.as_cpu().at(i))
        axis.imshow(
            picture, origin="lower", aspect="auto", cmap="magma", extent=(0, picture.shape[1] / 100, 0, 64)
        )
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("seconds")
    axes[0].set_ylabel("mel band")
    plt.tight_layout()
    plt.show()


show(mel, words)
pipe.close()

# %% [markdown]
# ## Augment, normalize, pad
#
# `fn.erase` fills a band of frequencies and a stretch of time; where they are is drawn for each sound.


# %%
@pipeline_def(batch_size=4, num_threads=2, seed=1)
def training():
    mel, text = log_mel()
    mel = fn.normalize(mel, axes=[1])
    band = fn.random.uniform(range=[0.0, 0.8])
    mel = fn.erase(mel, anchor=band, shape=[0.15], axes=[0], normalized=True, fill_value=0.0)
    moment = fn.random.uniform(range=[0.0, 0.8])
    mel = fn.erase(mel, anchor=moment, shape=[0.15], axes=[1], normalized=True, fill_value=0.0)
    return fn.pad(mel, axes=[1], fill_value=0.0), fn.pad(text)


pipe = training()
mel, text = pipe.run()
words = [bytes(np.asarray(text.as_cpu().at(i))).decode().rstrip("\0") for i in range(4)]
show(mel, words)
print(mel.as_cpu().as_array().shape)
assert mel.as_cpu().as_array().shape[:2] == (4, 64)
pipe.close()
