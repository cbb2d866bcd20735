from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, Plan, RaggedBlock, Store, aligned_empty
from jdali._kernels.tokenizers import TokenizerSettings, decoded, open_tokenizer
from jdali._operators.record import HostOutputs, Static, host_batch_operator

_NAME = "tokenize"


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
    opened = open_tokenizer(
        TokenizerSettings(_NAME, tokenizer, add_special_tokens, bos, eos, length, pad_id, truncation_side)
    )
    # Without a length, output sizes are known only after encoding, so the spec has the sizes of the texts as placeholders.
    extents = texts.extents if length is None else np.full((texts.batch_size, 1), length)
    return Plan(_specs(extents, with_mask, with_length), static={"_opened": opened})


def _specs(extents: np.ndarray, with_mask: bool, with_length: bool) -> tuple[BatchSpec, ...]:
    ids, mask = BatchSpec(extents, np.dtype(np.int32)), BatchSpec(extents, np.dtype(bool))
    lengths = BatchSpec(np.zeros((len(extents), 0)), np.dtype(np.int32))
    return (ids, *[mask] * with_mask, *[lengths] * with_length)


@host_batch_operator(
    name=_NAME, setup=setup, devices=("cpu",),
    outputs=lambda arguments: 1 + bool(arguments.get("with_mask")) + bool(arguments.get("with_length")),
)  # fmt: skip
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
    """Converts texts to token ids, truncated and padded to one length.

    The package `tokenizers` or `sentencepiece` computes the ids. Ids do not depend on the other texts of a batch,
    because padding and truncation set in a tokenizer.json are ignored. One call encodes all texts of a batch, in threads of
    the package; `TOKENIZERS_PARALLELISM=false` and `RAYON_NUM_THREADS` limit the threads of `tokenizers`. A text that
    is not UTF-8 is a bad sample.

    Args:
        texts: uint8 [bytes], UTF-8.
        tokenizer: path or URL of a tokenizer.json of Hugging Face, or of a SentencePiece model. A file that has changed is
            opened again.
        add_special_tokens: add the special tokens of a tokenizer.json, such as [CLS] and [SEP]; a SentencePiece model
            has none.
        bos, eos: tokens, or their ids, to add in front of each text (`bos`) and behind it (`eos`).
        length: number of tokens of each output. Longer texts are truncated, but keep special tokens, `bos` and `eos`;
            shorter texts are padded. None: each output has as many tokens as its text.
        pad_id: id to pad with; None: the id that the file defines.
        truncation_side: side on which longer texts are truncated, "left" or "right".
        with_length: add a last output, int32 []: the number of tokens without padding.
        with_mask: add a second output, bool: True for tokens, False for padding.

    Returns: int32 [length], or [tokens].

    Parity: DALI has no such operator.

    Example: ids = fn.tokenize(captions, tokenizer="tokenizer.json", length=64)
    """
    strings, failures = decoded(_NAME, texts)
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
