"""Writes the stub of a function or class of a surface: parameters, result, docstring.

A surface is one of `jdali.fn`, `jdali.ops` and `jdali.dynamic`.
"""

from __future__ import annotations

import enum
import inspect
import itertools
import re
import types as pytypes
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from jdali._operators.record import Operator

RETURNS = {
    "jdali.fn": "DataNode",
    "jdali.ops": "Array",
    "jdali.dynamic": "Tensor | Batch",
}
DTYPES = {
    "jdali.fn": "types.DALIDataType | DTypeLike",
    "jdali.ops": "types.DALIDataType | DTypeLike",
    "jdali.dynamic": "DType | types.DALIDataType | DTypeLike",
}
# Types that the elements of a vector argument may have, in addition to numbers.
_ELEMENT = {"jdali.fn": " | DataNode", "jdali.ops": " | ArrayLike", "jdali.dynamic": ""}
_INPUTS = {"jdali.fn": "DataNode | ArrayLike", "jdali.dynamic": "Tensor | Batch | ArrayLike"}
_EXTENT = "extent: Any = None"
_EXTENT_FORMS = ("extent: None = None", "extent: ArrayLike | typing.Sequence[Any]")
_TYPE_NAMES = ("DataNode", "ArrayLike", "Tensor", "Batch", "Device", "RNG")
_LAYOUTS = "Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str"
# Forms of operators whose number of outputs `forms_of` cannot find.
_RETURNED: dict[str, dict[str, list[tuple[dict[str, str], str]]]] = {
    "jdali.fn": {
        "external_source": [
            ({"num_outputs": "num_outputs: None = None"}, "DataNode"),
            ({"num_outputs": "num_outputs: int = ..."}, "list[DataNode]"),
        ],
        "readers.tfrecord": [({}, "dict[str, DataNode]")],
    },
    "jdali.dynamic": {"readers.tfrecord": [({}, "dict[str, Tensor | Batch]")]},
}


class Form(NamedTuple):
    """A way to call an operator: one overload in the stub.

    Attributes:
        parameters: texts of the parameters that differ from the signature, by name; "" omits a parameter.
        result: annotation of the result.
    """

    parameters: Mapping[str, str]
    result: str


def annotation_text(annotation: Any, surface: str) -> str:
    """Returns the text of an annotation for a stub."""
    if annotation is inspect.Parameter.empty or annotation is Any:
        return "Any"
    if annotation is None or annotation is type(None):
        return "None"
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, typing.get_args(annotation)))}]"
    if origin in (typing.Union, pytypes.UnionType):
        return _union_text(annotation, surface)
    if origin in (tuple, list):
        return _vector_text(annotation, surface)
    if annotation is np.dtype or origin is np.dtype:
        return DTYPES[surface]
    if annotation is jax.Array:  # for keys and values, callers may pass NumPy arrays, too
        return "Any" if surface == "jdali.dynamic" else "ArrayLike"
    name = getattr(annotation, "__name__", "")
    if annotation is bool and surface == "jdali.dynamic":  # `jdali.dynamic.bool` is an element type
        return "builtins.bool"
    if annotation in (int, float, bool, str) or name in _TYPE_NAMES:
        return name
    if name.startswith("DALI"):
        return f"types.{name}"
    if "Feature" in str(annotation):
        return "typing.Mapping[str, Feature]" if surface == "jdali.fn" else "Any"
    if "ArrayLike" in str(annotation) or "Array" in str(annotation):
        return "ArrayLike" if surface != "jdali.dynamic" or "numpy" in str(annotation) else "Any"
    return "Any"


def _union_text(annotation: Any, surface: str) -> str:
    # `np.integer` in a union only says which element types a tensor may have.
    options = [a for a in typing.get_args(annotation) if a is not np.integer]
    texts = [annotation_text(a, surface) for a in options]
    parts = list(dict.fromkeys(part for text in texts for part in _split(text)))
    # Sort, because Python caches a union in the order in which it was first written. Numbers come first.
    parts.sort(key=lambda part: (part == "None", part not in ("int", "float")))
    text = "Any" if "Any" in parts else " | ".join(parts)
    # An argument that accepts no node accepts no nodes as elements.
    return text if "DataNode" in parts else text.replace(_ELEMENT["jdali.fn"], "")


