"""`for outputs in pipeline`: the batches of an epoch, where the pipeline knows its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jdali._pipeline.run import Run
from jdali._sources import SourceFeed
from jdali.tensors import TensorList

Outputs = tuple[TensorList, ...]

_INSTEAD = (
    "use jdali.iterator.DataIterator with reader_name or size, or call run() as often as you want: "
    "`for _ in range(n): outputs = pipe.run()`"
)


def epoch(built: Run, run: Callable[[], Outputs], *, feeds_itself: bool) -> Iterator[Outputs]:
    """Goes through the batches of a pipeline up to the end of the epoch.

    That is the batch with the reader's last sample of it, or where an external source ends. As with `run`, a batch may
    hold samples of the next epoch as well, which come once; and a source that is at its end stays there up to the
    `reset`.

    Args:
        built: the pipeline.
        run: gives a batch.
        feeds_itself: the pipeline has an `iter_setup`, which may end it.

    Raises:
        TypeError: nothing in the pipeline says where an epoch ends.
    """
    if built.engine.knows_sources:
        _refuse_endless(built, feeds_itself)
    return _batches(built, run, feeds_itself)


def _batches(built: Run, run: Callable[[], Outputs], feeds_itself: bool) -> Iterator[Outputs]:
    known = built.engine.knows_sources
    begun = _epoch_of_reader(built) if known else 0  # in debug mode the first batch makes the sources known
    while True:
        try:
            outputs = run()
        except StopIteration:
            return
        if not known:
            _refuse_endless(built, feeds_itself)
            known = True
        yield outputs
        if _epoch_of_reader(built) not in (None, begun):
            return


def _epoch_of_reader(built: Run) -> int | None:
    """The epoch of the next sample of the reader; None: there is no reader."""
    for node, reader in built.engine.readers.items():
        cursor = reader.cursor()
        cursor.set_state(built.get_state()["readers"][node.name])
        return cursor.epoch
    return None


def _refuse_endless(built: Run, feeds_itself: bool) -> None:
    engine = built.engine
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
