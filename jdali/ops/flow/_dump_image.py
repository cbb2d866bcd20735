from __future__ import annotations

from pathlib import Path

import numpy as np

from jdali._errors import SampleError, wrong_dtype
from jdali._operators.record import HostOutputs, Static, host_batch_operator
from jdali.tensors import TensorList


@host_batch_operator(
    effects=True, in_place=True, whole_batch=lambda arguments: True, source="operators/debug/dump_image.cc"
)
def dump_image(
    images: TensorList, /, *, input_layout: Static[str] = "HWC", suffix: Static[str] = ""
) -> HostOutputs:
    """Writes each image to a file in the working directory, in plain PPM (PGM with one channel).

    Files are named `0-<suffix>-0.ppm`, `1-<suffix>-0.ppm`, ... by the position in the batch; the next batch
    overwrites them.

    Args:
        images: uint8 with 1 or 3 channels.
        input_layout: layout of images without a layout: HWC, CHW or HW.
        suffix: part of the files' names.

    Returns: the images.

    Parity: DALI takes HWC only, and writes nothing if the output is not used.

    Example: images = fn.dump_image(images, suffix="made")
    """
    layout = images.layout() or input_layout
    order = {"HWC": (0, 1, 2), "CHW": (1, 2, 0), "HW": (0, 1)}.get(layout)
    if order is None or images.ndim() != len(order):
        raise ValueError(
            f"dump_image: Input images must have three dimensions, got input with `{images.ndim()}` dimensions: layout "
            f"{layout!r} is none of HWC, CHW and HW"
        )
    if images.spec.dtype != np.uint8:
        raise wrong_dtype("dump_image", "images", images.spec.dtype, "uint8")
    for i, image in enumerate(images.to_samples()):
        pixels = np.transpose(image, order)
        pixels = pixels.reshape(*pixels.shape[:2], -1)
        channels = pixels.shape[2]
        if channels not in (1, 3):
            raise SampleError(
                f"dump_image: Only 3-channel and gray images are supported, got input with `{channels}` channels.",
                sample=i,
            )
        Path(f"{i}-{suffix}-0.ppm").write_text(_plain_ppm(pixels), encoding="ascii")
    return HostOutputs((images.store,), {})


def _plain_ppm(pixels: np.ndarray) -> str:
    """Formats [H, W, C] pixels as the text of a PPM file, or PGM with one channel; each row is a line."""
    height, width, channels = pixels.shape
    rows = (" ".join(map(str, row)) for row in pixels.reshape(height, width * channels).tolist())
    return f"P{3 if channels == 3 else 2}\n{width} {height}\n255\n" + "".join(f"{row} \n" for row in rows)
