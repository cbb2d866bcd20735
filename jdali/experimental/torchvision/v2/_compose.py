from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali import dynamic
from jdali.dynamic import Batch
from jdali.dynamic.random import RNG
from jdali.experimental.torchvision.v2 import _arguments as arguments
from jdali.experimental.torchvision.v2._images import Images
from jdali.experimental.torchvision.v2._random import coins
from jdali.experimental.torchvision.v2._transforms import Transform
from jdali.pipeline import Pipeline

DEFAULT_BATCH_SIZE = 16


class Compose:
    """Applies transforms one after the other to a PIL image or a tensor [..., C, H, W].

    Each transform is compiled once for each size of images. Each image of a tensor gets its own random values, which follow
    from `seed` and the number of the call.

    Args:
        op_list: transforms.
        batch_size, num_threads: accepted for compatibility with DALI, without effect; a tensor may have any number of images.
        dali_pipeline_kwargs: arguments of `Pipeline`. Only `seed` has an effect; -1 chooses a new seed for each `Compose`.

    Raises:
        TypeError: an item of `op_list` is not a transform, or `Pipeline` does not take one of `dali_pipeline_kwargs`.
    """

    def __init__(
        self,
        op_list: Sequence[Transform],
        batch_size: int = DEFAULT_BATCH_SIZE,
        num_threads: int | None = None,
        **dali_pipeline_kwargs: Any,
    ):
        self.op_list, self.batch_size, self.num_threads = _transforms(op_list), batch_size, num_threads
        self.dali_pipeline_kwargs = dali_pipeline_kwargs
        if unknown := dali_pipeline_kwargs.keys() - inspect.signature(Pipeline).parameters.keys():
            raise TypeError(f"Compose: {sorted(unknown)[0]!r} is not an argument of Pipeline")
        seed = dali_pipeline_kwargs.get("seed")
        self._rng = RNG(None if seed is None or seed < 0 else seed)
        self._gives = next((op.gives for op in reversed(self.op_list) if op.gives), None)

    def __repr__(self) -> str:
        return f"Compose({self.op_list!r})"

    def __call__(self, data_input: object) -> Any:
        """Transforms an image or tensor.

        Args:
            data_input: PIL image of mode L, RGB or RGBA, or tensor [..., C, H, W].

        Returns: the same kind of data as the input. If `PILToTensor`, `ToPureTensor` or `ToPILImage` is among the transforms,
            the last of these determines the kind.

        Raises:
            TypeError: `data_input` is neither a PIL image nor a tensor.
            ValueError: the results for the images of a tensor differ in size.
        """
        images = Images.of(data_input, self.op_list[0].device if self.op_list else "cpu")
        batch = _applied(self.op_list, images.batch, self._rng)
        if self._gives == "tensor":
            return images.as_tensor(batch)
        return images.as_pil(batch) if self._gives == "pil" else images.as_input(batch)


class RandomApply(Transform):
    """Applies to each image either all transforms or none.

    Args:
        op_list: transforms.
        p: probability that the transforms are applied, 0 to 1.
        device: see `Transform`.
    """

    def __init__(self, op_list: Sequence[Transform], p: float = 0.5, device: str = "cpu"):
        super().__init__(device)
        self.op_list, self.p = _transforms(op_list), arguments.probability(p)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        flags = coins(batch, self.p, rng)
        if not flags.any():
            return batch
        rows = np.flatnonzero(flags).tolist()
        changed = _applied(self.op_list, batch.select(rows), rng)
        if len(rows) == len(batch):
            return changed
        return dynamic.batch(
            [changed.tensors[rows.index(i)] if flag else batch.tensors[i] for i, flag in enumerate(flags)]
        )


def _transforms(op_list: Sequence[Any]) -> list[Transform]:
    for op in op_list:
        if not isinstance(op, Transform):
            raise TypeError(f"{op!r} is not a transform of jdali.experimental.torchvision")
    return list(op_list)


def _applied(op_list: Sequence[Transform], batch: Batch, rng: RNG) -> Batch:
    for op in op_list:
        batch = op.apply(batch.cpu() if op.device == "cpu" else batch.gpu(), rng)
    return batch
