"""Operators on sound: spectra, mel scale, resampling, silence."""

from jdali.ops.audio import _audio_resample as _audio_resample
from jdali.ops.audio import _mel_filter_bank as _mel_filter_bank
from jdali.ops.audio import _mfcc as _mfcc
from jdali.ops.audio import _nonsilent_region as _nonsilent_region
from jdali.ops.audio import _power_spectrum as _power_spectrum
from jdali.ops.audio import _preemphasis_filter as _preemphasis_filter
from jdali.ops.audio import _spectrogram as _spectrogram
from jdali.ops.audio import _to_decibels as _to_decibels
