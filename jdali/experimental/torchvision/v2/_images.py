"""Converts PIL images and PyTorch tensors to batches of dynamic mode, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from PIL import Image as Image

from jdali._system.extras import install
from jdali.dynamic import Batch, as_batch

try:
    import torch as torch
except ImportError as error:
    raise ImportError(
        f"jdali.experimental.torchvision needs PyTorch, which is not installed: {install('torch')}"
    ) from error

_MODES = {"L": 1, "RGB": 3, "RGBA": 4}


@dataclasses.dataclass(frozen=True)
class Images:
    """The user's images as a batch, and what is needed to convert results back to the user's kind of data.

    Attributes:
        batch: the images; HWC from a PIL image, CHW from a tensor.
        leading: sizes of the tensor's axes before CHW; None for a PIL image.
    """

    batch: Batch
    leading: tuple[int, ...] | None

    @classmethod
    def of(cls, inpt: object, device: str = "cpu") -> Images:
        """Converts a PIL image of mode L, RGB or RGBA, or a tensor [..., C, H, W].

        Raises:
            TypeError: `inpt` is neither a PIL image nor a tensor, or the tensor has fewer than three axes.
            ValueError: the mode of the PIL image is not L, RGB or RGBA, the tensor does not have 1 to 4 channels, or `device`
                is unknown.
        """
        if device not in ("cpu", "gpu"):
            raise ValueError(f'device must be "cpu" or "gpu", not {device!r}')
        if isinstance(inpt, Image.Image):
            if inpt.mode not in _MODES:
                raise ValueError(f"Mode {inpt.mode} is not supported, expected one of {', '.join(_MODES)}")
            array = np.array(inpt).reshape(1, inpt.height, inpt.width, _MODES[inpt.mode])
            return cls(as_batch(array, layout="HWC", device=device), None)
        if not isinstance(inpt, torch.Tensor):
            raise TypeError(f"inpt should be Tensor or PIL Image. Got {type(inpt)}")
        if inpt.ndim < 3:
            raise TypeError(f"Tensor has < 3 dimensions: {inpt.ndim}, shape: {tuple(inpt.shape)}")
        if inpt.shape[-3] not in (1, 2, 3, 4):
            raise ValueError(f"Input should be CHW with 1 to 4 channels, got shape {tuple(inpt.shape)}")
        flat = inpt.detach().reshape(-1, *inpt.shape[-3:]).contiguous()
        return cls(as_batch(flat, layout="CHW", device=device), tuple(inpt.shape[:-3]))

    def as_input(self, batch: Batch) -> Any:
        """Converts a batch to the kind of data that the user passed."""
        return self.as_pil(batch) if self.leading is None else self.as_tensor(batch)

    def as_tensor(self, batch: Batch) -> Any:
        """Converts a batch to a tensor [..., C, H, W].

        Raises:
            ValueError: the images differ in size.
        """
        if len(set(batch.shape)) > 1:
            raise ValueError(
                f"images of sizes {sorted(set(batch.shape))} do not make a tensor; make them of one size"
            )
        tensor = batch.torch()
        if batch.layout == "HWC":
            tensor = tensor.permute(0, 3, 1, 2)
        return tensor.reshape(*(self.leading or ()), *tensor.shape[1:]).contiguous()

    def as_pil(self, batch: Batch) -> Any:
        """Converts a batch to a PIL image, or to a list of PIL images if the input tensor had axes before CHW."""
        pictures = [to_pil_image(sample.torch(), input_layout=batch.layout or "") for sample in batch.tensors]
        return pictures if self.leading else pictures[0]


def to_pil_image(inpt: object, mode: str | None = None, input_layout: str = "CHW") -> Image.Image:
    """Converts one image to a PIL image.

    Args:
        inpt: a tensor; floats from 0 to 1 are scaled to 0 to 255 and truncated.
        mode: mode of the PIL image; None chooses L, RGB or RGBA by the number of channels.
        input_layout: "CHW" or "HWC".

    Raises:
        TypeError: `inpt` is not a tensor.
        ValueError: the tensor does not have three axes, or no mode has the tensor's number of channels.
    """
    if not isinstance(inpt, torch.Tensor):
        raise TypeError(f"Expected torch.Tensor, got {type(inpt)}")
    if inpt.ndim != 3:
        raise ValueError(f"Expected 3-D {input_layout} tensor, got shape {tuple(inpt.shape)}")
    array = (inpt if input_layout == "HWC" else inpt.permute(1, 2, 0)).cpu().numpy()
    names = {count: name for name, count in _MODES.items()}
    wanted = mode or names.get(array.shape[-1])
    if wanted is None:
        raise ValueError(f"Cannot infer PIL mode from {array.shape[-1]} channels. Pass mode explicitly.")
    if array.dtype.kind == "f" and wanted != "F":
        array = (array * 255).clip(0, 255).astype(np.uint8)
    array = array[..., 0] if array.shape[-1] == 1 else array
    picture = Image.fromarray(np.ascontiguousarray(array))
    return picture if picture.mode == wanted else picture.convert(wanted)
