"""Texts to the ids of their tokens."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, Plan, RaggedBlock, Store, aligned_empty
from jdali._errors import SampleError
from jdali._operators.record import HostOutputs, Static, host_batch_operator
from jdali._storage import is_url, read_file
from jdali._storage import version as file_version
from jdali._system.extras import install

_NAME = "tokenize"
# Tokens that pad texts where a file does not name one.
_PADS = ("[PAD]", "<pad>")
# One of 256,000 tokens takes some 200 MB.
_MOST_OPEN = 8

Encode: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[int]]]


class _Settings(NamedTuple):
    """Arguments that a tokenizer is opened with, see `tokenize`; `version` changes with the file."""

    path: str
    version: str | None
    add_special_tokens: bool
    bos: int | str | None
    eos: int | str | None
    length: int | None
    pad_id: int | None
    truncation_side: str

    def room(self, special: int) -> int | None:
        """Returns how many tokens of a text fit between `special` ones around it; None: all."""
        if self.length is None:
            return None
        if self.length < special:
            raise ValueError(f"{_NAME}: length is {self.length}, and each text has {special} special tokens")
        return self.length - special


class _Tokenizer(NamedTuple):
    """A tokenizer, opened.

    Attributes:
        encode: gives the ids of the tokens of some texts, cut to the length; from many threads at once.
        pad: id to pad with, if there is a length.
    """

    encode: Encode
    pad: int


def _count(arguments: Mapping[str, Any]) -> int:
    return 1 + bool(arguments.get("with_mask")) + bool(arguments.get("with_length"))


def setup(
    texts: BatchSpec,
    *,
    tokenizer: str,
    add_special_tokens: bool,
    bos: int | str | None,
    eos: int | str | None,
    length: int | None,
    pad_id: int | None,
    truncation_side: str,
    with_length: bool,
    with_mask: bool,
) -> Plan:
    if texts.dtype != np.uint8 or texts.ndim != 1:
        raise ValueError(
            f"{_NAME}: a text is uint8 with one axis, its bytes in UTF-8; got {texts.dtype} with {texts.ndim} axes"
        )
    if length is not None and length < 1:
        raise ValueError(f"{_NAME}: length is {length}, it must be at least 1")
    if truncation_side not in ("left", "right"):
        raise ValueError(f'{_NAME}: truncation_side is {truncation_side!r}, it must be "left" or "right"')
    version = None
    if not is_url(tokenizer):
        with contextlib.suppress(OSError):  # opening it says why
            version = file_version(tokenizer)
    opened = _open(
        _Settings(tokenizer, version, add_special_tokens, bos, eos, length, pad_id, truncation_side)
    )
    # Without a length the sizes follow from the tokens: those of the texts stand in for them.
    extents = texts.extents if length is None else np.full((texts.batch_size, 1), length)
    return Plan(_specs(extents, with_mask, with_length), static={"_opened": opened})


def _specs(extents: np.ndarray, with_mask: bool, with_length: bool) -> tuple[BatchSpec, ...]:
    ids, mask = BatchSpec(extents, np.dtype(np.int32)), BatchSpec(extents, np.dtype(bool))
    lengths = BatchSpec(np.zeros((len(extents), 0)), np.dtype(np.int32))
    return (ids, *[mask] * with_mask, *[lengths] * with_length)


@host_batch_operator(name=_NAME, setup=setup, outputs=_count, devices=("cpu",))
def tokenize(
    texts: Sequence[np.ndarray],
    /,
    *,
    tokenizer: Static[str],
    add_special_tokens: Static[bool] = True,
    bos: Static[Any] = None,
    eos: Static[Any] = None,
    length: Static[int | None] = None,
    pad_id: Static[int | None] = None,
    truncation_side: Static[str] = "right",
    with_length: Static[bool] = False,
    with_mask: Static[bool] = False,
    _opened: Static[Any] = None,
) -> HostOutputs:
    """Tokenizes texts: strings to the ids of their tokens, cut and padded to one length.

    The ids are those of the package `tokenizers` for the file, or of `sentencepiece`, and do not depend on the other texts of a
    batch: padding and truncation that a tokenizer.json asks for do not count. All texts of a batch are encoded in one call,
    in the threads of these packages, which `TOKENIZERS_PARALLELISM=false` and `RAYON_NUM_THREADS` restrict. A text
    that is not UTF-8 is an error of its sample.

    Args:
        texts: uint8 [bytes], UTF-8.
        tokenizer: path or URL of a tokenizer.json of Hugging Face, or of a model of SentencePiece. Another path is another
            tokenizer, and so is a file that was changed.
        add_special_tokens: put the tokens around a text that a tokenizer.json says, as [CLS] and [SEP]; a model of
            SentencePiece says none.
        bos, eos: a token, or its id, to put before or behind each text besides.
        length: tokens of each output: longer texts are cut so that special tokens, `bos` and `eos` stay, shorter ones
            padded; None: as many as the text has.
        pad_id: id to pad with; None: that of the file.
        truncation_side: where a longer text is cut, "left" or "right".
        with_length: give the number of tokens without padding as well, as the last output, int32 [].
        with_mask: give as well where tokens are, as the second output, bool: False for padding.

    Returns: int32 [length], or [tokens].

    Parity: DALI has no such operator.

    Example: ids = fn.tokenize(captions, tokenizer="tokenizer.json", length=64)
    """
    strings, failures = _decoded(texts)
    tokens = _opened.encode(strings)
    lengths = np.fromiter(map(len, tokens), np.int32, len(tokens))
    flat = np.fromiter(itertools.chain.from_iterable(tokens), np.int32, int(lengths.sum()))
    blocks: list[PaddedBlock | RaggedBlock]
    if length is None:
        extents = lengths[:, None].astype(np.int64)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        blocks = [
            RaggedBlock(values, starts, extents) for values in (flat, *[np.ones(len(flat), bool)] * with_mask)
        ]
    else:
        extents = np.full((len(texts), 1), length)
        ids, mask = aligned_empty((len(texts), length), np.int32), np.arange(length) < lengths[:, None]
        ids.fill(_opened.pad)
        ids[mask] = flat
        blocks = [PaddedBlock(values) for values in (ids, *[mask] * with_mask)]
    if with_length:
        blocks.append(PaddedBlock(lengths))
    columns = map(Store.of_block, blocks, _specs(extents, with_mask, with_length))
    return HostOutputs(tuple(columns), failures)


def _decoded(texts: Sequence[np.ndarray]) -> tuple[list[str], dict[int, Exception]]:
    """Decodes texts; one that is not UTF-8 is empty, and a failure."""
    strings, failures = [], dict[int, Exception]()
    for number, text in enumerate(texts):
        try:
            strings.append(text.tobytes().decode())
        except UnicodeDecodeError as error:
            strings.append("")
            failures[number] = SampleError(
                f"{_NAME}: the text is not UTF-8: {error.reason} at byte {error.start} of {text.size}"
            )
    return strings, failures


@functools.lru_cache(_MOST_OPEN)
def _open(settings: _Settings) -> _Tokenizer:
    """Opens a tokenizer."""
    try:
        content = read_file(settings.path).tobytes()
    except SampleError as error:  # it is not the samples'
        raise ValueError(f"{_NAME}: {error}") from error
    is_json = content.lstrip()[:1] == b"{"
    return _of_json(content, settings) if is_json else _of_sentencepiece(content, settings)


def _of_json(content: bytes, settings: _Settings) -> _Tokenizer:
    try:
        import tokenizers
    except ImportError as error:
        raise ImportError(
            f"{_NAME} of a tokenizer.json needs the package tokenizers: {install('text')}"
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    except Exception as error:  # the package raises this class
        raise ValueError(f"{_NAME}: {settings.path!r} is no tokenizer: {error}") from error
    if getattr(tokenizer.model, "dropout", None):
        raise ValueError(
            f"{_NAME}: {settings.path!r} has a dropout, which makes ids random; take it out of the file"
        )
    padding, add = tokenizer.padding, settings.add_special_tokens
    pads = [padding["pad_id"]] if padding else [tokenizer.token_to_id(token) for token in _PADS]
    first, last = _around(settings, tokenizer.token_to_id)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    special = tokenizer.num_special_tokens_to_add(False) if add else 0
    room = settings.room(special + len(first) + len(last))
    if room is not None:
        # The package leaves texts whole if this is less than its special tokens.
        tokenizer.enable_truncation(room + special, direction=settings.truncation_side)

    def encode(texts: Sequence[str]) -> list[list[int]]:
        found = tokenizer.encode_batch_fast(texts, add_special_tokens=add)
        return [[*first, *one.ids, *last] for one in found] if first or last else [one.ids for one in found]

    return _Tokenizer(encode, _pad(settings, pads))


def _of_sentencepiece(content: bytes, settings: _Settings) -> _Tokenizer:
    try:
        import sentencepiece
    except ImportError as error:
        raise ImportError(
            f"{_NAME}: {settings.path!r} is no tokenizer.json; a model of SentencePiece needs the package sentencepiece: "
            f"{install('text')}"
        ) from error
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    except (RuntimeError, OSError) as error:
        raise ValueError(
            f"{_NAME}: {settings.path!r} is no tokenizer.json and no model of SentencePiece: {error}"
        ) from error

    def found(token: str) -> int | None:
        number = processor.piece_to_id(token)
        return number if processor.id_to_piece(number) == token else None

    first, last = _around(settings, found)
    room = settings.room(len(first) + len(last))
    if room is None:
        cut = slice(None)
    elif settings.truncation_side == "right":
        cut = slice(room)
    else:
        cut = slice(-room if room else 0, None if room else 0)

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [[*first, *ids[cut], *last] for ids in processor.encode(texts)]

    return _Tokenizer(encode, _pad(settings, [processor.pad_id(), *map(found, _PADS)]))


def _around(settings: _Settings, id_of: Callable[[str], int | None]) -> tuple[list[int], list[int]]:
    """Returns the ids of `bos` and of `eos`."""
    ids: list[list[int]] = []
    for name, token in (("bos", settings.bos), ("eos", settings.eos)):
        number = id_of(token) if isinstance(token, str) else token
        if token is not None and number is None:
            raise ValueError(f"{_NAME}: {name} is {token!r}, no token of {settings.path!r}")
        ids.append([] if number is None else [number])
    return ids[0], ids[1]


def _pad(settings: _Settings, found: Sequence[int | None]) -> int:
    """Returns the id that pads: the first that the file has."""
    if settings.pad_id is not None or settings.length is None:
        return settings.pad_id or 0
    known = [number for number in found if number is not None and number >= 0]
    if not known:
        raise ValueError(f"{_NAME}: {settings.path!r} names no token that pads; give pad_id, or no length")
    return known[0]
