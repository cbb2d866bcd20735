"""Packs token sequences of several documents into rows of one length."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._errors import SampleError
from jdali._kernels.tokenizers import Encode, TokenizerSettings, decoded, open_tokenizer
from jdali._operators.record import REGISTRY, Static, reader
from jdali._storage import version as file_version
from jdali.readers import shared_tables
from jdali.readers.base import Loaded, Reader, nothing
from jdali.readers.formats.columns import dense_column
from jdali.readers.order.windows import BEST_FIT, FIRST_FIT, RowPacking, WindowOrder
from jdali.readers.over import OverReader, facts_of, opened_source, seeded, stream_of

_NAME = "readers.pack"
# Names of the outputs that packing adds.
SEGMENTS = ("segment_ids", "positions")
# A default window fills about this many rows. On average half a row, less than 0.5 % of the window, stays empty.
_ROWS = 128
_MOST_DOCUMENTS = 1 << 16
TRUNCATE, SPLIT = "truncate", "split"


class PackReader(OverReader):
    """Reads rows of packed documents.

    Args:
        encode: tokenizes documents; None: documents are tokens.
        pad_id: token for padding after the documents of a row.
        continued: positions count through all pieces of a document; otherwise they start at 0 in each piece.
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
        """Returns `reader_meta`, with the number of "documents" in a pass. An epoch has the rows of the first pass."""
        order = self._order
        assert isinstance(order, WindowOrder)
        return {**super().meta(), "documents": order.samples}

    def load_many(self, indices: np.ndarray) -> Loaded:
        return self.packed(indices, self._source.load_many)

    @property
    def parts(self) -> Reader:
        return self._source

    def parts_of(self, wanted: np.ndarray) -> np.ndarray:
        return wanted[wanted >= 0] % self._source.count

    def packed(self, indices: np.ndarray, load: Callable[[np.ndarray], Loaded]) -> Loaded:
        """Builds rows from documents that `load` reads by index.

        Args:
            indices: int64 [rows, maximum number of documents in a row], padded with -1; or [n], one document for each row.
                If documents are divided, these are numbers of pieces: piece k of document i is i + k * (number of documents).
        """
        members = indices if indices.ndim == 2 else indices[:, None]
        owners = np.nonzero(members >= 0)[0]
        pieces, documents = np.divmod(members[members >= 0], self._source.count)
        read, place = np.unique(documents, return_inverse=True)  # reads a document once for all its pieces
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
        """Places pieces of documents in rows; `begin` is the position of each piece's first token in its document."""
        sizes = np.array([len(one) for one in outputs[0]], np.int64)
        total = np.cumsum(sizes)
        firsts = np.searchsorted(owners, rows)
        begins = np.concatenate([[0], total])[firsts]
        documents = np.cumsum(sizes > 0)  # an empty document takes no number
        before = np.concatenate([[0], documents])[firsts]
        places = np.searchsorted(rows, owners)
        row = np.repeat(places, sizes)
        column = np.arange(len(row)) - begins[row]
        numbers = np.repeat(documents - before[places], sizes)
        within = np.arange(len(row)) - np.repeat(total - sizes - begin, sizes)
        filled = [
            (np.concatenate(one) if len(one) else np.empty(0, np.int32), self._pad_id) for one in outputs
        ]
        shape = (len(rows), self._length)
        columns = []
        for values, fill in (*filled, (numbers.astype(np.int32), 0), (within.astype(np.int32), 0)):
            if values.dtype.kind in "iu" and not _fits(fill, values.dtype):
                raise ValueError(f"{_NAME}: pad_id is {fill}, {values.dtype} tokens cannot hold it")
            block = np.full(shape, fill, values.dtype)
            block[row, column] = values
            columns.append(dense_column(block))
        return tuple(columns)


def _fits(number: int, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def documents_of(
    source: Reader, load: Callable[[np.ndarray], Loaded], encode: Encode | None, indices: np.ndarray
) -> tuple[list[list[np.ndarray]], dict[int, Exception]]:
    """Reads documents; returns tokens[output][document], empty for a failed document, and the errors by position."""
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
    """Packs documents into rows of one length. Documents are token sequences, or texts to tokenize.

    A row is a sample. Documents are taken in the order of their reader. Each window of `window` documents is packed
    separately, longest first. So the rows depend only on the lengths and the order of the documents, and every run
    has the same rows at the same step. A run resumes from any state with any number of shards; new weights of a mixture
    apply from the next window on. No document is lost, and none comes twice in a pass. All shards must resume from the
    same step.

    Building the pipeline reads and tokenizes each document once to find its length. Lengths are cached on disk if
    `paths` or `path` names all files, as for Parquet, Arrow, TFRecord, WebDataset, and mixtures of these.

    Args:
        documents: all outputs of a reader or of `readers.mix`: tokens with one axis, and further outputs of the same
            length; with `tokenizer`, a single output of texts. Outside of a pipeline's definition, a pair of the
            reader's name and its arguments.
        length: length of a row, tokens; see `long_documents`.
        add_special_tokens, bos, eos, tokenizer: arguments of `tokenize`, for texts; `tokenizer` None: documents are
            tokens, to which nothing is added.
        continue_positions: positions count through all pieces of a document; otherwise they start at 0 in each piece.
        lengths: number of tokens of each document of the data set, such as a column of a table; for a mixture, the
            numbers of all sources, one source after another. Building the pipeline then reads no documents. If
            documents are longer than stated and do not fit into their row, the row is a bad sample.
        long_documents: "truncate" cuts documents that are longer than a row; "split" divides them
            into pieces of `length` and a rest, each packed as a document with its own segment id.
        num_shards: number of parts that the rows are divided into. The documents' reader must not be sharded.
        pad_id: token for padding after the last document of a row; the type of each output must hold it.
        seed: seed of a reader that shuffles without a seed of its own; -1: the pipeline's.
        shard_id: the part to read, 0 to `num_shards` - 1.
        strategy: "first_fit" puts a document into the first row with room, "best_fit" into the fullest row with room.
        window: number of documents to pack together; None: as many as fill 128 rows on average.

    Returns: each output of the documents, [length], padded; for each token, the number of its document in the row,
        from 1 on (empty documents are not counted), 0 for padding, int32 [length]; and for each token, its position in the
        document, int32 [length]. If the reader returns a dict, the last two outputs are named "segment_ids" and "positions".

    For iterators and `reader_meta`, an epoch has the rows of the first pass over the documents; a later shuffled pass
    may have a few rows more or less. In the `schedule` of a mixture, a step counts `batch_size` documents, not rows.
    A document that cannot be read makes its rows bad samples; `on_error` may replace them by other documents.

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
    if tokenizer is None and (bos is not None or eos is not None):
        raise ValueError(
            f"{_NAME}: bos is {bos!r} and eos is {eos!r}; they need tokenizer=, which is for texts. Documents that are tokens "
            "must contain them"
        )
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

            def find(loaded: Loaded, indices: np.ndarray) -> np.ndarray:
                outputs, _ = documents_of(source, lambda _: loaded, encode, indices)
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
