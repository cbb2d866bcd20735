"""Operators on segmentation masks: maps of labels, and polygons."""

from jdali.ops.segmentation import _random_mask_pixel as _random_mask_pixel
from jdali.ops.segmentation import _random_object_bbox as _random_object_bbox
from jdali.ops.segmentation import _select_masks as _select_masks
