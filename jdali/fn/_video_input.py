"""Defines `fn.experimental.inputs.video` in its own module, because importing it loads the video decoder."""

from __future__ import annotations

from jdali._operators.record import REGISTRY
from jdali._sources import VideoInput
from jdali.fn._build import take_generic
from jdali.graph import DataNode, call_operator


def experimental_inputs_video(**kwargs: object) -> DataNode:
    op = REGISTRY["experimental.inputs.video"]
    generic = take_generic(op, kwargs)
    bound = op.bind(kwargs)
    runtime = VideoInput(
        name=generic["name"] or op.name,
        **{k: bound[k] for k in ("sequence_length", "last_sequence_policy", "blocking", "apply_rotation")},
    )
    result = call_operator(op, (), kwargs, runtime=runtime, **generic)
    assert isinstance(result, DataNode)
    return result
