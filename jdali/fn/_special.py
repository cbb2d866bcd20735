"""Defines the functions of `jdali.fn` that do more than add a node. Their names have "_" in place of the operator's "."."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jdali._operators.record import REGISTRY, ReaderOp
from jdali._operators.surface import files_by_keyword
from jdali._sources import ParallelSource, SourceFeed, is_random_access
from jdali.fn._build import take_generic
from jdali.fn._parallel_function import ParallelFunction
from jdali.graph import DataNode, call_operator, current_graph
from jdali.ops.flow._dl_tensor_python_function import on_accelerator
from jdali.ops.flow._python_function import layouts_of
from jdali.readers.mix import checked_schedule
from jdali.readers.pack import SEGMENTS

_SOURCE_ARGUMENTS = ("cycle", "layout", "dtype", "ndim", "repeat_last", "batch_info", "no_copy")


def external_source(
    source: Any = None, num_outputs: int | None = None, **kwargs: Any
) -> DataNode | list[DataNode]:
    random_access = kwargs.pop("random_access", None)
    if random_access or (random_access is None and is_random_access(source)):
        return _dataset(source, num_outputs, kwargs)
    op = REGISTRY["external_source"]
    generic = take_generic(op, kwargs)
    generic["device"] = generic["device"] or "cpu"
    options = {k: kwargs[k] for k in _SOURCE_ARGUMENTS if kwargs.get(k) is not None}
    options |= {"name": generic["name"] or "external_source", "num_outputs": num_outputs}
    options["batch"] = kwargs.get("batch") is not False
    runtime: SourceFeed
    is_parallel = bool(kwargs.get("parallel"))
    _check_of_workers(kwargs, is_parallel=is_parallel)
    if is_parallel:
        runtime = ParallelSource(
            source, prefetch_queue_depth=kwargs.get("prefetch_queue_depth"),
            bytes_per_sample=_bytes_per_sample(kwargs.get("bytes_per_sample_hint")), **options,
        )  # fmt: skip
    else:
        runtime = SourceFeed(source, **options)
    result = call_operator(op, (), kwargs, runtime=runtime, num_outputs=num_outputs or 1, **generic)
    return _listed(result, num_outputs)


def _dataset(source: Any, num_outputs: int | None, kwargs: dict[str, Any]) -> DataNode | list[DataNode]:
    """Adds `readers.dataset` for a source with random access."""
    op = REGISTRY["readers.dataset"]
    of_others = set(REGISTRY["external_source"].public_args) - set(op.public_args)
    if given := [name for name in of_others & set(kwargs) if kwargs[name] not in (None, False)]:
        raise ValueError(f"external_source: {given[0]} does not go with random_access=True")
    kwargs = {name: value for name, value in kwargs.items() if name not in of_others}
    result = _call("readers.dataset", {"dataset": source, "num_outputs": num_outputs, **kwargs})
    return _listed(result, num_outputs)


def _listed(outputs: DataNode | Sequence[DataNode], num_outputs: int | None) -> DataNode | list[DataNode]:
    """Returns a list of outputs, or a single output if the user did not pass `num_outputs`."""
    if isinstance(outputs, DataNode):
        return outputs if num_outputs is None else [outputs]
    return list(outputs)


def _call(name: str, kwargs: dict[str, Any], default_device: str | None = None) -> Any:
    """Adds the node of an operator without inputs; returns its output or a tuple of outputs."""
    op = REGISTRY[name]
    generic = take_generic(op, kwargs)
    generic["device"] = generic["device"] or default_device
    return call_operator(op, (), kwargs, **generic)


def _with_names(names: Iterable[str], outputs: Any) -> dict[str, DataNode]:
    return dict(zip(names, outputs if isinstance(outputs, tuple) else (outputs,), strict=True))


def _check_of_workers(kwargs: Mapping[str, Any], *, is_parallel: bool) -> None:
    """Raises ValueError if an option for worker processes is wrong, or is given without `parallel`."""
    for name in ("prefetch_queue_depth", "bytes_per_sample_hint"):
        value = kwargs.get(name)
        if value is None:
            continue
        if not is_parallel:
            raise ValueError(
                f"external_source: The argument `{name}` is valid only for parallel external sources (when "
                "``parallel`` is True)."
            )
        numbers = value if isinstance(value, (list, tuple)) else [value]
        if any(number < 1 for number in numbers):
            raise ValueError(f"external_source: ``{name}`` must be a positive integer, got {value}.")


def _bytes_per_sample(hint: Any) -> int:
    """Returns the number of bytes of a sample in all outputs. `hint` is this number, or a list with a number for each output."""
    return sum(max(0, int(n)) for n in (hint if isinstance(hint, (list, tuple)) else [hint or 0]))


def python_function(
    *inputs: DataNode, function: Any, batch_processing: bool = False, parallel: bool = False, **kwargs: Any
) -> DataNode | tuple[DataNode, ...] | list[DataNode]:
    if batch_processing and parallel:
        raise ValueError(
            "python_function: parallel=True works on single samples, so not with batch_processing"
        )
    runtime = ParallelFunction(function, kwargs.get("num_outputs", 1)) if parallel else None
    variant = "_python_function" if batch_processing else "_parallel_python_function" if parallel else None
    op = REGISTRY[variant or "python_function"]
    generic = take_generic(op, kwargs)
    kwargs |= {"function": runtime or function, "batch_processing": batch_processing, "parallel": parallel}
    layouts_of(kwargs)  # only a check, made here so that an error shows the line of the user's call
    return call_operator(op, inputs, kwargs, runtime=runtime, **generic)


def dl_tensor_python_function(
    *inputs: DataNode, function: Any, batch_processing: bool = True, **kwargs: Any
) -> DataNode | tuple[DataNode, ...] | list[DataNode]:
    if kwargs.get("device") == "gpu":
        function = on_accelerator(function)
    name = "dl_tensor_python_function"
    op = REGISTRY[f"_{name}" if batch_processing else name]
    generic = take_generic(op, kwargs)
    kwargs |= {"function": function, "batch_processing": batch_processing}
    layouts_of(kwargs, name)  # only a check, made here so that an error shows the line of the user's call
    return call_operator(op, inputs, kwargs, **generic)


def readers_tfrecord(*, features: Any, **kwargs: Any) -> dict[str, DataNode]:
    return _with_names(features, _call("readers.tfrecord", kwargs | {"features": features}))


def readers_paired(**kwargs: Any) -> Any:
    op = REGISTRY["readers.paired"]
    generic = take_generic(op, kwargs)
    return call_operator(op, (), files_by_keyword(op, kwargs), **generic)


def readers_mix(sources: Any, **kwargs: Any) -> Any:
    if not isinstance(sources, (list, tuple)):
        raise _not_of_a_reader("mix", "mixture", sources)
    given = [_named("mix", "mixture", source) for source in sources]
    if not given:
        raise ValueError("readers.mix: there is no source")
    if kwargs.get("schedule") is not None:
        graph = current_graph()
        owner = None if graph is None or graph.owner is None else graph.owner()
        if owner is None:
            raise ValueError(
                "readers.mix: schedule counts batches of a pipeline; call it where the pipeline is defined"
            )
        schedule = checked_schedule(kwargs["schedule"])
        kwargs["schedule"] = {step * owner.max_batch_size: weights for step, weights in schedule.items()}
    on_cpu = all("cpu" in REGISTRY[name].devices for name, _ in given)
    outputs = _call("readers.mix", kwargs | {"sources": given}, "cpu" if on_cpu else "gpu")
    if all(isinstance(source, Mapping) and list(source) == list(sources[0]) for source in sources):
        return _with_names([*sources[0], *(["source"] if kwargs.get("with_source") else [])], outputs)
    return outputs


def readers_bucket(samples: Any, **kwargs: Any) -> Any:
    given = _named("bucket", "buckets", samples)
    device = "cpu" if "cpu" in REGISTRY[given[0]].devices else "gpu"
    outputs = _call("readers.bucket", kwargs | {"samples": given}, device)
    return _with_names(samples, outputs) if isinstance(samples, Mapping) else outputs


def readers_pack(documents: Any, **kwargs: Any) -> Any:
    outputs = _call("readers.pack", kwargs | {"documents": _named("pack", "packing", documents)})
    return _with_names([*documents, *SEGMENTS], outputs) if isinstance(documents, Mapping) else outputs


def _named(verb: str, whole: str, source: Any) -> tuple[str, dict[str, Any]]:
    """Returns the name and arguments of a reader that is passed to another reader, such as `readers.mix`.

    Args:
        verb: name of the combining reader without "readers.", such as "mix"; for messages.
        whole: noun for its result, such as "mixture"; for messages.
        source: all outputs of the passed reader, or (name, arguments).

    Raises:
        TypeError: `source` is neither of these.
        ValueError: an argument of the passed reader differs by sample.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str):
        return source[0], dict(source[1])
    values = list(source.values()) if isinstance(source, Mapping) else source
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    node = values[0].source if values and isinstance(values[0], DataNode) else None
    if (
        node is None
        or not isinstance(node.op, ReaderOp)
        or node.runtime is not None
        or node.outputs != tuple(values)
    ):
        raise _not_of_a_reader(verb, whole, source)
    fed = [name for name, value in node.args.items() if isinstance(value, DataNode)]
    if fed:
        raise ValueError(
            f"readers.{verb}: {fed[0]} of {node.op.name} differs by sample, which a {whole} cannot have"
        )
    return node.op.name, {name: value for name, value in node.args.items() if value is not None}


def _not_of_a_reader(verb: str, whole: str, source: Any) -> TypeError:
    return TypeError(
        f"readers.{verb}: each source must be what a reader returned, all of its outputs; {verb} first, then decode and "
        f"augment the {whole}; got {source!r:.100}"
    )


def readers_video_resize(**kwargs: object) -> DataNode | tuple[DataNode, ...]:
    op = REGISTRY["readers.video_resize"]
    generic = take_generic(op, kwargs)
    own = REGISTRY["readers.video"].public_args  # the other arguments belong to `resize`
    resizing = {name: kwargs.pop(name) for name in op.public_args if name in kwargs and name not in own}
    outputs = call_operator(op, (), kwargs, **generic)
    frames, *others = outputs if isinstance(outputs, tuple) else (outputs,)
    resized = call_operator(REGISTRY["resize"], (frames,), resizing)
    assert isinstance(resized, DataNode)
    return (resized, *others) if others else resized
