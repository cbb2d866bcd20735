"""Operators on audio: spectra, mel scale, resampling, silence."""
