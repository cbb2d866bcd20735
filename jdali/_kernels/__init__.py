"""Kernels: computations and size rules that several operators share. `ops` contains only operators.

* Sampling: `resample*` (separable), `warp`, `packed_pixels`, `border`; windows of images: `window*`, `take_window`.
* Neighbourhoods: `correlate`, `axis_windows`, `reached_rows`, `median_network`; colours: `lab`, `debayer_vng`, `histogram`.
* Arithmetic: `elementwise`, `promotion`; shapes: `fit`, `relayout`, `ragged_axes`, `reduced_axes`.
* `by_platform` chooses between a loop for a CPU and one expression for an accelerator.

An argument `name` is the operator's name, for error messages.
"""
