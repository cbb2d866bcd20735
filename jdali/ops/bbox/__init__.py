from jdali.ops.bbox import _bb_flip as _bb_flip
