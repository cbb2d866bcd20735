"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import NDArray
from numpy.typing import ArrayLike
from jdali.data_node import DataNode

@overload
def combine(
    *matrices: DataNode | ArrayLike,
    reverse_order: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Composes transforms, which are applied in the order of the inputs.

    Args:
        matrices: 2 to 99 transforms, [n, n+1] each.
        reverse_order: apply the last input first.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [n, n+1].

    Example:
        turn = fn.transforms.rotation(angle=30.0)
        move = fn.transforms.translation(offset=[10.0, 0.0])
        matrix = fn.transforms.combine(turn, move)
    """

@overload
def combine(
    *matrices: list[DataNode],
    reverse_order: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

def crop(
    matrix: DataNode | ArrayLike | None = None,
    /,
    *,
    absolute: bool = False,
    from_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    from_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    reverse_order: bool = False,
    to_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (1.0,),
    to_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (0.0,),
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes the transform that maps `from_start` to `to_start` and `from_end` to `to_end`.

    Args:
        matrix: [n, n+1], a transform to apply first.
        absolute: swap a start and an end if the start is larger.
        from_end: upper corner of the input box, n values, or one for all axes.
        from_start: lower corner of the input box, n values, or one for all axes.
        reverse_order: apply `matrix` last.
        to_end: upper corner of the output box, n values, or one for all axes.
        to_start: lower corner of the output box, n values, or one for all axes.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [n, n+1]; infinite or NaN along axes on which the input box has length 0.

    Example:
        matrix = fn.transforms.crop(
            from_start=[0.0, 0.0], from_end=[1.0, 1.0], to_start=[0.25, 0.25], to_end=[0.75, 0.75]
        )

    By frame: of sequences `from_end`, `from_start`, `to_end`, `to_start` may have a value for each frame, see `per_frame`.
    """

def rotation(
    matrix: DataNode | ArrayLike | None = None,
    /,
    *,
    angle: float | DataNode,
    axis: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    center: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    reverse_order: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes the transform of a rotation: in the plane from x towards y, or in space around an axis.

    Args:
        matrix: [n, n+1], a transform to apply first.
        angle: degrees.
        axis: (x, y, z), any nonzero length; None: a rotation in the plane.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        reverse_order: apply `matrix` last.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [2, 3], or [3, 4] with an `axis`.

    Example: matrix = fn.transforms.rotation(angle=30.0, center=[1.0, 1.0])

    By frame: of sequences `angle`, `axis`, `center` may have a value for each frame, see `per_frame`.
    """

def scale(
    matrix: DataNode | ArrayLike | None = None,
    /,
    *,
    scale: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode,
    center: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes the transform that multiplies each coordinate by a factor.

    Args:
        matrix: [n, n+1], a transform to apply first.
        scale: factor of each axis, n values, or one for all axes.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        ndim: n, if neither `scale` nor `matrix` determines it.
        reverse_order: apply `matrix` last.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [n, n+1].

    Example: matrix = fn.transforms.scale(scale=[2.0, 0.5])

    By frame: of sequences `scale`, `center` may have a value for each frame, see `per_frame`.
    """

def shear(
    matrix: DataNode | ArrayLike | None = None,
    /,
    *,
    angles: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    center: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    reverse_order: bool = False,
    shear: float | typing.Sequence[float | DataNode] | NDArray[Any] | typing.Sequence[float | typing.Sequence[float | DataNode] | NDArray[Any]] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes the transform of a shear, which adds multiples of the other coordinates to each coordinate.

    Args:
        matrix: [n, n+1], a transform to apply first.
        angles: degrees, -90 to 90, whose tangents are the factors; in place of `shear`.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        reverse_order: apply `matrix` last.
        shear: factors (xy, yx), or in space (xy, xz, yx, yz, zx, zy); x becomes x + xy · y.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [2, 3] or [3, 4].

    Example: matrix = fn.transforms.shear(shear=[0.3, 0.0])

    By frame: of sequences `angles`, `center`, `shear` may have a value for each frame, see `per_frame`.
    """

def translation(
    matrix: DataNode | ArrayLike | None = None,
    /,
    *,
    offset: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode,
    reverse_order: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Makes the transform that adds `offset`.

    Args:
        matrix: [n, n+1], a transform to apply first.
        offset: n values.
        reverse_order: apply `matrix` last.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: float32 [n, n+1].

    Example: matrix = fn.transforms.translation(matrix, offset=[10.0, 5.0])

    By frame: of sequences `offset` may have a value for each frame, see `per_frame`.
    """
