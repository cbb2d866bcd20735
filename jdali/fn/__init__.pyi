"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.data_node import DataNode
from jdali.fn import decoders as decoders
from jdali.fn import experimental as experimental
from jdali.fn import io as io
from jdali.fn import noise as noise
from jdali.fn import random as random
from jdali.fn import readers as readers
from jdali.fn import reductions as reductions
from jdali.fn import segmentation as segmentation
from jdali.fn import transforms as transforms
from jdali.fn.random import coin_flip as coin_flip
from jdali.fn.random import uniform as uniform
audio_decoder = decoders.audio
caffe2_reader = readers.caffe2
caffe_reader = readers.caffe
coco_reader = readers.coco
file_reader = readers.file
image_decoder = decoders.image
image_decoder_crop = decoders.image_crop
image_decoder_random_crop = decoders.image_random_crop
image_decoder_slice = decoders.image_slice
mxnet_reader = readers.mxnet
nemo_asr_reader = readers.nemo_asr
normal_distribution = random.normal
numpy_reader = readers.numpy
sequence_reader = readers.sequence
tfrecord_reader = readers.tfrecord
transform_translation = transforms.translation
video_reader = readers.video
video_reader_resize = readers.video_resize

def audio_resample(
    signal: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    in_rate: float | DataNode | None = None,
    out_length: int | DataNode | None = None,
    out_rate: float | DataNode | None = None,
    quality: float = 50.0,
    scale: float | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def batch_permutation(
    *,
    allow_repetitions: bool = False,
    no_fixed_points: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def bb_flip(
    boxes: DataNode,
    /,
    *,
    horizontal: int | DataNode = 1,
    ltrb: bool = False,
    vertical: int | DataNode = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def bbox_paste(
    boxes: DataNode,
    /,
    *,
    ltrb: bool = False,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def bbox_rotate(
    boxes: DataNode,
    labels: DataNode | None = None,
    /,
    *,
    angle: float | DataNode,
    bbox_layout: str = 'xyXY',
    bbox_normalized: bool = True,
    input_shape: typing.Sequence[int] | DataNode,
    keep_size: bool = False,
    mode: str = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def box_encoder(
    boxes: DataNode,
    labels: DataNode,
    /,
    *,
    anchors: typing.Sequence[float],
    criteria: float = 0.5,
    means: typing.Sequence[float] = ...,
    offset: bool = False,
    scale: float = 1.0,
    stds: typing.Sequence[float] = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def brightness(
    image: DataNode,
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def brightness_contrast(
    image: DataNode,
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def cast(
    data: DataNode,
    /,
    *,
    dtype: DTypeLike,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def cast_like(
    data: DataNode,
    like: DataNode,
    /,
    *,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def cat(
    *data: DataNode,
    axis: int = 0,
    axis_name: str | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def clahe(
    image: DataNode,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def color_space_conversion(
    image: DataNode,
    /,
    *,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def color_twist(
    image: DataNode,
    /,
    *,
    brightness: float | DataNode = 1.0,
    contrast: float | DataNode = 1.0,
    dtype: DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = ...,
    saturation: float | DataNode = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def constant(
    *,
    dtype: DTypeLike | None = None,
    fdata: float | typing.Sequence[float] | None = None,
    idata: int | typing.Sequence[int] | None = None,
    layout: str = '',
    shape: int | typing.Sequence[int] | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def contrast(
    image: DataNode,
    /,
    *,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def coord_flip(
    points: DataNode,
    /,
    *,
    center_x: float | DataNode = 0.5,
    center_y: float | DataNode = 0.5,
    center_z: float | DataNode = 0.5,
    flip_x: int | DataNode = 1,
    flip_y: int | DataNode = 0,
    flip_z: int | DataNode = 0,
    layout: str = '',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def coord_transform(
    points: DataNode,
    /,
    *,
    M: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    MT: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    T: typing.Sequence[float] | DataNode | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def copy(
    batch: DataNode,
    /,
    *,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def crop(
    image: DataNode,
    /,
    *,
    crop: typing.Sequence[float] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    dtype: DTypeLike | None = None,
    fill_values: typing.Sequence[float] = ...,
    out_of_bounds_policy: str = 'error',
    rounding: str = 'round',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def crop_mirror_normalize(
    image: DataNode,
    /,
    *,
    crop: typing.Sequence[float] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    dtype: Any = ...,
    fill_values: typing.Sequence[float] = ...,
    mean: typing.Sequence[float] | DataNode = ...,
    mirror: int | DataNode = 0,
    out_of_bounds_policy: str = 'error',
    output_layout: str = 'CHW',
    pad_output: bool = False,
    rounding: str = 'round',
    scale: float = 1.0,
    shift: float = 0.0,
    std: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def debayer(
    image: DataNode,
    /,
    *,
    blue_position: typing.Sequence[int] | DataNode,
    algorithm: str = 'bilinear_ocv',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def dl_tensor_python_function(
    *samples: DataNode,
    function: Any,
    num_outputs: int = 1,
    batch_processing: bool = True,
    output_layouts: str | typing.Sequence[str] | None = None,
    synchronize_stream: bool = True,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def dump_image(
    images: DataNode,
    /,
    *,
    input_layout: str = 'HWC',
    suffix: str = '',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def element_extract(
    sequence: DataNode,
    /,
    *,
    element_map: typing.Sequence[int],
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def equalize(
    image: DataNode,
    /,
    *,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def erase(
    data: DataNode,
    /,
    *,
    anchor: typing.Sequence[float] | DataNode = ...,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    centered_anchor: bool = False,
    fill_value: typing.Sequence[float] | DataNode = ...,
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    shape: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def expand_dims(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int],
    new_axis_names: str = '',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def external_source(
    source: Any = None,
    num_outputs: int | None = None,
    *,
    cycle: bool | str | None = None,
    layout: str | typing.Sequence[str] | None = None,
    dtype: Any = None,
    ndim: int | typing.Sequence[int] | None = None,
    cuda_stream: Any = None,
    use_copy_kernel: bool | None = None,
    blocking: bool = False,
    batch: bool | None = None,
    repeat_last: bool = False,
    parallel: bool = False,
    no_copy: bool = False,
    prefetch_queue_depth: int | None = None,
    batch_info: bool = False,
    bytes_per_sample_hint: int | typing.Sequence[int] | None = None,
    device: Any = None,
    name: Any = None,
    preserve: Any = False,
) -> DataNode: ...

def fast_resize_crop_mirror(
    image: DataNode,
    /,
    *,
    size: typing.Sequence[float] | DataNode | None = None,
    resize_x: float | DataNode = 0.0,
    resize_y: float | DataNode = 0.0,
    resize_z: float | DataNode = 0.0,
    resize_shorter: float | DataNode = 0.0,
    resize_longer: float | DataNode = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | DataNode | None = None,
    roi_end: typing.Sequence[float] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: typing.Sequence[float] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: str = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = ...,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = False,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def filter(
    data: DataNode,
    filter: DataNode,
    fill_value: DataNode | None = None,
    /,
    *,
    anchor: typing.Sequence[int] | DataNode = ...,
    border: str = 'reflect_101',
    dtype: DTypeLike | None = None,
    mode: str = 'same',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def flip(
    image: DataNode,
    /,
    *,
    depthwise: int | DataNode = 0,
    horizontal: int | DataNode = 1,
    vertical: int | DataNode = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def full(
    fill_value: DataNode,
    /,
    *,
    layout: str | None = None,
    shape: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def full_like(
    data_like: DataNode,
    fill_value: DataNode,
    /,
    *,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def gaussian_blur(
    image: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    sigma: typing.Sequence[float] | DataNode = ...,
    window_size: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def get_property(
    batch: DataNode,
    /,
    *,
    key: str,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def grid_mask(
    image: DataNode,
    /,
    *,
    angle: float | DataNode = 0.0,
    ratio: float | DataNode = 0.5,
    shift_x: float | DataNode = 0.0,
    shift_y: float | DataNode = 0.0,
    tile: int | DataNode = 100,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def hsv(
    image: DataNode,
    /,
    *,
    dtype: Any = ...,
    hue: float | DataNode = 0.0,
    saturation: float | DataNode = 1.0,
    value: float | DataNode = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def hue(
    image: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def jitter(
    image: DataNode,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: int | DataNode = 1,
    nDegree: int = 2,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def jpeg_compression_distortion(
    image: DataNode,
    /,
    *,
    quality: int | DataNode = 50,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def laplacian(
    data: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    normalized_kernel: bool = False,
    scale: typing.Sequence[float] | DataNode = ...,
    smoothing_size: typing.Sequence[int] | DataNode | None = None,
    window_size: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def lookup_table(
    data: DataNode,
    /,
    *,
    default_value: float = 0.0,
    dtype: DTypeLike | types.DALIDataType = ...,
    keys: typing.Sequence[int] = ...,
    values: typing.Sequence[float] = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def mel_filter_bank(
    spectrum: DataNode,
    /,
    *,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: str = 'slaney',
    nfilter: int = 128,
    normalize: bool = True,
    sample_rate: float = 44100.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def mfcc(
    spectrum: DataNode,
    /,
    *,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def multi_paste(
    *images: DataNode,
    dtype: DTypeLike | None = None,
    in_anchors: typing.Sequence[typing.Sequence[int]] | DataNode | None = None,
    in_anchors_rel: typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    in_ids: typing.Sequence[int] | DataNode | None = None,
    out_anchors: typing.Sequence[typing.Sequence[int]] | DataNode | None = None,
    out_anchors_rel: typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    output_size: typing.Sequence[int] | DataNode | None = None,
    shapes: typing.Sequence[typing.Sequence[int]] | DataNode | None = None,
    shapes_rel: typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def nonsilent_region(
    signal: DataNode,
    /,
    *,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def normalize(
    data: DataNode,
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
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def one_hot(
    classes: DataNode,
    /,
    *,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def ones(
    *,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def ones_like(
    data_like: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def optical_flow(
    frames: DataNode,
    hints: DataNode | None = None,
    /,
    *,
    enable_external_hints: bool = False,
    enable_temporal_hints: bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = ...,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def pad(
    data: DataNode,
    /,
    *,
    align: typing.Sequence[int] | DataNode | None = None,
    axes: typing.Sequence[int] | DataNode | None = None,
    axis_names: str | None = None,
    fill_value: float | DataNode = 0.0,
    shape: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def paste(
    image: DataNode,
    /,
    *,
    fill_value: int | typing.Sequence[int],
    min_canvas_size: float | DataNode = 0.0,
    n_channels: int = 3,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def peek_image_shape(
    encoded: DataNode,
    /,
    *,
    adjust_orientation: bool = True,
    dtype: DTypeLike | types.DALIDataType = ...,
    image_type: types.DALIImageType = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def per_frame(
    data: DataNode,
    /,
    *,
    replace: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def permute_batch(
    batch: DataNode,
    /,
    *,
    indices: int | typing.Sequence[int] | DataNode,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def power_spectrum(
    signal: DataNode,
    /,
    *,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def preemphasis_filter(
    signal: DataNode,
    /,
    *,
    border: str = 'clamp',
    dtype: DTypeLike | types.DALIDataType = ...,
    preemph_coeff: float | DataNode = 0.97,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def python_function(
    *samples: DataNode,
    function: Any,
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: str | typing.Sequence[str] | None = None,
    parallel: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def random_bbox_crop(
    boxes: DataNode,
    labels: DataNode | None = None,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: typing.Sequence[float] = ...,
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: typing.Sequence[int] | DataNode | None = None,
    input_shape: typing.Sequence[int] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: bool = False,
    quiet: bool = False,
    scaling: typing.Sequence[float] = ...,
    shape_layout: str | None = None,
    threshold_type: str = 'iou',
    thresholds: typing.Sequence[float] = ...,
    total_num_attempts: int = -1,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> Any: ...

def random_crop_generator(
    shapes: DataNode,
    /,
    *,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> Any: ...

def random_resized_crop(
    image: DataNode,
    /,
    *,
    size: int | typing.Sequence[int],
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    num_attempts: int = 10,
    interp_type: types.DALIInterpType | DataNode = ...,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def reinterpret(
    data: DataNode,
    shape_input: DataNode | None = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: typing.Sequence[float] | DataNode | None = None,
    shape: typing.Sequence[int] | DataNode | None = None,
    src_dims: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def reshape(
    data: DataNode,
    shape_input: DataNode | None = None,
    /,
    *,
    layout: str | None = None,
    rel_shape: typing.Sequence[float] | DataNode | None = None,
    shape: typing.Sequence[int] | DataNode | None = None,
    src_dims: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def resize(
    image: DataNode,
    /,
    *,
    size: typing.Sequence[float] | DataNode | None = None,
    resize_x: float | DataNode = 0.0,
    resize_y: float | DataNode = 0.0,
    resize_z: float | DataNode = 0.0,
    resize_shorter: float | DataNode = 0.0,
    resize_longer: float | DataNode = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | DataNode | None = None,
    roi_end: typing.Sequence[float] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: types.DALIInterpType | DataNode = ...,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    save_attrs: bool = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...

def resize_crop_mirror(
    image: DataNode,
    /,
    *,
    size: typing.Sequence[float] | DataNode | None = None,
    resize_x: float | DataNode = 0.0,
    resize_y: float | DataNode = 0.0,
    resize_z: float | DataNode = 0.0,
    resize_shorter: float | DataNode = 0.0,
    resize_longer: float | DataNode = 0.0,
    mode: str = 'default',
    max_size: float | typing.Sequence[float] | None = None,
    roi_start: typing.Sequence[float] | DataNode | None = None,
    roi_end: typing.Sequence[float] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: typing.Sequence[float] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: str = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = ...,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def roi_random_crop(
    picture: DataNode | None = None,
    /,
    *,
    crop_shape: typing.Sequence[int] | DataNode,
    in_shape: typing.Sequence[int] | DataNode | None = None,
    roi_end: typing.Sequence[int] | DataNode | None = None,
    roi_shape: typing.Sequence[int] | DataNode | None = None,
    roi_start: typing.Sequence[int] | DataNode,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def rotate(
    image: DataNode,
    /,
    *,
    angle: float | DataNode,
    axis: typing.Sequence[float] | DataNode | None = None,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    keep_size: bool = False,
    size: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def saturation(
    image: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    image_type: types.DALIImageType = ...,
    saturation: float | DataNode = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def sequence_rearrange(
    sequence: DataNode,
    /,
    *,
    new_order: typing.Sequence[int] | DataNode,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def shapes(
    data: DataNode,
    /,
    *,
    dtype: DTypeLike = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def slice(
    data: DataNode,
    anchor: DataNode | None = None,
    shape_input: DataNode | None = None,
    /,
    *,
    axes: typing.Sequence[int] | DataNode | None = None,
    axis_names: str = 'WH',
    dtype: DTypeLike | None = None,
    end: typing.Sequence[int] | DataNode | None = None,
    fill_values: typing.Sequence[float] = ...,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: str = 'error',
    rel_end: typing.Sequence[float] | DataNode | None = None,
    rel_shape: typing.Sequence[float] | DataNode | None = None,
    rel_start: typing.Sequence[float] | DataNode | None = None,
    shape: typing.Sequence[int] | DataNode | None = None,
    start: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def spectrogram(
    signal: DataNode,
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
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def sphere(
    image: DataNode,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: int | DataNode = 1,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def squeeze(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def ssd_random_crop(
    image: DataNode,
    boxes: DataNode,
    labels: DataNode,
    /,
    *,
    num_attempts: int = 1,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> Any: ...

def stack(
    *data: DataNode,
    axis: int = 0,
    axis_name: str | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def tensor_resize(
    data: DataNode,
    /,
    *,
    alignment: typing.Sequence[float] | DataNode = ...,
    antialias: bool = True,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    interp_type: types.DALIInterpType | DataNode = ...,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    max_size: float | typing.Sequence[float] | None = None,
    min_filter: types.DALIInterpType | DataNode | None = None,
    minibatch_size: int = 32,
    mode: str = 'default',
    roi_end: typing.Sequence[float] | DataNode | None = None,
    roi_relative: bool = False,
    roi_start: typing.Sequence[float] | DataNode | None = None,
    scales: typing.Sequence[float] | DataNode | None = None,
    size_rounding: str = 'round',
    sizes: typing.Sequence[float] | DataNode | None = None,
    subpixel_scale: bool = True,
    temp_buffer_hint: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def to_decibels(
    magnitude: DataNode,
    /,
    *,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def transpose(
    data: DataNode,
    /,
    *,
    output_layout: str | None = None,
    perm: typing.Sequence[int] | None = None,
    transpose_layout: bool = True,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def warp_affine(
    data: DataNode,
    mtx: DataNode | None = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode = ...,
    size: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def water(
    image: DataNode,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = ...,
    mask: int | DataNode = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def zeros(
    *,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str | None = None,
    shape: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def zeros_like(
    data_like: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
