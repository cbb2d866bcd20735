"""Decoding, spectrograms and cepstra, in a pipeline and in dynamic mode."""

from pathlib import Path

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from support.target import device_id, keep


@pipeline_def(batch_size=1, num_threads=2, device_id=device_id)
def features():
    encoded, _ = fn.readers.file(files=["sound/tone.wav"])
    audio, rate = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True)
    spectrum = fn.spectrogram(audio, nfft=512, window_length=512, window_step=128)
    mel = fn.mel_filter_bank(spectrum, sample_rate=16000, nfilter=40, freq_high=8000.0)
    decibels = fn.to_decibels(mel, multiplier=10.0, cutoff_db=-80)
    return audio, rate, spectrum, decibels, fn.mfcc(decibels, axis=0, dct_type=2, n_mfcc=13)


pipe = features()
pipe.build()
keep(**{f"output{i}": output for i, output in enumerate(pipe.run())})

reader = ndd.readers.File(file_root=Path(), files=[Path("sound/tone.wav")])
encoded, _ = reader()
audio, rate = ndd.decoders.audio(encoded, dtype=ndd.int16)
keep(dynamic=np.asarray(audio).flatten(), rate=np.asarray(rate))
