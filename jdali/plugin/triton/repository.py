"""Writes a Triton model repository: its folders and configurations, including ensembles."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jdali
from jdali.pipeline import Pipeline
from jdali.plugin.triton import pbtxt
from jdali.plugin.triton.pbtxt import EnumConstant, Message
from jdali.serving import ServedModel

_VERSION = "1"
_CONFIG = "config.pbtxt"

_MODEL = "model.py"
_EXPORTED = "exported"  # the same name as in model.py


def model_repository(
    source: Pipeline | str | os.PathLike[str],
    where: str | os.PathLike[str],
    *,
    name: str = "preprocess",
    model: str | None = None,
    model_inputs: Mapping[str, str] | None = None,
    max_batch: int = 32,
    max_wait_ms: float = 0.0,
    instances: int = 1,
    device: str = "cpu",
    threads: int = 1,
    max_pixels: int = 50_000_000,
    warm_up: bool = True,
    python: str | None = None,
    **export: Any,
) -> Path:
    """Writes a pipeline as a model for the Python backend of NVIDIA's Triton Inference Server.

    The model's answers equal the pipeline's outputs to the bit. Inputs that are files are BYTES [N, 1]. Other inputs and all
    outputs are arrays [N, ...]. Outputs whose samples differ in size are padded, and `NAME_extent` holds the sizes.

    Args:
        source: a pipeline to export, or a folder written by `Pipeline.export` to copy.
        where: folder of the model repository, created if missing. Other models in it are not changed.
        name: name of the model and of its folder in the repository. An existing model of this name is replaced.
        model: name of another model in the repository, which must have a `config.pbtxt`. If given, an ensemble
            `{name}_{model}` is written too; it takes the inputs of the pipeline and returns the outputs of `model`.
        model_inputs: maps inputs of `model` to outputs of the pipeline, by name. A missing input gets the output of the
            same name. If there are only one input and one output, their names may differ.
        max_batch: maximum number of samples that Triton may run together.
        max_wait_ms: milliseconds that the first request of a batch waits for further requests while an instance is free.
        instances: number of processes for each device.
        device: "cpu" or "gpu".
        threads: number of decoding threads in each instance.
        max_pixels: maximum number of pixels of a picture.
        warm_up: whether to compile the programs of all batch sizes before the model is ready, not at the first requests.
        python: path of the Python that runs the pipeline, in an environment with jdali; None: the current Python. Triton's
            own Python may be another version, and needs only NumPy.
        export: arguments of `Pipeline.export`, such as `shapes` and `deterministic`.

    Returns: the folder of the model.

    Raises:
        ValueError: the pipeline cannot be exported, draws random values or does not fit the other model.
        jdali.FolderError: the folder is damaged.
    """
    _check(name, max_batch, max_wait_ms, instances, device, threads)
    repository = Path(where)
    repository.mkdir(parents=True, exist_ok=True)
    # A temporary folder, so that a server that polls the repository never sees an incomplete model.
    with tempfile.TemporaryDirectory(dir=repository, prefix=".jdali-") as unfinished:
        target = Path(unfinished, name)
        exported = target / _VERSION / _EXPORTED
        if isinstance(source, Pipeline):
            source.export(exported, **export)
        elif export:
            raise TypeError(
                f"model_repository: {', '.join(export)} are of an export, and {source} is exported"
            )
        else:
            shutil.copytree(source, exported)
        preprocess = jdali.load(exported)
        config = _config(ServedModel(preprocess), name, max_batch, max_wait_ms)
        config["instance_group"] = {
            "count": instances, "kind": pbtxt.EnumConstant(f"KIND_{device.upper()}")
        }  # fmt: skip
        config["parameters"] = [
            {"key": key, "value": {"string_value": value}}
            for key, value in {
                "fingerprint": preprocess.fingerprint, "threads": str(threads), "max_pixels": str(max_pixels),
                "warm_up": str(warm_up).lower(), "python": python or sys.executable, "path": _own_path(),
            }.items()
        ]  # fmt: skip
        together = None
        if model is not None:
            other = _read(repository / model / _CONFIG)
            together = ensemble_config(config, model, other, model_inputs or {}, f"{name}_{model}")
        (target / _CONFIG).write_text(pbtxt.written(config))
        shutil.copyfile(Path(__file__).with_name(_MODEL), target / _VERSION / _MODEL)
        _replace(repository / name, target)
        if together is not None:
            both = Path(unfinished, together["name"])
            (both / _VERSION).mkdir(parents=True)  # stays empty, but Triton requires it
            (both / _CONFIG).write_text(pbtxt.written(together))
            _replace(repository / together["name"], both)
    return repository / name


def _check(name: str, max_batch: int, max_wait_ms: float, instances: int, device: str, threads: int) -> None:
    if not name or Path(name).name != name or name.startswith("."):
        raise ValueError(f"model_repository: name must be that of a folder, got {name!r}")
    if device not in ("cpu", "gpu"):
        raise ValueError(f"model_repository: device must be 'cpu' or 'gpu', got {device!r}")
    for argument, value, least in (
        ("max_batch", max_batch, 1), ("max_wait_ms", max_wait_ms, 0), ("instances", instances, 1),
        ("threads", threads, 1),
    ):  # fmt: skip
        if value < least:
            raise ValueError(f"model_repository: {argument} must be at least {least}, got {value}")


def _config(served: ServedModel, name: str, max_batch: int, max_wait_ms: float) -> dict[str, Any]:
    described = served.metadata()
    inputs = [_tensor(one) for one in described["inputs"]]
    for tensor in inputs:
        if -1 in tensor["dims"]:  # the backend gets each request by itself, so shapes may differ
            tensor["allow_ragged_batch"] = True
    return {
        "name": name, "backend": "python", "max_batch_size": max_batch,
        "input": inputs, "output": [_tensor(one) for one in described["outputs"]],
        "dynamic_batching": {"max_queue_delay_microseconds": round(max_wait_ms * 1000)},
    }  # fmt: skip


def _tensor(described: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a tensor's description from the open inference protocol to Triton's, without the batch axis."""
    kind = "STRING" if described["datatype"] == "BYTES" else described["datatype"]
    return {
        "name": described["name"], "data_type": pbtxt.EnumConstant(f"TYPE_{kind}"),
        "dims": described["shape"][1:] or [1],
    }  # fmt: skip


