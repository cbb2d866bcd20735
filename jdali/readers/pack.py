"""Reader of rows that hold several documents: token sequences packed to one length."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, Store
from jdali._errors import SampleError
from jdali._kernels.tokenizers import Encode, TokenizerSettings, decoded, open_tokenizer
from jdali._operators.record import REGISTRY, Static, reader
from jdali._storage import version as file_version
from jdali.readers import shared_tables
from jdali.readers.base import Loaded, Reader, nothing
from jdali.readers.order.windows import BEST_FIT, FIRST_FIT, RowPacking, WindowOrder
from jdali.readers.over import OverReader, facts_of, opened_source, seeded, stream_of

_NAME = "readers.pack"
# What rows have besides the outputs of the documents.
SEGMENTS = ("segment_ids", "positions")
# A window has documents for about this many rows: half a row is left over, less than 0.5 %.
_ROWS = 128
_MOST_DOCUMENTS = 1 << 16
TRUNCATE, SPLIT = "truncate", "split"


class PackReader(OverReader):
    """Rows of documents.

    Args:
        source: reads the documents.
        encode: tokenizes them; None: they are tokens.
        order: of the rows.
        packing: what the rows of the order have.
        pad_id: what is behind the documents of a row.
        continued: positions of a piece of a document go on from the piece before.
    """

    def __init__(
        self, source: Reader, encode: Encode | None, order: WindowOrder, packing: RowPacking, pad_id: int,
        continued: bool,
    ):  # fmt: skip
        super().__init__(source, order)
        self._encode, self._packing, self._length, self._pad_id = encode, packing, packing.length, pad_id
        self._continued = continued
        self.num_outputs += len(SEGMENTS)

    def meta(self) -> dict[str, Any]:
        """Returns `reader_meta`: an epoch is the rows of the first pass; "documents": those of a pass."""
        order = self._order
        assert isinstance(order, WindowOrder)
        return {**super().meta(), "documents": order.samples}

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        loaded = self.load_many(np.array([[index]]))
        for failure in loaded.failures.values():
            raise failure
        return tuple(column.host_samples()[0] for column in loaded.columns)

    def load_many(self, indices: np.ndarray) -> Loaded:
        return self.packed(indices, self._source.load_many)

    @property
    def parts(self) -> Reader:
        return self._source

    def parts_of(self, wanted: np.ndarray) -> np.ndarray:
        return wanted[wanted >= 0] % self._source.count

    def packed(self, indices: np.ndarray, load: Callable[[np.ndarray], Loaded]) -> Loaded:
        """Packs rows of documents that `load` reads by their indices."""
        members = indices if indices.ndim == 2 else indices[:, None]  # a document that is asked for alone
        owners = np.nonzero(members >= 0)[0]
        pieces, documents = np.divmod(members[members >= 0], self._source.count)
        read, place = np.unique(documents, return_inverse=True)  # each once, also for several of its pieces
        found, wrong = documents_of(self._source, load, self._encode, read)
        cuts = [slice(k * self._length, (k + 1) * self._length) for k in pieces.tolist()]
        outputs = [[one[i][cut] for i, cut in zip(place.tolist(), cuts, strict=True)] for one in found]
        failures = dict[int, Exception]()
        for at in np.flatnonzero(np.isin(place, list(wrong))).tolist():
            failures.setdefault(int(owners[at]), wrong[int(place[at])])
        sizes = np.array([len(one) for one in outputs[0]], np.int64)
        held = np.bincount(owners, sizes, len(members)).astype(np.int64)
        for row in np.flatnonzero(held > self._length).tolist():
            text = f"{_NAME}: the documents of a row have {held[row]} tokens, more than its length of {self._length}: "
            failures.setdefault(row, SampleError(text + "the lengths are not theirs"))
        if self._packing.split:
            real = np.array([len(one) for one in found[0]], np.int64)
            most = self._packing.pieces(read) * self._length
            for at in np.flatnonzero((real > most)[place]).tolist():
                name, size = self._source.source(int(documents[at])), real[place[at]]
                text = f"{_NAME}: {name} has {size} tokens, more than its length says: the lengths are not theirs"
                failures.setdefault(int(owners[at]), SampleError(text))
        good = np.setdiff1d(np.arange(len(members)), list(failures))
        kept = np.flatnonzero(np.isin(owners, good))
        if not len(good):
            return Loaded((nothing(),) * self.num_outputs, failures)
        begin = pieces[kept] * self._length if self._continued else np.zeros(len(kept), np.int64)
        chosen = [[one[i] for i in kept.tolist()] for one in outputs]
        return Loaded(self._rows(chosen, begin, owners[kept], good), failures)

    def _rows(
        self, outputs: Sequence[Sequence[np.ndarray]], begin: np.ndarray, owners: np.ndarray, rows: np.ndarray
    ) -> tuple[Store, ...]:
        """Lays documents out in rows, one after another; `begin` has the position of the first token of each."""
        sizes = np.array([len(one) for one in outputs[0]], np.int64)
        total = np.cumsum(sizes)
        firsts = np.searchsorted(owners, rows)  # the first document of each row
        begins = np.concatenate([[0], total])[firsts]
        places = np.searchsorted(rows, owners)
        row = np.repeat(places, sizes)
        column = np.arange(len(row)) - begins[row]
        numbers = np.repeat(np.arange(len(sizes)) - firsts[places] + 1, sizes)
        within = np.arange(len(row)) - np.repeat(total - sizes - begin, sizes)
        filled = [
            (np.concatenate(one) if len(one) else np.empty(0, np.int32), self._pad_id) for one in outputs
        ]
        shape = (len(rows), self._length)
        columns = []
        for values, fill in (*filled, (numbers.astype(np.int32), 0), (within.astype(np.int32), 0)):
            block = np.full(shape, fill, values.dtype)
            block[row, column] = values
            spec = BatchSpec(np.full((len(rows), 1), self._length), values.dtype)
            columns.append(Store.of_block(PaddedBlock(block), spec))
        return tuple(columns)


def documents_of(
    source: Reader, load: Callable[[np.ndarray], Loaded], encode: Encode | None, indices: np.ndarray
) -> tuple[list[list[np.ndarray]], dict[int, Exception]]:
    """Reads documents: for each output their tokens, none of those that failed, and what is wrong with these."""
    loaded = load(indices)
    failures = dict(loaded.failures)
    good = np.delete(np.arange(len(indices)), list(failures)).tolist()
    columns = [column.host_samples() for column in loaded.columns]
    if encode is not None:
        texts, wrong = decoded(_NAME, columns[0])
        failures |= {good[place]: error for place, error in wrong.items()}
        columns = [[np.array(ids, np.int32) for ids in encode(texts)]]
    outputs = []
    for column in columns:
        tokens = [np.empty(0, column[0].dtype if column else np.int32)] * len(indices)
        for place, values in zip(good, column, strict=True):
            tokens[place] = values
        outputs.append(tokens)
    for place in good:
        shapes = [one[place].shape for one in outputs]
        if len(shapes[0]) != 1 or len(set(shapes)) > 1:
            text = f"{_NAME}: {source.source(int(indices[place]))}: outputs of shapes {shapes}; a document is one row of "
            failures[place] = SampleError(f"{text}tokens, and other outputs have as many elements")
    for place in failures:
        for tokens in outputs:
            tokens[place] = tokens[place].ravel()[:0]
    return outputs, failures


def _outputs(arguments: Mapping[str, Any]) -> int:
    name, args = arguments["documents"]
    return REGISTRY[name].num_outputs(args) + len(SEGMENTS)


@reader(name=_NAME, outputs=_outputs, devices=("cpu",))
def pack(
    *,
    documents: Static[Any],
    length: Static[int],
    add_special_tokens: Static[bool] = True,
    bos: Static[Any] = None,
    continue_positions: Static[bool] = False,
    eos: Static[Any] = None,
    lengths: Static[Any] = None,
    long_documents: Static[str] = TRUNCATE,
    num_shards: Static[int] = 1,
    pad_id: Static[int] = 0,
    seed: Static[int] = -1,
    shard_id: Static[int] = 0,
    strategy: Static[str] = FIRST_FIT,
    tokenizer: Static[str | None] = None,
    window: Static[int | None] = None,
    _goes_on: Static[bool] = False,
) -> PackReader:
    """Packs documents into rows of one length: token sequences of a reader, or texts that are tokenized here.

    A row is a sample. The documents come in the order of their reader, and each `window` of them is packed by itself, longest
    first. So which share a row is a function of their lengths and their place in the order alone, and the rows of a step are a
    function of the step. A run goes on from any state with any number of shards, and with other weights of a mixture, from the
    next window on: no document is lost, none comes twice in a pass. All shards must be at the same step.

    The lengths of all documents are found when the pipeline is built, by reading and tokenizing each once. They are kept in the
    cache folder if the data are files that `paths` or `path` names, of Parquet, Arrow, TFRecord, WebDataset or mixtures of these.

    Args:
        documents: what a reader returned, or `readers.mix`, all of its outputs: tokens with one axis, and others of the same
            length; with `tokenizer` one output, texts. Outside of a pipeline's definition a pair of a reader's name and its
            arguments.
        length: of a row, tokens; see `long_documents`.
        add_special_tokens, bos, eos, tokenizer: tokenize texts, as `tokenize` does; None: the documents are tokens.
        continue_positions: positions of a piece go on from the piece before it, as those of the whole document; else each
            piece begins at 0.
        lengths: tokens of each document of the data set (of a mixture: of all sources, one after another), so that they need
            not be found: a column of a table. A row whose documents are longer than these say is a bad sample.
        long_documents: what becomes of documents longer than a row: "truncate": they are cut, and the rest is lost; "split": they
            are divided into pieces of `length` and a rest, each packed by itself as a document, with a segment id of its own.
        num_shards: how many parts the rows are divided into; of the rows, not of the documents' reader.
        pad_id: what is behind the last document of a row.
        seed: of a reader that shuffles and has no seed of its own; -1: the pipeline's.
        shard_id: which part is read, 0 to `num_shards` - 1.
        strategy: a document goes to the first row with room, "first_fit", or to the row with the least, "best_fit".
        window: number of documents that are packed together; None: as many as fill 128 rows on average.

    Returns: for each output of the documents [length], padded; int32 [length], the number of the document in the row, from 1 on,
        0 for padding; and int32 [length], the position in the document. Of readers that return a dict under the names
        "segment_ids" and "positions".

    An epoch, as iterators and `reader_meta` count it, has the rows of the first pass over the documents; another pass that is
    shuffled may have a few more or less. The `schedule` of a mixture counts documents here, `batch_size` of them a step. A
    document that cannot be read makes bad samples of its rows, for which other documents stand in, if `on_error` says so.

    Parity: DALI has no such operator.

    Example:
        tokens, segments, positions = fn.readers.pack(
            fn.readers.parquet(paths=["train.parquet"], columns=["caption"], random_shuffle=True),
            length=64,
            tokenizer="tokenizer.json",
        )
    """
    name, args = documents
    if length < 1:
        raise ValueError(f"{_NAME}: length is {length}, it must be at least 1")
    if strategy not in (FIRST_FIT, BEST_FIT):
        raise ValueError(f'{_NAME}: strategy is {strategy!r}, it must be "first_fit" or "best_fit"')
    if long_documents not in (TRUNCATE, SPLIT):
        raise ValueError(f'{_NAME}: long_documents is {long_documents!r}, it must be "truncate" or "split"')
    if continue_positions and long_documents != SPLIT:
        raise ValueError(f'{_NAME}: continue_positions is of pieces: it needs long_documents="split"')
    if window is not None and window < 1:
        raise ValueError(f"{_NAME}: window is {window}, it must be at least 1")
    args = seeded(name, args, seed)
    settings = None
    if tokenizer is not None:
        most = length if long_documents == TRUNCATE else None
        settings = TokenizerSettings(_NAME, tokenizer, add_special_tokens, bos, eos, most, pad_id)
    with contextlib.ExitStack() as opened:
        source = opened_source(_NAME, "packing", name, args, goes_on=_goes_on)
        opened.callback(source.close)
        if settings is not None and source.num_outputs > 1:
            raise ValueError(
                f"{_NAME}: {name} has {source.num_outputs} outputs; only one, texts, can be tokenized"
            )
        encode = None if settings is None else open_tokenizer(settings).encode
        found = lengths
        if found is None:

            def find(indices: np.ndarray) -> np.ndarray:
                outputs, _ = documents_of(source, source.load_many, encode, indices)
                return np.array([len(one) for one in outputs[0]], np.int64)

            key = () if settings is None else (file_version(settings.path), *map(str, settings))
            found = shared_tables.shared("lengths", lambda: facts_of(name, args, source, find, key))
        tokens = np.asarray(found, np.int64)
        if tokens.shape != (source.count,) or (tokens < 0).any():
            raise ValueError(
                f"{_NAME}: lengths must be {source.count} numbers, not negative: one for each document"
            )
        if long_documents == TRUNCATE:
            tokens = np.minimum(tokens, length)
        if window is None:
            window = int(min(max(_ROWS * length * len(tokens) // max(tokens.sum(), 1), 1), _MOST_DOCUMENTS))
        packing = RowPacking(tokens, length, strategy, long_documents == SPLIT)
        stream = stream_of(source, args, seed)
        order = WindowOrder(stream, packing, window=window, shard_id=shard_id, num_shards=num_shards)
        opened.pop_all()
    return PackReader(source, encode, order, packing, pad_id, continue_positions)
