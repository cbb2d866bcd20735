"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import NDArray
from jdali import types
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass
from jdali.ops.experimental import decoders as decoders
from jdali.ops.experimental import inputs as inputs
from jdali.ops.experimental import readers as readers
from jdali.ops import AudioResample as AudioResample
from jdali.ops import Debayer as Debayer
from jdali.ops import Equalize as Equalize
from jdali.ops import Filter as Filter
from jdali.ops.decoders import Inflate as Inflate
from jdali.ops import PeekImageShape as PeekImageShape
from jdali.ops import Resize as Resize
from jdali.ops import TensorResize as TensorResize

class Dilate(OperatorClass):
    """Replaces each pixel by the largest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.dilate(images, mask_size=[7, 7])

    By frame: of sequences `anchor`, `mask_size` may have a value for each frame, see `per_frame`.
    """
    def __init__(
        self,
        *,
        anchor: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode = (-1, -1),
        border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
        iterations: int = 1,
        mask_size: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode = (3, 3),
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Erode(OperatorClass):
    """Replaces each pixel by the smallest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.erode(images, mask_size=[7, 7])

    By frame: of sequences `anchor`, `mask_size` may have a value for each frame, see `per_frame`.
    """
    def __init__(
        self,
        *,
        anchor: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode = (-1, -1),
        border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
        iterations: int = 1,
        mask_size: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode = (3, 3),
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class MedianBlur(OperatorClass):
    """Replaces each pixel by the median of a rectangle around it, channel by channel.

    The outermost pixels repeat past the borders. The derivative goes to the median element. If several elements are
    equal to the median, they share the derivative.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16, int32 or float32.
        window_size: (width, height) of the rectangle, pixels; both odd.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU, with windows of size 1, and with any number of channels.

    Example:
        images = fn.experimental.median_blur(images, window_size=[5, 5])
        images = fn.experimental.median_blur(images, window_size=[9, 9])
    """
    def __init__(
        self,
        *,
        window_size: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode = (3, 3),
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Remap(OperatorClass):
    """Warps an image by two maps, which contain a point of the input for each pixel of the output.

    out(x, y) = in(mapx(x, y), mapy(x, y)); 0 outside of the input and where a map is NaN.

    Args:
        image: [H, W, C].
        mapx: float32 [h, w] or [h, w, 1], column in the input for each pixel of the output.
        mapy: float32 [h, w] or [h, w, 1], row in the input.
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [h, w, C], type of the input, rounded half away from zero and saturated.

    Parity: DALI has this operator on a GPU only, for images of 1 or 3 channels, and with maps of the input's size.

    Example: images = fn.experimental.remap(images, map_x, map_y)
    """
    def __init__(
        self,
        *,
        interp: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
        pixel_origin: Literal['corner', 'center'] = 'corner',
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class WarpPerspective(OperatorClass):
    """Warps an image by a perspective transform, which gives a point of the input for each output pixel.

    out(x, y) = in((M11·x + M12·y + M13) / w, (M21·x + M22·y + M23) / w), w = M31·x + M32·y + M33. Where w is 0, the
    point is (0, 0).

    Args:
        image: [H, W, C].
        matrix_input: [3, 3], the transform in place of `matrix`.
        border_mode: pixels outside of the input: "constant" (`fill_value`), "replicate" (a|abcd|d), "reflect"
            (ba|abcd|dc), "reflect_101" (cb|abcd|cb) or "wrap" (cd|abcd|ab).
        fill_value: value outside of the input, in the image's type, one for all channels or one per channel; empty: 0.
        interp_type: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        inverse_map: True: the transform maps output to input; False: it maps input to output, and is inverted
            first.
        matrix: the transform row by row, 9 values.
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        size: size of the output, (H, W), rounded to the nearest integer; empty: the input's.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [*size, C], type of the input, rounded half away from zero and saturated.

    Parity: points are computed in float32, in DALI in float64; on large images they differ by up to 0.01 pixel. For
    int16 and INTERP_LINEAR, DALI rounds points to 1/32 pixel.

    Example:
        images = fn.experimental.warp_perspective(
            images, matrix=[1.0, 0.2, -20.0, 0.05, 1.1, -10.0, 0.0004, 0.0008, 1.0]
        )

    By frame: of sequences `matrix` may have a value for each frame, see `per_frame`.
    """
    def __init__(
        self,
        *,
        border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
        fill_value: float | typing.Sequence[float | ArrayLike] | NDArray[Any] = (),
        interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
        inverse_map: bool = True,
        matrix: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | ArrayLike] | NDArray[Any]] | DataNode = (),
        pixel_origin: Literal['corner', 'center'] = 'corner',
        size: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode = (),
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

@overload
def dilate(
    image: Any,
    /,
    *,
    anchor: Any = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: Any = (3, 3),
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Replaces each pixel by the largest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.dilate(images, mask_size=[7, 7])
    """

@overload
def dilate(
    image: Any,
    /,
    *,
    anchor: Any = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: Any = (3, 3),
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def erode(
    image: Any,
    /,
    *,
    anchor: Any = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: Any = (3, 3),
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Replaces each pixel by the smallest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.erode(images, mask_size=[7, 7])
    """

@overload
def erode(
    image: Any,
    /,
    *,
    anchor: Any = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: Any = (3, 3),
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def median_blur(
    image: Any,
    /,
    *,
    window_size: Any = (3, 3),
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Replaces each pixel by the median of a rectangle around it, channel by channel.

    The outermost pixels repeat past the borders. The derivative goes to the median element. If several elements are
    equal to the median, they share the derivative.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16, int32 or float32.
        window_size: (width, height) of the rectangle, pixels; both odd.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU, with windows of size 1, and with any number of channels.

    Example:
        images = fn.experimental.median_blur(images, window_size=[5, 5])
        images = fn.experimental.median_blur(images, window_size=[9, 9])
    """

@overload
def median_blur(
    image: Any,
    /,
    *,
    window_size: Any = (3, 3),
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def remap(
    image: Any,
    mapx: Any,
    mapy: Any,
    /,
    *,
    interp: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    pixel_origin: Literal['corner', 'center'] = 'corner',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Warps an image by two maps, which contain a point of the input for each pixel of the output.

    out(x, y) = in(mapx(x, y), mapy(x, y)); 0 outside of the input and where a map is NaN.

    Args:
        image: [H, W, C].
        mapx: float32 [h, w] or [h, w, 1], column in the input for each pixel of the output.
        mapy: float32 [h, w] or [h, w, 1], row in the input.
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: [h, w, C], type of the input, rounded half away from zero and saturated.

    Parity: DALI has this operator on a GPU only, for images of 1 or 3 channels, and with maps of the input's size.

    Example: images = fn.experimental.remap(images, map_x, map_y)
    """

@overload
def remap(
    image: Any,
    mapx: Any,
    mapy: Any,
    /,
    *,
    interp: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    pixel_origin: Literal['corner', 'center'] = 'corner',
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def warp_perspective(
    image: Any,
    matrix_input: Any = None,
    /,
    *,
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    fill_value: float | typing.Sequence[float | ArrayLike] | NDArray[Any] = (),
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    inverse_map: bool = True,
    matrix: Any = (),
    pixel_origin: Literal['corner', 'center'] = 'corner',
    size: Any = (),
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Warps an image by a perspective transform, which gives a point of the input for each output pixel.

    out(x, y) = in((M11·x + M12·y + M13) / w, (M21·x + M22·y + M23) / w), w = M31·x + M32·y + M33. Where w is 0, the
    point is (0, 0).

    Args:
        image: [H, W, C].
        matrix_input: [3, 3], the transform in place of `matrix`.
        border_mode: pixels outside of the input: "constant" (`fill_value`), "replicate" (a|abcd|d), "reflect"
            (ba|abcd|dc), "reflect_101" (cb|abcd|cb) or "wrap" (cd|abcd|ab).
        fill_value: value outside of the input, in the image's type, one for all channels or one per channel; empty: 0.
        interp_type: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        inverse_map: True: the transform maps output to input; False: it maps input to output, and is inverted
            first.
        matrix: the transform row by row, 9 values.
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        size: size of the output, (H, W), rounded to the nearest integer; empty: the input's.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: [*size, C], type of the input, rounded half away from zero and saturated.

    Parity: points are computed in float32, in DALI in float64; on large images they differ by up to 0.01 pixel. For
    int16 and INTERP_LINEAR, DALI rounds points to 1/32 pixel.

    Example:
        images = fn.experimental.warp_perspective(
            images, matrix=[1.0, 0.2, -20.0, 0.05, 1.1, -10.0, 0.0004, 0.0008, 1.0]
        )
    """

@overload
def warp_perspective(
    image: Any,
    matrix_input: Any = None,
    /,
    *,
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    fill_value: float | typing.Sequence[float | ArrayLike] | NDArray[Any] = (),
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    inverse_map: bool = True,
    matrix: Any = (),
    pixel_origin: Literal['corner', 'center'] = 'corner',
    size: Any = (),
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
