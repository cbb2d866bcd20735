"""Matches data sets with the external sources that they feed, and rejects invalid combinations."""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from jdali._pipeline import outputs_of
from jdali._sources import SourceFeed
from jdali.graph import Node
from jdali.pipeline import Pipeline

_KIND = (
    "`input_datasets` must be a dictionary that maps input names (the `name` specified for External Source node in DALI "
    "pipeline) to input datasets objects (`tf.data.Dataset`) or `jdali.plugin.tf.experimental.Input` wrapper objects"
)
_PLACEHOLDER = (
    "Only single-output (with `num_outputs=None`), named (with `name` argument specified) External Source nodes are "
    "supported as inputs placeholders for DALIDataset integration. Alternatively, External Source can be used with "
    "`source` parameter specified."
)


class Input:
    """Describes a data set that feeds an external source.

    Args:
        dataset: a `tf.data.Dataset` whose elements are single tensors.
        layout: layout of the samples; None takes `layout` of `fn.external_source`. If both are given, they must agree.
        batch: True if elements are batches, [N, ...]; False if they are samples, which may differ in shape. None takes
            `batch` of `fn.external_source`, which is True by default.
    """

    def __init__(self, dataset: object, *, layout: str | None = None, batch: bool | None = False):
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(
                "The inputs specified to DALIDataset must be instances of type `tf.data.Dataset` got: "
                f"`{dataset}` of type: {type(dataset)} instead."
            )
        self.dataset, self.layout, self.batch = dataset, layout, batch


def external_sources(pipeline: Pipeline) -> list[Node]:
    outputs_of(pipeline)  # defines the pipeline's graph
    return [node for node in pipeline.graph.nodes if isinstance(node.runtime, SourceFeed)]


def matched_inputs(pipeline: Pipeline, input_datasets: object) -> dict[str, Input]:
    """Returns the inputs of the external sources without a `source`, by name; their `batch` is not None.

    Args:
        input_datasets: data sets, or `Input`s, by name; None: no data sets.

    Raises:
        TypeError: `input_datasets` is not a dict of data sets or `Input`s.
        ValueError: the names differ from the names of the external sources without a `source`, or such an external
            source was made with `num_outputs` or without a name.
    """
    inputs = _checked({} if input_datasets is None else input_datasets)
    nodes = external_sources(pipeline)
    called = {node.name for node in nodes if not node.runtime.is_fed}
    fed = {node.name: node for node in nodes if node.runtime.is_fed}
    for node in fed.values():
        _check_placeholder(node)
    if twice := sorted(called & inputs.keys()):
        raise ValueError(
            f"Double specification of External Source input is not allowed. External Source nodes named: `{twice}` got "
            "inputs specified via `input_datasets` DALIDataset argument and ExternalSource `source` argument at the "
            "same time."
        )
    for name in inputs:
        if name not in fed:
            raise ValueError(
                f"Did not find an External Source placeholder node with name='{name}' in the provided pipeline - "
                "required by the name specified in the `input_datasets`. Names of available placeholder External "
                f"Source nodes are: {list(fed)}. Placeholder nodes cannot have `source` argument specified."
            )
    if missing := [name for name in fed if name not in inputs]:
        raise ValueError(
            "Found External Source nodes in the Pipeline, that were not assigned any inputs. Nodes without inputs: \n"
            f"{missing}.\nNodes that were assigned inputs:\n{list(inputs)}."
        )
    return {name: _feed(value, fed[name].runtime) for name, value in inputs.items()}


def _checked(input_datasets: object) -> dict[str, Input]:
    if not isinstance(input_datasets, Mapping):
        raise TypeError(f"{_KIND}, got: `{input_datasets}` of type: {type(input_datasets)} instead.")
    checked = {}
    for name, value in input_datasets.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{_KIND}. Expected the keys (representing the input names) to be of type `str`, got: `{name}` of type: "
                f"{type(name)} instead."
            )
        if not isinstance(value, (Input, tf.data.Dataset)):
            raise TypeError(
                f"{_KIND}. Expected the values of the dictionary (representing the inputs) to be of type "
                f"`tf.data.Dataset` or `jdali.plugin.tf.experimental.Input` got: `{value}` of type: {type(value)} "
                "instead."
            )
        checked[name] = value if isinstance(value, Input) else Input(value)
    return checked


def _check_placeholder(node: Node) -> None:
    fault = None
    if node.runtime.num_outputs is not None:
        fault = "was created with `num_outputs` parameter"
    elif not node.named:
        fault = "was not named (no `name` argument set)"
    if fault is not None:
        raise ValueError(
            "Found placeholder External Source node (without `source` argument) in the Pipeline that "
            f"{fault}. {_PLACEHOLDER}"
        )


def _feed(value: Input, source: SourceFeed) -> Input:
    batch = source.batch if value.batch is None else value.batch
    return Input(value.dataset, layout=value.layout, batch=batch)
