"""An ensemble of Triton: the preprocessing, and another model behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jdali.plugin.triton.pbtxt import EnumConstant, Message


def ensemble_config(
    preprocess: Mapping[str, Any], model: str, other: Message, model_inputs: Mapping[str, str], name: str
) -> dict[str, Any]:
    """Returns the configuration of an ensemble.

    Args:
        preprocess: configuration of the preprocessing.
        model: name of the other model.
        other: configuration of the other model.
        model_inputs: output of the preprocessing for each input of the other model; missing ones go by name, or the only one
            goes to the only one.
        name: of the ensemble.

    Raises:
        ValueError: they do not fit.
    """
    outputs = {one["name"]: one for one in preprocess["output"]}
    taken = [_tensor(one) for one in other.get("input", [])]
    given = [_tensor(one) for one in other.get("output", [])]
    if not taken or not given:
        raise ValueError(
            f"model_repository: the config.pbtxt of {model!r} must name its inputs and outputs, with types"
        )
    matched = _matched(model, [one["name"] for one in taken], list(outputs), model_inputs)
    for tensor in taken:
        source = outputs[matched[tensor["name"]]]
        if tensor["data_type"] != source["data_type"] or not _fits(source["dims"], tensor["dims"]):
            raise ValueError(
                f"model_repository: input {tensor['name']!r} of {model!r} is {_shown(tensor)}, and output {source['name']!r} "
                f"of the pipeline {_shown(source)}"
            )
    most = int(other.get("max_batch_size", ["0"])[0])
    if most < 1:
        raise ValueError(f"model_repository: {model!r} takes no batches: its max_batch_size is {most}")
    used = set(matched.values())
    return {
        "name": name, "platform": "ensemble", "max_batch_size": min(most, preprocess["max_batch_size"]),
        "input": [{k: one[k] for k in ("name", "data_type", "dims")} for one in preprocess["input"]],
        "output": given,
        "ensemble_scheduling": {
            "step": [
                _step(
                    preprocess["name"],
                    {one["name"]: one["name"] for one in preprocess["input"]},
                    {output: f"{preprocess['name']}.{output}" for output in outputs if output in used},
                ),
                _step(
                    model,
                    {tensor: f"{preprocess['name']}.{output}" for tensor, output in matched.items()},
                    {one["name"]: one["name"] for one in given},
                ),
            ]
        },
    }  # fmt: skip


def _matched(model: str, inputs: list[str], outputs: list[str], named: Mapping[str, str]) -> dict[str, str]:
    """Chooses the output for each input."""
    matched = {}
    for tensor in inputs:
        source = named.get(tensor)
        if source is None:
            source = tensor if tensor in outputs or len(inputs) > 1 or len(outputs) > 1 else outputs[0]
        if source not in outputs:
            raise ValueError(
                f"model_repository: input {tensor!r} of {model!r} has no output of the pipeline; pass "
                f"model_inputs={{{tensor!r}: ...}} with one of {', '.join(outputs)}"
            )
        matched[tensor] = source
    if unknown := sorted(set(named) - set(inputs)):
        raise ValueError(
            f"model_repository: {model!r} has no input {', '.join(unknown)}; it has {', '.join(inputs)}"
        )
    return matched


def _step(model: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> dict[str, Any]:
    return {
        "model_name": model, "model_version": -1,
        "input_map": [{"key": key, "value": value} for key, value in inputs.items()],
        "output_map": [{"key": key, "value": value} for key, value in outputs.items()],
    }  # fmt: skip


def _tensor(message: Message) -> dict[str, Any]:
    return {
        "name": message["name"][0], "data_type": EnumConstant(message["data_type"][0]),
        "dims": [int(n) for n in message["dims"]],
    }  # fmt: skip


def _fits(given: list[int], wanted: list[int]) -> bool:
    return len(given) == len(wanted) and all(
        -1 in (g, w) or g == w for g, w in zip(given, wanted, strict=True)
    )


def _shown(tensor: Mapping[str, Any]) -> str:
    return f"{tensor['data_type']} {list(tensor['dims'])}"
