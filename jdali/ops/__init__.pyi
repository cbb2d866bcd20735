"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass
from jdali.ops import decoders as decoders
from jdali.ops import experimental as experimental
from jdali.ops import io as io
from jdali.ops import math as math
from jdali.ops import noise as noise
from jdali.ops import random as random
from jdali.ops import readers as readers
from jdali.ops import reductions as reductions
from jdali.ops import segmentation as segmentation
from jdali.ops import transforms as transforms
from jdali.ops.random import CoinFlip as CoinFlip
from jdali.fn._classes import Compose as Compose
from jdali.ops.random import Uniform as Uniform
AudioDecoder = decoders.Audio
COCOReader = readers.COCO
Caffe2Reader = readers.Caffe2
CaffeReader = readers.Caffe
FileReader = readers.File
ImageDecoder = decoders.Image
ImageDecoderCrop = decoders.ImageCrop
ImageDecoderRandomCrop = decoders.ImageRandomCrop
ImageDecoderSlice = decoders.ImageSlice
MXNetReader = readers.MXNet
NemoAsrReader = readers.NemoAsr
NormalDistribution = random.Normal
NumpyReader = readers.Numpy
SequenceReader = readers.Sequence
TFRecordReader = readers.TFRecord
TransformTranslation = transforms.Translation
VideoReader = readers.Video
VideoReaderResize = readers.VideoResize

