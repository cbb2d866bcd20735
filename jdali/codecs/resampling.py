"""Resamples sound by a windowed sinc, as DALI does.

Output sample n (from 0) lies at position n · in_rate / out_rate of the input, in samples. It is the sum of the input
samples within `lobes` samples of this position, weighted by a sinc with a Hann window. The sinc's cutoff is the input's
Nyquist frequency even if the output rate is lower, so the output may contain aliases. Weights are interpolated linearly
in a table of 32 entries per sample, as in DALI; the table's error of about 1e-3 is part of DALI's result.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

_STEPS = 32  # table entries per sample
# Largest number of weights in a `_Bank`, to limit the memory of cached banks. Two rates with few common factors would
# need a larger bank; for them, weights are computed output by output, without a bank.
_BANK_LIMIT = 1 << 20
_BANK_INPUTS = 128  # preferred `_Bank.hop`
_CHUNK = 1 << 19  # without a bank, maximum number of input values to gather at once
# Maximum number of multiplications in a matrix product. For larger products, OpenBLAS uses several threads, which compete
# with the caller's pool for the cores; this can be ten times as slow.
_MOST_MULTIPLICATIONS = 1 << 18


def lobes_of(quality: float) -> int:
    """Returns the number of zero crossings of the sinc on each side: 3 at quality 0, 16 at 50, 64 at 100."""
    if not 0 <= quality <= 100:
        raise ValueError(f"``quality`` out of range: {quality}. Valid range is [0..100].")
    # the formula in DALI's operators/audio/resampling_params.h
    return math.floor(0.007 * quality * quality - 0.09 * quality + 3 + 0.5)


def resampled_length(length: int, in_rate: float, out_rate: float) -> int:
    return int(np.ceil(length * float(out_rate) / float(in_rate)))


@functools.lru_cache(maxsize=16)
def window_table(lobes: int) -> npt.NDArray[np.float32]:
    """Tabulates weights for distances from -lobes to lobes in steps of 1/32. One zero precedes the weights, two follow.

    As in DALI's kernels/signal/resampling.h, the Hann window extends half an entry beyond the sinc on each side.
    """
    entries = 2 * _STEPS * lobes + 1
    entry = np.arange(entries) - entries // 2
    weights = np.sinc(entry / _STEPS) * 0.5 * (1 + np.cos(2 * np.pi * entry / entries))
    table = np.pad(weights, (1, 2)).astype(np.float32)
    table.flags.writeable = False
    return table


def window_weights(distance: np.ndarray, lobes: int) -> npt.NDArray[np.float32]:
    """Computes the weights of input samples; `distance` is in samples, relative to the output's position."""
    table = window_table(lobes)
    position = distance * _STEPS + (_STEPS * lobes + 1)
    left = np.clip(np.floor(position), 0, len(table) - 2).astype(np.intp)
    share = (position - left).astype(np.float32)
    weights = table[left] + share * (table[left + 1] - table[left])
    return np.where(np.abs(distance) <= lobes, weights, np.float32(0))


def resample(
    wave: npt.NDArray[np.float32], in_rate: float, out_rate: float, quality: float
) -> npt.NDArray[np.float32]:
    """Changes the sampling rate from `in_rate` to `out_rate`, Hz.

    Args:
        wave: float32 [T] or [T, C].
        quality: 0 (3 lobes) to 100 (64 lobes).

    Returns: float32 [ceil(T · out_rate / in_rate)], or [..., C].
    """
    lobes = lobes_of(quality)
    count = resampled_length(len(wave), in_rate, out_rate)
    channels = np.asarray(wave, np.float32)[:, None] if wave.ndim == 1 else np.asarray(wave, np.float32)
    step = Fraction(float(in_rate)) / Fraction(float(out_rate))
    if count == 0 or len(wave) == 0:
        result = np.zeros((count, channels.shape[1]), np.float32)
    elif count >= step.denominator and (periods := _bank_periods(step, lobes)):
        result = _resample_by_bank(channels, _bank(step, lobes, periods), count, lobes)
    else:
        result = _resample_by_gather(channels, float(in_rate) / float(out_rate), count, lobes)
    return result.reshape(count, *wave.shape[1:])


