"""What the real DALI makes of an expression on its graph nodes: `a + b`, `a[1:]`, `math.sqrt(a)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from support import oracle


def run(
    function: Callable[..., Any],
    inputs: Sequence[Sequence[np.ndarray]],
    layouts: str | Sequence[str] = "",
) -> tuple[list[list[np.ndarray]], list[str]]:
    """Samples and layout of each output of `function`, which gets and returns graph nodes.

    Args:
        function: of as many nodes as there are inputs; returns a node, or a sequence of them.
        inputs: the samples of each input.
        layouts: of all inputs, or one for each.
    """
    dali = oracle.dali()
    import nvidia.dali.fn as fn

    names = [layouts] * len(inputs) if isinstance(layouts, str) else list(layouts)
    pipe = dali.Pipeline(batch_size=len(inputs[0]) if inputs else 1, num_threads=1, device_id=None, seed=1)
    with pipe:
        nodes = [
            fn.external_source(source=[list(s)], cycle=True, batch=True, layout=name or None)
            for s, name in zip(inputs, names, strict=True)
        ]
        result = function(*nodes)
        pipe.set_outputs(*(result if isinstance(result, (list, tuple)) else (result,)))
    pipe.build()
    outputs = pipe.run()
    arrays = [[np.array(out.at(i)) for i in range(len(out))] for out in outputs]
    return arrays, [out.layout() for out in outputs]
