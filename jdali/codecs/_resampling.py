"""Resampling of sound by a windowed sinc, as DALI does it.

Output sample n stands at the time n · in_rate / out_rate of the input, counted from 0, and is the sum of
the input samples within `lobes` of it, weighted by a sinc (of the input's rate: there is no low-pass when
the rate goes down) under a Hann window. The weights come from a table with 32 entries a sample, between
which is interpolated linearly; its coarseness is audible at 1e-3 and so a part of DALI's result.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np

_STEPS = 32  # table entries a sample
_BANK_LIMIT = 1 << 20  # largest matrix of weights; rates with few common factors would need more
_BANK_INPUTS = 128  # smallest number of inputs to go on from one product to the next
_CHUNK = 1 << 14  # outputs at a time where there is no such matrix


def lobes_of(quality: float) -> int:
    """Zero crossings of the sinc on each side: 3 at quality 0, 16 at 50, 64 at 100."""
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be within 0 and 100, got {quality}")
    # operators/audio/resampling_params.h
    return int(np.floor(0.007 * quality * quality - 0.09 * quality + 3 + 0.5))


def resampled_length(length: int, in_rate: float, out_rate: float) -> int:
    """Samples after resampling."""
    return int(np.ceil(length * float(out_rate) / float(in_rate)))


@functools.lru_cache(maxsize=16)
def window_table(lobes: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Weights at distances -lobes to lobes in steps of 1/32, with a zero before and two after.

    The Hann window is wider than the sinc by half an entry on each side (kernels/signal/resampling.h).
    """
    entries = 2 * _STEPS * lobes + 1
    place = np.arange(entries) - entries // 2
    weights = np.sinc(place / _STEPS) * 0.5 * (1 + np.cos(2 * np.pi * place / entries))
    table = np.pad(weights, (1, 2)).astype(np.float32)
    table.flags.writeable = False
    return table


def window_weights(distance: np.ndarray[Any, Any], lobes: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Weights of input samples at `distance` (in samples) from the output's place."""
    table = window_table(lobes)
    place = distance * _STEPS + (_STEPS * lobes + 1)
    left = np.clip(np.floor(place), 0, len(table) - 2).astype(np.intp)
    share = (place - left).astype(np.float32)
    weights = table[left] + share * (table[left + 1] - table[left])
    return np.where(np.abs(distance) <= lobes, weights, np.float32(0))


def resample(
    wave: np.ndarray[Any, np.dtype[np.float32]], in_rate: float, out_rate: float, quality: float
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Changes the sampling rate.

    Args:
        wave: float32 [T] or [T, C].
        in_rate: samples a second of `wave`.
        out_rate: samples a second to make.
        quality: 0 (3 lobes) to 100 (64 lobes).

    Returns: float32 [ceil(T · out_rate / in_rate)] or the same with [C].
    """
    lobes = lobes_of(quality)
    count = resampled_length(len(wave), in_rate, out_rate)
    channels = np.asarray(wave, np.float32)[:, None] if wave.ndim == 1 else np.asarray(wave, np.float32)
    step = Fraction(float(in_rate)) / Fraction(float(out_rate))
    if count == 0 or len(wave) == 0:
        result = np.zeros((count, channels.shape[1]), np.float32)
    elif step.denominator * (step.numerator + 2 * lobes + 1) <= _BANK_LIMIT:
        result = _resample_by_bank(channels, _bank(step, lobes), count, lobes)
    else:
        result = _resample_by_gather(channels, float(in_rate) / float(out_rate), count, lobes)
    return result.reshape(count, *wave.shape[1:])


@functools.lru_cache(maxsize=16)
def _bank(step: Fraction, lobes: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Weights [inputs, outputs] of some periods of the weights, which lie on the diagonal of a band.

    One period is `denominator` outputs over `numerator` inputs; so many are taken that the inputs shared
    by neighbouring products (2 · lobes) do not outweigh the rest.
    """
    periods = -(-_BANK_INPUTS // step.numerator)
    inputs = np.arange(-lobes, periods * step.numerator + lobes + 1)
    outputs = np.arange(periods * step.denominator) * step.numerator / step.denominator
    bank = window_weights(inputs[:, None] - outputs[None], lobes)
    bank.flags.writeable = False
    return bank


def _resample_by_bank(
    channels: np.ndarray[Any, Any],
    bank: np.ndarray[Any, np.dtype[np.float32]],
    count: int,
    lobes: int,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One matrix product for all frames of the signal, each with the inputs of `bank`."""
    hop = len(bank) - 2 * lobes - 1
    products = -(-count // bank.shape[1])
    padded = np.zeros((channels.shape[1], (products - 1) * hop + len(bank)), np.float32)
    used = channels[: padded.shape[1] - lobes]
    padded[:, lobes : lobes + len(used)] = used.T
    frames = np.lib.stride_tricks.sliding_window_view(padded, len(bank), axis=1)[:, ::hop]
    outputs = np.ascontiguousarray(frames) @ bank  # [C, products, outputs of one]
    return np.asarray(outputs.reshape(channels.shape[1], -1)[:, :count].T)


def _resample_by_gather(
    channels: np.ndarray[Any, Any], step: float, count: int, lobes: int
) -> np.ndarray[Any, np.dtype[np.float32]]:
    result = np.empty((count, channels.shape[1]), np.float32)
    padded = np.pad(channels, ((lobes, lobes + 1), (0, 0)))
    taps = np.arange(-lobes, lobes + 1)
    for start in range(0, count, _CHUNK):
        place = np.arange(start, min(start + _CHUNK, count)) * step
        index = np.floor(place).astype(np.intp)[:, None] + taps
        weights = window_weights(index - place[:, None], lobes)
        seen = padded[np.clip(index + lobes, 0, len(padded) - 1)]
        result[start : start + _CHUNK] = np.einsum("nt,ntc->nc", weights, seen)
    return result
