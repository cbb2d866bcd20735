from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali import types
from jdali._batches import BatchSpec, PaddedBlock, Store
from jdali._operators.record import HostOutputs, PerSample, Static, Workers, host_batch_operator
from jdali.codecs import audio as codec


@host_batch_operator(
    name="decoders.audio",
    outputs=2,
    devices=("cpu",),
    work="decoding",
    source="operators/decoder/audio/audio_decoder_op.cc",
)
def decode_audio(
    encoded: Sequence[np.ndarray],
    /,
    *,
    downmix: Static[bool] = False,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    quality: Static[float] = 50.0,
    sample_rate: PerSample[float] = 0.0,
    workers: Workers,
) -> HostOutputs:
    """Decodes WAV, FLAC, OGG (Vorbis, Opus) and MP3. The extra `audio` adds MP4 (M4A), MOV, Matroska and WebM.

    Args:
        encoded: uint8 [bytes], content of a file.
        downmix: return the mean of all channels.
        dtype: INT16, INT32 or FLOAT; FLOAT scales the range of the file's integers to -1 to 1.
        quality: quality of the resampling, 0 to 100. The filter is a windowed sinc, with 3 lobes on each side at
            quality 0, 16 at 50, and 64 at 100.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.

    Returns: the sound, `dtype` [T] with `downmix`, else [T, C]; and its sampling rate in Hz, a float32 scalar.

    A truncated file raises an error; with `jdali.codecs.audio.ACCEPT_INCOMPLETE = True`, the available part is decoded.
    Files without a length in their header, such as saved streams, are decoded to their end.

    Parity: DALI decodes truncated WAV and OGG files as shorter sounds. It converts files of floats to integers without
    scaling, so nearly all values become 0. Positions of resampled samples are exact; DALI accumulates float32 steps in
    blocks of 256.

    Example: sound, rate = fn.decoders.audio(wavs, dtype=types.FLOAT, downmix=True)
    """
    if not 0 <= quality <= 100:
        raise ValueError(f"decoders.audio: Resampling quality must be in [0..100] range, got {quality}")
    for content in encoded[:1]:  # all samples of a batch have one type and number of axes
        if content.ndim != 1:
            raise ValueError(
                f"decoders.audio: Raw input must be 1D encoded byte data, got {content.ndim} axes"
            )
        if content.dtype != np.uint8:
            raise ValueError(f"decoders.audio: Raw files must be stored as uint8 data, got {content.dtype}")
    element_type = types.to_dtype(dtype)
    wanted = np.broadcast_to(sample_rate, (len(encoded),))
    sounds = codec.decode_together(
        encoded, workers.share, dtype=element_type, sample_rates=wanted, downmix=downmix
    )
    if sounds is not None:
        waves, rates = sounds
        numbers = BatchSpec(np.zeros((len(rates), 0), np.int64), rates.dtype)
        columns = (
            Store.of_block(waves, BatchSpec(waves.extents, waves.values.dtype)),
            Store.of_block(PaddedBlock(rates), numbers),
        )
        return HostOutputs(columns, {})

    def one(i: int) -> tuple[np.ndarray, np.ndarray]:
        wave, rate = codec.decode(
            encoded[i], dtype=element_type, sample_rate=float(wanted[i]), quality=quality, downmix=downmix
        )
        return wave, np.asarray(rate)

    results, failures = workers.each(one, len(encoded))
    return HostOutputs.of_samples(results, failures, ("", ""))
