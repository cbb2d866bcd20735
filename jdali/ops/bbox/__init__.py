from jdali.ops.bbox import _bb_flip as _bb_flip
from jdali.ops.bbox import _random_bbox_crop as _random_bbox_crop