class AudioResample(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class BBoxPaste(OperatorClass):
    def __init__(
        self,
        *,
        ltrb: bool = False,
        paste_x: float | DataNode = 0.5,
        paste_y: float | DataNode = 0.5,
        ratio: float | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class BBoxRotate(OperatorClass):
    def __init__(
        self,
        *,
        angle: float | DataNode | None = None,
        bbox_layout: str = 'xyXY',
        bbox_normalized: bool = True,
        input_shape: typing.Sequence[int] | DataNode | None = None,
        keep_size: bool = False,
        mode: str = 'expand',
        remove_threshold: float = 0.1,
        shape_layout: str = 'HW',
        size: typing.Sequence[float] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class BatchPermutation(OperatorClass):
    def __init__(
        self,
        *,
        allow_repetitions: bool = False,
        no_fixed_points: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class BbFlip(OperatorClass):
    def __init__(
        self,
        *,
        horizontal: int | DataNode = 1,
        ltrb: bool = False,
        vertical: int | DataNode = 0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class BoxEncoder(OperatorClass):
    def __init__(
        self,
        *,
        anchors: typing.Sequence[float] | None = None,
        criteria: float = 0.5,
        means: typing.Sequence[float] = ...,
        offset: bool = False,
        scale: float = 1.0,
        stds: typing.Sequence[float] = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Brightness(OperatorClass):
    def __init__(
        self,
        *,
        brightness: float | DataNode = 1.0,
        brightness_shift: float | DataNode = 0.0,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class BrightnessContrast(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Cast(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class CastLike(OperatorClass):
    def __init__(
        self,
        *,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Cat(OperatorClass):
    def __init__(
        self,
        *,
        axis: int = 0,
        axis_name: str | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Clahe(OperatorClass):
    def __init__(
        self,
        *,
        tiles_x: int | None = None,
        tiles_y: int | None = None,
        clip_limit: float | None = None,
        bins: int = 256,
        luma_only: bool = True,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ColorSpaceConversion(OperatorClass):
    def __init__(
        self,
        *,
        image_type: types.DALIImageType | None = None,
        output_type: types.DALIImageType | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ColorTwist(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Constant(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Contrast(OperatorClass):
    def __init__(
        self,
        *,
        contrast: float | DataNode = 1.0,
        contrast_center: float | DataNode | None = None,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class CoordFlip(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class CoordTransform(OperatorClass):
    def __init__(
        self,
        *,
        M: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
        MT: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
        T: typing.Sequence[float] | DataNode | None = None,
        dtype: DTypeLike | types.DALIDataType = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Copy(OperatorClass):
    def __init__(
        self,
        *,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Crop(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class CropMirrorNormalize(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class DLTensorPythonFunction(OperatorClass):
    def __init__(
        self,
        *,
        function: Any = None,
        num_outputs: int = 1,
        batch_processing: bool = True,
        output_layouts: str | typing.Sequence[str] | None = None,
        synchronize_stream: bool = True,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Debayer(OperatorClass):
    def __init__(
        self,
        *,
        blue_position: typing.Sequence[int] | DataNode | None = None,
        algorithm: str = 'bilinear_ocv',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class DumpImage(OperatorClass):
    def __init__(
        self,
        *,
        input_layout: str = 'HWC',
        suffix: str = '',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ElementExtract(OperatorClass):
    def __init__(
        self,
        *,
        element_map: typing.Sequence[int] | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Equalize(OperatorClass):
    def __init__(
        self,
        *,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Erase(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class ExpandDims(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        new_axis_names: str = '',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ExternalSource(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class FastResizeCropMirror(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Filter(OperatorClass):
    def __init__(
        self,
        *,
        anchor: typing.Sequence[int] | DataNode = ...,
        border: str = 'reflect_101',
        dtype: DTypeLike | None = None,
        mode: str = 'same',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Flip(OperatorClass):
    def __init__(
        self,
        *,
        depthwise: int | DataNode = 0,
        horizontal: int | DataNode = 1,
        vertical: int | DataNode = 0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Full(OperatorClass):
    def __init__(
        self,
        *,
        layout: str | None = None,
        shape: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class FullLike(OperatorClass):
    def __init__(
        self,
        *,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class GaussianBlur(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        sigma: typing.Sequence[float] | DataNode = ...,
        window_size: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class GetProperty(OperatorClass):
    def __init__(
        self,
        *,
        key: str | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class GridMask(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Hsv(OperatorClass):
    def __init__(
        self,
        *,
        dtype: Any = ...,
        hue: float | DataNode = 0.0,
        saturation: float | DataNode = 1.0,
        value: float | DataNode = 1.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Hue(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        hue: float | DataNode = 0.0,
        image_type: types.DALIImageType = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Jitter(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class JpegCompressionDistortion(OperatorClass):
    def __init__(
        self,
        *,
        quality: int | DataNode = 50,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Laplacian(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class LookupTable(OperatorClass):
    def __init__(
        self,
        *,
        default_value: float = 0.0,
        dtype: DTypeLike | types.DALIDataType = ...,
        keys: typing.Sequence[int] = ...,
        values: typing.Sequence[float] = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class MFCC(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class MelFilterBank(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class MultiPaste(OperatorClass):
    def __init__(
        self,
        *,
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
    ) -> None: ...

class NonsilentRegion(OperatorClass):
    def __init__(
        self,
        *,
        cutoff_db: float = -60.0,
        reference_power: float = 0.0,
        reset_interval: int = 8192,
        window_length: int = 2048,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Normalize(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        batch: bool = False,
        ddof: int = 0,
        dtype: DTypeLike | types.DALIDataType = ...,
        epsilon: float = 0.0,
        mean: float | ArrayLike | DataNode | None = None,
        scale: float = 1.0,
        shift: float = 0.0,
        stddev: float | ArrayLike | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class OneHot(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Ones(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | types.DALIDataType = ...,
        layout: str | None = None,
        shape: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class OnesLike(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class OpticalFlow(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Pad(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Paste(OperatorClass):
    def __init__(
        self,
        *,
        fill_value: int | typing.Sequence[int] | None = None,
        min_canvas_size: float | DataNode = 0.0,
        n_channels: int = 3,
        paste_x: float | DataNode = 0.5,
        paste_y: float | DataNode = 0.5,
        ratio: float | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PeekImageShape(OperatorClass):
    def __init__(
        self,
        *,
        adjust_orientation: bool = True,
        dtype: DTypeLike | types.DALIDataType = ...,
        image_type: types.DALIImageType = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PerFrame(OperatorClass):
    def __init__(
        self,
        *,
        replace: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PermuteBatch(OperatorClass):
    def __init__(
        self,
        *,
        indices: int | typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PowerSpectrum(OperatorClass):
    def __init__(
        self,
        *,
        axis: int = -1,
        nfft: int | None = None,
        power: int = 2,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PreemphasisFilter(OperatorClass):
    def __init__(
        self,
        *,
        border: str = 'clamp',
        dtype: DTypeLike | types.DALIDataType = ...,
        preemph_coeff: float | DataNode = 0.97,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class PythonFunction(OperatorClass):
    def __init__(
        self,
        function: Any = None,
        num_outputs: int = 1,
        device: Any = None,
        batch_processing: bool = False,
        *,
        output_layouts: str | typing.Sequence[str] | None = None,
        parallel: bool = False,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ROIRandomCrop(OperatorClass):
    def __init__(
        self,
        *,
        crop_shape: typing.Sequence[int] | DataNode | None = None,
        in_shape: typing.Sequence[int] | DataNode | None = None,
        roi_end: typing.Sequence[int] | DataNode | None = None,
        roi_shape: typing.Sequence[int] | DataNode | None = None,
        roi_start: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class RandomBBoxCrop(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class RandomCropGenerator(OperatorClass):
    def __init__(
        self,
        *,
        num_attempts: int = 10,
        random_area: typing.Sequence[float] = ...,
        random_aspect_ratio: typing.Sequence[float] = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class RandomResizedCrop(OperatorClass):
    def __init__(
        self,
        *,
        size: int | typing.Sequence[int] | None = None,
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
    ) -> None: ...

class Reinterpret(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Reshape(OperatorClass):
    def __init__(
        self,
        *,
        layout: str | None = None,
        rel_shape: typing.Sequence[float] | DataNode | None = None,
        shape: typing.Sequence[int] | DataNode | None = None,
        src_dims: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Resize(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class ResizeCropMirror(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Rotate(OperatorClass):
    def __init__(
        self,
        *,
        angle: float | DataNode | None = None,
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
    ) -> None: ...

class SSDRandomCrop(OperatorClass):
    def __init__(
        self,
        *,
        num_attempts: int = 1,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class Saturation(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        image_type: types.DALIImageType = ...,
        saturation: float | DataNode = 1.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class SequenceRearrange(OperatorClass):
    def __init__(
        self,
        *,
        new_order: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Shapes(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Slice(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Spectrogram(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Sphere(OperatorClass):
    def __init__(
        self,
        *,
        fill_value: float = 0.0,
        interp_type: types.DALIInterpType = ...,
        mask: int | DataNode = 1,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Squeeze(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Stack(OperatorClass):
    def __init__(
        self,
        *,
        axis: int = 0,
        axis_name: str | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class TensorResize(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class ToDecibels(OperatorClass):
    def __init__(
        self,
        *,
        cutoff_db: float = -200.0,
        multiplier: float = 10.0,
        reference: float = 0.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Transpose(OperatorClass):
    def __init__(
        self,
        *,
        output_layout: str | None = None,
        perm: typing.Sequence[int] | None = None,
        transpose_layout: bool = True,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class WarpAffine(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Water(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class Zeros(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | types.DALIDataType = ...,
        layout: str | None = None,
        shape: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ZerosLike(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

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
def clahe(
    image: Any,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def clahe(
    image: Any,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
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

def constant(
    *,
    dtype: DTypeLike | None = None,
    fdata: float | typing.Sequence[float] | None = None,
    idata: int | typing.Sequence[int] | None = None,
    layout: str = '',
    shape: int | typing.Sequence[int] | None = None,
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
def debayer(
    image: Any,
    /,
    *,
    blue_position: Any,
    algorithm: str = 'bilinear_ocv',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def debayer(
    image: Any,
    /,
    *,
    blue_position: Any,
    algorithm: str = 'bilinear_ocv',
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
def equalize(
    image: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def equalize(
    image: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def erase(
    data: Any,
    /,
    *,
    anchor: Any = ...,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    centered_anchor: bool = False,
    fill_value: Any = ...,
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    shape: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def erase(
    data: Any,
    /,
    *,
    anchor: Any = ...,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    centered_anchor: bool = False,
    fill_value: Any = ...,
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    shape: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

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
def fast_resize_crop_mirror(
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
    max_size: float | typing.Sequence[float] | None = None,
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
    antialias: bool = False,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def fast_resize_crop_mirror(
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
    max_size: float | typing.Sequence[float] | None = None,
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
    antialias: bool = False,
    dtype: DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def filter(
    data: Any,
    filter: Any,
    fill_value: Any = None,
    /,
    *,
    anchor: Any = ...,
    border: str = 'reflect_101',
    dtype: DTypeLike | None = None,
    mode: str = 'same',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def filter(
    data: Any,
    filter: Any,
    fill_value: Any = None,
    /,
    *,
    anchor: Any = ...,
    border: str = 'reflect_101',
    dtype: DTypeLike | None = None,
    mode: str = 'same',
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
    dtype: Any = None,
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
    dtype: Any = None,
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
def jitter(
    key: ArrayLike,
    image: Any,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    nDegree: int = 2,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def jitter(
    key: ArrayLike,
    image: Any,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    nDegree: int = 2,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def jitter(
    image: Any,
    /,
    *,
    key: ArrayLike,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    nDegree: int = 2,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def jitter(
    image: Any,
    /,
    *,
    key: ArrayLike,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    nDegree: int = 2,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def jpeg_compression_distortion(
    image: Any,
    /,
    *,
    quality: Any = 50,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def jpeg_compression_distortion(
    image: Any,
    /,
    *,
    quality: Any = 50,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def laplacian(
    data: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    normalized_kernel: bool = False,
    scale: Any = ...,
    smoothing_size: Any = None,
    window_size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def laplacian(
    data: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    normalized_kernel: bool = False,
    scale: Any = ...,
    smoothing_size: Any = None,
    window_size: Any = ...,
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
def multi_paste(
    *images: Any,
    dtype: DTypeLike | None = None,
    in_anchors: Any = None,
    in_anchors_rel: Any = None,
    in_ids: Any = None,
    out_anchors: Any = None,
    out_anchors_rel: Any = None,
    output_size: Any = None,
    shapes: Any = None,
    shapes_rel: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def multi_paste(
    *images: Any,
    dtype: DTypeLike | None = None,
    in_anchors: Any = None,
    in_anchors_rel: Any = None,
    in_ids: Any = None,
    out_anchors: Any = None,
    out_anchors_rel: Any = None,
    output_size: Any = None,
    shapes: Any = None,
    shapes_rel: Any = None,
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
def optical_flow(
    frames: Any,
    hints: Any = None,
    /,
    *,
    enable_external_hints: bool = False,
    enable_temporal_hints: bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = ...,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def optical_flow(
    frames: Any,
    hints: Any = None,
    /,
    *,
    enable_external_hints: bool = False,
    enable_temporal_hints: bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = ...,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
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
def paste(
    image: Any,
    /,
    *,
    fill_value: int | typing.Sequence[int],
    min_canvas_size: Any = 0.0,
    n_channels: int = 3,
    paste_x: Any = 0.5,
    paste_y: Any = 0.5,
    ratio: Any,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def paste(
    image: Any,
    /,
    *,
    fill_value: int | typing.Sequence[int],
    min_canvas_size: Any = 0.0,
    n_channels: int = 3,
    paste_x: Any = 0.5,
    paste_y: Any = 0.5,
    ratio: Any,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def per_frame(
    data: Any,
    /,
    *,
    replace: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def per_frame(
    data: Any,
    /,
    *,
    replace: bool = False,
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
def random_crop_generator(
    key: ArrayLike,
    shapes: Any,
    /,
    *,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def random_crop_generator(
    key: ArrayLike,
    shapes: Any,
    /,
    *,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def random_crop_generator(
    shapes: Any,
    /,
    *,
    key: ArrayLike,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Any: ...

@overload
def random_crop_generator(
    shapes: Any,
    /,
    *,
    key: ArrayLike,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Any, Any]: ...

@overload
def random_resized_crop(
    key: ArrayLike,
    image: Any,
    /,
    *,
    size: int | typing.Sequence[int],
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
    size: int | typing.Sequence[int],
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
def random_resized_crop(
    image: Any,
    /,
    *,
    key: ArrayLike,
    size: int | typing.Sequence[int],
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
    image: Any,
    /,
    *,
    key: ArrayLike,
    size: int | typing.Sequence[int],
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
    max_size: float | typing.Sequence[float] | None = None,
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
    max_size: float | typing.Sequence[float] | None = None,
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
    max_size: float | typing.Sequence[float] | None = None,
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
    max_size: float | typing.Sequence[float] | None = None,
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
def roi_random_crop(
    key: ArrayLike,
    picture: Any = None,
    /,
    *,
    crop_shape: Any,
    in_shape: Any = None,
    roi_end: Any = None,
    roi_shape: Any = None,
    roi_start: Any,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def roi_random_crop(
    key: ArrayLike,
    picture: Any = None,
    /,
    *,
    crop_shape: Any,
    in_shape: Any = None,
    roi_end: Any = None,
    roi_shape: Any = None,
    roi_start: Any,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def roi_random_crop(
    picture: Any = None,
    /,
    *,
    key: ArrayLike,
    crop_shape: Any,
    in_shape: Any = None,
    roi_end: Any = None,
    roi_shape: Any = None,
    roi_start: Any,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def roi_random_crop(
    picture: Any = None,
    /,
    *,
    key: ArrayLike,
    crop_shape: Any,
    in_shape: Any = None,
    roi_end: Any = None,
    roi_shape: Any = None,
    roi_start: Any,
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
def sequence_rearrange(
    sequence: Any,
    /,
    *,
    new_order: Any,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sequence_rearrange(
    sequence: Any,
    /,
    *,
    new_order: Any,
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
def sphere(
    image: Any,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sphere(
    image: Any,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    layout: Any = '',
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
def tensor_resize(
    data: Any,
    /,
    *,
    alignment: Any = ...,
    antialias: bool = True,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    interp_type: Any = ...,
    mag_filter: Any = None,
    max_size: float | typing.Sequence[float] | None = None,
    min_filter: Any = None,
    minibatch_size: int = 32,
    mode: str = 'default',
    roi_end: Any = None,
    roi_relative: bool = False,
    roi_start: Any = None,
    scales: Any = None,
    size_rounding: str = 'round',
    sizes: Any = None,
    subpixel_scale: bool = True,
    temp_buffer_hint: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def tensor_resize(
    data: Any,
    /,
    *,
    alignment: Any = ...,
    antialias: bool = True,
    axes: int | typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    interp_type: Any = ...,
    mag_filter: Any = None,
    max_size: float | typing.Sequence[float] | None = None,
    min_filter: Any = None,
    minibatch_size: int = 32,
    mode: str = 'default',
    roi_end: Any = None,
    roi_relative: bool = False,
    roi_start: Any = None,
    scales: Any = None,
    size_rounding: str = 'round',
    sizes: Any = None,
    subpixel_scale: bool = True,
    temp_buffer_hint: int = 0,
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

@overload
def water(
    image: Any,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def water(
    image: Any,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = ...,
    mask: Any = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
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
