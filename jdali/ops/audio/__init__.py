"""Operators on sound: spectra, mel scale, resampling, silence."""
