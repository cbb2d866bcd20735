"""A pipeline as a function."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from jdali._pipeline.base import PipelineBase
from jdali.engine.function import PipelineFunction, Start, make_function


class PipelineFunctions(PipelineBase):
    """Gives what a pipeline computes as pure functions."""

    def function(
        self,
        start: Start = None,
        outputs: Start = None,
        *,
        deterministic: bool | Mapping[str, Any] = False,
        layout: str | Sequence[str] | None = None,
    ) -> PipelineFunction:
        """The compiled operators behind a start as a pure function, and the part before them.

        The function takes a batch of any size, or one sample, dense or padded with its sizes, and gives the bits that the
        pipeline gives. It can be called in `jit`, `vmap`, `grad` and `shard_map`. Nothing is opened or read.

        Args:
            start: where it begins: a node or its name (of `name=` in the definition), for all of its outputs; or several.
                None: behind the last operators on the host, such as decoders, and what readers give.
            outputs: what it returns: nodes, or their names; None: those outputs of the pipeline that follow from the
                start.
            deterministic: True: random operators are refused. Names of random operators with a value for each: these do
                not run, their output is the value, and others are refused. In place of a value, a typed key of JAX,
                such as `jax.random.key(0)`: the operator runs, and draws from it the same for every sample. False:
                they draw.
            layout: of one sample of the start, such as "HWC", for each of its values or for all; None: what decoders
                and external sources say, otherwise "".

        Raises:
            ValueError: an operator behind the start runs on the host, such as a decoder or a Python function, chooses
                among the samples of a batch, or reads data that the start does not lead to; or the pipeline has no such
                node. The error names it.
            RuntimeError: the pipeline is in debug mode, so it has no graph.
        """
        if self.debug:
            raise RuntimeError(
                "Pipeline.function: in debug mode a pipeline has no graph; make it without debug=True"
            )
        return make_function(
            self._definition.graph, self._building.outputs(), start, outputs, deterministic=deterministic,
            layout=layout, seed=self.seed, threads=self.num_threads, batch_size=self._config.batch_size or 1,
        )  # fmt: skip

    def export(
        self,
        folder: str | os.PathLike[str],
        start: Start = None,
        outputs: Start = None,
        *,
        shapes: Sequence[object] | None = None,
        deterministic: bool | Mapping[str, object] = True,
        layout: str | Sequence[str] | None = None,
        dtypes: object = None,
        platforms: Sequence[str] = ("cpu", "cuda", "tpu"),
        max_aspect: float = 2.0,
    ) -> str:
        """Writes the preprocessing to a folder, which `jdali.load` reads without the code of the pipeline.

        The compiled part is StableHLO for all platforms, for any number of samples; the part before it, and what is
        computed from sizes, is JSON. Nothing in the folder is code.

        Args:
            folder: where to; it is made.
            start, outputs, layout: as of `function`.
            shapes: padded shapes of one sample of the start, such as [(512, 512), (1024, 1024)] for pictures; a sample runs
                in the smallest that holds it, and one that fits in none is refused. Of several values a tuple with a shape
                for each. None: squares of 256 to 2048 pixels, if the start is pictures.
            deterministic: as of `function`; random operators are refused unless they get a value, or False is given:
                then calls need a key or index.
            dtypes: element types of the start; None: uint8 of pictures, float32 of all else.
            platforms: some of "cpu", "cuda" and "tpu"; this machine need not have them.
            max_aspect: of pictures, the longest side to the shortest: shapes in between hold samples up to it.

        Returns: the fingerprint, which `jdali.load` compares if it gets one.

        Raises:
            ValueError: an operator cannot be exported; the error names it.
        """
        function = self.function(start, outputs, deterministic=deterministic, layout=layout)
        exporting = importlib.import_module("jdali.engine.function.export")
        return str(exporting.export_function(function, folder, shapes, dtypes, tuple(platforms), max_aspect))
