"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.ops import math as math
from jdali.ops import noise as noise
from jdali.ops import random as random
from jdali.ops import reductions as reductions
from jdali.ops import transforms as transforms

@overload
def audio_resample(
    signal: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    in_rate: Any = None,
    out_length: Any = None,
    out_rate: Any = None,
    quality: float = 50.0,
    scale: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def audio_resample(
    signal: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    in_rate: Any = None,
    out_length: Any = None,
    out_rate: Any = None,
    quality: float = 50.0,
    scale: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bb_flip(
    boxes: Any,
    /,
    *,
    horizontal: Any = 1,
    ltrb: bool = False,
    vertical: Any = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bb_flip(
    boxes: Any,
    /,
    *,
    horizontal: Any = 1,
    ltrb: bool = False,
    vertical: Any = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bbox_paste(
    boxes: Any,
    /,
    *,
    ltrb: bool = False,
    paste_x: Any = 0.5,
    paste_y: Any = 0.5,
    ratio: Any,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bbox_paste(
    boxes: Any,
    /,
    *,
    ltrb: bool = False,
    paste_x: Any = 0.5,
    paste_y: Any = 0.5,
    ratio: Any,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def box_encoder(
    boxes: Any,
    labels: Any,
    /,
    *,
    anchors: typing.Sequence[float],
    criteria: float = 0.5,
    means: typing.Sequence[float] = ...,
    offset: bool = False,
    scale: float = 1.0,
    stds: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def box_encoder(
    boxes: Any,
    labels: Any,
    /,
    *,
    anchors: typing.Sequence[float],
    criteria: float = 0.5,
    means: typing.Sequence[float] = ...,
    offset: bool = False,
    scale: float = 1.0,
    stds: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def brightness(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    brightness_shift: Any = 0.0,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def brightness(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    brightness_shift: Any = 0.0,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def brightness_contrast(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    brightness_shift: Any = 0.0,
    contrast: Any = 1.0,
    contrast_center: Any = None,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def brightness_contrast(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    brightness_shift: Any = 0.0,
    contrast: Any = 1.0,
    contrast_center: Any = None,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cast(
    data: Any,
    /,
    *,
    dtype: DTypeLike,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cast(
    data: Any,
    /,
    *,
    dtype: DTypeLike,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cast_like(
    data: Any,
    like: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cast_like(
    data: Any,
    like: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cat(
    *data: Any,
    axis: int = 0,
    axis_name: str | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cat(
    *data: Any,
    axis: int = 0,
    axis_name: str | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def color_space_conversion(
    image: Any,
    /,
    *,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def color_space_conversion(
    image: Any,
    /,
    *,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def color_twist(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    contrast: Any = 1.0,
    dtype: DTypeLike | None = None,
    hue: Any = 0.0,
    image_type: types.DALIImageType = ...,
    saturation: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def color_twist(
    image: Any,
    /,
    *,
    brightness: Any = 1.0,
    contrast: Any = 1.0,
    dtype: DTypeLike | None = None,
    hue: Any = 0.0,
    image_type: types.DALIImageType = ...,
    saturation: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def contrast(
    image: Any,
    /,
    *,
    contrast: Any = 1.0,
    contrast_center: Any = None,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def contrast(
    image: Any,
    /,
    *,
    contrast: Any = 1.0,
    contrast_center: Any = None,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coord_flip(
    points: Any,
    /,
    *,
    center_x: Any = 0.5,
    center_y: Any = 0.5,
    center_z: Any = 0.5,
    flip_x: Any = 1,
    flip_y: Any = 0,
    flip_z: Any = 0,
    layout: str = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def coord_flip(
    points: Any,
    /,
    *,
    center_x: Any = 0.5,
    center_y: Any = 0.5,
    center_z: Any = 0.5,
    flip_x: Any = 1,
    flip_y: Any = 0,
    flip_z: Any = 0,
    layout: str = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coord_transform(
    points: Any,
    /,
    *,
    M: Any = None,
    MT: Any = None,
    T: Any = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def coord_transform(
    points: Any,
    /,
    *,
    M: Any = None,
    MT: Any = None,
    T: Any = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def crop(
    image: Any,
    /,
    *,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    crop_w: Any = 0.0,
    dtype: DTypeLike | None = None,
    fill_values: typing.Sequence[float] = ...,
    out_of_bounds_policy: str = 'error',
    rounding: str = 'round',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def crop(
    image: Any,
    /,
    *,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    crop_w: Any = 0.0,
    dtype: DTypeLike | None = None,
    fill_values: typing.Sequence[float] = ...,
    out_of_bounds_policy: str = 'error',
    rounding: str = 'round',
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def crop_mirror_normalize(
    image: Any,
    /,
    *,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    crop_w: Any = 0.0,
    dtype: Any = ...,
    fill_values: typing.Sequence[float] = ...,
    mean: Any = ...,
    mirror: Any = 0,
    out_of_bounds_policy: str = 'error',
    output_layout: str = 'CHW',
    pad_output: bool = False,
    rounding: str = 'round',
    scale: float = 1.0,
    shift: float = 0.0,
    std: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def crop_mirror_normalize(
    image: Any,
    /,
    *,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    crop_w: Any = 0.0,
    dtype: Any = ...,
    fill_values: typing.Sequence[float] = ...,
    mean: Any = ...,
    mirror: Any = 0,
    out_of_bounds_policy: str = 'error',
    output_layout: str = 'CHW',
    pad_output: bool = False,
    rounding: str = 'round',
    scale: float = 1.0,
    shift: float = 0.0,
    std: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def element_extract(
    sequence: Any,
    /,
    *,
    element_map: typing.Sequence[int],
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def element_extract(
    sequence: Any,
    /,
    *,
    element_map: typing.Sequence[int],
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def expand_dims(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int],
    new_axis_names: str = '',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def expand_dims(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int],
    new_axis_names: str = '',
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def flip(
    image: Any,
    /,
    *,
    depthwise: Any = 0,
    horizontal: Any = 1,
    vertical: Any = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def flip(
    image: Any,
    /,
    *,
    depthwise: Any = 0,
    horizontal: Any = 1,
    vertical: Any = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def full(
    fill_value: Any,
    /,
    *,
    layout: str | None = None,
    shape: Any = ...,
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def full(
    fill_value: Any,
    /,
    *,
    layout: str | None = None,
    shape: Any = ...,
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def full_like(
    data_like: Any,
    fill_value: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def full_like(
    data_like: Any,
    fill_value: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def gaussian_blur(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    sigma: Any = ...,
    window_size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def gaussian_blur(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    sigma: Any = ...,
    window_size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def grid_mask(
    image: Any,
    /,
    *,
    angle: Any = 0.0,
    ratio: Any = 0.5,
    shift_x: Any = 0.0,
    shift_y: Any = 0.0,
    tile: Any = 100,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def grid_mask(
    image: Any,
    /,
    *,
    angle: Any = 0.0,
    ratio: Any = 0.5,
    shift_x: Any = 0.0,
    shift_y: Any = 0.0,
    tile: Any = 100,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def hsv(
    image: Any,
    /,
    *,
    dtype: Any = ...,
    hue: Any = 0.0,
    saturation: Any = 1.0,
    value: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def hsv(
    image: Any,
    /,
    *,
    dtype: Any = ...,
    hue: Any = 0.0,
    saturation: Any = 1.0,
    value: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def hue(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    hue: Any = 0.0,
    image_type: types.DALIImageType = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def hue(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    hue: Any = 0.0,
    image_type: types.DALIImageType = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def lookup_table(
    data: Any,
    /,
    *,
    default_value: float = 0.0,
    dtype: DTypeLike | types.DALIDataType = ...,
    keys: typing.Sequence[int] = ...,
    values: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def lookup_table(
    data: Any,
    /,
    *,
    default_value: float = 0.0,
    dtype: DTypeLike | types.DALIDataType = ...,
    keys: typing.Sequence[int] = ...,
    values: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mel_filter_bank(
    spectrum: Any,
    /,
    *,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: str = 'slaney',
    nfilter: int = 128,
    normalize: bool = True,
    sample_rate: float = 44100.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mel_filter_bank(
    spectrum: Any,
    /,
    *,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: str = 'slaney',
    nfilter: int = 128,
    normalize: bool = True,
    sample_rate: float = 44100.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mfcc(
    spectrum: Any,
    /,
    *,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mfcc(
    spectrum: Any,
    /,
    *,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def nonsilent_region(
    signal: Any,
    /,
    *,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def nonsilent_region(
    signal: Any,
    /,
    *,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def normalize(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    batch: bool = False,
    ddof: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    epsilon: float = 0.0,
    mean: Any = None,
    scale: float = 1.0,
    shift: float = 0.0,
    stddev: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def normalize(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    batch: bool = False,
    ddof: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    epsilon: float = 0.0,
    mean: Any = None,
    scale: float = 1.0,
    shift: float = 0.0,
    stddev: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def one_hot(
    classes: Any,
    /,
    *,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def one_hot(
    classes: Any,
    /,
    *,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

def ones(
    *,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: Any = ...,
    out_shape: Any = None,
) -> Array: ...

@overload
def ones_like(
    data_like: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def ones_like(
    data_like: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def pad(
    data: Any,
    /,
    *,
    align: Any = None,
    axes: Any = None,
    axis_names: str | None = None,
    fill_value: Any = 0.0,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def pad(
    data: Any,
    /,
    *,
    align: Any = None,
    axes: Any = None,
    axis_names: str | None = None,
    fill_value: Any = 0.0,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def power_spectrum(
    signal: Any,
    /,
    *,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def power_spectrum(
    signal: Any,
    /,
    *,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def preemphasis_filter(
    signal: Any,
    /,
    *,
    border: str = 'clamp',
    dtype: DTypeLike | types.DALIDataType = ...,
    preemph_coeff: Any = 0.97,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def preemphasis_filter(
    signal: Any,
    /,
    *,
    border: str = 'clamp',
    dtype: DTypeLike | types.DALIDataType = ...,
    preemph_coeff: Any = 0.97,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def random_resized_crop(
    key: ArrayLike,
    image: Any,
    /,
    *,
    size: typing.Sequence[int] | int,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    num_attempts: int = 10,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def random_resized_crop(
    key: ArrayLike,
    image: Any,
    /,
    *,
    size: typing.Sequence[int] | int,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    num_attempts: int = 10,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def reinterpret(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Any = None,
    shape: Any = None,
    src_dims: Any = None,
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def reinterpret(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Any = None,
    shape: Any = None,
    src_dims: Any = None,
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def reshape(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    layout: str | None = None,
    rel_shape: Any = None,
    shape: Any = None,
    src_dims: Any = None,
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def reshape(
    data: Any,
    shape_input: Any = None,
    /,
    *,
    layout: str | None = None,
    rel_shape: Any = None,
    shape: Any = None,
    src_dims: Any = None,
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def resize(
    image: Any,
    /,
    *,
    size: Any = None,
    resize_x: Any = 0.0,
    resize_y: Any = 0.0,
    resize_z: Any = 0.0,
    resize_shorter: Any = 0.0,
    resize_longer: Any = 0.0,
    mode: str = 'default',
    max_size: typing.Sequence[float] | float | None = None,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    save_attrs: bool = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def resize(
    image: Any,
    /,
    *,
    size: Any = None,
    resize_x: Any = 0.0,
    resize_y: Any = 0.0,
    resize_z: Any = 0.0,
    resize_shorter: Any = 0.0,
    resize_longer: Any = 0.0,
    mode: str = 'default',
    max_size: typing.Sequence[float] | float | None = None,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    save_attrs: bool = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def resize_crop_mirror(
    image: Any,
    /,
    *,
    size: Any = None,
    resize_x: Any = 0.0,
    resize_y: Any = 0.0,
    resize_z: Any = 0.0,
    resize_shorter: Any = 0.0,
    resize_longer: Any = 0.0,
    mode: str = 'default',
    max_size: typing.Sequence[float] | float | None = None,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_w: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    rounding: str = 'round',
    mirror: Any = 0,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def resize_crop_mirror(
    image: Any,
    /,
    *,
    size: Any = None,
    resize_x: Any = 0.0,
    resize_y: Any = 0.0,
    resize_z: Any = 0.0,
    resize_shorter: Any = 0.0,
    resize_longer: Any = 0.0,
    mode: str = 'default',
    max_size: typing.Sequence[float] | float | None = None,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: Any = None,
    crop_d: Any = 0.0,
    crop_h: Any = 0.0,
    crop_w: Any = 0.0,
    crop_pos_x: Any = 0.5,
    crop_pos_y: Any = 0.5,
    crop_pos_z: Any = 0.5,
    rounding: str = 'round',
    mirror: Any = 0,
    interp_type: Any = ...,
    min_filter: Any = None,
    mag_filter: Any = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def rotate(
    image: Any,
    /,
    *,
    angle: Any,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    keep_size: bool = False,
    size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def rotate(
    image: Any,
    /,
    *,
    angle: Any,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    keep_size: bool = False,
    size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def saturation(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    image_type: types.DALIImageType = ...,
    saturation: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def saturation(
    image: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    image_type: types.DALIImageType = ...,
    saturation: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def shapes(
    data: Any,
    /,
    *,
    dtype: DTypeLike = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def shapes(
    data: Any,
    /,
    *,
    dtype: DTypeLike = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def slice(
    data: Any,
    anchor: Any = None,
    shape_input: Any = None,
    /,
    *,
    axes: Any = None,
    axis_names: str = 'WH',
    dtype: DTypeLike | None = None,
    end: Any = None,
    fill_values: typing.Sequence[float] = ...,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: str = 'error',
    rel_end: Any = None,
    rel_shape: Any = None,
    rel_start: Any = None,
    shape: Any = None,
    start: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def slice(
    data: Any,
    anchor: Any = None,
    shape_input: Any = None,
    /,
    *,
    axes: Any = None,
    axis_names: str = 'WH',
    dtype: DTypeLike | None = None,
    end: Any = None,
    fill_values: typing.Sequence[float] = ...,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: str = 'error',
    rel_end: Any = None,
    rel_shape: Any = None,
    rel_start: Any = None,
    shape: Any = None,
    start: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def spectrogram(
    signal: Any,
    /,
    *,
    center_windows: bool = True,
    layout: str = 'ft',
    nfft: int | None = None,
    power: int = 2,
    reflect_padding: bool = True,
    window_fn: typing.Sequence[float] | None = None,
    window_length: int = 512,
    window_step: int = 256,
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def spectrogram(
    signal: Any,
    /,
    *,
    center_windows: bool = True,
    layout: str = 'ft',
    nfft: int | None = None,
    power: int = 2,
    reflect_padding: bool = True,
    window_fn: typing.Sequence[float] | None = None,
    window_length: int = 512,
    window_step: int = 256,
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def squeeze(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def squeeze(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def stack(
    *data: Any,
    axis: int = 0,
    axis_name: str | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def stack(
    *data: Any,
    axis: int = 0,
    axis_name: str | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def to_decibels(
    magnitude: Any,
    /,
    *,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def to_decibels(
    magnitude: Any,
    /,
    *,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def transpose(
    data: Any,
    /,
    *,
    output_layout: str | None = None,
    perm: typing.Sequence[int] | None = None,
    transpose_layout: bool = True,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def transpose(
    data: Any,
    /,
    *,
    output_layout: str | None = None,
    perm: typing.Sequence[int] | None = None,
    transpose_layout: bool = True,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def warp_affine(
    data: Any,
    mtx: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: Any = ...,
    size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def warp_affine(
    data: Any,
    mtx: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: Any = ...,
    size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

def zeros(
    *,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: Any = ...,
    out_shape: Any = None,
) -> Array: ...

@overload
def zeros_like(
    data_like: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def zeros_like(
    data_like: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
