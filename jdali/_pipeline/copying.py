"""Copies a pipeline; the copy is at the beginning of its data."""

from __future__ import annotations

from jdali._pipeline.pipeline import Pipeline
from jdali._pipeline.serialize import OPTIONS
from jdali.graph import DataNode, copy_graph


def outputs_of(pipeline: Pipeline) -> tuple[DataNode, ...]:
    """Returns the nodes of a pipeline's outputs; defines the pipeline if needed, without building it.

    Raises:
        ValueError: the pipeline is in debug mode, where it has no graph.
    """
    if pipeline.debug:
        raise ValueError("a pipeline in debug mode defines its graph anew in each iteration: use debug=False")
    return pipeline._definition.complete()


def copied(pipeline: Pipeline, **options: object) -> Pipeline:
    """Makes a pipeline of the same definition, not built yet, at the beginning of its data.

    Unlike a deserialized pipeline, the copy shares Python objects with the original: callbacks, functions, and even
    iterators that can be read only once.
    """
    outputs, config = outputs_of(pipeline), pipeline._config
    kept = {name: getattr(pipeline, name) for name in OPTIONS} | config.without_effect()
    copy = Pipeline(
        **kept | config.expected.given | options,
        py_num_workers=config.py_num_workers, py_start_method=pipeline.py_start_method,
        py_callback_pickler=config.py_callback_pickler, py_timeout=config.py_timeout,
        compilation_cache=config.compilation_cache,
    )  # fmt: skip
    copy._definition.graph = copy_graph(pipeline.graph)
    copy.set_outputs(*(copy.graph.nodes[node.source.id].outputs[node.index] for node in outputs))
    copy._definition.output_names = pipeline.output_names
    return copy
