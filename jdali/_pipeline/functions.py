"""A pipeline as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jdali._function import PipelineFunction, make_function
from jdali._function.part import Start
from jdali._pipeline.base import PipelineBase


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
                not run, their output is the value, and others are refused. False: they draw.
            layout: of one sample of the start, such as "HWC", for each of its values or for all; None: what decoders
                and external sources say, otherwise "".

        Raises:
            ValueError: an operator behind the start runs on the host, such as a decoder or a Python function, chooses
                among the samples of a batch, or reads data that the start does not lead to; or the pipeline has no such
                node. The error names it.
            RuntimeError: the pipeline is in debug mode, so it has no graph.
        """
        if self.debug:
            raise RuntimeError("Pipeline.function: in debug mode a pipeline has no graph; make it without debug=True")
        return make_function(
            self._definition.graph, self._building.outputs(), start, outputs, deterministic=deterministic,
            layout=layout, seed=self.seed, threads=self.num_threads, batch_size=self._config.batch_size or 1,
        )  # fmt: skip
