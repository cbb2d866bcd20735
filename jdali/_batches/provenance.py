"""Provenance: the samples of sources that each sample was made of.

It travels with the samples; names are made when they are asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from jdali._numerics.counting import counting

_NONE = -1  # stands for "no sample" in `Provenance`


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """The samples that one source gave for a batch.

    Attributes:
        name: returns the name of the sample with an index in the data set, "" without one.
        index: int64 [n], of the samples in the data set; must not change afterwards.
    """

    name: Callable[[int], str]
    index: np.ndarray
    source: Any = None

    def __len__(self) -> int:
        return len(self.index)


@dataclasses.dataclass(frozen=True, eq=False)
class _Pasted(Drawn):
    """The names of samples that others were pasted into; `parts` gives those pasted into a position."""

    parts: Callable[[int], list[str]] = lambda position: []


def _nameless(index: int) -> str:
    return ""


_SHOWN = 4


class Provenance(Sequence[str]):
    """For each sample of a batch the samples of sources that it was made of; as a sequence its name.

    A sample that several files were mixed into has no name, as in DALI, but where they were pasted into it; `files`
    gives all of them.

    Args:
        drawn: what the sources gave.
        links: int64 [n, k], for each sample indices into `drawn` concatenated; -1: none.
        data: the first columns of `links`, this many, are of data, which give the name; the others are of arguments.
    """

    __slots__ = ("_data", "_drawn", "_links")

    def __init__(self, drawn: tuple[Drawn, ...], links: np.ndarray, data: int):
        self._drawn, self._links, self._data = drawn, links, data

    def __repr__(self) -> str:
        shown = [repr(self[i]) for i in range(min(len(self), _SHOWN))]
        return f"Provenance([{', '.join(shown)}{', ...' * (len(self) > _SHOWN)}], {len(self)} samples)"

    @classmethod
    def of(cls, drawn: Drawn) -> Provenance:
        """Makes the provenance of samples as the source gave them."""
        return cls((drawn,), counting(len(drawn))[:, None], 1)

    @classmethod
    def named(cls, names: Sequence[str]) -> Provenance:
        """Makes the provenance of samples with these names."""
        return cls.of(Drawn(tuple(names).__getitem__, np.arange(len(names))))

    @classmethod
    def nowhere(cls, count: int) -> Provenance:
        """Makes the provenance of samples whose origin is unknown."""
        return cls((), np.zeros((count, 0), np.int64), 0)

    @classmethod
    def together(
        cls, data: Sequence[Provenance | None], arguments: Sequence[Provenance | None] = ()
    ) -> Provenance | None:
        """Combines the provenance of an operator's inputs, sample by sample; None if all of them lack it."""
        known = [p for p in data if p is not None]
        others = [p for p in arguments if p is not None]
        if not known and not others:
            return None
        known, others = _distinct(known), _distinct(others)
        if len(known) == 1 and all(any(o is k for k in known) for o in others):
            return known[0]
        drawn, moved = _renumbered([*known, *others])
        mine, theirs = moved[: len(known)], moved[len(known) :]
        columns = [p._links[:, : p._data] for p in mine]
        further = [p._links[:, p._data :] for p in mine] + [p._links for p in theirs]
        first = _without_repetitions(np.concatenate(columns, axis=1)) if columns else None
        rest = _without_repetitions(np.concatenate(further, axis=1))
        if first is None:
            return cls(drawn, rest, 0)
        return cls(drawn, np.concatenate([first, rest], axis=1), first.shape[1])

    @classmethod
    def pasted(
        cls,
        data: Sequence[Provenance | None],
        arguments: Sequence[Provenance | None],
        chosen: Sequence[np.ndarray] | None,
    ) -> Provenance | None:
        """Combines the provenance of samples pasted into others, one after another; joins names by ";", as DALI does.

        Errors are blamed on the samples in the same position, whose arguments choose what is pasted.

        Args:
            chosen: for each sample those of the first input that are pasted into it; None: one of each input.
        """
        origins, known = cls.together(data, arguments), [p for p in data if p is not None]
        if origins is None or not known:
            return origins

        def parts(i: int) -> list[str]:
            names = [p[i] for p in known] if chosen is None else [known[0][k] for k in chosen[i].tolist()]
            return [name for name in names if name]

        own = np.arange(len(origins))
        names = _Pasted(lambda i: ";".join(parts(i)), own, parts=parts)
        links = np.where(origins._links == _NONE, _NONE, origins._links + len(own))
        return cls((names, *origins._drawn), np.concatenate([own[:, None], links], axis=1), 1)

    @classmethod
    def concat(cls, batches: Sequence[Provenance]) -> Provenance:
        """Joins the provenance of batches, one after another."""
        drawn, moved = _renumbered(batches)
        data = _stacked([p._links[:, : p._data] for p in moved])
        rest = _stacked([p._links[:, p._data :] for p in moved])
        return cls(drawn, np.concatenate([data, rest], axis=1), data.shape[1])

    def select(self, chosen: Any) -> Provenance:
        """Selects the samples at these positions, in that order."""
        return Provenance(self._drawn, self._links[chosen], self._data)

    def send(self) -> Provenance:
        """Returns the same for another process: sources that are text are known there, of others the names go along."""
        return Provenance(tuple(map(_portable, self._drawn)), self._links, self._data)

    def received(self, drawn: Callable[[str], Drawn]) -> Provenance:
        """Returns the same in the process that it was sent to; `drawn` returns what the source of a name gave."""
        known = tuple(drawn(one.source) if isinstance(one.source, str) else one for one in self._drawn)
        return Provenance(known, self._links, self._data)

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Provenance: ...
    def __getitem__(self, i: int | slice) -> Provenance | str:
        if isinstance(i, slice):
            return self.select(i)
        names = self._names(self._links[i, : self._data])
        return names[0] if len(names) == 1 else ""

    def files(self, i: int) -> list[str]:
        """Returns the names of all samples that sample `i` was made of, also by way of arguments."""
        return self._names(self._links[i], apart=True)

    def origins(self, i: int) -> list[tuple[Drawn, int]]:
        """Returns the samples that sample `i` was made of, each with its position in the drawn batch."""
        return [found for found in self._found(self._links[i]) if not isinstance(found[0], _Pasted)]

    def _found(self, links: np.ndarray) -> list[tuple[Drawn, int]]:
        return [self._origin(link) for link in dict.fromkeys(links.tolist()) if link != _NONE]

    def _names(self, links: np.ndarray, *, apart: bool = False) -> list[str]:
        """Returns the names of samples; those pasted into one are joined unless they are wanted `apart`."""
        names: list[str] = []
        for drawn, position in self._found(links):
            index = int(drawn.index[position])
            names += drawn.parts(index) if apart and isinstance(drawn, _Pasted) else [drawn.name(index)]
        return [name for name in dict.fromkeys(names) if name]

    def _origin(self, link: int) -> tuple[Drawn, int]:
        for drawn in self._drawn:
            if link < len(drawn):
                return drawn, link
            link -= len(drawn)
        raise IndexError(f"provenance: there is no sample {link}")


