"""The source of `docs/programs/parallel.py`: worker processes import this and nothing of DALI."""

import numpy as np


class Samples:
    def __init__(self, batches):
        self.batches = batches

    def __call__(self, info):
        if info.iteration >= self.batches:
            raise StopIteration
        return np.full((2, 2), info.idx_in_epoch, np.int32), np.int32([info.idx_in_batch])
