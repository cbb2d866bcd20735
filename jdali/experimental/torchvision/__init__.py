"""Provides image transforms with the names and arguments of `torchvision.transforms.v2` (extra `torch`).

The transforms take and return PIL images and PyTorch tensors. `Compose` applies several transforms. `v2.functional` provides
the transforms as functions.
"""

from jdali.experimental.torchvision.v2._arguments import InterpolationMode
from jdali.experimental.torchvision.v2._compose import Compose, RandomApply
from jdali.experimental.torchvision.v2._random import (
    ColorJitter,
    GaussianBlur,
    RandomCrop,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
)
from jdali.experimental.torchvision.v2._transforms import (
    CenterCrop,
    Grayscale,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToPureTensor,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToPureTensor",
]
