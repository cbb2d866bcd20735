"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
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

@overload
def audio_resample(
    signal: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    in_rate: float | DataNode | None = None,
    out_length: int | DataNode | None = None,
    out_rate: float | DataNode | None = None,
    quality: float = 50.0,
    scale: float | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Changes the sampling rate by windowed-sinc interpolation, with a Hann window.

    No low-pass filter is applied, even if the rate becomes lower.

    Args:
        signal: [T] or [T, C], integers of up to 32 bits or float32.
        dtype: type of the result; values are scaled to its range, for floats -1 to 1. None: the type of `signal`.
        in_rate: rate of `signal`, in the unit of `out_rate`.
        out_length: length of the result, in place of the rates.
        out_rate: rate of the result.
        quality: 0 to 100; sets the number of lobes of the sinc on each side: 3 at 0, 16 at 50, 64 at 100.
        scale: out_rate / in_rate, in place of the rates.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `dtype`, saturated, ceil(T · out_rate / in_rate) samples.

    Parity: the position of output sample i is exact to within i · 2⁻³³ of a sample. DALI adds up float32 steps in blocks of
    256, which moves positions by up to 1e-3 of a sample.

    Example: sound = fn.audio_resample(sound, in_rate=16000, out_rate=8000)
    """

@overload
def audio_resample(
    signal: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    in_rate: float | DataNode | None = None,
    out_length: int | DataNode | None = None,
    out_rate: float | DataNode | None = None,
    quality: float = 50.0,
    scale: float | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def batch_permutation(
    *,
    allow_repetitions: bool = False,
    no_fixed_points: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws indices of samples, for `permute_batch`.

    All permutations are equally likely. Each sample draws a number with its own key, and the permutation is the
    order of these numbers. The permutation depends only on the samples in the batch.

    Args:
        allow_repetitions: draw each index independently, so that samples may repeat or be missing.
        no_fixed_points: no sample gets its own index; without repetitions, the permutation is then one cycle, and all
            cycles are equally likely. Without effect in a batch of one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: int32, a scalar for each sample, from 0 to the batch size - 1.

    Parity: random numbers differ from DALI's, but have the same distributions.

    Example: order = fn.batch_permutation()
    """

@overload
def bb_flip(
    boxes: DataNode | ArrayLike,
    /,
    *,
    horizontal: int | DataNode = 1,
    ltrb: bool = False,
    vertical: int | DataNode = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Mirrors boxes in relative coordinates, as `flip` mirrors the image.

    Args:
        boxes: float32 [..., 4 · n], n boxes one after the other along the last axis, relative to the image (0 to 1).
        horizontal: not 0: swap left and right.
        ltrb: True: boxes are (left, top, right, bottom); False: (x, y, width, height).
        vertical: not 0: swap top and bottom.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape and format of the input, float32. Widths and heights are differences of borders that were rounded to
        float32.

    Example: boxes = fn.bb_flip(boxes, ltrb=True, horizontal=1)
    """

@overload
def bb_flip(
    boxes: list[DataNode],
    /,
    *,
    horizontal: int | DataNode = 1,
    ltrb: bool = False,
    vertical: int | DataNode = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def bbox_paste(
    boxes: DataNode | ArrayLike,
    /,
    *,
    ltrb: bool = False,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Moves boxes as `paste` moves the image onto a canvas of `ratio` times its size.

    A coordinate c becomes c / ratio + paste * (ratio - 1) / ratio; widths and heights are divided by the ratio.

    Args:
        boxes: float32 [..., 4 · n], n boxes one after the other along the last axis, relative to the image (0 to 1).
        ltrb: True: boxes are (left, top, right, bottom); False: (x, y, width, height).
        paste_x: position of the image on the canvas; 0: at the left, 1: at the right.
        paste_y: 0: at the top, 1: at the bottom.
        ratio: size of the canvas divided by the size of the image, 1 or more.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape and format of the input, float32, relative to the canvas. A box within the image stays within the
        canvas.

    Example: boxes = fn.bbox_paste(boxes, ltrb=True, ratio=1.5, paste_x=0.2, paste_y=0.8)
    """

@overload
def bbox_paste(
    boxes: list[DataNode],
    /,
    *,
    ltrb: bool = False,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def bbox_rotate(
    boxes: DataNode | ArrayLike,
    /,
    *,
    angle: float | DataNode,
    bbox_layout: str = 'xyXY',
    bbox_normalized: bool = True,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    keep_size: bool = False,
    mode: Literal['expand', 'fixed', 'halfway'] = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Moves boxes as `rotate` moves the image.

    Args:
        boxes: float32 [boxes, 4].
        labels: int32 [boxes] or [boxes, 1]; labels of kept boxes are returned.
        angle: degrees, counter-clockwise.
        bbox_layout: "xyXY" or "xyWH".
        bbox_normalized: True: boxes are shares of the image, and new boxes shares of the canvas; False: pixels.
        input_shape: size of the image, pixels.
        keep_size: the canvas has the size of the image.
        mode: size of the new boxes: "expand": around the whole rotated box; "fixed": the old width and height, swapped
            if the rotation makes a tall box wide or a wide box tall; "halfway": the mean of these two sizes.
        remove_threshold: share of a box, 0 to 1, that must lie on the canvas; boxes with less are removed.
        shape_layout: order of `input_shape`.
        size: size of the canvas, (height, width), rounded down; empty: the size of the image with `keep_size`, else the
            size that `rotate` chooses.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [kept, 4] boxes, cut at the borders of the canvas; with `labels`, int32 [kept, ...] labels.

    Example:
        boxes, box_labels = fn.bbox_rotate(
            boxes, box_labels, angle=20.0, input_shape=[480, 640], bbox_layout="xyXY"
        )
    """

@overload
def bbox_rotate(
    boxes: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    angle: float | DataNode,
    bbox_layout: str = 'xyXY',
    bbox_normalized: bool = True,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    keep_size: bool = False,
    mode: Literal['expand', 'fixed', 'halfway'] = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]: ...

@overload
def bbox_rotate(
    boxes: list[DataNode],
    /,
    *,
    angle: float | DataNode,
    bbox_layout: str = 'xyXY',
    bbox_normalized: bool = True,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    keep_size: bool = False,
    mode: Literal['expand', 'fixed', 'halfway'] = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def bbox_rotate(
    boxes: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    angle: float | DataNode,
    bbox_layout: str = 'xyXY',
    bbox_normalized: bool = True,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    keep_size: bool = False,
    mode: Literal['expand', 'fixed', 'halfway'] = 'expand',
    remove_threshold: float = 0.1,
    shape_layout: str = 'HW',
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def box_encoder(
    boxes: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    anchors: float | typing.Sequence[float | DataNode] | NDArray[Any],
    criteria: float = 0.5,
    means: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0, 0.0, 0.0, 0.0),
    offset: bool = False,
    scale: float = 1.0,
    stds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0, 1.0, 1.0),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]:
    """Assigns to each anchor the box that it overlaps with most, as SSD does.

    A box is assigned to all anchors with which its intersection over union is above `criteria`, and always to the
    anchor with the largest value. Among equal values, the last one counts.

    Args:
        boxes: float32 [boxes, 4], (left, top, right, bottom).
        labels: int32 [boxes] or [boxes, 1].
        anchors: (left, top, right, bottom) of each anchor, one after the other.
        criteria: overlap that must be exceeded, 0 to 1.
        means: subtracted from the offsets of x, y, width and height.
        offset: return offsets from the anchors: distances of centres in units of the anchor's size, and logarithms of size
            ratios. `means` are subtracted, then the results are divided by `stds`.
        scale: factor for boxes and anchors before offsets are computed.
        stds: divisors of the offsets of x, y, width and height.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [anchors, 4] boxes (centre x, centre y, width, height), or offsets; for an anchor without a box, the
        anchor itself, or offsets of 0. int32 [anchors] labels, 0 for an anchor without a box.

    Example:
        encoded, matched = fn.box_encoder(
            boxes, box_labels, anchors=[0.1, 0.2, 0.5, 0.7, 0.5, 0.3, 0.9, 0.9, 0.0, 0.0, 0.2, 0.2]
        )
    """

@overload
def box_encoder(
    boxes: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    anchors: float | typing.Sequence[float | DataNode] | NDArray[Any],
    criteria: float = 0.5,
    means: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0, 0.0, 0.0, 0.0),
    offset: bool = False,
    scale: float = 1.0,
    stds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0, 1.0, 1.0),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def brightness(
    image: DataNode | ArrayLike,
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Scales and shifts intensities: out = brightness · in + brightness_shift · range of the output.

    Args:
        image: [..., C], any number type.
        brightness: factor.
        brightness_shift: share of the output's range to add.
        dtype: output type; None: the input's. Intensities are not scaled to its range.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.brightness(images, brightness=1.5)
        images = fn.brightness(images, brightness=0.6)

    By frame: of sequences `brightness`, `brightness_shift` may have a value for each frame, see `per_frame`.
    """

@overload
def brightness(
    image: list[DataNode],
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def brightness_contrast(
    image: DataNode | ArrayLike,
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Changes contrast around a centre, then brightness. Results are rounded half away from zero.

    out = brightness_shift · range + brightness · (contrast_center + contrast · (in - contrast_center)),
    where range is the largest value of the output type (1 for floats).

    Args:
        image: [..., C], any number type.
        brightness: factor of all intensities.
        brightness_shift: share of the output's range to add.
        contrast: factor of the distance from `contrast_center`.
        contrast_center: intensity that contrast does not change; None: the middle of the input's
            range, 128 for uint8 and 0.5 for floats.
        dtype: output type; None: the input's. Intensities are not scaled to its range.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, saturated.

    Example:
        images = fn.brightness_contrast(images, brightness=1.2, contrast=0.6)
        images = fn.brightness_contrast(images, contrast=1.6)

    By frame: of sequences `brightness`, `brightness_shift`, `contrast`, `contrast_center` may have a value for each frame, see `per_frame`.
    """

@overload
def brightness_contrast(
    image: list[DataNode],
    /,
    *,
    brightness: float | DataNode = 1.0,
    brightness_shift: float | DataNode = 0.0,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def cast(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Converts elements to `dtype`. For integers, values are rounded half away from zero and saturated; NaN becomes 0.

    Args:
        data: any shape and type.
        dtype: type of the result.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data`, `dtype`.

    Example: numbers = fn.cast(numbers, dtype=types.UINT8)
    """

@overload
def cast(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def cast_like(
    data: DataNode | ArrayLike,
    like: DataNode | ArrayLike,
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Converts elements to the type of a second input, as `cast` does.

    Args:
        data: any shape and type.
        like: tensor whose type the result takes.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data`, dtype of `like`.

    Example: numbers = fn.cast_like(numbers, halves)
    """

@overload
def cast_like(
    data: list[DataNode],
    like: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def cat(
    *data: DataNode | ArrayLike,
    axis: int = 0,
    axis_name: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Joins inputs along an existing axis.

    Args:
        data: inputs of one type with at least one axis; sizes may differ only along `axis`.
        axis: axis to join along; a negative one counts from the end.
        axis_name: letter of the axis in the layout, in place of `axis`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the inputs, one after the other, in the layout of the first.

    Example: joined = fn.cat(numbers, others, axis=0)
    """

@overload
def cat(
    *data: list[DataNode],
    axis: int = 0,
    axis_name: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def clahe(
    image: DataNode | ArrayLike,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Equalizes the histogram of each tile of an image, with limited contrast (CLAHE).

    In each tile, histogram counts are clipped at `clip_limit` times the mean count, and the excess is spread evenly
    over all values. A pixel is interpolated between the results of the four nearest tiles. Images whose size is not a
    multiple of the number of tiles are mirrored at the right and the bottom.

    Args:
        image: RGB or gray, HWC, CHW or HW, or sequences of these; uint8.
        tiles_x: number of tiles along the width, at least 1.
        tiles_y: number of tiles along the height, at least 1.
        clip_limit: largest count, in multiples of the mean count. The limit is never below 1 pixel. 0 or less: no limit.
        bins: a power of 2, without effect: histograms have 256 bins, as in DALI's CPU kernel.
        luma_only: for RGB, True: equalize L* of CIE L*a*b*, in 8 bits; False: each channel by itself.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the image.

    Parity: results equal DALI's and OpenCV's bit for bit. In DALI, `tiles_x=0` ends the process.

    Example: images = fn.clahe(images, tiles_x=8, tiles_y=8, clip_limit=3.0)
    """

@overload
def clahe(
    image: list[DataNode],
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def color_space_conversion(
    image: DataNode | ArrayLike,
    /,
    *,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Converts between RGB, BGR, gray and YCbCr (BT.601, Y from 16 to 235). Results are rounded half away from zero.

    Args:
        image: uint8, any layout with C; without a layout HWC, or DHWC with four axes.
        image_type: colour space of the input.
        output_type: colour space of the output.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: layout of the input, uint8, 1 or 3 channels.

    Example:
        images = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.GRAY)
        images = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.BGR)
    """

@overload
def color_space_conversion(
    image: list[DataNode],
    /,
    *,
    image_type: types.DALIImageType,
    output_type: types.DALIImageType,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def color_twist(
    image: DataNode | ArrayLike,
    /,
    *,
    brightness: float | DataNode = 1.0,
    contrast: float | DataNode = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    saturation: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Changes hue and saturation, then contrast around middle gray, then brightness.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        brightness: factor of all intensities.
        contrast: factor of the distance from middle gray: 128 for all integer types, 0.5 for floats.
        dtype: output type; None: the input's.
        hue: angle to add, degrees.
        image_type: without effect, as in DALI: images are treated as RGB.
        saturation: factor of the distance from gray.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.color_twist(images, hue=60.0, saturation=1.5, brightness=1.1)
        images = fn.color_twist(images, saturation=2.0, brightness=1.1)

    By frame: of sequences `brightness`, `contrast`, `hue`, `saturation` may have a value for each frame, see `per_frame`.
    """

@overload
def color_twist(
    image: list[DataNode],
    /,
    *,
    brightness: float | DataNode = 1.0,
    contrast: float | DataNode = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    saturation: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def constant(
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fdata: float | typing.Sequence[float] | NDArray[Any] | None = None,
    idata: int | typing.Sequence[int] | NDArray[Any] | None = None,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    shape: int | typing.Sequence[int] | NDArray[Any] | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Returns the same array of numbers for every sample; `types.Constant` also takes arrays.

    Args:
        dtype: type of the result; numbers round half away from zero and saturate. None: FLOAT for `fdata`, INT32 for
            `idata`.
        fdata: numbers in row-major order, or one number for all elements.
        idata: integers, in place of `fdata`; exactly one of `fdata` and `idata` is required.
        layout: layout of the result.
        shape: shape of the result; None: a vector of the numbers.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*shape].

    Example: numbers = fn.constant(fdata=[0.5, 1.5])
    """

@overload
def contrast(
    image: DataNode | ArrayLike,
    /,
    *,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Scales intensities around a centre: out = contrast_center + contrast · (in - contrast_center).

    Args:
        image: [..., C], any number type.
        contrast: factor of the distance from `contrast_center`.
        contrast_center: intensity that contrast does not change; None: the middle of the input's
            range, 128 for uint8 and 0.5 for floats.
        dtype: output type; None: the input's. Intensities are not scaled to its range.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.contrast(images, contrast=1.7)
        images = fn.contrast(images, contrast=0.5)

    By frame: of sequences `contrast`, `contrast_center` may have a value for each frame, see `per_frame`.
    """

@overload
def contrast(
    image: list[DataNode],
    /,
    *,
    contrast: float | DataNode = 1.0,
    contrast_center: float | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def coord_flip(
    points: DataNode | ArrayLike,
    /,
    *,
    center_x: float | DataNode = 0.5,
    center_y: float | DataNode = 0.5,
    center_z: float | DataNode = 0.5,
    flip_x: int | DataNode = 1,
    flip_y: int | DataNode = 0,
    flip_z: int | DataNode = 0,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Mirrors points at a centre: 2 * center - x, along the axes whose `flip` is not 0.

    Args:
        points: float32 [points, coordinates], 1 to 3 coordinates each.
        center_x: position of the mirror along x.
        center_y: position of the mirror along y.
        center_z: position of the mirror along z.
        flip_x: not 0: mirror along x.
        flip_y: not 0: mirror along y.
        flip_z: not 0: mirror along z.
        layout: order of the coordinates; "": "x", "xy" or "xyz", by the number of coordinates.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [points, coordinates].

    Example: points = fn.coord_flip(points, flip_x=1)
    """

@overload
def coord_flip(
    points: list[DataNode],
    /,
    *,
    center_x: float | DataNode = 0.5,
    center_y: float | DataNode = 0.5,
    center_z: float | DataNode = 0.5,
    flip_x: int | DataNode = 1,
    flip_y: int | DataNode = 0,
    flip_z: int | DataNode = 0,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def coord_transform(
    points: DataNode | ArrayLike,
    /,
    *,
    M: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    MT: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    T: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Transforms vectors: out = M · in + T. Integer results are rounded half away from zero.

    Args:
        points: [..., n], any type.
        M: m·n values or [m, n]; one value: a factor for all components; None: the identity.
        MT: [M T] in one matrix, m·(n+1) values or [m, n+1]; one value: a factor for all components.
        T: m values, or one for all components; None: 0.
        dtype: output type.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [..., m], `dtype`, saturated.

    Example: points = fn.coord_transform(points, M=[0.0, -1.0, 1.0, 0.0], T=[0.5, 0.0])

    By frame: of sequences `M`, `MT`, `T` may have a value for each frame, see `per_frame`.
    """

@overload
def coord_transform(
    points: list[DataNode],
    /,
    *,
    M: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    MT: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    T: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def copy(
    batch: DataNode | ArrayLike,
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Returns a batch that shares the memory of the input. Values never change, so no copy is needed.

    Example: boxes = fn.copy(boxes)

    Args:
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    """

@overload
def copy(
    batch: list[DataNode],
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def crop(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape', 'clamp', 'reflect_101', 'reflect_1001', 'wrap'] = 'error',
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Cuts out a window that begins at position × (extent - size), rounded half away from zero.

    Args:
        image: any layout with H and W, also with D or F; without a layout HWC, or DHWC with four axes.
        dtype: output type; fractions are truncated and integers saturated; None: the input's.
        fill_values: value of pixels outside of the image: one for all channels, or one per channel.
        out_of_bounds_policy: for windows larger than the image: "error" raises, "pad" fills,
            "trim_to_shape" makes the window smaller; "clamp", "reflect_101", "reflect_1001" and "wrap" repeat the
            image, see `slice`.
        crop: window (height, width) or (depth, height, width), pixels; fractions are truncated. A size of 0 or less takes
            the whole axis. None: `crop_h`, `crop_w`, `crop_d`.
        crop_d: depth of the window, or its number of frames if the layout has F and no D; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        crop_w: width of the window, pixels; 0: the whole width.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: layout of the input, size of the window.

    Example:
        images = fn.crop(images, crop=[100, 100], crop_pos_x=0.2, crop_pos_y=0.8)
        images = fn.crop(images, crop=[80, 200], crop_pos_y=0.0)
    """

@overload
def crop(
    image: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape', 'clamp', 'reflect_101', 'reflect_1001', 'wrap'] = 'error',
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def crop_mirror_normalize(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: Any = ...,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    mean: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    mirror: int | DataNode = 0,
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape'] = 'error',
    output_layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = 'CHW',
    pad_output: bool = False,
    scale: float = 1.0,
    shift: float = 0.0,
    std: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Crops, mirrors and normalizes: out = (in - mean) / std · scale + shift, in float32.

    The window is chosen as in `crop`, and mirrored after it is cut out. Integer results are rounded half away from zero
    and saturated.

    Args:
        image: any layout with H, W and C; without a layout HWC, or DHWC with four axes.
        dtype: output type.
        fill_values: value of pixels outside of the image, not normalized: one for all channels, or one per channel of
            the image or of the output. With the policy "pad", channels added by `pad_output` have this value, too.
        mean: mean to subtract: one value for all channels, or one per channel.
        mirror: not 0: mirror left and right.
        out_of_bounds_policy: for windows larger than the image: "error" raises, "pad" fills,
            "trim_to_shape" makes the window smaller.
        output_layout: a permutation of the input's layout; "": the input's.
        pad_output: add channels up to the next power of two (3 become 4).
        scale: factor after the normalization.
        shift: value that is added last.
        std: standard deviation to divide by: one value for all channels, or one per channel.
        crop: window (height, width) or (depth, height, width), pixels; fractions are truncated. A size of 0 or less takes
            the whole axis. None: `crop_h`, `crop_w`, `crop_d`.
        crop_d: depth of the window, or its number of frames if the layout has F and no D; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        crop_w: width of the window, pixels; 0: the whole width.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `output_layout`, size of the window, `dtype`.

    Example:
        images = fn.crop_mirror_normalize(
            images,
            crop=[128, 128],
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
            output_layout="CHW",
        )
    """

@overload
def crop_mirror_normalize(
    image: list[DataNode],
    /,
    *,
    dtype: Any = ...,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    mean: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    mirror: int | DataNode = 0,
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape'] = 'error',
    output_layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = 'CHW',
    pad_output: bool = False,
    scale: float = 1.0,
    shift: float = 0.0,
    std: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def cutmix(
    images: DataNode | ArrayLike,
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Pastes a box of another image of the batch into each image, and mixes labels by the box's area.

    See Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features" (2019). A box is
    drawn for each sample: λ from Beta(alpha, alpha), and the centre of the box uniformly from all pixels. The box's height
    and width are 2 · floor(√(1 - λ) / 2 · size), cut at the borders. The label of the sample itself gets the weight
    1 - area / (height · width), and the label of the other image gets the rest.

    Args:
        images: [N, ...] with axes H and W, any type, of one size; without a layout HW, HWC or FHWC. All frames and
            channels of a sample get the same box.
        labels: see `mixup`.
        alpha: parameter of the beta distribution, above 0; 1: λ is uniform.
        num_classes: see `mixup`.
        probability: probability that a sample is mixed, 0 to 1. A sample that is not mixed may still be pasted into
            another sample.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of `images`; with `labels`, also the mixed labels, float32. A batch of one is unchanged.

    Random numbers: see `mixup`. The box depends only on the sample's key.

    Parity: DALI has no such operator.

    Example: pictures, labels = fn.cutmix(pictures, labels, num_classes=10)
    """

@overload
def cutmix(
    images: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode]: ...

@overload
def cutmix(
    images: list[DataNode],
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def cutmix(
    images: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def debayer(
    image: DataNode | ArrayLike,
    /,
    *,
    blue_position: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    algorithm: str = 'bilinear_ocv',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Interpolates the missing colours of images from a sensor behind a Bayer filter.

    The filter repeats a tile of 2 x 2 pixels: one red, one blue and two green. Algorithms:

    * "bilinear_ocv": the mean of the 2 or 4 nearest pixels of a colour, halves rounded up.
    * "edgeaware_ocv": like "bilinear_ocv", but green is interpolated along the direction in which it changes less.
    * "vng_ocv" (variable number of gradients): the pixel's value plus the mean difference between the missing colour
      and the pixel's colour. Of 8 directions, the mean covers only those in which the image changes little. Images of
      fewer than 8 pixels along an axis use "bilinear_ocv".
    * "gray_ocv": 0.299 R + 0.587 G + 0.114 B of the "bilinear_ocv" colours, rounded once.

    "vng_ocv" mirrors the image at its borders. With the other algorithms, border pixels get the colours of their inner
    neighbours, and images of 2 pixels along an axis, which have only border pixels, become 0.

    Args:
        image: one channel, of even height and width: HW, HWC, or sequences of these; uint8 or uint16, uint8 for
            "vng_ocv".
        blue_position: (y, x) of the blue pixel in the tile, 0 or 1 each; a single value is used for both. As in OpenCV,
            the tile begins at the second row and the second column of the image. With (0, 0), the rows of the
            tile are BG and GR, so the first pixel of the image is red.
        algorithm: name of an algorithm, in upper or lower case.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: HWC, or FHWC, of the image's type: RGB, or one channel for "gray_ocv".

    Parity: results equal DALI's bit for bit. "default_npp" exists only in DALI's GPU kernel.

    Example: colour = fn.debayer(plane, blue_position=[0, 0])

    By frame: of sequences `blue_position` may have a value for each frame, see `per_frame`.
    """

@overload
def debayer(
    image: list[DataNode],
    /,
    *,
    blue_position: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    algorithm: str = 'bilinear_ocv',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def dl_tensor_python_function(
    *samples: DataNode | ArrayLike,
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = True,
    output_layouts: str | typing.Sequence[str] | None = None,
    synchronize_stream: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Calls a Python function on DLPack capsules.

    With `device="gpu"` the tensors are on the accelerator. Prefer `python_function` and `plugin.jax.fn.jax_function`
    for libraries that take arrays, as most do.

    Args:
        function: takes a capsule for each input and returns one capsule (or anything with `__dlpack__`, or an
            array), or a tuple of `num_outputs`. It must not write to its inputs.
        num_outputs: number of tensors that the function returns; with 0, its result is ignored.
        batch_processing: the function takes lists with the capsules of all samples of the batch, and returns lists.
        output_layouts: a layout for all outputs, or a list with one per output; outputs past the list's end have no layout.
        synchronize_stream: without effect: data are complete before the function is called.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: copies of the function's results, in host memory.

    Parity: DALI documents False as the default of `batch_processing`; its code uses True.

    Example:
        numbers = fn.dl_tensor_python_function(
            numbers, function=lambda capsule: capsule, batch_processing=False
        )
    """

@overload
def dl_tensor_python_function(
    *samples: DataNode | ArrayLike,
    function: Any,
    num_outputs: int,
    batch_processing: bool = True,
    output_layouts: str | typing.Sequence[str] | None = None,
    synchronize_stream: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, ...]: ...

@overload
def dl_tensor_python_function(
    *samples: list[DataNode],
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = True,
    output_layouts: str | typing.Sequence[str] | None = None,
    synchronize_stream: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def dl_tensor_python_function(
    *samples: list[DataNode],
    function: Any,
    num_outputs: int,
    batch_processing: bool = True,
    output_layouts: str | typing.Sequence[str] | None = None,
    synchronize_stream: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def dump_image(
    images: DataNode | ArrayLike,
    /,
    *,
    input_layout: str = 'HWC',
    suffix: str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Writes each image to a file in the working directory, in plain PPM (PGM with one channel).

    Files are named `0-<suffix>-0.ppm`, `1-<suffix>-0.ppm`, ... by the position in the batch; the next batch
    overwrites them.

    Args:
        images: uint8 with 1 or 3 channels.
        input_layout: layout of images without a layout: HWC, CHW or HW.
        suffix: part of the files' names.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the images.

    Parity: DALI takes HWC only, and writes nothing if the output is not used.

    Example: images = fn.dump_image(images, suffix="made")
    """

@overload
def dump_image(
    images: list[DataNode],
    /,
    *,
    input_layout: str = 'HWC',
    suffix: str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def element_extract(
    sequence: DataNode | ArrayLike,
    /,
    *,
    element_map: int | typing.Sequence[int | DataNode] | NDArray[Any],
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> Any:
    """Extracts elements along the outermost axis.

    Args:
        sequence: at least two axes, any type; a layout must begin with F.
        element_map: indices of the elements, 0 or more.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: an output for each index, without the outermost axis.

    Example: element = fn.element_extract(numbers, element_map=[1])
    """

@overload
def equalize(
    image: DataNode | ArrayLike,
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Equalizes the histogram of each channel of an image.

    Let n(v) be the number of pixels whose value is at most v, and v0 the smallest value in the channel. A value v becomes
    255 · (n(v) - n(v0)) / (n(255) - n(v0)), in float32, rounded half to even. A channel with one value is unchanged.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the input.

    Example: images = fn.equalize(images)
    """

@overload
def equalize(
    image: list[DataNode],
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def erase(
    data: DataNode | ArrayLike,
    /,
    *,
    anchor: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    centered_anchor: bool = False,
    fill_value: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Fills regions with a value; the borders of a region are rounded towards zero.

    A region reaches from `anchor` to `anchor` + `shape` along the chosen axes, and covers all other axes. Regions are
    clipped to the data.

    Args:
        data: any layout; a leading F is an axis like any other.
        anchor: first corner of each region, one region after the other: (y0, x0, y1, x1, ...). The number of
            regions may differ by sample. Empty: all 0.
        axes: indices of the axes that `anchor` and `shape` refer to, in this order; negative ones count from the end.
        axis_names: letters of these axes in the layout; overrides `axes`. Without `axes` and `axis_names`: all axes but C.
        centered_anchor: anchors are the centres of regions.
        fill_value: value of the regions, one for all channels or one per channel; for integers truncated and saturated.
        normalized: anchors and shapes are shares of the data's size.
        normalized_anchor: anchors are shares of the data's size.
        normalized_shape: shapes are shares of the data's size.
        shape: size of each region, as many values as `anchor`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the input.

    Parity: DALI wraps fill values that the type does not hold, and refuses bool and float64.

    Example:
        images = fn.erase(images, anchor=[40, 60], shape=[60, 80], axis_names="HW", fill_value=128)
        images = fn.erase(
            images,
            anchor=[0.1, 0.1, 0.5, 0.6],
            shape=[0.2, 0.2, 0.3, 0.3],
            normalized=True,
            fill_value=255,
        )
    """

@overload
def erase(
    data: list[DataNode],
    /,
    *,
    anchor: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    centered_anchor: bool = False,
    fill_value: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def expand_dims(
    data: DataNode | ArrayLike,
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any],
    new_axis_names: str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Inserts axes of size 1.

    Args:
        data: any shape and type.
        axes: indices of the new axes in the result, in any order, 0 or more.
        new_axis_names: a letter for each of `axes`; "": the result has no layout.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the same elements and type.

    Example: numbers = fn.expand_dims(numbers, axes=[0])
    """

@overload
def expand_dims(
    data: list[DataNode],
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any],
    new_axis_names: str = '',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def external_source(
    source: Any = None,
    num_outputs: None = None,
    *,
    cycle: bool | str | None = None,
    layout: str | typing.Sequence[str] | None = None,
    dtype: Any = None,
    ndim: int | typing.Sequence[int] | NDArray[Any] | None = None,
    cuda_stream: Any = None,
    use_copy_kernel: bool | None = None,
    blocking: bool = False,
    batch: bool | None = None,
    repeat_last: bool = False,
    parallel: bool = False,
    no_copy: bool = False,
    prefetch_queue_depth: int | None = None,
    batch_info: bool = False,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] | None = None,
    random_access: bool | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    preserve: bool = False,
) -> DataNode:
    """Takes data from outside of the pipeline: from a callback, an iterable, or `Pipeline.feed_input`.

    Args:
        source: a callable (without argument, or with the batch's number, a `BatchInfo` or a `SampleInfo`) or an
            iterable; None: data come from `feed_input`. An object that is both is iterated over.
        num_outputs: number of outputs, 1 or more. The source returns them as a tuple, even if there is only one. None: the source
            returns one output, without a tuple.
        cycle: behaviour at the end of an iterable. "quiet" or True: begin again. "raise": raise StopIteration, then begin
            again. "no", False or None: stay at the end, also after `Pipeline.reset`.
        layout: layout of the samples, one for all outputs or a list with one per output, which may leave out the last outputs;
            None: the layout of the source's TensorLists. A batch whose layout differs from the previous batch's raises
            an error.
        dtype: type that the samples must have, one or a list like `layout`; None: as in the first batch.
        ndim: number of axes that the samples must have, one or a list like `layout`; None: as in the first batch.
        cuda_stream: without effect.
        use_copy_kernel: without effect.
        blocking: without effect: `run` raises an error if no data have been fed.
        batch: True or None: the source returns batches; False: single samples.
        repeat_last: return the last batch fed with `feed_input` again until the next batch is fed.
        parallel: run the callback in worker processes, see `py_num_workers` of `Pipeline`. The source must be an iterable,
            which one worker iterates over, or a callable with an argument (see `source`).
        no_copy: do not copy data fed with `feed_input`; they must not change until the batch is made. Data of
            callbacks and iterables are always copied.
        prefetch_queue_depth: with `parallel`: number of batches that workers make in advance; None: 1.
        batch_info: a batch callback gets a `BatchInfo` in place of the batch's number.
        bytes_per_sample_hint: with `parallel`: shared memory to allocate for each sample, bytes, one number per output.
            It grows if needed. None: the size of the first samples.
        random_access: `source` has `__len__` and `__getitem__`, and its elements are samples. The call then adds
            `readers.dataset` instead, and takes that reader's arguments, such as `random_shuffle` and `num_shards`.
            None: True for a source that is neither callable nor iterable. DALI has no such argument.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        preserve: run the operator even if none of its outputs is used.

    Example: numbers = fn.external_source(lambda sample: np.float32([sample.idx_in_epoch, 0.5]), batch=False)
    """

@overload
def external_source(
    source: Any = None,
    num_outputs: int = ...,
    *,
    cycle: bool | str | None = None,
    layout: str | typing.Sequence[str] | None = None,
    dtype: Any = None,
    ndim: int | typing.Sequence[int] | NDArray[Any] | None = None,
    cuda_stream: Any = None,
    use_copy_kernel: bool | None = None,
    blocking: bool = False,
    batch: bool | None = None,
    repeat_last: bool = False,
    parallel: bool = False,
    no_copy: bool = False,
    prefetch_queue_depth: int | None = None,
    batch_info: bool = False,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] | None = None,
    random_access: bool | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def fast_resize_crop_mirror(
    image: DataNode | ArrayLike,
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: Literal['round', 'truncate'] = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Resizes an image, cuts out a window at a whole pixel, and mirrors it.

    A window larger than the resized image repeats the image's border.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default", "stretch", "not_larger" or "not_smaller", as in `resize`.
        max_size: largest size of the sides before the crop, pixels: one value for all sides, or one per side; None: no
            limit.
        roi_start: start of the region to resize along each side, pixels; None: the whole image.
        roi_end: end of the region; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the region by the same factor, so that the scale is exact.
        crop: size of the window cut out of the resized image, (height, width) or (depth, height, width), pixels,
            fractions truncated; None: `crop_h`, `crop_w` and `crop_d`.
        crop_d: depth of the window, pixels; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_w: width of the window, pixels; 0: the whole width.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        mirror: axes to mirror, as the sum of 1 (left-right), 2 (top-bottom) and 4 (front-back); 0: no axis.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the window, in the size of the crop.

    Parity: `mirror` refers to the same axes in every layout. If the layout does not begin with H or D, DALI 2.4 mirrors the
    axis before the requested one, or none.

    Example: images = fn.resize_crop_mirror(images, resize_shorter=120, crop=[100, 100], mirror=1)
    """

@overload
def fast_resize_crop_mirror(
    image: list[DataNode],
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: Literal['round', 'truncate'] = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def filter(
    data: DataNode | ArrayLike,
    filter: DataNode | ArrayLike,
    fill_value: DataNode | ArrayLike | None = None,
    /,
    *,
    anchor: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (-1,),
    border: Literal['reflect_101', 'reflect_1001', 'wrap', 'clamp', 'constant'] = 'reflect_101',
    dtype: types.DALIDataType | DTypeLike | None = None,
    mode: Literal['same', 'valid'] = 'same',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Correlates images with a kernel: out[x] is the sum of filter[i] · data[x + i - anchor] over all i, in float32.

    The kernel is not flipped; for a convolution, flip its axes.

    Args:
        data: images (HW, HWC, CHW) or volumes (DHW, DHWC, CDHW), or sequences of these with F in front; without a
            layout HW or DHW. uint8, int8, uint16, int16, float16 or float32.
        filter: float32, one axis for each of D, H, W; for sequences also one filter per frame, with F in front.
        fill_value: value outside of images with `border="constant"`, of the data's type; for sequences also
            one value per frame; None: 0.
        anchor: index of the filter's element that lies over the output element, one value for all axes, or one
            per axis; -1: the middle, size // 2. Ignored with `mode="valid"`.
        border: continuation of the data past their borders: "reflect_101" (dcb|abcd|cba), "reflect_1001"
            (cba|abcd|dcb), "wrap" (bcd|abcd|abc), "clamp" (aaa|abcd|ddd), "constant"; or one of DALI's aliases, see
            `slice`.
        dtype: type of the output, float32 or the data's; None: the data's.
        mode: "same": the output has the size of the data; "valid": only positions where the filter lies within the
            data, so axes are shorter by the filter's size - 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `dtype`, layout of the data; integers are rounded half to even and saturated.

    Parity: volumes, int8 and float16 work on every device; DALI's CPU backend refuses them. Sums are computed in a different
    order, so integers may differ by 1 where a sum is close to a half. A filter of 40 elements or more is applied axis by axis
    if it is separable to within 2⁻²² of its largest element.

    Example: images = fn.filter(images, kernel)

    By frame: of sequences `anchor` may have a value for each frame, see `per_frame`.
    """

@overload
def filter(
    data: list[DataNode],
    filter: DataNode | ArrayLike | list[DataNode],
    fill_value: DataNode | ArrayLike | None = None,
    /,
    *,
    anchor: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (-1,),
    border: Literal['reflect_101', 'reflect_1001', 'wrap', 'clamp', 'constant'] = 'reflect_101',
    dtype: types.DALIDataType | DTypeLike | None = None,
    mode: Literal['same', 'valid'] = 'same',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def flip(
    image: DataNode | ArrayLike,
    /,
    *,
    depthwise: int | DataNode = 0,
    horizontal: int | DataNode = 1,
    vertical: int | DataNode = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Mirrors images along their width, height and depth.

    Args:
        image: HWC, CHW, or a sequence of these (FHWC, FCHW), or volumes (DHWC, CDHW, FDHWC, FCDHW), any type;
            without a layout HWC, FHWC or FDHWC, by the number of axes.
        depthwise: not 0: swap front and back; for layouts with D.
        horizontal: not 0: swap left and right.
        vertical: not 0: swap top and bottom.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the input.

    Example:
        images = fn.flip(images, horizontal=1)
        images = fn.flip(images, horizontal=0, vertical=1)
    """

@overload
def flip(
    image: list[DataNode],
    /,
    *,
    depthwise: int | DataNode = 0,
    horizontal: int | DataNode = 1,
    vertical: int | DataNode = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def full(
    fill_value: DataNode | ArrayLike,
    /,
    *,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Fills a tensor with a value.

    Args:
        fill_value: any type; broadcast to `shape` as in NumPy. If it has more axes than `shape`, the leading ones must
            have size 1. A result of one element takes the first element of any `fill_value`, as in DALI.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*shape], dtype of `fill_value`.

    Example: sevens = fn.full(seven, shape=[2, 2])
    """

@overload
def full(
    fill_value: list[DataNode],
    /,
    *,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def full_like(
    data_like: DataNode | ArrayLike,
    fill_value: DataNode | ArrayLike,
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Fills a tensor with a value, in the shape and type of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        fill_value: broadcast as in `full`; rounds half away from zero and saturates.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape and dtype of `data_like`.

    Example: sevens = fn.full_like(numbers, seven)
    """

@overload
def full_like(
    data_like: list[DataNode],
    fill_value: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def gaussian_blur(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    sigma: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    window_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (0,),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Blurs with a Gaussian window; images are mirrored at their borders without repeating the outermost element.

    weight(k) is proportional to exp(-k² / (2 · sigma²)), for |k| ≤ (window_size - 1) / 2.

    Args:
        image: any layout; all axes but C and F are blurred.
        dtype: output type; None: the input's.
        sigma: standard deviation in elements, one for all blurred axes, or one per axis in the order of the layout;
            0: ((window_size - 1) / 2 - 1) · 0.3 + 0.8.
        window_size: odd number of elements, one for all blurred axes, or one per axis; 0: 2 · ceil(3 · sigma) + 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `image`, `dtype`, rounded half away from zero and saturated.

    Parity: float16 images are blurred in float32 and rounded after the last axis; DALI rounds to float16 after each.

    Bits: the order of the sums depends on the padded shape and on the largest window of the batch. Results of the same image
    may therefore differ by 2⁻²³ · window_size · (largest value) for each axis, and integers by 1 where a value is close to a
    half. See `Pipeline(exact_shapes=True)`.

    Example:
        images = fn.gaussian_blur(images, sigma=3.0)
        images = fn.gaussian_blur(images, sigma=6.0)

    By frame: of sequences `sigma`, `window_size` may have a value for each frame, see `per_frame`.
    """

@overload
def gaussian_blur(
    image: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    sigma: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    window_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (0,),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def get_property(
    batch: DataNode | ArrayLike,
    /,
    *,
    key: str,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Returns a property of each sample, as a tensor.

    Args:
        key: "source_info" (origin of the sample) or "layout".
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: uint8 [length], text as bytes.

    Example: layout = fn.get_property(images, key="layout")
    """

@overload
def get_property(
    batch: list[DataNode],
    /,
    *,
    key: str,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def grid_mask(
    image: DataNode | ArrayLike,
    /,
    *,
    angle: float | DataNode = 0.0,
    ratio: float | DataNode = 0.5,
    shift_x: float | DataNode = 0.0,
    shift_y: float | DataNode = 0.0,
    tile: int | DataNode = 100,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes squares in a regular grid black (GridMask, https://arxiv.org/abs/2001.04086).

    The pixel (x, y) lies at (u, v) = (x cos a - y sin a - shift_x, x sin a + y cos a - shift_y) / tile in the grid. It
    becomes black if the fractional parts of both u and v are less than `ratio`.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, int16, int32 or float32.
        angle: rotation of the grid, radians.
        ratio: side of a black square, as a share of `tile`; 0 or less: no squares, 1 or more: all black.
        shift_x: shift of the grid to the right, pixels.
        shift_y: shift of the grid downwards, pixels.
        tile: distance from one square's start to the next square's start, pixels, at least 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the input.

    Parity: DALI takes the first two axes of any layout as height and width. With a rotated grid,
    float32 rounding may decide whether a pixel on the border of a square is black, so such pixels may differ.

    Example:
        images = fn.grid_mask(images, tile=40, ratio=0.5, angle=0.4)
        images = fn.grid_mask(images, tile=60, ratio=0.4, angle=0.6)
    """

@overload
def grid_mask(
    image: list[DataNode],
    /,
    *,
    angle: float | DataNode = 0.0,
    ratio: float | DataNode = 0.5,
    shift_x: float | DataNode = 0.0,
    shift_y: float | DataNode = 0.0,
    tile: int | DataNode = 100,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def hsv(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: Any = ...,
    hue: float | DataNode = 0.0,
    saturation: float | DataNode = 1.0,
    value: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Changes hue, saturation and value by a linear map, which rotates colours around the gray axis.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type.
        hue: angle to add, degrees.
        saturation: factor of the distance from gray.
        value: factor of all intensities.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.hsv(images, hue=120.0, saturation=1.3)
        images = fn.hsv(images, saturation=0.3, value=1.2)

    By frame: of sequences `hue`, `saturation`, `value` may have a value for each frame, see `per_frame`.
    """

@overload
def hsv(
    image: list[DataNode],
    /,
    *,
    dtype: Any = ...,
    hue: float | DataNode = 0.0,
    saturation: float | DataNode = 1.0,
    value: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def hue(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Rotates colours around the gray axis.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type; None: the input's.
        hue: angle to add, degrees.
        image_type: without effect, as in DALI: images are treated as RGB.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example: images = fn.hue(images, hue=90.0)

    By frame: of sequences `hue` may have a value for each frame, see `per_frame`.
    """

@overload
def hue(
    image: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    hue: float | DataNode = 0.0,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def jitter(
    image: DataNode | ArrayLike,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    nDegree: int = 2,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Replaces each pixel by the pixel at a random offset of whole pixels. The offset is the same for all channels.

    The offset along each axis is uniform, from -(nDegree // 2) to nDegree - nDegree // 2. Positions are clipped to the
    image.

    Args:
        image: [H, W, C].
        fill_value: without effect: no pixel comes from outside.
        interp_type: without effect: offsets are whole pixels.
        mask: 0: the image is unchanged.
        nDegree: range of the offsets, 0 to 32767.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of the input.

    Parity: DALI has this operator on a GPU only. Random numbers differ, but have the same distribution. In DALI,
    channels share an offset only if two conditions are met: all images of the batch have 1 channel, or all have 3; and
    the H · W elements of a channel fill whole 32-bit words. Otherwise, each channel has its own offset.

    Example: images = fn.jitter(images, nDegree=8)
    """

@overload
def jitter(
    image: list[DataNode],
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    nDegree: int = 2,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def jpeg_compression_distortion(
    image: DataNode | ArrayLike,
    /,
    *,
    quality: int | DataNode = 50,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Adds the artifacts of JPEG compression to images, without encoding them.

    Lossy steps are computed with libjpeg's integer arithmetic: conversion to YCbCr, averaging of chroma over 2×2
    pixels, DCT of 8×8 blocks, quantization, and back, with smooth upsampling of chroma. Lossless steps are left out.

    For float32 images, derivatives are computed as if chroma were only averaged and upsampled, without any rounding.

    Parity: DALI takes uint8 only.

    Args:
        image: HWC with the channels R, G and B, or sequences of these; uint8, or float32 from 0 to 255, which is first
            rounded half to even and clamped.
        quality: JPEG quality from 1, the worst, to 100; other values are clamped. The quality scales the quantization
            tables as in libjpeg.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the image.

    Example:
        images = fn.jpeg_compression_distortion(images, quality=5)
        images = fn.jpeg_compression_distortion(images, quality=30)
    """

@overload
def jpeg_compression_distortion(
    image: list[DataNode],
    /,
    *,
    quality: int | DataNode = 50,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def laplacian(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    normalized_kernel: bool = False,
    scale: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    smoothing_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    window_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (3,),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Sums second derivatives along all axes; data are mirrored at borders without repeating the outermost element.

    The derivative along an axis is a second difference, smoothed along all axes by binomial
    coefficients. With size 3, the difference is 1, -2, 1, and the smoothing along the other axes 1, 2, 1.

    Args:
        data: up to three axes besides C and F; integers, float16 or float32. Derivatives along C and F are not taken.
        dtype: type of the output, float32 or the data's; None: the data's.
        normalized_kernel: scale the derivative along an axis by 2^(n + 2 - s), where n is the number of axes and s the sum of
            the sizes of the derivative's windows; `scale` must then be 1.
        scale: factor of each derivative, one for all axes, or one per axis.
        smoothing_size: size of the smoothing along the other axes, odd, 1 to 31: one for all axes, or one per axis; 1:
            no smoothing; None: the `window_size` of the derivative.
        window_size: size of the derivative, odd, 3 to 31: one for all axes, or one per axis.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the data, `dtype`, rounded half away from zero and saturated.

    Parity: sums are computed in a different order. Floats may differ by a few rounding errors of the largest sum, and
    integers by 1 where a sum is close to a half.

    Example: images = fn.laplacian(images, window_size=5, dtype=types.UINT8, scale=0.2)

    By frame: of sequences `scale`, `smoothing_size`, `window_size` may have a value for each frame, see `per_frame`.
    """

@overload
def laplacian(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    normalized_kernel: bool = False,
    scale: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    smoothing_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    window_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (3,),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def lookup_table(
    data: DataNode | ArrayLike,
    /,
    *,
    default_value: float = 0.0,
    dtype: types.DALIDataType | DTypeLike = ...,
    keys: int | typing.Sequence[int | DataNode] | NDArray[Any] = (),
    values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Maps each element keys[i] to values[i], and other elements to `default_value`.

    Args:
        data: integers, any shape.
        default_value: result for elements that are not in `keys`.
        dtype: type of the result; values round half away from zero and saturate.
        keys: 0 to 65535; among equal keys, the last one counts.
        values: result for each key.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data`, `dtype`.

    Example: classes = fn.lookup_table(classes, keys=[0, 1, 2], values=[10.0, 20.0, 30.0])
    """

@overload
def lookup_table(
    data: list[DataNode],
    /,
    *,
    default_value: float = 0.0,
    dtype: types.DALIDataType | DTypeLike = ...,
    keys: int | typing.Sequence[int | DataNode] | NDArray[Any] = (),
    values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def mel_filter_bank(
    spectrum: DataNode | ArrayLike,
    /,
    *,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: Literal['slaney', 'htk'] = 'slaney',
    nfilter: int = 128,
    normalize: bool = True,
    sample_rate: float = 44100.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Sums the bins of a spectrogram under `nfilter` triangles that are evenly spaced in mel.

    Args:
        spectrum: float32, with an axis "f" of nfft // 2 + 1 bins from 0 to sample_rate / 2.
        freq_high: upper end of the last triangle in Hz; 0: sample_rate / 2.
        freq_low: lower end of the first triangle in Hz.
        mel_formula: "slaney" (linear below 1 kHz) or "htk".
        nfilter: number of triangles.
        normalize: True: each triangle has area 1 (in Hz); False: peak 1.
        sample_rate: sampling rate of the signal, Hz.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32, shape of `spectrum` with size `nfilter` along "f".

    Example: mel = fn.mel_filter_bank(spectrogram, sample_rate=16000.0, nfilter=40)
    """

@overload
def mel_filter_bank(
    spectrum: list[DataNode],
    /,
    *,
    freq_high: float = 0.0,
    freq_low: float = 0.0,
    mel_formula: Literal['slaney', 'htk'] = 'slaney',
    nfilter: int = 128,
    normalize: bool = True,
    sample_rate: float = 44100.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def mfcc(
    spectrum: DataNode | ArrayLike,
    /,
    *,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the first coefficients of a cosine transform along an axis.

    Type 2, the usual one, is out[k] = Σ in[n] · cos(π (n + ½) k / N).

    Args:
        spectrum: float32, any shape; usually the mel spectrogram in decibels.
        axis: axis to transform, 0 or more.
        dct_type: 1 to 4, without the factor 2 of other definitions.
        lifter: L; coefficient i is multiplied by 1 + L/2 · sin(π (i + 1) / L); 0: no liftering.
        n_mfcc: number of coefficients; cut to the size of the axis.
        normalize: make the transform orthonormal; not for type 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32, shape of `spectrum` except for `axis`.

    Example: coefficients = fn.mfcc(mel, n_mfcc=13)
    """

@overload
def mfcc(
    spectrum: list[DataNode],
    /,
    *,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def mixup(
    images: DataNode | ArrayLike,
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Mixes each sample of a batch with another: λ · sample + (1 - λ) · partner, with λ from Beta(alpha, alpha).

    See Zhang et al., "mixup: Beyond Empirical Risk Minimization" (2018). λ is drawn for each sample. The samples of a batch
    are sorted by random numbers, and a sample's partner is the next sample in this order. So each sample is the partner of
    one other sample.

    Args:
        images: [N, ...], any type and layout, of one size; computed in float32.
        labels: with `num_classes`, class numbers, one integer per sample. Without it, labels of one shape, such as
            one-hot vectors, which are mixed as they are.
        alpha: parameter of the beta distribution, above 0. A small value makes most λ nearly 0 or 1; 1: λ is uniform.
        num_classes: length of the one-hot vectors of class numbers; a number outside of 0 to num_classes - 1 gives
            zeros. None: labels are not class numbers.
        probability: probability that a sample is mixed, 0 to 1. A sample that is not mixed may still be another's partner.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of `images`, integers rounded half away from zero; with `labels`, also the mixed labels,
    float32. A batch of one is unchanged.

    Random numbers: λ and the decision to mix a sample depend only on the sample's key, as in all operators. The partner
    depends on the keys of all samples of the batch. The same batch therefore has the same bits, also in a resumed run, but
    a sample's partner changes with the batch size and with the other samples.

    Parity: DALI has no such operator.

    Example: pictures, labels = fn.mixup(pictures, labels, num_classes=10, alpha=0.2)
    """

@overload
def mixup(
    images: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode]: ...

@overload
def mixup(
    images: list[DataNode],
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def mixup(
    images: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    alpha: float | DataNode = 1.0,
    num_classes: int | None = None,
    probability: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def multi_paste(
    *images: DataNode | ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    in_anchors: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    in_anchors_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    in_ids: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    out_anchors: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    out_anchors_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    output_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    shapes: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    shapes_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Copies regions of images into black images. Later regions cover earlier ones.

    With `in_ids`, the operator takes one input, and a region may come from any sample of the batch. Without `in_ids`,
    region i of a sample comes from input i. Coordinates are (height, width).

    Args:
        images: [H, W, C] or [F, H, W, C].
        dtype: output type; None: the input's.
        in_anchors: [regions, 2], first corner of each region in its source image, pixels; 0 without `in_anchors` and
            `in_anchors_rel`.
        in_anchors_rel: first corners as shares of the source image's size, rounded towards zero.
        in_ids: [regions], position of each region's source sample in the batch. The number of regions
            may differ by sample.
        out_anchors: [regions, 2], first corner of each region in the output, pixels; 0 without `out_anchors` and
            `out_anchors_rel`.
        out_anchors_rel: first corners as shares of the output's size, rounded towards zero.
        output_size: (height, width) of the output, and further values, which are ignored; None: the size of the
            images, which must all have one size.
        shapes: [regions, 2], size of each region, pixels; without `shapes` and `shapes_rel`, regions reach to the end
            of their source images.
        shapes_rel: sizes as shares of the source image's size, rounded up.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*output_size, C], rounded half away from zero and saturated; 0 where no region is.

    Raises: SampleError if a region is not inside its source image and the output. If an argument is a tracer, regions are
    not checked, but clipped.

    Example:
        images = fn.multi_paste(
            images,
            images,
            output_size=[200, 300],
            in_anchors=[[0, 0], [40, 60]],
            shapes=[[100, 150], [90, 150]],
            out_anchors=[[0, 0], [105, 140]],
        )
    """

@overload
def multi_paste(
    *images: list[DataNode],
    dtype: types.DALIDataType | DTypeLike | None = None,
    in_anchors: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    in_anchors_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    in_ids: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    out_anchors: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    out_anchors_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    output_size: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    shapes: typing.Sequence[int | typing.Sequence[int | DataNode] | NDArray[Any]] | DataNode | None = None,
    shapes_rel: typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def nonsilent_region(
    signal: DataNode | ArrayLike,
    /,
    *,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]:
    """Finds the region from the first to the last window whose mean power reaches a threshold.

    Args:
        signal: [T], integers or float32.
        cutoff_db: threshold in dB, relative to the reference.
        reference_power: power of 0 dB; 0: the power of the loudest window.
        reset_interval: for floats, number of samples after which the power of a window is summed anew, a multiple of
            `window_length`; -1: never. In between, the power is updated from the previous window, and rounding errors
            accumulate.
        window_length: samples in a window; a shorter signal is one window.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: (index of the first sample, number of samples), int32 scalars; (0, 0) if all windows are below the
    threshold. A signal of zeros without `reference_power` has a threshold of 0, so the region is the whole signal.

    Parity: on an accelerator, each window is summed by itself, without accumulated rounding errors. Results for float32 and
    32- and 64-bit integers may therefore differ from DALI's.

    Example: begin, length = fn.nonsilent_region(sound, cutoff_db=-30.0)
    """

@overload
def nonsilent_region(
    signal: list[DataNode],
    /,
    *,
    cutoff_db: float = -60.0,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
    window_length: int = 2048,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def normalize(
    data: DataNode | ArrayLike,
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    batch: bool = False,
    ddof: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    epsilon: float = 0.0,
    mean: float | ArrayLike | DataNode | None = None,
    scale: float = 1.0,
    shift: float = 0.0,
    stddev: float | ArrayLike | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes scale · (data - mean) / stddev + shift; integers round half away from zero.

    Args:
        data: [N, ...], numbers.
        axes: axes of a sample over which mean and deviation are measured; None: the axes along which a
            tensor `mean` or `stddev` has size 1, or all axes without such a tensor.
        axis_names: letters of the axes in the layout, in place of `axes`.
        batch: measure over all samples of the batch together.
        ddof: degrees of freedom subtracted from the number of elements in a measured variance.
        dtype: type of the result.
        epsilon: value that is added to the variance.
        mean: a scalar, or a tensor that broadcasts to a sample and has as many axes; one for all samples, or one per
            sample. None: the mean is measured.
        scale: factor of the result.
        shift: value that is added to the result.
        stddev: standard deviation, a scalar or tensor like `mean`. If `epsilon` is 0, elements become `shift` where
            `stddev` is 0; a single 0 for all samples gives infinity or NaN.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data`, `dtype`, saturated. If `epsilon` is 0, elements become `shift` where the measured
    deviation is 0 or is measured over at most `ddof` elements.

    Example: numbers = fn.normalize(numbers, axes=[1])
    """

@overload
def normalize(
    data: list[DataNode],
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    batch: bool = False,
    ddof: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    epsilon: float = 0.0,
    mean: float | ArrayLike | DataNode | None = None,
    scale: float = 1.0,
    shift: float = 0.0,
    stddev: float | ArrayLike | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def one_hot(
    classes: DataNode | ArrayLike,
    /,
    *,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Adds an axis with `on_value` at the index of the class, and `off_value` elsewhere.

    Args:
        classes: numbers, any shape; fractions are truncated. If `axis` is -1, a batch whose tensors all have one
            element counts as scalars. A class outside of 0 to num_classes - 1 gives only `off_value`.
        axis: position of the new axis in the result; -1: last.
        axis_name: letter of the new axis; None: the result has no layout.
        dtype: type of the result; for integers, `on_value` and `off_value` are truncated and saturated.
        num_classes: size of the new axis.
        off_value: value of all other elements.
        on_value: value at the index of the class.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `dtype`, one axis more than `classes`.

    Example: classes = fn.one_hot(classes, num_classes=3)
    """

@overload
def one_hot(
    classes: list[DataNode],
    /,
    *,
    axis: int = -1,
    axis_name: str | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def ones(
    *,
    dtype: types.DALIDataType | DTypeLike = ...,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes a tensor of ones.

    Args:
        dtype: type of the result.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*shape], `dtype`.

    Example: ones = fn.ones(shape=[2, 3])
    """

@overload
def ones_like(
    data_like: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes a tensor of ones in the shape of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        dtype: type of the result; None: the dtype of `data_like`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data_like`, `dtype`.

    Example: ones = fn.ones_like(numbers)
    """

@overload
def ones_like(
    data_like: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def optical_flow(
    frames: DataNode | ArrayLike,
    hints: DataNode | ArrayLike | None = None,
    /,
    *,
    enable_external_hints: bool = False,
    enable_temporal_hints: bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Estimates, for each cell of pixels in a frame, the displacement to the same content in the previous frame.

    `frames[i + 1][p] = frames[i][p + flow[i][p]]`. The flow is computed for each pixel, by Lucas and Kanade's method on a
    pyramid, and averaged over cells. Displacements are in pixels of the frames, whatever the size of cells.

    Args:
        frames: uint8 [F, H, W, C], at least 2 frames.
        hints: float32 [F, H / hint_grid, W / hint_grid, 2] (sizes rounded up), guesses of the flow from each frame to the
            previous one; hints of the first frame are ignored. Without `enable_external_hints` the input has no effect.
        enable_external_hints: start the search at `hints`.
        enable_temporal_hints: without hints, start the search at the flow of the previous pair of frames. This also
            finds fast steady motion, of a quarter of the frame's size and more.
        hint_grid: 1, 2, 4 or 8, side of the cells of `hints`, pixels.
        image_type: RGB, BGR or GRAY.
        output_format: deprecated alias of `output_grid`.
        output_grid: 1, 2 or 4, side of the cells of the result, pixels.
        preset: speed, 0 to 1. Values below 0.375 give the best flow; values below 0.75 are about twice as fast; values
            from 0.75 on are fastest, and use frames of half the size if `output_grid` is 2 or 4.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [F - 1, H / output_grid, W / output_grid, 2] (sizes rounded up), (x, y) in pixels.

    Parity: DALI uses the optical flow engine of NVIDIA GPUs, whose method is not published, in units of 1/32
        pixel. Arguments, direction, sizes and units are the same; vectors differ and are not rounded.

    Example: flow = fn.optical_flow(frames)
    """

@overload
def optical_flow(
    frames: list[DataNode],
    hints: DataNode | ArrayLike | None = None,
    /,
    *,
    enable_external_hints: bool = False,
    enable_temporal_hints: bool = False,
    hint_grid: int = 4,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    output_format: int | None = None,
    output_grid: int = 4,
    preset: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def pad(
    data: DataNode | ArrayLike,
    /,
    *,
    align: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str | None = None,
    fill_value: float | DataNode = 0.0,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Pads axes at their end with a constant, up to the largest extent of the batch or to `shape`.

    Args:
        data: any layout, any type.
        align: round the padded extent up to a multiple of this number, for each of the axes.
        axes: axes to pad; their number may differ by sample; negative ones count from the end; empty or None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        fill_value: value of the padding; for integers truncated and saturated.
        shape: extent to reach, for each of the axes. A longer axis does not change; `slice` and `tokenize(length=)` can cut
            it. None, or 0 or less for an axis: the largest extent of the batch (in `jdali.ops`: of the sample).
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: type and layout of the input.

    Example: images = fn.pad(images, axis_names="HW", align=256, fill_value=64)
    """

@overload
def pad(
    data: list[DataNode],
    /,
    *,
    align: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str | None = None,
    fill_value: float | DataNode = 0.0,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def paste(
    image: DataNode | ArrayLike,
    /,
    *,
    fill_value: int | typing.Sequence[int] | NDArray[Any],
    min_canvas_size: float | DataNode = 0.0,
    n_channels: int = 3,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Puts the image on a canvas `ratio` times its size; sizes and positions are rounded towards zero.

    Args:
        image: [H, W, C], any type.
        fill_value: value of the canvas, one for all channels, or `n_channels` values; saturated to the image's type.
        min_canvas_size: smallest height and width of the canvas, pixels.
        n_channels: number of channels of the image; needed only for a `fill_value` of several values.
        paste_x: share of the free width left of the image, 0 to 1.
        paste_y: share of the free height above the image, 0 to 1.
        ratio: sides of the canvas divided by the sides of the image, at least 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [ratio * H, ratio * W, C], type of the input.

    Parity: DALI takes only uint8, and wraps fill values that uint8 does not hold.

    Example: images = fn.paste(images, ratio=1.5, fill_value=[30, 60, 90], paste_x=0.2, paste_y=0.8)
    """

@overload
def paste(
    image: list[DataNode],
    /,
    *,
    fill_value: int | typing.Sequence[int] | NDArray[Any],
    min_canvas_size: float | DataNode = 0.0,
    n_channels: int = 3,
    paste_x: float | DataNode = 0.5,
    paste_y: float | DataNode = 0.5,
    ratio: float | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def peek_image_shape(
    encoded: DataNode | ArrayLike,
    /,
    *,
    adjust_orientation: bool = True,
    dtype: types.DALIDataType | DTypeLike = ...,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Reads height, width and channels of the image that a decoder would return, without decoding it.

    Args:
        encoded: uint8 [bytes].
        adjust_orientation: return the size that the image has after it is rotated by its EXIF orientation.
        dtype: output type, an integer or floating type of at least 32 bits.
        image_type: colour space of the decoded image. ANY_DATA keeps the stored number of channels. GRAY and INDEX have
            1 channel, all others 3.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [3] of type `dtype`.

    Example: sizes = fn.peek_image_shape(jpegs)
    """

@overload
def peek_image_shape(
    encoded: list[DataNode],
    /,
    *,
    adjust_orientation: bool = True,
    dtype: types.DALIDataType | DTypeLike = ...,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def per_frame(
    data: DataNode | ArrayLike,
    /,
    *,
    replace: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Names the first axis F, so that an operator on sequences takes a value for each frame. Values do not change.

    `rotate(videos, angle=per_frame(angles))` rotates each frame by its own angle. Give one value per frame, or one
    value for all frames. The docs of an operator list the arguments that may differ by frame. Inputs may also differ:
    `warp_affine(images, per_frame(matrices))`.

    Args:
        data: at least one axis, any type.
        replace: True: replace another name of the first axis; False: another name raises an error.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `data`, with a layout that begins with F. If `data` had no layout, the layout is F followed by * for each further
    axis.

    Example:
        angles = fn.external_source(lambda sample: np.float32([0, 10, 20, 30]), batch=False)
        frames = fn.rotate(frames, angle=fn.per_frame(angles), keep_size=True)
    """

@overload
def per_frame(
    data: list[DataNode],
    /,
    *,
    replace: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def permute_batch(
    batch: DataNode | ArrayLike,
    /,
    *,
    indices: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Reorders the samples of the batch; a sample may be taken several times or not at all.

    Args:
        indices: for each output sample, the index of an input sample.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Example: images = fn.permute_batch(images, indices=fn.batch_permutation())
    """

@overload
def permute_batch(
    batch: list[DataNode],
    /,
    *,
    indices: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def power_spectrum(
    signal: DataNode | ArrayLike,
    /,
    *,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes power or magnitude of the Fourier transform along an axis.

    Args:
        signal: float32, at least one axis.
        axis: axis to transform; negative: the last axis.
        nfft: length of the transform, to which the axis is cut or zero-padded; None: the size of
            the axis, which may differ by sample.
        power: 2 for the power, 1 for the magnitude.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32, shape of `signal` with size nfft // 2 + 1 along `axis`.

    Example: power = fn.power_spectrum(sound, nfft=512)
    """

@overload
def power_spectrum(
    signal: list[DataNode],
    /,
    *,
    axis: int = -1,
    nfft: int | None = None,
    power: int = 2,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def preemphasis_filter(
    signal: DataNode | ArrayLike,
    /,
    *,
    border: Literal['clamp', 'reflect', 'zero'] = 'clamp',
    dtype: types.DALIDataType | DTypeLike = ...,
    preemph_coeff: float | DataNode = 0.97,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes out[t] = in[t] - preemph_coeff · in[t - 1], in row-major order over all axes.

    Args:
        signal: numbers, any shape.
        border: value in front of the first element: "clamp": the first element; "reflect": the second element
            (the first if there is only one); "zero": 0.
        dtype: type of the result; integers round half away from zero and saturate.
        preemph_coeff: share of the previous element.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `signal`, `dtype`.

    Example: sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
    """

@overload
def preemphasis_filter(
    signal: list[DataNode],
    /,
    *,
    border: Literal['clamp', 'reflect', 'zero'] = 'clamp',
    dtype: types.DALIDataType | DTypeLike = ...,
    preemph_coeff: float | DataNode = 0.97,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def python_function(
    *samples: DataNode | ArrayLike,
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = False,
    output_layouts: str | typing.Sequence[str] | None = None,
    parallel: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Calls a Python function on NumPy arrays.

    The function is called for one sample after another, in order, even if its outputs are not used.

    Args:
        function: takes an array for each input and returns one array, or a tuple of `num_outputs`. It must
            not write to its inputs.
        num_outputs: number of arrays that the function returns; with 0, its result is ignored.
        batch_processing: the function takes lists of all samples of the batch and returns lists.
        output_layouts: a layout for all outputs, or a list with one per output; outputs past the list's end have no layout.
            Outputs do not get the layouts of inputs.
        parallel: run the function in worker processes (see `py_num_workers` of `Pipeline`), on several samples at
            the same time, in any order, and only if an output is used. This is faster for functions that hold the GIL. Not
            allowed with `batch_processing`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: copies of the function's results.

    Example: doubled = fn.python_function(numbers, function=lambda array: array * 2)
    """

@overload
def python_function(
    *samples: DataNode | ArrayLike,
    function: Any,
    num_outputs: int,
    batch_processing: bool = False,
    output_layouts: str | typing.Sequence[str] | None = None,
    parallel: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, ...]: ...

@overload
def python_function(
    *samples: list[DataNode],
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = False,
    output_layouts: str | typing.Sequence[str] | None = None,
    parallel: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def python_function(
    *samples: list[DataNode],
    function: Any,
    num_outputs: int,
    batch_processing: bool = False,
    output_layouts: str | typing.Sequence[str] | None = None,
    parallel: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def random_bbox_crop(
    boxes: DataNode | ArrayLike,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[False] = False,
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode, DataNode]:
    """Draws windows until one shows enough of the boxes; returns the window and the boxes in it.

    Each round draws one of `thresholds`, or decides not to crop, and draws `num_attempts` windows. A window is accepted if
    its overlap with the boxes reaches the threshold, and at least one box stays. A box stays if its centre is in the window
    (but see `bbox_prune_threshold`). Boxes that stay are cut at the window's borders. Without boxes, every window is
    accepted.

    Args:
        boxes: float32 [boxes, 4], or [boxes, 6] in 3D, relative to the image (0 to 1).
        labels: int32 [boxes, ...]; labels of boxes that stay are returned.
        all_boxes_above_threshold: True: all boxes must reach the threshold; False: one box must.
        allow_no_crop: a round may also choose the whole image with all boxes; without effect with `crop_shape`.
        aspect_ratio: smallest and largest ratio of width to height: in pixels if `input_shape` is given,
            else of relative sizes. In 3D, one such pair, or three pairs for x/y, x/z and y/z.
        bbox_layout: order of the coordinates, letters of "xyzXYZWHD"; None: "xyXY" or "xyzXYZ".
        bbox_prune_threshold: a box stays if at least this share of it is in the window, 0 to 1. At 0, a box
            stays if any part of it is in the window. None: a box stays if its centre is in the window.
        crop_shape: size of the windows, pixels; needs `input_shape`.
        input_shape: size of the image, pixels.
        ltrb: without `bbox_layout`: True: boxes are (left, top, right, bottom); False: (left, top, width, height).
        num_attempts: windows drawn in a round, at least 1.
        output_bbox_indices: also return the indices of the boxes that stay.
        quiet: do not warn if no window was accepted and the best one is returned.
        scaling: smallest and largest size of a window along each axis, as a share of the image's size.
        shape_layout: order of `crop_shape` and `input_shape`, e.g. "HW"; None: "WH" or "WHD".
        threshold_type: definition of overlap: "iou", the intersection over the union of box and window, or
            "overlap", the intersection over the area of the box.
        thresholds: required overlaps, 0 to 1; each round draws one of them.
        total_num_attempts: number of windows after which the best one is returned; -1: no limit.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: float32 [2] anchor and [2] shape (x first) of the window, as shares of the image, or in pixels
        with `crop_shape`; float32 [kept, 4] boxes relative to the window; with `labels`, int32 [kept, ...]
        labels; with `output_bbox_indices`, int32 [kept] indices.

    Parity: windows have DALI's distribution, not its values. With `input_shape` and a single aspect ratio, DALI draws
        windows that extend past the image; here such a window is made smaller. Where DALI searches forever, jdali raises an
        error for the sample after 200,000 attempts. If no window has an allowed aspect ratio, the result after
        `total_num_attempts` is the whole image; in DALI, it is an empty window.

    Example:
        anchor, size, boxes, box_labels = fn.random_bbox_crop(
            boxes, box_labels, bbox_layout="xyXY", thresholds=[0.1, 0.5], scaling=[0.3, 1.0]
        )
    """

@overload
def random_bbox_crop(
    boxes: DataNode | ArrayLike,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[True],
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode, DataNode, DataNode]: ...

@overload
def random_bbox_crop(
    boxes: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[False] = False,
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode, DataNode, DataNode]: ...

@overload
def random_bbox_crop(
    boxes: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[True],
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode, DataNode, DataNode, DataNode]: ...

@overload
def random_bbox_crop(
    boxes: list[DataNode],
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[False] = False,
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def random_bbox_crop(
    boxes: list[DataNode],
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[True],
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def random_bbox_crop(
    boxes: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[False] = False,
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def random_bbox_crop(
    boxes: list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    input_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: Literal[True],
    quiet: bool = False,
    scaling: float | typing.Sequence[float | DataNode] | NDArray[Any] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: Literal['iou', 'overlap'] = 'iou',
    thresholds: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    total_num_attempts: int = -1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def random_crop_generator(
    shapes: DataNode | ArrayLike,
    /,
    *,
    num_attempts: int = 10,
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode]:
    """Draws a window as `decoders.image_random_crop` does: its share of the area, its aspect ratio and its position.

    Args:
        shapes: integers [2] or [3]: (height, width) of an image, pixels, and optionally its channels.
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        random_area: smallest and largest area, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: int32 [2] anchor (y, x) and int32 [2] size (height, width) of the window, pixels.

    Parity: random numbers differ from DALI's, but have the same distribution. Sizes round half away from zero to whole
        pixels.

    Example: corner, size = fn.random_crop_generator(shape, random_area=[0.3, 0.8])
    """

@overload
def random_crop_generator(
    shapes: list[DataNode],
    /,
    *,
    num_attempts: int = 10,
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def random_resized_crop(
    image: DataNode | ArrayLike,
    /,
    *,
    size: int | typing.Sequence[int] | NDArray[Any],
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    num_attempts: int = 10,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Resizes a random window of the image; all frames of a sequence have the same window.

    Args:
        image: [H, W, C].
        size: (height, width) of the result, pixels, or one value for both sides.
        random_area: smallest and largest area of the window, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height of the window.
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: [*size, C].

    Parity: random numbers differ from DALI's, but have the same distribution.

    Example: images = fn.random_resized_crop(images, size=[160, 160])
    """

@overload
def random_resized_crop(
    image: list[DataNode],
    /,
    *,
    size: int | typing.Sequence[int] | NDArray[Any],
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    num_attempts: int = 10,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def reinterpret(
    data: DataNode | ArrayLike,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    src_dims: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Reads the same bytes, little-endian, as elements of another type in another shape.

    Args:
        data: any shape and type.
        shape_input: integers, in place of `shape`.
        dtype: new type; None: the same. Without a shape, the innermost axis grows or shrinks by the
            ratio of the types' sizes.
        layout: layout of the result; None: the input's if the number of axes is the same, otherwise no layout.
        rel_shape: shape as factors of the input's extents; products are rounded. If one factor is negative, the extent of
            that axis is computed from the number of elements.
        shape: new shape. If one extent is negative, it is computed from the number of elements.
        src_dims: for each axis of the result, the input axis whose extent it gets; -1: an extent of 1. `rel_shape`
            multiplies these extents.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the same bytes.

    Example: bits = fn.reinterpret(numbers, dtype=types.INT32)
    """

@overload
def reinterpret(
    data: list[DataNode],
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    src_dims: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def reshape(
    data: DataNode | ArrayLike,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    src_dims: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Arranges the same elements, in row-major order, in another shape.

    Args:
        data: any shape and type.
        shape_input: integers, in place of `shape`.
        layout: layout of the result; None: the input's if the number of axes is the same, otherwise no layout.
        rel_shape: shape as factors of the input's extents; products are rounded. If one factor is negative, the extent of
            that axis is computed from the number of elements.
        shape: new shape. If one extent is negative, it is computed from the number of elements.
        src_dims: for each axis of the result, the input axis whose extent it gets; -1: an extent of 1. `rel_shape`
            multiplies these extents.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the same type and number of elements.

    Example: numbers = fn.reshape(numbers, shape=[3, -1])
    """

@overload
def reshape(
    data: list[DataNode],
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    src_dims: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def resize(
    image: DataNode | ArrayLike,
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    save_attrs: Literal[False] = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Resizes images or volumes; sizes are rounded half away from zero.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default": sides without a size are scaled to keep the aspect ratio; "stretch": sides without a size do not
            change; "not_larger", "not_smaller": the aspect ratio is kept, and sizes are upper or lower limits.
        max_size: largest size of the sides, pixels: one value for all sides, or one per side; None: no limit.
        roi_start: start of the window to resize along each side, pixels; None: the whole image. Filters also read
            pixels around the window.
        roi_end: end of the window; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the window by the same factor, so that the scale is exact.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        save_attrs: also return the original sizes.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the resized image; with `save_attrs`, also its original ([depth,] height, width), int32 [2] or [3].

    Parity: a NaN or infinite pixel may affect more pixels of its rows and columns than the filter covers.
    For a sequence, `save_attrs` returns one row of sizes for each frame.

    Example:
        images = fn.resize(images, size=[112, 112])
        images = fn.resize(images, size=[160, 60], interp_type=types.INTERP_NN)
    """

@overload
def resize(
    image: DataNode | ArrayLike,
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    save_attrs: Literal[True],
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]: ...

@overload
def resize(
    image: list[DataNode],
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    save_attrs: Literal[False] = False,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def resize(
    image: list[DataNode],
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    save_attrs: Literal[True],
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def resize_crop_mirror(
    image: DataNode | ArrayLike,
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: Literal['round', 'truncate'] = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Resizes an image, cuts out a window at a whole pixel, and mirrors it.

    A window larger than the resized image repeats the image's border.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default", "stretch", "not_larger" or "not_smaller", as in `resize`.
        max_size: largest size of the sides before the crop, pixels: one value for all sides, or one per side; None: no
            limit.
        roi_start: start of the region to resize along each side, pixels; None: the whole image.
        roi_end: end of the region; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the region by the same factor, so that the scale is exact.
        crop: size of the window cut out of the resized image, (height, width) or (depth, height, width), pixels,
            fractions truncated; None: `crop_h`, `crop_w` and `crop_d`.
        crop_d: depth of the window, pixels; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_w: width of the window, pixels; 0: the whole width.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        mirror: axes to mirror, as the sum of 1 (left-right), 2 (top-bottom) and 4 (front-back); 0: no axis.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the window, in the size of the crop.

    Parity: `mirror` refers to the same axes in every layout. If the layout does not begin with H or D, DALI 2.4 mirrors the
    axis before the requested one, or none.

    Example: images = fn.resize_crop_mirror(images, resize_shorter=120, crop=[100, 100], mirror=1)
    """

@overload
def resize_crop_mirror(
    image: list[DataNode],
    /,
    *,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    resize_x: float | DataNode | None = None,
    resize_y: float | DataNode | None = None,
    resize_z: float | DataNode | None = None,
    resize_shorter: float | DataNode | None = None,
    resize_longer: float | DataNode | None = None,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_w: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    rounding: Literal['round', 'truncate'] = 'round',
    mirror: int | DataNode = 0,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    min_filter: types.DALIInterpType | DataNode | None = None,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    antialias: bool = True,
    dtype: types.DALIDataType | DTypeLike | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def roi_random_crop(
    picture: DataNode | ArrayLike | None = None,
    /,
    *,
    crop_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    in_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_end: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_start: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws the start of a window that covers a region of interest as far as possible.

    Along each axis, a window that is larger than the region contains the region, and a smaller window lies within it. All
    positions for which this is true have equal probabilities. If bounds are known, the window stays inside of them.

    Args:
        picture: tensor whose sizes along its first axes are the bounds.
        crop_shape: size of the window along each axis.
        in_shape: bounds, in place of `picture`; without `picture` and `in_shape`, the window has no bounds.
        roi_end: end of the region, exclusive.
        roi_shape: size of the region, in place of `roi_end`.
        roi_start: start of the region.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: int64 [axes], start of the window.

    Parity: random numbers differ from DALI's, but have the same distribution. Traced values are not
        checked; the start of a window that does not fit is then unspecified.

    Example:
        corner = fn.roi_random_crop(crop_shape=[3, 4], roi_start=[2, 0], roi_end=[4, 8], in_shape=[9, 8])
    """

@overload
def rotate(
    image: DataNode | ArrayLike,
    /,
    *,
    angle: float | DataNode,
    axis: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    keep_size: bool = False,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Rotates around the centre of the image, which becomes the centre of the canvas.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        angle: degrees; counter-clockwise for images, a positive rotation around `axis` for volumes.
        axis: axis of rotation, for volumes: (x, y, z), any nonzero length.
        dtype: output type; None: the input's.
        fill_value: value outside of the image, in the output's type; None: the border is
            repeated.
        interp_type: INTERP_NN or INTERP_LINEAR.
        keep_size: the canvas has the size of the image.
        size: size of the canvas, ([D,] H, W), rounded to the nearest integer. Empty: the image's size with `keep_size`, else
            large enough for the whole rotated image, with sides that are odd or even like the image's sides.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*canvas, C], `dtype`, rounded half away from zero and saturated.

    Parity: DALI accumulates the step between pixels over 256 pixels in float32, which moves points by up to
    0.01 pixel in images 4,000 pixels wide, and by 0.04 at 30,000; here each point is computed by itself. DALI rounds
    a constant `size`, but truncates a per-sample one; here both are rounded.

    Example:
        images = fn.rotate(images, angle=20.0, fill_value=0)
        images = fn.rotate(images, angle=45.0, fill_value=128.0, keep_size=True)

    By frame: of sequences `angle`, `axis` may have a value for each frame, see `per_frame`.
    """

@overload
def rotate(
    image: list[DataNode],
    /,
    *,
    angle: float | DataNode,
    axis: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    keep_size: bool = False,
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def saturation(
    image: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    saturation: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Scales the distance of colours from gray.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type; None: the input's.
        image_type: without effect, as in DALI: images are treated as RGB.
        saturation: factor; 0 gives gray.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.saturation(images, saturation=2.5)
        images = fn.saturation(images, saturation=0.2)

    By frame: of sequences `saturation` may have a value for each frame, see `per_frame`.
    """

@overload
def saturation(
    image: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    image_type: types.DALIImageType = types.DALIImageType.RGB,
    saturation: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def sequence_rearrange(
    sequence: DataNode | ArrayLike,
    /,
    *,
    new_order: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Reorders the frames of a sequence: `out[i] = sequence[new_order[i]]`.

    Args:
        sequence: [F, ...], at least two axes, any type; a layout must begin with F.
        new_order: indices of frames, 0 to F - 1, at least one; a frame may be taken several times or not at all. The number of
            indices may differ by sample. A single number gives a sequence of one frame.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [length of new_order, ...], type and layout of the input.

    Example: frames = fn.sequence_rearrange(frames, new_order=[3, 2, 1, 0])
    """

@overload
def sequence_rearrange(
    sequence: list[DataNode],
    /,
    *,
    new_order: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def shapes(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike = ...,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Returns the shape of each sample.

    Args:
        data: any shape and type.
        dtype: type of the result; with a 32-bit type, the program needs no 64-bit types.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [number of axes], `dtype`, no layout.

    Example: sizes = fn.shapes(images, dtype=types.INT32)
    """

@overload
def shapes(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike = ...,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def slice(
    data: DataNode | ArrayLike,
    anchor: DataNode | ArrayLike | None = None,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str = 'WH',
    dtype: types.DALIDataType | DTypeLike | None = None,
    end: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape', 'clamp', 'reflect_101', 'reflect_1001', 'wrap', 'edge', '101', 'reflect101', '1001', 'reflect1001', 'reflect', 'constant', 'fill'] = 'error',
    rel_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    start: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Cuts out a window given by its borders; relative borders are rounded half away from zero.

    The window is given either by the inputs `anchor` and `shape_input`, or by a start (`start` or
    `rel_start`, else 0) and an end (`end`, `rel_end`, `shape` or `rel_shape`, else the whole extent).
    With a `shape`, the start may be a tracer.

    Args:
        data: any layout, any type.
        anchor: start along each of the axes, int32 or int64 elements, or float32 shares of the extent.
        shape_input: size of the window, in the type of `anchor`.
        axes: axes that the window arguments refer to; their number may differ by sample; negative ones count
            from the end; empty: all axes, in order; None: `axis_names`.
        axis_names: letters of the axes in the layout; "": all axes. Data without a layout count as
            HW, HWC or DHWC. Not allowed with `axes`.
        dtype: output type; fractions are truncated and integers saturated; None: the input's.
        end: end of the window, elements, exclusive.
        fill_values: value of elements outside of the data: one for all channels, or one per channel.
        normalized_anchor: True: a float `anchor` is a share of the extent; False: elements.
        normalized_shape: True: a float `shape_input` is a share of the extent; False: elements.
        out_of_bounds_policy: "error" raises, "pad" fills, "trim_to_shape" makes the window smaller; "clamp"
            (aaa|abcd|ddd), "reflect_101" (dcb|abcd|cba), "reflect_1001" (cba|abcd|dcb) and "wrap" (bcd|abcd|abc)
            repeat the data. DALI's aliases are accepted, too, in upper or lower case: "edge", "101", "reflect101",
            "1001", "reflect1001", "reflect" (which is "reflect_1001"), and "constant" and "fill" for "pad".
        rel_end: `end` as a share of the extent.
        rel_shape: `shape` as a share of the extent.
        rel_start: `start` as a share of the extent.
        shape: size of the window, elements.
        start: start of the window, elements.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: layout of the input, size of the window.

    Example: images = fn.slice(images, rel_start=[0.2, 0.1], rel_shape=[0.5, 0.6], axis_names="HW")
    """

@overload
def slice(
    data: list[DataNode],
    anchor: DataNode | ArrayLike | None = None,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str = 'WH',
    dtype: types.DALIDataType | DTypeLike | None = None,
    end: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    fill_values: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.0,),
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: Literal['error', 'pad', 'trim_to_shape', 'clamp', 'reflect_101', 'reflect_1001', 'wrap', 'edge', '101', 'reflect101', '1001', 'reflect1001', 'reflect', 'constant', 'fill'] = 'error',
    rel_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    start: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def spectrogram(
    signal: DataNode | ArrayLike,
    /,
    *,
    center_windows: bool = True,
    layout: Literal['ft', 'tf'] = 'ft',
    nfft: int | None = None,
    power: int = 2,
    reflect_padding: bool = True,
    window_fn: float | typing.Sequence[float] | NDArray[Any] | None = None,
    window_length: int = 512,
    window_step: int = 256,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the power or magnitude of the short-time Fourier transform.

    Args:
        signal: float32, one channel: all axes but one have size 1.
        center_windows: True: windows are centred at multiples of `window_step`; False: windows start at these multiples, and
            lie wholly within the signal.
        layout: "ft", frequency first, or "tf", time first.
        nfft: length of the transform, at least `window_length`; None: `window_length`.
        power: 2 for the power, 1 for the magnitude.
        reflect_padding: for centred windows: True: the signal is extended by mirroring it at its first and last sample;
            False: the signal is extended by zeros.
        window_fn: `window_length` factors; None: a Hann window.
        window_length: samples in a window.
        window_step: samples from one window to the next.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [nfft // 2 + 1, windows], for "tf" [windows, nfft // 2 + 1].

    Example: spectrogram = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)
    """

@overload
def spectrogram(
    signal: list[DataNode],
    /,
    *,
    center_windows: bool = True,
    layout: Literal['ft', 'tf'] = 'ft',
    nfft: int | None = None,
    power: int = 2,
    reflect_padding: bool = True,
    window_fn: float | typing.Sequence[float] | NDArray[Any] | None = None,
    window_length: int = 512,
    window_step: int = 256,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def sphere(
    image: DataNode | ArrayLike,
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes an image look as if on a sphere, with a magnified centre.

    The pixel at p shows the point c + (p - c) · |p - c| / r, where c is the centre of the image and r the larger of
    W // 2 and H // 2.

    Args:
        image: [H, W, C].
        fill_value: value outside of the image, in the image's type.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image is unchanged.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape and type of the input, rounded half away from zero and saturated. An image of one pixel becomes
        the fill value.

    Example: images = fn.sphere(images)
    """

@overload
def sphere(
    image: list[DataNode],
    /,
    *,
    fill_value: float = 0.0,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def squeeze(
    data: DataNode | ArrayLike,
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Removes axes of size 1. In a sample without elements, the axes may have any size.

    Args:
        data: any shape and type.
        axes: indices of the axes, 0 or more.
        axis_names: letters of the axes in the layout, in place of `axes`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the same elements and type.

    Parity: DALI ignores indices that are negative or too large; here they raise.

    Example: row = fn.squeeze(row, axes=[0, 1])
    """

@overload
def squeeze(
    data: list[DataNode],
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def ssd_random_crop(
    image: DataNode | ArrayLike,
    boxes: DataNode | ArrayLike,
    labels: DataNode | ArrayLike,
    /,
    *,
    num_attempts: int = 1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> tuple[DataNode, DataNode, DataNode]:
    """Cuts out a random window that overlaps with all boxes. Returns the window and the boxes and labels in it.

    Each round draws a threshold (0, 0.1, 0.3, 0.5, 0.7 or 0.9), or decides not to crop, and draws `num_attempts` windows.
    The sides of a window are 0.3 to 1 times the sides of the image, and the ratio of these two factors is 1/2 to 2. A window
    is accepted if the intersection over union of the window and each box reaches the threshold, and if it contains the
    centre of at least one box. Boxes whose centre is outside of the window are removed. Deprecated in DALI in favour of
    `random_bbox_crop`.

    Args:
        image: [H, W, C].
        boxes: float32 [boxes, 4]: (left, top, right, bottom), as shares of the sides, 0 to 1.
        labels: [boxes, ...].
        num_attempts: windows drawn in a round, at least 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: the window [h, w, C], its borders rounded half away from zero; float32 [kept, 4] boxes relative to it, cut
        at its borders; labels [kept, ...].

    Parity: windows have DALI's distribution, not its values. If no window is accepted, DALI never ends; jdali raises an error
        for the sample after 200,000 attempts.

    Example: images, boxes, box_labels = fn.ssd_random_crop(images, boxes, box_labels, num_attempts=20)
    """

@overload
def ssd_random_crop(
    image: list[DataNode],
    boxes: DataNode | ArrayLike | list[DataNode],
    labels: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    num_attempts: int = 1,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[list[DataNode]]: ...

@overload
def stack(
    *data: DataNode | ArrayLike,
    axis: int = 0,
    axis_name: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Joins inputs of equal shape along a new axis.

    Args:
        data: any shape and type, the same for all inputs.
        axis: position of the new axis in the result, from -ndim to ndim of the inputs; a negative one counts from the end.
        axis_name: letter of the new axis; None: the result has no layout.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: tensor with one more axis. The size of the new axis is the number of inputs. With `axis_name`, its layout is that
        of the first input and the new letter.

    Example: stacked = fn.stack(numbers, others, axis=0)
    """

@overload
def stack(
    *data: list[DataNode],
    axis: int = 0,
    axis_name: str | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def tensor_resize(
    data: DataNode | ArrayLike,
    /,
    *,
    alignment: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.5,),
    antialias: bool = True,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    min_filter: types.DALIInterpType | DataNode | None = None,
    minibatch_size: int = 32,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    scales: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    size_rounding: Literal['round', 'truncate', 'ceil'] = 'round',
    sizes: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    subpixel_scale: bool = True,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Resizes arrays along any of their axes.

    Args:
        data: any layout; uint8, int16, uint16 or float32.
        alignment: point of the window that stays in place when a size is rounded, from 0 (start of the window) to 1
            (end): one value for all axes, or one per axis.
        antialias: widen the filter of axes that shrink, so that every element contributes.
        axes: indices of the axes that `sizes`, `scales`, `max_size`, `roi_start` and `roi_end` refer to, in that
            order; negative ones count from the end; None: all axes.
        axis_names: letters of these axes in the layout, in place of `axes`.
        dtype: output type, the input's or FLOAT; None: the input's.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        mag_filter: filter of axes that do not shrink; None: `interp_type`.
        max_size: largest output size: one value for all axes, or one per axis; None: no limit.
        min_filter: filter of axes that shrink; None: `interp_type`.
        minibatch_size: without effect.
        mode: "default", "stretch", "not_larger" or "not_smaller", as in `resize`. An axis that is not chosen requests its
            present size, so the last two modes may resize it, too.
        roi_end: end of the window to resize along each axis; an axis is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sizes; False: elements.
        roi_start: start of the window along each axis; None: the whole array. Filters also read elements around the
            window.
        scales: output sizes divided by the array's sizes, in place of `sizes`; 0 and negative values as for `sizes`.
        size_rounding: rounding of the sizes: "round" (half away from zero), "truncate" or "ceil".
        sizes: output sizes, one value for all axes, or one per axis. A size of 0 leaves the axis to `mode`; a negative
            size mirrors the axis.
        subpixel_scale: if a size is rounded, scale the window by the same factor, so that the scale is exact.
        temp_buffer_hint: without effect.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the resized array.

    Parity: DALI takes up to three adjacent axes, jdali any axes. An axis in `axes` whose size does not change is filtered,
    too; in DALI, this depends on the other axes and samples. Only the GAUSSIAN filter changes such an axis.

    Example: images = fn.tensor_resize(images, sizes=[60, 90], axes=[0, 1])
    """

@overload
def tensor_resize(
    data: list[DataNode],
    /,
    *,
    alignment: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.5,),
    antialias: bool = True,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    dtype: types.DALIDataType | DTypeLike | None = None,
    interp_type: types.DALIInterpType | DataNode = types.DALIInterpType.INTERP_LINEAR,
    mag_filter: types.DALIInterpType | DataNode | None = None,
    max_size: float | typing.Sequence[float] | NDArray[Any] | None = None,
    min_filter: types.DALIInterpType | DataNode | None = None,
    minibatch_size: int = 32,
    mode: Literal['default', 'stretch', 'not_larger', 'not_smaller'] = 'default',
    roi_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    roi_relative: bool = False,
    roi_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    scales: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    size_rounding: Literal['round', 'truncate', 'ceil'] = 'round',
    sizes: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    subpixel_scale: bool = True,
    temp_buffer_hint: int = 0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def to_decibels(
    magnitude: DataNode | ArrayLike,
    /,
    *,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes multiplier · log10(max(10^(cutoff_db / multiplier), magnitude / reference)).

    Args:
        magnitude: float32, any shape, 0 or more.
        cutoff_db: smallest result; also the result for NaN.
        multiplier: 10 for a power, 20 for an amplitude.
        reference: magnitude of 0 dB; 0: the largest magnitude of the sample.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32, shape of `magnitude`.

    Example: spectrogram = fn.to_decibels(spectrogram, multiplier=10.0, cutoff_db=-80.0)
    """

@overload
def to_decibels(
    magnitude: list[DataNode],
    /,
    *,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def tokenize(
    texts: DataNode | ArrayLike,
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[False] = False,
    with_mask: Literal[False] = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Converts texts to token ids, truncated and padded to one length.

    The package `tokenizers` or `sentencepiece` computes the ids. Ids do not depend on the other texts of a batch,
    because padding and truncation set in a tokenizer.json are ignored. One call encodes all texts of a batch, in threads of
    the package; `TOKENIZERS_PARALLELISM=false` and `RAYON_NUM_THREADS` limit the threads of `tokenizers`. A text that
    is not UTF-8 is a bad sample.

    Args:
        texts: uint8 [bytes], UTF-8.
        tokenizer: path or URL of a tokenizer.json of Hugging Face, or of a SentencePiece model. A file that has changed is
            opened again.
        add_special_tokens: add the special tokens of a tokenizer.json, such as [CLS] and [SEP]; a SentencePiece model
            has none.
        bos, eos: tokens, or their ids, to add in front of each text (`bos`) and behind it (`eos`).
        length: number of tokens of each output. Longer texts are truncated, but keep special tokens, `bos` and `eos`;
            shorter texts are padded. None: each output has as many tokens as its text.
        pad_id: id to pad with; None: the id that the file defines.
        truncation_side: side on which longer texts are truncated, "left" or "right".
        with_length: add a last output, int32 []: the number of tokens without padding.
        with_mask: add a second output, bool: True for tokens, False for padding.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: int32 [length], or [tokens].

    Parity: DALI has no such operator.

    Example: ids = fn.tokenize(captions, tokenizer="tokenizer.json", length=64)
    """

@overload
def tokenize(
    texts: DataNode | ArrayLike,
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[False] = False,
    with_mask: Literal[True],
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]: ...

@overload
def tokenize(
    texts: DataNode | ArrayLike,
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[True],
    with_mask: Literal[False] = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]: ...

@overload
def tokenize(
    texts: DataNode | ArrayLike,
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[True],
    with_mask: Literal[True],
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode, DataNode]: ...

@overload
def tokenize(
    texts: list[DataNode],
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[False] = False,
    with_mask: Literal[False] = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def tokenize(
    texts: list[DataNode],
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[False] = False,
    with_mask: Literal[True],
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def tokenize(
    texts: list[DataNode],
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[True],
    with_mask: Literal[False] = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def tokenize(
    texts: list[DataNode],
    /,
    *,
    tokenizer: str,
    add_special_tokens: bool = True,
    bos: Any = None,
    eos: Any = None,
    length: int | None = None,
    pad_id: int | None = None,
    truncation_side: Literal['left', 'right'] = 'right',
    with_length: Literal[True],
    with_mask: Literal[True],
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def transpose(
    data: DataNode | ArrayLike,
    /,
    *,
    output_layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    perm: int | typing.Sequence[int] | NDArray[Any] | None = None,
    transpose_layout: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Reorders axes: axis i of the result is axis perm[i] of the input.

    Args:
        data: any shape and type.
        output_layout: layout of the result; overrides `transpose_layout`.
        perm: order of the axes; None: reversed.
        transpose_layout: True: permute the layout, too; False: keep the input's layout.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the same elements and type.

    Example: images = fn.transpose(images, perm=[2, 0, 1])
    """

@overload
def transpose(
    data: list[DataNode],
    /,
    *,
    output_layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    perm: int | typing.Sequence[int] | NDArray[Any] | None = None,
    transpose_layout: bool = True,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def warp_affine(
    data: DataNode | ArrayLike,
    mtx: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    inverse_map: bool = True,
    matrix: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode = (),
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Warps an image or a volume by an affine transform, which gives a point of the input for each output pixel.

    out(x, y) = in(M11·x + M12·y + M13, M21·x + M22·y + M23), where (0, 0) is the corner of the first pixel.

    Args:
        data: [H, W, C], or a volume [D, H, W, C].
        mtx: [2, 3] (or [3, 4]), the transform in place of `matrix`.
        dtype: output type; None: the input's.
        fill_value: value outside of the input, in the output's type; None: the border is
            repeated.
        interp_type: INTERP_NN or INTERP_LINEAR.
        inverse_map: True: the transform maps output to input; False: it maps input to output, and is
            inverted first.
        matrix: the transform row by row, 6 values (12 for volumes); its axes are in the order x, y(, z).
        size: size of the output, ([D,] H, W), rounded to the nearest integer; empty: the input's.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*size, C], `dtype`, rounded half away from zero and saturated.

    Parity: as with `rotate`, points of large images differ from DALI's by 0.01 pixel and more, and a
    per-sample `size` is rounded like a constant one.

    Example: images = fn.warp_affine(images, matrix=[1.0, 0.3, -20.0, 0.1, 0.9, 10.0], fill_value=0)

    By frame: of sequences `matrix` may have a value for each frame, see `per_frame`.
    """

@overload
def warp_affine(
    data: list[DataNode],
    mtx: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    fill_value: float | None = None,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    inverse_map: bool = True,
    matrix: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode = (),
    size: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def water(
    image: DataNode | ArrayLike,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes an image look as if under water, by shifting rows and columns in waves.

    out(x, y) = in(x + ampl_x · sin(freq_x · y + phase_x), y + ampl_y · cos(freq_y · x + phase_y)), where x and y are
    indices of output pixels, and (0, 0) in the input is the corner of the first pixel.

    Args:
        image: [H, W, C].
        ampl_x: largest horizontal shift, pixels.
        ampl_y: largest vertical shift, pixels.
        fill_value: value outside of the image, in the image's type.
        freq_x: frequency of the horizontal shift, radians per row.
        freq_y: frequency of the vertical shift, radians per column.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image is unchanged.
        phase_x: phase of the horizontal shift, radians.
        phase_y: phase of the vertical shift, radians.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape and type of the input, rounded half away from zero and saturated.

    Parity: sines may differ from DALI's in the last bit. Without interpolation, an output pixel may therefore differ if its
    point lies on the border between two pixels.

    Example:
        images = fn.water(images, ampl_x=20.0, ampl_y=5.0)
        images = fn.water(images)
    """

@overload
def water(
    image: list[DataNode],
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_NN,
    mask: int | DataNode = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def zeros(
    *,
    dtype: types.DALIDataType | DTypeLike = ...,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode = (),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes a tensor of zeros.

    Args:
        dtype: type of the result.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*shape], `dtype`.

    Example: zeros = fn.zeros(shape=[2, 3])
    """

@overload
def zeros_like(
    data_like: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes a tensor of zeros in the shape of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        dtype: type of the result; None: the dtype of `data_like`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape of `data_like`, `dtype`.

    Example: zeros = fn.zeros_like(numbers)
    """

@overload
def zeros_like(
    data_like: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...
