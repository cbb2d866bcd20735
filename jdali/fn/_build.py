"""Makes the functions of `jdali.fn` from the operators' records."""

from __future__ import annotations

import inspect
from typing import Any, Literal

from jdali._operators.record import Operator, ReaderOp
from jdali._operators.surface import describe, document, public_signature, warn_deprecated
from jdali._system.tracebacks import folding
from jdali.graph import DataNode, call_operator

# Arguments that every operator takes; only random operators take `seed`.
GENERIC: dict[str, tuple[Any, Any, str]] = {
    "device": (
        Literal["cpu", "gpu", "mixed"] | None, None, '"cpu", "gpu" or "mixed"; None: where the inputs are.'
    ),
    "name": (str | None, None, "name of the node in the graph; None: a generated one."),
    "bytes_per_sample_hint": (int | tuple[int, ...], 0, "without effect."),
    "preserve": (bool, False, "run the operator even if none of its outputs is used."),
    "seed": (int | None, -1, "seed of this operator; -1: follows from the pipeline's."),
}  # fmt: skip

# DALI's deprecated arguments, which every operator accepts without effect. Readers accept `seed` without a warning.
IGNORED = ("memory_stats", "seed")


# DALI's older names of arguments. An operator that has the new argument also accepts the older name.
RENAMED = {
    "output_dtype": "dtype",
    "type": "dtype",
    "dump_meta_files": "save_preprocessed_annotations",
    "dump_meta_files_path": "save_preprocessed_annotations_dir",
    "meta_files_path": "preprocessed_annotations",
    "save_img_ids": "image_ids",
}

# Arguments of older versions of DALI, which have no effect.
NOT_USED = ("image_type", "normalize_text")


def generic_arguments(op: Operator) -> dict[str, tuple[Any, Any, str]]:
    return {
        name: value for name, value in GENERIC.items()
        if name not in op.public_args and (name != "seed" or op.random)
    }  # fmt: skip


def finish(function: Any, op: Operator) -> Any:
    """Adds signature and docstring to a function of `jdali.fn`."""
    function = folding(function)
    del function.__wrapped__  # the wrapped function has neither signature nor docstring
    generic = generic_arguments(op)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default, _) in generic.items()
    ]
    signature = public_signature(op, DataNode, DataNode)
    signature = signature.replace(parameters=[*signature.parameters.values(), *extra])
    describe(
        function,
        op,
        "jdali.fn",
        signature,
        document(op, {name: text for name, (*_, text) in generic.items()}),
    )
    return function


def take_generic(op: Operator, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Removes from `kwargs` the arguments that every operator takes; returns those that jdali uses.

    Also renames the arguments that `kwargs` contains under an older name.

    Raises:
        TypeError: an argument is given under both names, `name` is not a string, or `seed` not a number.
        ValueError: `seed` is not an integer.
    """
    _modernize(op, kwargs)
    taken = {name: kwargs.pop(name, default) for name, (_, default, _) in generic_arguments(op).items()}
    for name in IGNORED:
        unused = None if name in op.public_args else kwargs.pop(name, None)
        if name == "seed" and unused is not None and not isinstance(op, ReaderOp):
            warn_deprecated(
                'The argument "seed" should not be used with operators that don\'t use random numbers.'
            )
    node_name = taken.get("name")
    if node_name is not None and not isinstance(node_name, str):
        raise TypeError(f"{op.name}: argument 'name' must be a string, got {node_name!r:.200}")
    return {
        "device": taken["device"],
        "name": node_name,
        "preserve": bool(taken.get("preserve")),
        "seed": _seed(op, taken.get("seed")),
    }


def _seed(op: Operator, given: Any) -> int | None:
    try:
        seed = -1 if given is None else int(given)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{op.name}: argument 'seed' got {given!r:.200}: {error}") from None
    return None if seed < 0 else seed


def _modernize(op: Operator, kwargs: dict[str, object]) -> None:
    for old, new in RENAMED.items():
        if old in kwargs and old not in op.public_args and new in op.public_args:
            if new in kwargs:
                raise TypeError(
                    f"{op.name}: got an unexpected {old!r} deprecated argument when {new!r} was already provided"
                )
            warn_deprecated(f"The argument `{old}` is a deprecated alias for `{new}`. Use `{new}` instead.")
            kwargs[new] = kwargs.pop(old)
    for name in NOT_USED:
        if name in kwargs and name not in op.public_args:
            warn_deprecated(
                f"The argument `{name}` is no longer used and will be removed in a future release."
            )
            del kwargs[name]


def make_function(op: Operator) -> Any:

    def function(*inputs: object, **kwargs: object) -> object:
        generic = take_generic(op, kwargs)
        return call_operator(op, inputs, kwargs, **generic)

    return finish(function, op)