def _portable(drawn: Drawn) -> Drawn:
    if isinstance(drawn.source, str):
        return Drawn(_nameless, drawn.index, drawn.source)
    indices, positions = drawn.index.tolist(), counting(len(drawn))
    names = tuple(map(drawn.name, indices))
    if not isinstance(drawn, _Pasted):
        return Drawn(names.__getitem__, positions)
    return _Pasted(names.__getitem__, positions, parts=tuple(map(drawn.parts, indices)).__getitem__)


def external(count: int, source: object) -> Provenance:
    """Makes the provenance of samples that have a position in what was drawn, but no name."""
    return Provenance.of(Drawn(_nameless, np.arange(count), source))


def _distinct(batches: Sequence[Provenance]) -> list[Provenance]:
    return list({id(p): p for p in batches}.values())


def _renumbered(batches: Sequence[Provenance]) -> tuple[tuple[Drawn, ...], list[Provenance]]:
    """Collects all that was drawn, and renumbers the links of the batches into it."""
    drawn = tuple({id(d): d for p in batches for d in p._drawn}.values())
    starts = dict(zip(map(id, drawn), np.cumsum([0, *map(len, drawn)]).tolist(), strict=False))
    moved = []
    for p in batches:
        if all(mine is ours for mine, ours in zip(p._drawn, drawn, strict=False)):
            moved.append(p)  # the first ones, in the same order
            continue
        indices = [np.arange(len(d)) + starts[id(d)] for d in p._drawn]
        new = np.concatenate([*indices, [_NONE]])  # the last one: what -1 refers to
        moved.append(Provenance(drawn, new[p._links], p._data))
    return drawn, moved


def _stacked(links: Sequence[np.ndarray]) -> np.ndarray:
    """Stacks rows, filled up by no sample."""
    width = max(mine.shape[1] for mine in links)
    return np.concatenate(
        [np.pad(mine, [(0, 0), (0, width - mine.shape[1])], constant_values=_NONE) for mine in links]
    )


def _without_repetitions(links: np.ndarray) -> np.ndarray:
    """Drops repetitions in each row and empty columns, so that links stay few however often samples are mixed."""
    if links.shape[1] < 2 or not len(links):
        return links
    ordered = np.sort(links, axis=1)[:, ::-1]
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = _NONE
    ordered = np.sort(ordered, axis=1)[:, ::-1]
    last = ordered.shape[1] - int((ordered == _NONE).all(axis=0).sum())
    return ordered[:, :last][:, ::-1] if last else ordered[:, :0]
