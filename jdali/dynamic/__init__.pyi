"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali.dynamic._rng import RNG
from jdali.dynamic import decoders as decoders
from jdali.dynamic import experimental as experimental
from jdali.dynamic import io as io
from jdali.dynamic import noise as noise
from jdali.dynamic import random as random
from jdali.dynamic import readers as readers
from jdali.dynamic import reductions as reductions
from jdali.dynamic import segmentation as segmentation
from jdali.dynamic import transforms as transforms
from jdali import types as types
from jdali.dynamic import capture as capture
from jdali.dynamic import checkpoint as checkpoint
from jdali.dynamic import math as math
from jdali.dynamic import pytorch as pytorch
from jdali.dynamic._batch import Batch as Batch
from jdali.dynamic._batch import as_batch as as_batch
from jdali.dynamic._batch import batch as batch
from jdali.dynamic._context import EvalContext as EvalContext
from jdali.dynamic._context import EvalMode as EvalMode
from jdali.dynamic._context import Stream as Stream
from jdali.dynamic._context import ThreadPool as ThreadPool
from jdali.dynamic._context import get_current_stream as get_current_stream
from jdali.dynamic._context import get_default_stream as get_default_stream
from jdali.dynamic._context import get_num_threads as get_num_threads
from jdali.dynamic._context import set_current_stream as set_current_stream
from jdali.dynamic._context import set_default_stream as set_default_stream
from jdali.dynamic._context import set_num_threads as set_num_threads
from jdali.dynamic._context import stream as stream
from jdali.dynamic._device import Device as Device
from jdali.dynamic._device import device as device
from jdali.dynamic._dtype import DataType as DataType
from jdali.dynamic._dtype import DType as DType
from jdali.dynamic._dtype import ImageType as ImageType
from jdali.dynamic._dtype import InterpType as InterpType
from jdali.dynamic._dtype import bfloat16 as bfloat16
from jdali.dynamic._dtype import dtype as dtype
from jdali.dynamic._dtype import float16 as float16
from jdali.dynamic._dtype import float32 as float32
from jdali.dynamic._dtype import float64 as float64
from jdali.dynamic._dtype import int8 as int8
from jdali.dynamic._dtype import int16 as int16
from jdali.dynamic._dtype import int32 as int32
from jdali.dynamic._dtype import int64 as int64
from jdali.dynamic._dtype import type_id as type_id
from jdali.dynamic._dtype import uint8 as uint8
from jdali.dynamic._dtype import uint16 as uint16
from jdali.dynamic._dtype import uint32 as uint32
from jdali.dynamic._dtype import uint64 as uint64
from jdali.dynamic._external_source import ExternalSource as ExternalSource
from jdali.dynamic._tensor import Tensor as Tensor
from jdali.dynamic._tensor import as_tensor as as_tensor
from jdali.dynamic._tensor import tensor as tensor
from jdali.dynamic._imread import imread as imread
bool: DType

def audio_resample(
    signal: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    in_rate: float | Tensor | Batch | None = None,
    out_length: int | Tensor | Batch | None = None,
    out_rate: float | Tensor | Batch | None = None,
    quality: float = 50.0,
    scale: float | Tensor | Batch | None = None,
) -> Any: ...

def batch_permutation(
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    allow_repetitions: builtins.bool = False,
    no_fixed_points: builtins.bool = False,
    rng: RNG | None = None,
) -> Any: ...

def bb_flip(
    boxes: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    horizontal: int | Tensor | Batch = 1,
    ltrb: builtins.bool = False,
    vertical: int | Tensor | Batch = 0,
) -> Any: ...

def bbox_paste(
    boxes: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    ltrb: builtins.bool = False,
    paste_x: float | Tensor | Batch = 0.5,
    paste_y: float | Tensor | Batch = 0.5,
    ratio: float | Tensor | Batch,
) -> Any: ...

