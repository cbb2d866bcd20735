"""The registry of operators: those that were loaded, and where to load the others."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(MutableMapping[str, T], Generic[T]):
    """Operators by name. One that the catalog knows is loaded, by importing its module, when it is asked for.

    Args:
        catalog: for each module, the names and kinds of the operators that importing it registers.
    """

    def __init__(self, catalog: Mapping[str, Mapping[str, str]]):
        self._records: dict[str, T] = {}
        self._modules = {name: module for module, names in catalog.items() for name in names}
        self._kinds = {name: kind for names in catalog.values() for name, kind in names.items()}

    def loaded(self) -> Mapping[str, T]:
        """Returns the operators that were loaded so far."""
        return dict(self._records)

    def is_built_in(self, name: str) -> bool:
        """True if the catalog knows the operator."""
        return name in self._modules

    def kind_name(self, name: str) -> str:
        """Returns the name of the type of an operator without loading it."""
        return type(self._records[name]).__name__ if name in self._records else self._kinds[name]

    def register(self, name: str, record: T, module: str) -> None:
        """Adds an operator.

        Args:
            name: of the operator.
            record: the operator.
            module: that defines it.

        Raises:
            ValueError: there is an operator of this name.
        """
        if self._modules.get(name, module) != module:
            importlib.import_module(self._modules[name])
        if name in self._records:
            raise ValueError(f"operator {name} is registered twice")
        self._records[name] = record

    def __getitem__(self, name: str) -> T:
        if name not in self._records and name in self._modules:
            importlib.import_module(self._modules[name])
        return self._records[name]

    def __setitem__(self, name: str, record: T) -> None:
        self._records[name] = record

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        for known in (self._records, self._modules, self._kinds):
            known.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._records or name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(list(dict.fromkeys([*self._modules, *self._records])))

    def __len__(self) -> int:
        return len(self._modules.keys() | self._records.keys())
