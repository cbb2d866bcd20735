from jdali.ops.bbox import _bb_flip as _bb_flip
from jdali.ops.bbox import _bbox_paste as _bbox_paste
from jdali.ops.bbox import _bbox_rotate as _bbox_rotate
from jdali.ops.bbox import _box_encoder as _box_encoder
from jdali.ops.bbox import _coord_flip as _coord_flip
from jdali.ops.bbox import _random_bbox_crop as _random_bbox_crop