def bbox_rotate(
    boxes: Any,
    labels: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    angle: float | Tensor | Batch,
    bbox_layout: str = 'xyXY',
    bbox_normalized: builtins.bool = True,
    input_shape: typing.Sequence[int] | Tensor | Batch,
    keep_size: builtins.bool = False,
    mode: str = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def box_encoder(
    boxes: Any,
    labels: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchors: typing.Sequence[float],
    criteria: float = 0.5,
    means: typing.Sequence[float] = ...,
    offset: builtins.bool = False,
    scale: float = 1.0,
    stds: typing.Sequence[float] = ...,
) -> Any: ...

def brightness(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    brightness: float | Tensor | Batch = 1.0,
    brightness_shift: float | Tensor | Batch = 0.0,
    dtype: DTypeLike | None = None,
) -> Any: ...

def brightness_contrast(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    brightness: float | Tensor | Batch = 1.0,
    brightness_shift: float | Tensor | Batch = 0.0,
    contrast: float | Tensor | Batch = 1.0,
    contrast_center: float | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...

def cast(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike,
) -> Any: ...

def cast_like(
    data: Any,
    like: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
) -> Any: ...

def cat(
    *data: Any,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axis: int = 0,
    axis_name: str | None = None,
) -> Any: ...

def clahe(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: builtins.bool = True,
) -> Any: ...

def color_space_conversion(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
) -> Any: ...

def color_twist(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    brightness: float | Tensor | Batch = 1.0,
    contrast: float | Tensor | Batch = 1.0,
    dtype: DTypeLike | None = None,
    hue: float | Tensor | Batch = 0.0,
    image_type: types.DALIImageType = ...,
    saturation: float | Tensor | Batch = 1.0,
) -> Any: ...

def constant(
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    fdata: float | typing.Sequence[float] | None = None,
    idata: int | typing.Sequence[int] | None = None,
    layout: str = '',
    shape: int | typing.Sequence[int] | None = None,
) -> Any: ...

def contrast(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    contrast: float | Tensor | Batch = 1.0,
    contrast_center: float | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...

def coord_flip(
    points: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    center_x: float | Tensor | Batch = 0.5,
    center_y: float | Tensor | Batch = 0.5,
    center_z: float | Tensor | Batch = 0.5,
    flip_x: int | Tensor | Batch = 1,
    flip_y: int | Tensor | Batch = 0,
    flip_z: int | Tensor | Batch = 0,
    layout: str = '',
) -> Any: ...

def coord_transform(
    points: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    M: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
    MT: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
    T: typing.Sequence[float] | Tensor | Batch | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
) -> Any: ...

def copy(
    batch: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
) -> Any: ...

def crop(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    crop: typing.Sequence[float] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    crop_w: float | Tensor | Batch = 0.0,
    dtype: DTypeLike | None = None,
    fill_values: typing.Sequence[float] = ...,
    out_of_bounds_policy: str = 'error',
    rounding: str = 'round',
) -> Any: ...

def crop_mirror_normalize(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    crop: typing.Sequence[float] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    crop_w: float | Tensor | Batch = 0.0,
    dtype: Any = ...,
    fill_values: typing.Sequence[float] = ...,
    mean: typing.Sequence[float] | Tensor | Batch = ...,
    mirror: int | Tensor | Batch = 0,
    out_of_bounds_policy: str = 'error',
    output_layout: str = 'CHW',
    pad_output: builtins.bool = False,
    rounding: str = 'round',
    scale: float = 1.0,
    shift: float = 0.0,
    std: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def debayer(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    blue_position: typing.Sequence[int] | Tensor | Batch,
    algorithm: str = 'bilinear_ocv',
) -> Any: ...

def dump_image(
    images: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    input_layout: str = 'HWC',
    suffix: str = '',
) -> Any: ...

def element_extract(
    sequence: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    element_map: typing.Sequence[int],
) -> Any: ...

def equalize(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
) -> Any: ...

def erase(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[float] | Tensor | Batch = ...,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    centered_anchor: builtins.bool = False,
    fill_value: typing.Sequence[float] | Tensor | Batch = ...,
    normalized: builtins.bool = False,
    normalized_anchor: builtins.bool = False,
    normalized_shape: builtins.bool = False,
    shape: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def expand_dims(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int],
    new_axis_names: str = '',
) -> Any: ...

def fast_resize_crop_mirror(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    size: typing.Sequence[float] | Tensor | Batch | None = None,
    resize_x: float | Tensor | Batch = 0.0,
    resize_y: float | Tensor | Batch = 0.0,
    resize_z: float | Tensor | Batch = 0.0,
    resize_shorter: float | Tensor | Batch = 0.0,
    resize_longer: float | Tensor | Batch = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_end: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_relative: builtins.bool = False,
    subpixel_scale: builtins.bool = True,
    crop: typing.Sequence[float] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_w: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    rounding: str = 'round',
    mirror: int | Tensor | Batch = 0,
    interp_type: types.DALIInterpType | Tensor | Batch = ...,
    min_filter: types.DALIInterpType | Tensor | Batch | None = None,
    mag_filter: types.DALIInterpType | Tensor | Batch | None = None,
    antialias: builtins.bool = False,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Any: ...

def filter(
    data: Any,
    filter: Any,
    fill_value: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[int] | Tensor | Batch = ...,
    border: str = 'reflect_101',
    dtype: DTypeLike | None = None,
    mode: str = 'same',
) -> Any: ...

def flip(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    depthwise: int | Tensor | Batch = 0,
    horizontal: int | Tensor | Batch = 1,
    vertical: int | Tensor | Batch = 0,
) -> Any: ...

def full(
    fill_value: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    layout: str | None = None,
    shape: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def full_like(
    data_like: Any,
    fill_value: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
) -> Any: ...

def gaussian_blur(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    sigma: typing.Sequence[float] | Tensor | Batch = ...,
    window_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def get_property(
    batch: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    key: str,
) -> Any: ...

def grid_mask(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    angle: float | Tensor | Batch = 0.0,
    ratio: float | Tensor | Batch = 0.5,
    shift_x: float | Tensor | Batch = 0.0,
    shift_y: float | Tensor | Batch = 0.0,
    tile: int | Tensor | Batch = 100,
) -> Any: ...

def hsv(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: Any = ...,
    hue: float | Tensor | Batch = 0.0,
    saturation: float | Tensor | Batch = 1.0,
    value: float | Tensor | Batch = 1.0,
) -> Any: ...

def hue(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    hue: float | Tensor | Batch = 0.0,
    image_type: types.DALIImageType = ...,
) -> Any: ...

def jitter(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: int | Tensor | Batch = 1,
    nDegree: int = 2,
    rng: RNG | None = None,
) -> Any: ...

def jpeg_compression_distortion(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    quality: int | Tensor | Batch = 50,
) -> Any: ...

def laplacian(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    normalized_kernel: builtins.bool = False,
    scale: typing.Sequence[float] | Tensor | Batch = ...,
    smoothing_size: typing.Sequence[int] | Tensor | Batch | None = None,
    window_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def lookup_table(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    default_value: float = 0.0,
    dtype: DTypeLike | types.DALIDataType = ...,
    keys: typing.Sequence[int] = ...,
    values: typing.Sequence[float] = ...,
) -> Any: ...

def mel_filter_bank(
    spectrum: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: str = 'slaney',
    nfilter: int = 128,
    normalize: builtins.bool = True,
    sample_rate: float = 44100.0,
) -> Any: ...

def mfcc(
    spectrum: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: builtins.bool = False,
) -> Any: ...

def multi_paste(
    *images: Any,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    in_anchors: typing.Sequence[typing.Sequence[int]] | Tensor | Batch | None = None,
    in_anchors_rel: typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
    in_ids: typing.Sequence[int] | Tensor | Batch | None = None,
    out_anchors: typing.Sequence[typing.Sequence[int]] | Tensor | Batch | None = None,
    out_anchors_rel: typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
    output_size: typing.Sequence[int] | Tensor | Batch | None = None,
    shapes: typing.Sequence[typing.Sequence[int]] | Tensor | Batch | None = None,
    shapes_rel: typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
) -> Any: ...

def nonsilent_region(
    signal: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
) -> Any: ...

def normalize(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    batch: builtins.bool = False,
    ddof: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    epsilon: float = 0.0,
    mean: Any = None,
    scale: float = 1.0,
    shift: float = 0.0,
    stddev: Any = None,
) -> Any: ...

def one_hot(
    classes: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
) -> Any: ...

def ones(
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def ones_like(
    data_like: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...

def optical_flow(
    frames: Any,
    hints: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    enable_external_hints: builtins.bool = False,
    enable_temporal_hints: builtins.bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = ...,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
) -> Any: ...

def pad(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    align: typing.Sequence[int] | Tensor | Batch | None = None,
    axes: typing.Sequence[int] | Tensor | Batch | None = None,
    axis_names: str | None = None,
    fill_value: float | Tensor | Batch = 0.0,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
) -> Any: ...

def paste(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    fill_value: int | typing.Sequence[int],
    min_canvas_size: float | Tensor | Batch = 0.0,
    n_channels: int = 3,
    paste_x: float | Tensor | Batch = 0.5,
    paste_y: float | Tensor | Batch = 0.5,
    ratio: float | Tensor | Batch,
) -> Any: ...

def peek_image_shape(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    adjust_orientation: builtins.bool = True,
    dtype: DTypeLike | types.DALIDataType = ...,
    image_type: types.DALIImageType = ...,
) -> Any: ...

def per_frame(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    replace: builtins.bool = False,
) -> Any: ...

def permute_batch(
    batch: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    indices: int | typing.Sequence[int] | Tensor | Batch,
) -> Any: ...

def power_spectrum(
    signal: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
) -> Any: ...

def preemphasis_filter(
    signal: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    border: str = 'clamp',
    dtype: DTypeLike | types.DALIDataType = ...,
    preemph_coeff: float | Tensor | Batch = 0.97,
) -> Any: ...

def random_bbox_crop(
    boxes: Any,
    labels: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    all_boxes_above_threshold: builtins.bool = True,
    allow_no_crop: builtins.bool = True,
    aspect_ratio: typing.Sequence[float] = ...,
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: typing.Sequence[int] | Tensor | Batch | None = None,
    input_shape: typing.Sequence[int] | Tensor | Batch | None = None,
    ltrb: builtins.bool = True,
    num_attempts: int = 1,
    output_bbox_indices: builtins.bool = False,
    quiet: builtins.bool = False,
    scaling: typing.Sequence[float] = ...,
    shape_layout: str | None = None,
    threshold_type: str = 'iou',
    thresholds: typing.Sequence[float] = ...,
    total_num_attempts: int = -1,
    rng: RNG | None = None,
) -> Any: ...

def random_crop_generator(
    shapes: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    rng: RNG | None = None,
) -> Any: ...

def random_resized_crop(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    size: int | typing.Sequence[int],
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    num_attempts: int = 10,
    interp_type: types.DALIInterpType | Tensor | Batch = ...,
    min_filter: types.DALIInterpType | Tensor | Batch | None = None,
    mag_filter: types.DALIInterpType | Tensor | Batch | None = None,
    antialias: builtins.bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    rng: RNG | None = None,
) -> Any: ...

def reinterpret(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: typing.Sequence[float] | Tensor | Batch | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    src_dims: typing.Sequence[int] | Tensor | Batch | None = None,
) -> Any: ...

def reshape(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    layout: str | None = None,
    rel_shape: typing.Sequence[float] | Tensor | Batch | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    src_dims: typing.Sequence[int] | Tensor | Batch | None = None,
) -> Any: ...

def resize(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    size: typing.Sequence[float] | Tensor | Batch | None = None,
    resize_x: float | Tensor | Batch = 0.0,
    resize_y: float | Tensor | Batch = 0.0,
    resize_z: float | Tensor | Batch = 0.0,
    resize_shorter: float | Tensor | Batch = 0.0,
    resize_longer: float | Tensor | Batch = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_end: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_relative: builtins.bool = False,
    subpixel_scale: builtins.bool = True,
    interp_type: types.DALIInterpType | Tensor | Batch = ...,
    min_filter: types.DALIInterpType | Tensor | Batch | None = None,
    mag_filter: types.DALIInterpType | Tensor | Batch | None = None,
    antialias: builtins.bool = True,
    dtype: DTypeLike | None = None,
    save_attrs: builtins.bool = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Any: ...

def resize_crop_mirror(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    size: typing.Sequence[float] | Tensor | Batch | None = None,
    resize_x: float | Tensor | Batch = 0.0,
    resize_y: float | Tensor | Batch = 0.0,
    resize_z: float | Tensor | Batch = 0.0,
    resize_shorter: float | Tensor | Batch = 0.0,
    resize_longer: float | Tensor | Batch = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_end: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_relative: builtins.bool = False,
    subpixel_scale: builtins.bool = True,
    crop: typing.Sequence[float] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_w: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    rounding: str = 'round',
    mirror: int | Tensor | Batch = 0,
    interp_type: types.DALIInterpType | Tensor | Batch = ...,
    min_filter: types.DALIInterpType | Tensor | Batch | None = None,
    mag_filter: types.DALIInterpType | Tensor | Batch | None = None,
    antialias: builtins.bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Any: ...

def roi_random_crop(
    picture: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    crop_shape: typing.Sequence[int] | Tensor | Batch,
    in_shape: typing.Sequence[int] | Tensor | Batch | None = None,
    roi_end: typing.Sequence[int] | Tensor | Batch | None = None,
    roi_shape: typing.Sequence[int] | Tensor | Batch | None = None,
    roi_start: typing.Sequence[int] | Tensor | Batch,
    rng: RNG | None = None,
) -> Any: ...

def rotate(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    angle: float | Tensor | Batch,
    axis: typing.Sequence[float] | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    keep_size: builtins.bool = False,
    size: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def saturation(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    image_type: types.DALIImageType = ...,
    saturation: float | Tensor | Batch = 1.0,
) -> Any: ...

def sequence_rearrange(
    sequence: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    new_order: typing.Sequence[int] | Tensor | Batch,
) -> Any: ...

def shapes(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike = ...,
) -> Any: ...

def slice(
    data: Any,
    anchor: Any = None,
    shape_input: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | Tensor | Batch | None = None,
    axis_names: str = 'WH',
    dtype: DTypeLike | None = None,
    end: typing.Sequence[int] | Tensor | Batch | None = None,
    fill_values: typing.Sequence[float] = ...,
    normalized_anchor: builtins.bool = True,
    normalized_shape: builtins.bool = True,
    out_of_bounds_policy: str = 'error',
    rel_end: typing.Sequence[float] | Tensor | Batch | None = None,
    rel_shape: typing.Sequence[float] | Tensor | Batch | None = None,
    rel_start: typing.Sequence[float] | Tensor | Batch | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    start: typing.Sequence[int] | Tensor | Batch | None = None,
) -> Any: ...

def spectrogram(
    signal: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    center_windows: builtins.bool = True,
    layout: str = 'ft',
    nfft: int | None = None,
    power: int = 2,
    reflect_padding: builtins.bool = True,
    window_fn: typing.Sequence[float] | None = None,
    window_length: int = 512,
    window_step: int = 256,
) -> Any: ...

def sphere(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: int | Tensor | Batch = 1,
) -> Any: ...

def squeeze(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
) -> Any: ...

def ssd_random_crop(
    image: Any,
    boxes: Any,
    labels: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    num_attempts: int = 1,
    rng: RNG | None = None,
) -> Any: ...

def stack(
    *data: Any,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axis: int = 0,
    axis_name: str | None = None,
) -> Any: ...

def tensor_resize(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    alignment: typing.Sequence[float] | Tensor | Batch = ...,
    antialias: builtins.bool = True,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    interp_type: types.DALIInterpType | Tensor | Batch = ...,
    mag_filter: types.DALIInterpType | Tensor | Batch | None = None,
    max_size: float | typing.Sequence[float] | None = None,
    min_filter: types.DALIInterpType | Tensor | Batch | None = None,
    minibatch_size: int = 32,
    mode: str = 'default',
    roi_end: typing.Sequence[float] | Tensor | Batch | None = None,
    roi_relative: builtins.bool = False,
    roi_start: typing.Sequence[float] | Tensor | Batch | None = None,
    scales: typing.Sequence[float] | Tensor | Batch | None = None,
    size_rounding: str = 'round',
    sizes: typing.Sequence[float] | Tensor | Batch | None = None,
    subpixel_scale: builtins.bool = True,
    temp_buffer_hint: int = 0,
) -> Any: ...

def to_decibels(
    magnitude: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
) -> Any: ...

def transpose(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    output_layout: str | None = None,
    perm: typing.Sequence[int] | None = None,
    transpose_layout: builtins.bool = True,
) -> Any: ...

def warp_affine(
    data: Any,
    mtx: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    inverse_map: builtins.bool = True,
    matrix: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch = ...,
    size: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def water(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = ...,
    mask: int | Tensor | Batch = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
) -> Any: ...

def zeros(
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def zeros_like(
    data_like: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
) -> Any: ...
