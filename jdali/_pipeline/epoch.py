"""Implements `for outputs in pipeline`, for pipelines that know the end of an epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jdali._sources import SourceFeed
from jdali.engine import Engine
from jdali.tensors import TensorList

Outputs = tuple[TensorList, ...]

_INSTEAD = (
    "use jdali.iterator.DataIterator with reader_name or size, or call run() as often as you want: "
    "`for _ in range(n): outputs = pipe.run()`"
)


def epoch(
    engine: Engine, run: Callable[[], Outputs], state: Callable[[], Mapping[str, Any]], *, feeds_itself: bool
) -> Iterator[Outputs]:
    """Yields the batches of a pipeline up to the end of the epoch.

    With a reader, the last batch is the batch with the last sample of the reader's epoch. If this batch also has
    samples of the next epoch, the next loop starts after them. With an external source, the last batch is the one
    before the source ends. The source stays at its end until `reset`.

    Args:
        feeds_itself: True if the pipeline has an `iter_setup`, which may end the epoch.
    """
    if engine.knows_sources:
        _refuse_endless(engine, feeds_itself)

    def batches() -> Iterator[Outputs]:
        known = engine.knows_sources
        begun = (
            _epoch_of_reader(engine, state) if known else 0
        )  # debug mode opens its sources in the first run
        while True:
            try:
                outputs = run()
            except StopIteration:
                return
            if not known:
                _refuse_endless(engine, feeds_itself)
                known = True
            yield outputs
            if _epoch_of_reader(engine, state) not in (None, begun):
                return

    return batches()


def _epoch_of_reader(engine: Engine, state: Callable[[], Mapping[str, Any]]) -> int | None:
    """Returns the epoch of the first reader's next sample; None if there is no reader."""
    for node, reader in engine.readers.items():
        cursor = reader.cursor()
        cursor.set_state(state()["readers"][node.name])
        return cursor.next_epoch
    return None


def _refuse_endless(engine: Engine, feeds_itself: bool) -> None:
    readers = {node.name: reader.meta() for node, reader in engine.readers.items()}
    if readers:
        if any(meta != next(iter(readers.values())) for meta in readers.values()):
            sizes = ", ".join(f"{name!r} of {meta['epoch_size']} samples" for name, meta in readers.items())
            raise TypeError(
                f"Pipeline: a loop over it has no end, for its readers differ: {sizes}; {_INSTEAD}"
            )
        return
    sources = [source for source in engine.sources.values() if isinstance(source, SourceFeed)]
    if feeds_itself or any(not source.is_fed and source.cycle != "quiet" for source in sources):
        return
    if not sources:
        why = "it has neither a reader nor an external source"
    elif any(source.is_fed for source in sources):
        why = "its data is fed, and nothing says which batch is the last"
    else:
        why = (
            'its external source has cycle="quiet" and begins again at its end ("raise" ends an epoch there)'
        )
    raise TypeError(f"Pipeline: a loop over it has no end, for {why}; {_INSTEAD}")
