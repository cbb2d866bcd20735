"""Provides DALI's `plugin.base_iterator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jdali.iterator import LastBatchPolicy
from jdali.iterator.assemble import Assembler
from jdali.pipeline import Pipeline
from jdali.plugin.dali_names import BatchesOfPipelines, DaliNames

__all__ = ["LastBatchPolicy"]


class _DaliBaseIterator(DaliNames[Any]):
    """The base of iterators that users write for other frameworks; their `__next__` calls `_get_outputs`.

    Args:
        pipelines: one pipeline, or several with the same batch size.
        size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch: see
            `jdali.iterator.DataIterator`.
        fill_last_batch: deprecated: True means `LastBatchPolicy.FILL`, False `LastBatchPolicy.PARTIAL`.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        pipes = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines or ())
        for pipe in pipes:
            pipe.build()
        names = [str(number) for number in range(pipes[0].num_outputs)] if pipes else []
        super().__init__(
            pipes, names, int(size), reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, fill_last_batch=fill_last_batch,
        )  # fmt: skip

    def _assembler(self, **options: Any) -> Assembler:
        return BatchesOfPipelines(self.output_map)

    def __next__(self) -> Any:
        raise NotImplementedError
