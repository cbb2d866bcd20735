"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from typing import Literal
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor
from jdali.dynamic.experimental import readers as readers
from jdali.dynamic import resize as resize

def dilate(
    image: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch = (3, 3),
) -> Tensor | Batch:
    """Replaces each pixel by the largest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.dilate(images, mask_size=[7, 7])

    By frame: of sequences `anchor`, `mask_size` may have a value for each frame, see `per_frame`.
    """

def erode(
    image: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch = (-1, -1),
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    iterations: int = 1,
    mask_size: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch = (3, 3),
) -> Tensor | Batch:
    """Replaces each pixel by the smallest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.erode(images, mask_size=[7, 7])

    By frame: of sequences `anchor`, `mask_size` may have a value for each frame, see `per_frame`.
    """

def median_blur(
    image: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    window_size: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch = (3, 3),
) -> Tensor | Batch:
    """Replaces each pixel by the median of a rectangle around it, channel by channel.

    The outermost pixels repeat past the borders. The derivative goes to the median element. If several elements are
    equal to the median, they share the derivative.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16, int32 or float32.
        window_size: (width, height) of the rectangle, pixels; both odd.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU, with windows of size 1, and with any number of channels.

    Example:
        images = fn.experimental.median_blur(images, window_size=[5, 5])
        images = fn.experimental.median_blur(images, window_size=[9, 9])
    """

def remap(
    image: Tensor | Batch | ArrayLike,
    mapx: Tensor | Batch | ArrayLike,
    mapy: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    interp: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    pixel_origin: Literal['corner', 'center'] = 'corner',
) -> Tensor | Batch:
    """Warps an image by two maps, which contain a point of the input for each pixel of the output.

    out(x, y) = in(mapx(x, y), mapy(x, y)); 0 outside of the input and where a map is NaN.

    Args:
        image: [H, W, C].
        mapx: float32 [h, w] or [h, w, 1], column in the input for each pixel of the output.
        mapy: float32 [h, w] or [h, w, 1], row in the input.
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [h, w, C], type of the input, rounded half away from zero and saturated.

    Parity: DALI has this operator on a GPU only, for images of 1 or 3 channels, and with maps of the input's size.

    Example: images = fn.experimental.remap(images, map_x, map_y)
    """

def warp_perspective(
    image: Tensor | Batch | ArrayLike,
    matrix_input: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    border_mode: Literal['constant', 'replicate', 'reflect', 'reflect_101', 'wrap'] = 'constant',
    fill_value: float | typing.Sequence[float] | NDArray[Any] = (),
    interp_type: types.DALIInterpType = types.DALIInterpType.INTERP_LINEAR,
    inverse_map: builtins.bool = True,
    matrix: float | typing.Sequence[float] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float] | NDArray[Any]] | Tensor | Batch = (),
    pixel_origin: Literal['corner', 'center'] = 'corner',
    size: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch = (),
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [*size, C], type of the input, rounded half away from zero and saturated.

    Parity: points are computed in float32, in DALI in float64; on large images they differ by up to 0.01 pixel. For
    int16 and INTERP_LINEAR, DALI rounds points to 1/32 pixel.

    Example:
        images = fn.experimental.warp_perspective(
            images, matrix=[1.0, 0.2, -20.0, 0.05, 1.1, -10.0, 0.0004, 0.0008, 1.0]
        )

    By frame: of sequences `matrix` may have a value for each frame, see `per_frame`.
    """
