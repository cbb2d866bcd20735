"""Data sets for PyTorch's loaders, in a module that worker processes can import."""

import os
import signal

import numpy as np
from torch.utils.data import Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Sample i: what `transform` makes of [i, i, i] (float32), and i.

    Args:
        transform: takes an array.
        size: number of samples.
        bad: number of a sample that is not read: "raise", "exit" or "kill" happens instead.
    """

    def __init__(self, transform, size=10, bad=None, how="raise"):
        self.transform, self.size, self.bad, self.how = transform, size, bad, how

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if i == self.bad:
            if self.how == "raise":
                raise KeyError(f"sample {i} is not there")
            os.kill(os.getpid(), signal.SIGKILL)
        return self.transform(np.full(3, i, np.float32)), i


class Pairs(Dataset):
    """Sample i: both outputs of a pipeline with inputs a = [i] and b = [2 i], the first of them twice."""

    def __init__(self, transform, size=8):
        self.transform, self.size = transform, size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        first, second = self.transform(b=np.full(1, 2 * i, np.float32), a=np.full(1, i, np.float32))
        return {"second": second, "first": first, "number": i, "again": (first,)}


class Views(Dataset):
    """Two views of each sample, made by two calls of one transform."""

    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.transform(np.float32([i])), self.transform(np.float32([10 + i]))


class Stream(IterableDataset):
    """The samples of `Numbers`, each worker's share of them."""

    def __init__(self, transform, size=10):
        self.transform, self.size = transform, size

    def __iter__(self):
        info = get_worker_info()
        for i in range(self.size)[info.id :: info.num_workers]:
            yield self.transform(np.full(3, i, np.float32)), i
