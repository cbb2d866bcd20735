"""Operators on sound: spectra, mel scale, resampling, silence."""

from jdali.ops.audio import _mel_filter_bank as _mel_filter_bank
from jdali.ops.audio import _spectrogram as _spectrogram
from jdali.ops.audio import _to_decibels as _to_decibels