def _split(text: str) -> list[str]:
    """Splits the text of a union into its members."""
    return re.findall(r"(?:[^\[\]| ]+(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?)", text)


def _vector_text(annotation: Any, surface: str) -> str:
    """Returns the text of a vector's annotation: a sequence, an array, or one number for all elements."""
    options = [a for a in typing.get_args(annotation) if a is not ... and a is not np.integer]
    inner = list(dict.fromkeys(annotation_text(a, surface) for a in options))
    number = [text for text in inner if text in ("int", "float")]
    if not number:
        # With `typing.`, because `Sequence` is also the name of a reader.
        text = f"typing.Sequence[{' | '.join(inner)}]"
        return f"str | {text}" if inner == ["str"] else text
    return f"{number[-1]} | typing.Sequence[{number[-1]}{_ELEMENT[surface]}] | NDArray[Any]"


def default_text(default: Any) -> str:
    """Returns the text of a default for a stub; "..." if the text would need an import."""
    if isinstance(default, enum.Enum):
        return (
            f"types.{type(default).__name__}.{default.name}"
            if type(default).__name__ != "DALIDataType"
            else "..."
        )
    if isinstance(default, (bool, int, float, str, type(None))):
        return repr(default)
    if isinstance(default, tuple) and all(isinstance(v, (bool, int, float, str)) for v in default):
        return repr(default)
    return "..."


def function_text(function: Any, surface: str) -> str:
    """Returns the `def` of a function, or its overloads; the first one has the docstring."""
    forms = [
        (parameter_texts(signature, surface, form.parameters, function.__doc__ or ""), form.result)
        for signature in signatures(function)
        for form in forms_of(function.__operator__, surface)
    ]
    if surface == "jdali.ops":
        forms = [form for texts, returned in forms for form in _forms_of_extent(texts, returned)]
    if surface == "jdali.fn":
        forms += [form for texts, returned in forms for form in _forms_of_input_sets(texts, returned)]
    overload = "@overload\n" if len(forms) > 1 else ""
    docs = [function.__doc__, *[None] * (len(forms) - 1)]
    return "\n".join(
        overload + _definition(function.__name__, texts, made, doc)
        for (texts, made), doc in zip(forms, docs, strict=True)
    )


def forms_of(op: Operator, surface: str) -> list[Form]:
    """Returns a form for each number of outputs that an operator may have."""
    if op.name in _RETURNED.get(surface, {}):
        return [Form(*form) for form in _RETURNED[surface][op.name]]
    optional = op.inputs[-1].name if op.output_per_optional else None
    flags = [arg.name for arg in op.public_args.values() if arg.annotation is bool and _counts(op, arg.name)]
    if optional is not None:
        return [
            *_flag_forms(op, surface, flags, op.min_inputs, {optional: ""}),
            *_flag_forms(op, surface, flags, op.min_inputs + 1, {optional: optional}),
        ]
    if _counts_by_value(op):
        return [Form({}, "Any")]
    if flags or not callable(op.outputs):
        return _flag_forms(op, surface, flags, op.min_inputs, {})
    if "num_outputs" in op.public_args:
        one, several = "num_outputs: Literal[1] = 1", "num_outputs: int"
        results = _result(surface, 1), f"tuple[{RETURNS[surface]}, ...]"
        return [Form({"num_outputs": one}, results[0]), Form({"num_outputs": several}, results[1])]
    return [Form({}, "Any")]  # the length of a list argument determines the number


