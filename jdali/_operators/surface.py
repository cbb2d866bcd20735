"""Derives the public functions of a surface from operators' records: signatures, docs, DALI's names and warnings."""

from __future__ import annotations

import inspect
import sys
import types as pytypes
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from jdali._operators.base import Operator
from jdali._operators.catalog import CATALOG
from jdali._operators.names import ALIASES as ALIASES
from jdali._operators.names import class_name as class_name
from jdali._operators.names import is_deprecated as is_deprecated
from jdali._operators.names import schema_name as schema_name
from jdali._operators.names import warn_deprecated as warn_deprecated
from jdali._operators.names import warn_of_name as warn_of_name
from jdali._operators.schema import ArgKind
from jdali._operators.static_values import alternatives
from jdali._system.lazy import attribute

# Prefixes of operators that users do not call by name, because they are parts of expressions (`math.`) or of the engine.
HIDDEN = ("_", "math.")


def public_signature(
    op: Operator, value_type: object, per_sample_type: object, *, key: object = None
) -> inspect.Signature:
    """Makes the signature of an operator on a surface, with the names, order and defaults of its record.

    Args:
        per_sample_type: further type that per-sample arguments may have, such as a node; None: no further type.
    """
    parameters = []
    if op.random and key is not None:
        parameters.append(inspect.Parameter("key", inspect.Parameter.POSITIONAL_ONLY, annotation=key))
    for i in op.inputs:
        kind = inspect.Parameter.VAR_POSITIONAL if i.variadic else inspect.Parameter.POSITIONAL_ONLY
        default = None if i.optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter(i.name, kind, default=default, annotation=value_type))
    for arg in op.public_args.values():
        annotation = arg.annotation
        if arg.kind is ArgKind.PER_SAMPLE and per_sample_type is not None:
            annotation = _union(annotation, per_sample_type)
        default = inspect.Parameter.empty if arg.required else arg.default
        parameters.append(
            inspect.Parameter(
                arg.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
        )
    return inspect.Signature(parameters)


def files_by_keyword(op: Operator, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Moves unknown keyword arguments into the operator's argument `files`, a dict from output names to files."""
    own = {name: value for name, value in arguments.items() if name in op.public_args}
    others = {name: value for name, value in arguments.items() if name not in own}
    # An iterator, such as the result of `Path.glob`, becomes a list, because it is read more than once.
    kept = {name: list(value) if isinstance(value, Iterator) else value for name, value in others.items()}
    return own | {"files": dict(own.get("files") or {}) | kept}


def with_keywords(signature: inspect.Signature) -> inspect.Signature:
    """Adds a parameter that takes all other keyword arguments, each named after an output."""
    more = inspect.Parameter("keywords", inspect.Parameter.VAR_KEYWORD, annotation=Any)
    return signature.replace(parameters=[*signature.parameters.values(), more])


def _union(annotation: Any, extra: Any) -> object:
    if annotation is Any or extra in alternatives(annotation):
        return annotation
    try:
        return annotation | extra
    except TypeError:
        return Any


def document(
    op: Operator, extra: Mapping[str, str], *, by_frame: bool = True, first: Mapping[str, str] | None = None
) -> str:
    """Writes the docstring of an operator, with further arguments, and a note on the arguments that may differ by frame."""
    doc = op.doc
    names = [f"`{arg.name}`" for arg in op.public_args.values() if arg.per_frame]
    if names and by_frame:
        doc += (
            f"\n\nBy frame: of sequences {', '.join(names)} may have a value for each frame, see `per_frame`."
        )
    before, after = _entries(first or {}), _entries(extra)
    if not before and not after:
        return doc
    head, found, tail = doc.partition("\nArgs:\n")
    if not found:
        return f"{doc}\n\nArgs:\n{before}{after}"
    body, separator, rest = tail.partition("\n\n")
    return f"{head}\nArgs:\n{before}{body.rstrip()}\n{after.rstrip()}{separator}{rest}"


def _entries(arguments: Mapping[str, str]) -> str:
    return "".join(f"    {name}: {text}\n" for name, text in arguments.items())


class ListedSignature(inspect.Signature):
    """Shows a signature in `help` with a line for each parameter."""

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) < _LINE:
            return text
        parts = [str(p) for p in self.parameters.values()]
        kinds = [p.kind for p in self.parameters.values()]
        positional = kinds.count(inspect.Parameter.POSITIONAL_ONLY)
        if positional:
            parts.insert(positional, "/")
        if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
            parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY) + bool(positional), "*")
        arrow = text.rpartition(") ->")[2] if ") ->" in text else ""
        return "(\n" + "".join(f"    {part},\n" for part in parts) + (f") ->{arrow}" if arrow else ")")


_LINE = 80


def describe(
    function: Callable[..., Any], op: Operator, package: str, signature: inspect.Signature, doc: str
) -> None:
    """Sets the name, module, signature and docs of a derived function, which `help` and editors show."""
    *path, short = op.name.split(".")
    function.__name__ = function.__qualname__ = short
    function.__module__ = ".".join([package, *path])
    function.__signature__ = ListedSignature(  # type: ignore[attr-defined]
        list(signature.parameters.values()), return_annotation=signature.return_annotation
    )
    function.__operator__ = op  # type: ignore[attr-defined]
    function.__doc__ = doc


Shown = Callable[[str], Iterator[tuple[str, Callable[[], Any]]]]
"""Yields an operator's functions or classes on a surface, as pairs (dotted name below the surface, factory)."""


def fill(
    surface: str,
    shown: Shown,
    aliases: Mapping[str, str],
    named: Callable[[str], str] = str,
    deprecated: Callable[[object, str], object] | None = None,
) -> None:
    """Adds the operators of jdali to a surface. Each function or class is made on first access.

    Args:
        shown: yields the names and factories for an operator.
        named: converts a name in `jdali.fn` to the name in this surface.
        deprecated: wraps a function for a deprecated name, so that a call warns.
    """
    package = sys.modules[surface]
    for name in (name for names in CATALOG.values() for name in names):
        for path, make in shown(name):
            attribute(*_home(package, path), make)
    for old, new in aliases.items():
        same: Callable[[], Any] = partial(attrgetter(named(new)), package)
        if deprecated is not None and is_deprecated(old):
            same = partial(lambda make, name: deprecated(make(), name), same, old)
        attribute(*_home(package, named(old)), same)


def place(package: pytypes.ModuleType, path: str, value: object) -> None:
    module, short = _home(package, path)
    setattr(module, short, value)


def _home(package: pytypes.ModuleType, path: str) -> tuple[pytypes.ModuleType, str]:
    """Finds or makes the module of a dotted name; returns it and the last part of the name."""
    *families, short = path.split(".")
    module = package
    for family in families:
        full = f"{module.__name__}.{family}"
        child = vars(module).get(family)
        if not isinstance(child, pytypes.ModuleType):
            child = sys.modules.get(full) or pytypes.ModuleType(full, f"The operators `{full}.*`.")
            sys.modules[full] = child
            setattr(module, family, child)
        module = child
    return module, short