@dataclasses.dataclass(frozen=True)
class _Bank:
    """Holds the weights of a frame: one or more periods of the signal.

    After a period, the positions of outputs relative to inputs repeat, so all frames have the same weights.

    Attributes:
        hop: number of inputs between the starts of consecutive frames.
        inputs: number of inputs of a frame, including inputs that it shares with neighbouring frames.
        outputs: number of outputs of a frame.
        blocks: (first input, first output, weights [inputs, outputs]) for each part of a frame. Nonzero weights form
            a diagonal band, so blocks skip most zeros.
    """

    hop: int
    inputs: int
    outputs: int
    blocks: tuple[tuple[int, int, npt.NDArray[np.float32]], ...]


def _block_outputs(step: Fraction, lobes: int) -> int:
    """Chooses a block's number of outputs, small enough to compute the block of several frames in one product."""
    return max(8, min(int((2 * lobes + 1) / step), _MOST_MULTIPLICATIONS // (8 * (2 * lobes + 1))))


def _bank_periods(step: Fraction, lobes: int) -> int:
    """Chooses the number of periods in a frame, within `_BANK_LIMIT`; returns 0 if even one period exceeds the limit.

    One period has `step.denominator` outputs for `step.numerator` inputs. Short frames would be inefficient, because each
    frame shares 2 · lobes inputs with its neighbours.
    """

    def weights(periods: int) -> int:
        outputs = periods * step.denominator
        return outputs * (math.ceil(min(_block_outputs(step, lobes), outputs) * step) + 2 * lobes + 1)

    periods = -(-_BANK_INPUTS // step.numerator)
    while periods and weights(periods) > _BANK_LIMIT:
        periods //= 2
    return periods


@functools.lru_cache(maxsize=16)
def _bank(step: Fraction, lobes: int, periods: int) -> _Bank:
    hop, outputs = periods * step.numerator, periods * step.denominator
    position = np.arange(outputs) * step.numerator / step.denominator
    width = _block_outputs(step, lobes)
    blocks = []
    for start in range(0, outputs, width):
        part = position[start : start + width]
        first, last = int(part[0]), int(part[-1])
        inputs = np.arange(first - lobes, last + lobes + 1)
        weights = window_weights(inputs[:, None] - part[None], lobes)
        weights.flags.writeable = False
        blocks.append((first, start, weights))
    return _Bank(hop, hop + 2 * lobes + 1, outputs, tuple(blocks))


def _resample_by_bank(channels: np.ndarray, bank: _Bank, count: int, lobes: int) -> npt.NDArray[np.float32]:
    """Resamples by multiplying frames of the signal with matrices of weights."""
    periods = -(-count // bank.outputs)
    padded = np.zeros((channels.shape[1], (periods - 1) * bank.hop + bank.inputs), np.float32)
    used = channels[: padded.shape[1] - lobes]
    padded[:, lobes : lobes + len(used)] = used.T
    frames = np.lib.stride_tricks.sliding_window_view(padded, bank.inputs, axis=1)[:, :: bank.hop]
    result = np.empty((channels.shape[1], periods, bank.outputs), np.float32)
    for first, start, weights in bank.blocks:
        inputs, outputs = weights.shape
        rows = max(1, _MOST_MULTIPLICATIONS // weights.size)
        for row in range(0, periods, rows):
            seen = frames[:, row : row + rows, first : first + inputs]
            np.matmul(seen, weights, out=result[:, row : row + rows, start : start + outputs])
    return np.asarray(result.reshape(channels.shape[1], -1)[:, :count].T)


def _resample_by_gather(channels: np.ndarray, step: float, count: int, lobes: int) -> npt.NDArray[np.float32]:
    result = np.empty((count, channels.shape[1]), np.float32)
    padded = np.pad(channels, ((lobes, lobes + 1), (0, 0)))
    taps = np.arange(-lobes, lobes + 1)
    at_once = max(1, _CHUNK // (len(taps) * channels.shape[1]))
    for start in range(0, count, at_once):
        position = np.arange(start, min(start + at_once, count)) * step
        index = np.floor(position).astype(np.intp)[:, None] + taps
        weights = window_weights(index - position[:, None], lobes)
        seen = padded[np.clip(index + lobes, 0, len(padded) - 1)]
        result[start : start + at_once] = np.einsum("nt,ntc->nc", weights, seen)
    return result