def _own_path() -> str:
    """Returns the folder that contains jdali, or "" if Python finds packages there by default."""
    own = str(Path(jdali.__file__).parents[1])
    return "" if own in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")} else own


def _read(path: Path) -> pbtxt.Message:
    try:
        return pbtxt.read(path.read_text())
    except FileNotFoundError:
        raise ValueError(f"model_repository: {path} is missing; an ensemble needs the types in it") from None
    except ValueError as error:
        raise ValueError(f"model_repository: {path}: {error}") from error


def _replace(place: Path, made: Path) -> None:
    """Moves the folder `made` to `place`; moves an existing folder away first."""
    if place.exists():
        place.replace(made.with_name(f"{made.name}.old"))
    made.replace(place)


def ensemble_config(
    preprocess: Mapping[str, Any], model: str, other: Message, model_inputs: Mapping[str, str], name: str
) -> dict[str, Any]:
    """Builds the configuration of an ensemble.

    Args:
        preprocess, other: configurations of the preprocessing and of the other model.
        model: name of the other model.
        model_inputs: see `model_repository`.

    Raises:
        ValueError: the models do not fit together.
    """
    outputs = {one["name"]: one for one in preprocess["output"]}
    taken = [_read_tensor(one) for one in other.get("input", [])]
    given = [_read_tensor(one) for one in other.get("output", [])]
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


def _read_tensor(message: Message) -> dict[str, Any]:
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