def _flag_forms(
    op: Operator, surface: str, flags: list[str], inputs: int, others: dict[str, str]
) -> list[Form]:
    """Returns a form for each choice of up to two flags; for more flags, a form for the defaults and a general one."""
    bool_text = annotation_text(bool, surface)
    if len(flags) > 2:
        default = {flag: _flag_text(op, flag, bool(op.args[flag].default)) for flag in flags}
        general = {flag: f"{flag}: {bool_text} = {op.args[flag].default}" for flag in flags}
        several = f"tuple[{RETURNS[surface]}, ...]"
        return [
            Form(others | default, _result(surface, _count(op, {}, inputs))),
            Form(others | general, several if (_count(op, {}, inputs) or 0) > 1 else "Any"),
        ]
    forms = []
    for choice in itertools.product(*((d, not d) for d in (bool(op.args[flag].default) for flag in flags))):
        chosen = dict(zip(flags, choice, strict=True))
        texts = {flag: _flag_text(op, flag, on) for flag, on in chosen.items()}
        forms.append(Form(others | texts, _result(surface, _count(op, chosen, inputs))))
    return forms


def _flag_text(op: Operator, flag: str, value: bool) -> str:
    text = f"{flag}: Literal[{value}]"
    return f"{text} = {value}" if op.args[flag].default is value else text


def _counts(op: Operator, flag: str) -> bool:
    return _count(op, {}) != _count(op, {flag: not op.args[flag].default})


def _counts_by_value(op: Operator) -> bool:
    """Returns True if an argument other than a bool, such as a video reader's folder, changes the number of outputs."""
    others = [a.name for a in op.public_args.values() if a.annotation is not bool and a.name != "num_outputs"]
    found = {_count(op, {name: value}) for name in others for value in ("x", [0])}
    return len({count for count in (*found, _count(op, {})) if count is not None}) > 1


def _count(op: Operator, static: Mapping[str, object], inputs: int | None = None) -> int | None:
    """Returns the number of outputs; None if these arguments do not determine it."""
    defaults = {arg.name: arg.default for arg in op.public_args.values() if not arg.required}
    try:
        return op.num_outputs(defaults | dict(static), op.min_inputs if inputs is None else inputs)
    except (KeyError, TypeError, ValueError):
        return None


def _result(surface: str, count: int | None) -> str:
    one = RETURNS[surface]
    return (
        "Any"
        if count is None
        else "None"
        if count == 0
        else one
        if count == 1
        else f"tuple[{', '.join([one] * count)}]"
    )


