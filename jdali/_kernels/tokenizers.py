"""Opens tokenizers of the packages `tokenizers` and `sentencepiece` with the arguments of an operator."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from jdali._errors import SampleError
from jdali._storage import is_url, read_file
from jdali._storage import version as file_version
from jdali._system.extras import install

# Usual padding tokens. If a tokenizer's file names no padding token, the first of these in its vocabulary is used.
_PADS = ("[PAD]", "<pad>")
# Maximum number of cached tokenizers. One with 256,000 tokens takes about 200 MB.
_MOST_OPEN = 8

Encode: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[int]]]


class TokenizerSettings(NamedTuple):
    """Key of an open tokenizer in the cache: the operator's name and arguments, and `version`, which changes with the file."""

    name: str
    path: str
    add_special_tokens: bool = True
    bos: int | str | None = None
    eos: int | str | None = None
    length: int | None = None
    pad_id: int | None = None
    truncation_side: str = "right"
    version: str | None = None

    def room(self, special: int) -> int | None:
        """Returns how many tokens of a text fit into `length` beside `special` special tokens; None: no limit."""
        if self.length is None:
            return None
        if self.length < special:
            raise ValueError(
                f"{self.name}: length is {self.length}, and each text has {special} special tokens"
            )
        return self.length - special


class Tokenizer(NamedTuple):
    """An open tokenizer.

    Attributes:
        encode: returns the token ids of each text, truncated to `length`; thread-safe.
        pad: id to pad with; 0 if there is no `length`.
    """

    encode: Encode
    pad: int


def open_tokenizer(settings: TokenizerSettings) -> Tokenizer:
    """Returns a tokenizer, from the cache if possible; opens it again if its file has changed."""
    if not is_url(settings.path):
        with contextlib.suppress(OSError):  # reading the file below reports the error
            settings = settings._replace(version=file_version(settings.path))
    return _opened(settings)


@functools.lru_cache(_MOST_OPEN)
def _opened(settings: TokenizerSettings) -> Tokenizer:
    try:
        content = read_file(settings.path).tobytes()
    except SampleError as error:  # the file belongs to the whole operator, not to a sample
        raise ValueError(f"{settings.name}: {error}") from error
    is_json = content.lstrip()[:1] == b"{"
    return _of_json(content, settings) if is_json else _of_sentencepiece(content, settings)


def decoded(name: str, texts: Sequence[np.ndarray]) -> tuple[list[str], dict[int, Exception]]:
    """Decodes UTF-8. Returns the strings ("" for an invalid text), and the errors by position of the text."""
    strings, failures = [], dict[int, Exception]()
    for number, text in enumerate(texts):
        try:
            strings.append(text.tobytes().decode())
        except UnicodeDecodeError as error:
            strings.append("")
            failures[number] = SampleError(
                f"{name}: the text is not UTF-8: {error.reason} at byte {error.start} of {text.size}"
            )
    return strings, failures


def _of_json(content: bytes, settings: TokenizerSettings) -> Tokenizer:
    try:
        import tokenizers
    except ImportError as error:
        raise ImportError(
            f"{settings.name} of a tokenizer.json needs the package tokenizers: {install('text')}"
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    except Exception as error:  # the package raises plain `Exception`s
        raise ValueError(f"{settings.name}: {settings.path!r} is not a tokenizer: {error}") from error
    if getattr(tokenizer.model, "dropout", None):
        raise ValueError(
            f"{settings.name}: {settings.path!r} has a dropout, which makes ids random; take it out of the file"
        )
    padding, add = tokenizer.padding, settings.add_special_tokens
    pads = [padding["pad_id"]] if padding else [tokenizer.token_to_id(token) for token in _PADS]
    first, last = _around(settings, tokenizer.token_to_id)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    special = tokenizer.num_special_tokens_to_add(False) if add else 0
    room = settings.room(special + len(first) + len(last))
    if room is not None:
        # The package counts its own special tokens in this length. If the length were less than their number, the
        # package would truncate nothing.
        tokenizer.enable_truncation(room + special, direction=settings.truncation_side)

    def encode(texts: Sequence[str]) -> list[list[int]]:
        found = tokenizer.encode_batch_fast(texts, add_special_tokens=add)
        return [[*first, *one.ids, *last] for one in found] if first or last else [one.ids for one in found]

    return Tokenizer(encode, _pad(settings, pads))


def _of_sentencepiece(content: bytes, settings: TokenizerSettings) -> Tokenizer:
    try:
        import sentencepiece
    except ImportError as error:
        raise ImportError(
            f"{settings.name}: {settings.path!r} is not a tokenizer.json; a model of SentencePiece needs the package "
            f"sentencepiece: {install('text')}"
        ) from error
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    except (RuntimeError, OSError) as error:
        raise ValueError(
            f"{settings.name}: {settings.path!r} is neither a tokenizer.json nor a model of SentencePiece: {error}"
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

    return Tokenizer(encode, _pad(settings, [processor.pad_id(), *map(found, _PADS)]))


def _around(settings: TokenizerSettings, id_of: Callable[[str], int | None]) -> tuple[list[int], list[int]]:
    """Returns the token ids to put in front of a text (`bos`, if set) and behind it (`eos`, if set)."""
    ids: list[list[int]] = []
    for name, token in (("bos", settings.bos), ("eos", settings.eos)):
        number = id_of(token) if isinstance(token, str) else token
        if token is not None and number is None:
            raise ValueError(f"{settings.name}: {name} is {token!r}, no token of {settings.path!r}")
        ids.append([] if number is None else [number])
    return ids[0], ids[1]


def _pad(settings: TokenizerSettings, found: Sequence[int | None]) -> int:
    """Returns `pad_id` if given, else 0 if there is no `length`, else the first valid id in `found`."""
    if settings.pad_id is not None or settings.length is None:
        return settings.pad_id or 0
    known = [number for number in found if number is not None and number >= 0]
    if not known:
        raise ValueError(
            f"{settings.name}: {settings.path!r} names no token that pads; give pad_id, or no length"
        )
    return known[0]
