"""Provides the building blocks of augmentations and policies."""

from jdali.auto_aug.core._augmentation import Augmentation as _Augmentation
from jdali.auto_aug.core._augmentation import signed_bin
from jdali.auto_aug.core._choice import select
from jdali.auto_aug.core.decorator import augmentation
from jdali.auto_aug.core.policy import Policy

__all__ = ["Policy", "_Augmentation", "augmentation", "select", "signed_bin"]