def signatures(function: Any) -> list[inspect.Signature]:
    """Returns a function's signatures; a random pure function has two: the key comes first, or is passed by name."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if (
        not parameters
        or parameters[0].name != "key"
        or parameters[0].kind is not inspect.Parameter.POSITIONAL_ONLY
    ):
        return [signature]
    first, *others = parameters
    positional = [p for p in others if p.kind is not p.KEYWORD_ONLY]
    named = [first.replace(kind=first.KEYWORD_ONLY), *(p for p in others if p.kind is p.KEYWORD_ONLY)]
    return [signature, signature.replace(parameters=[*positional, *named])]


def _forms_of_extent(parameters: list[str], result: str) -> list[tuple[list[str], str]]:
    """Returns the form without `extent`, and the form with it, whose result is a pair."""
    if _EXTENT not in parameters:
        return [(parameters, result)]
    without, given = ([form if p == _EXTENT else p for p in parameters] for form in _EXTENT_FORMS)
    return [(without, result), (given, f"tuple[{result}, {result}]" if result == "Array" else "Any")]


def _forms_of_input_sets(parameters: list[str], result: str) -> list[tuple[list[str], str]]:
    """Returns the form that takes lists of nodes, calls the operator for each node, and returns lists."""
    node, one = RETURNS["jdali.fn"], f": {_INPUTS['jdali.fn']}"
    inputs = [i for i, text in enumerate(parameters) if text.endswith(one)]
    if not inputs or not (result == node or result.startswith("tuple")):
        return []
    texts, several = list(parameters), f"list[{node}]"
    for i in inputs:
        texts[i] = f"{parameters[i]} | {several}"
    texts[inputs[0]] = f"{parameters[inputs[0]].removesuffix(one)}: {several}"
    return [(texts, several if result == node else f"list[{several}]")]


def _definition(name: str, parameters: list[str], result: str, doc: str | None) -> str:
    lines = "".join(f"    {p},\n" for p in parameters)
    body = f"\n{_docstring(doc, '    ')}" if doc else " ...\n"
    return f"def {name}(\n{lines}) -> {result}:{body}"


def _docstring(doc: str, indent: str) -> str:
    text = doc.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    text = f"{text} " if text.endswith('"') and "\n" not in text else text
    lines = [f'"""{text}', '"""'] if "\n" in text else [f'"""{text}"""']
    return "".join(f"{indent}{line}\n" if line.strip() else "\n" for line in "\n".join(lines).split("\n"))


def without_docstrings(text: str) -> str:
    """Removes the docstrings of a stub, because they may name types that the stub need not import."""
    return re.sub(r'^ *"""(?:[^"\\]|\\.|"(?!""))*"""$', "", text, flags=re.MULTILINE)


def class_text(made: type, surface: str) -> str:
    """Returns the `class` of an operator in `jdali.ops`, or of a reader in `jdali.dynamic`."""
    texts = ["self", *parameter_texts(inspect.signature(made), surface, {}, made.__doc__ or "")]
    lines = "".join(f"        {p},\n" for p in texts)
    base = "Reader" if surface == "jdali.dynamic" else "OperatorClass"
    doc = _docstring(inspect.getdoc(made) or "", "    ") if made.__doc__ else ""
    return f"class {made.__name__}({base}):\n{doc}    def __init__(\n{lines}    ) -> None: ...\n"


def parameter_texts(
    signature: inspect.Signature, surface: str, changed: Mapping[str, str], doc: str
) -> list[str]:
    """Returns the parameters of a `def`, including "/" and "*".

    Args:
        signature: signature of the function.
        surface: name of the function's package.
        changed: see `Form.parameters`.
        doc: docstring of the function, which lists the words that an argument accepts.
    """
    parameters, slash, star = [], False, False
    values = [p for p in signature.parameters.values() if changed.get(p.name) != ""]
    for i, p in enumerate(values):
        if p.kind is p.KEYWORD_ONLY and not star:
            parameters.append("*")
            star = True
        is_input = p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL) and p.name != "key"
        annotation = _INPUTS.get(surface) if is_input else _words(p, doc)
        annotation = annotation or annotation_text(p.annotation, surface)
        if p.kind is p.VAR_POSITIONAL:
            parameters.append(f"*{p.name}: {annotation}")
            star = True
            continue
        if p.kind is p.VAR_KEYWORD:
            parameters.append(f"**{p.name}: {annotation}")
            continue
        parameters.append(_parameter_text(p, annotation, changed.get(p.name)))
        following = values[i + 1] if i + 1 < len(values) else None
        last_positional = following is None or following.kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and last_positional and not slash:
            parameters.append("/")
            slash = True
    return parameters


def _parameter_text(p: inspect.Parameter, annotation: str, changed: str | None) -> str:
    if changed is not None and changed != p.name:
        return changed
    if p.default is None and "None" not in annotation and annotation != "Any" and changed is None:
        annotation += " | None"
    text = f"{p.name}: {annotation}"
    return text if p.default is p.empty or changed == p.name else f"{text} = {default_text(p.default)}"


def _words(p: inspect.Parameter, doc: str) -> str | None:
    """Returns the annotation of a `str` argument that accepts only some words or suggests layouts; None for others."""
    if p.annotation not in (str, str | None) or p.kind is not p.KEYWORD_ONLY:
        return None
    if p.name in ("layout", "output_layout"):
        return _LAYOUTS if p.default != "ft" else "Literal['ft', 'tf']"
    entry = re.search(rf"^    {p.name}: (.*?)(?=^    \w|^\s*$|\Z)", doc, re.MULTILINE | re.DOTALL)
    words = list(dict.fromkeys(re.findall(r'"([a-z_0-9]+)"', entry[1]))) if entry else []
    return f"Literal[{', '.join(map(repr, words))}]" if p.default in words and len(words) > 1 else None
