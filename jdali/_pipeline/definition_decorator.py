"""Turns a function that defines a pipeline into a factory of pipelines: `pipeline_def`."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from jdali._pipeline.definition import as_outputs
from jdali._pipeline.pipeline import Pipeline
from jdali._system.tracebacks import folding
from jdali.graph import current_graph, is_not_converted, trace

F = TypeVar("F", bound=Callable[..., Any])


@overload
def pipeline_def(fn: F) -> Callable[..., Pipeline]: ...
@overload
def pipeline_def(
    fn: None = None, *, enable_conditionals: bool = False, **pipeline_kwargs: object
) -> Callable[[F], Callable[..., Pipeline]]: ...


def pipeline_def(fn: Any = None, *, enable_conditionals: bool = False, **pipeline_kwargs: Any) -> Any:
    """Turns a function that calls operators and returns DataNodes into a factory of pipelines.

    Args:
        fn: the function.
        enable_conditionals: makes `if`, `and`, `or` and `not` on DataNodes work sample by sample. The factory takes this
            argument, too.
        pipeline_kwargs: arguments of `Pipeline`; arguments of the factory override them. With `debug=True` the function runs
            in each iteration, and each operator runs when it is called.

    The function returns a node, a tuple or list of nodes, or a dict whose keys become `Pipeline.output_names`.

    Returns: a factory that takes the function's own arguments and the arguments of `Pipeline`.
    """

    def decorate(function: Callable[..., object]) -> Callable[..., Pipeline]:
        if is_not_converted(function):
            raise ValueError("Pipeline definition cannot be marked with @do_not_convert.")

        @folding
        @functools.wraps(function)
        def create(*args: object, **kwargs: object) -> Pipeline:
            own, options = _split_arguments(function, kwargs)
            converted = options.pop("enable_conditionals", enable_conditionals)
            pipeline = Pipeline(**{**pipeline_kwargs, **options})
            pipeline._definition.conditionals = converted

            def define() -> Any:
                graph = current_graph()
                if converted and graph is not None:
                    return trace(function, args, own, graph)
                return function(*args, **own)

            pipeline._definition.output_names = annotated_names(function)
            if pipeline.debug:
                pipeline._definition.function = define
                return pipeline
            with pipeline:
                outputs = define()
            if isinstance(outputs, Mapping):
                pipeline._definition.output_names = tuple(outputs)
            pipeline.set_outputs(*as_outputs(outputs))
            return pipeline

        create._is_pipeline_def = True  # type: ignore[attr-defined]
        for name in ("build", "run", "reader_meta", "epoch_size", "plan"):
            setattr(create, name, _refusing(getattr(function, "__name__", repr(function)), name))
        return create

    return decorate(fn) if fn is not None else decorate


def _refusing(factory: str, method: str) -> Callable[..., Any]:
    """Returns a method for the factory that raises TypeError, because only pipelines have this method."""

    def refuse(*_: object, **__: object) -> Any:
        raise TypeError(
            f"{factory} is a function that makes pipelines: call it first, {factory}(...).{method}(...)"
        )

    return refuse


def annotated_names(function: Callable[..., object]) -> tuple[str, ...]:
    """Returns the names of the outputs, if a function is annotated to return a TypedDict or a NamedTuple."""
    try:
        returned = typing.get_type_hints(function).get("return")
    except (NameError, TypeError):  # names that exist for type checkers only
        return ()
    if typing.is_typeddict(returned):
        return tuple(returned.__annotations__)
    return tuple(getattr(returned, "_fields", ()))


def _split_arguments(
    function: Callable[..., object], kwargs: Mapping[str, object]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits keyword arguments into arguments of the function and arguments of `Pipeline`."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(
                f"Using variadic keyword argument `**{parameter.name}` in a graph-defining function is not allowed: it would "
                f"be unclear whether an argument of {function.__name__} is one of `Pipeline`"
            )
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    own = {k: v for k, v in kwargs.items() if k in names}
    return own, {k: v for k, v in kwargs.items() if k not in own}
