"""Makes the pure functions of `jdali.ops` from the operators' records."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from jax import Array
from jax.typing import ArrayLike

from jdali._operators.pure import keeps_floats, pure_call
from jdali._operators.random_key import KEY_DOC, KEY_OF_BATCH_DOC, take_key
from jdali._operators.record import Operator
from jdali._operators.surface import describe, document, public_signature
from jdali._system.tracebacks import folding

_LAYOUT_DOC = 'layout of the inputs, or one for each; "": by the number of axes.'

_FLOATS_DOC = (
    "Parity: without `dtype`, the result has the type of a float input, so that it has derivatives, and is uint8 for integers; "
    "in DALI, `jdali.fn` and `jdali.dynamic` it is always uint8."
)

# Arguments that every function takes; see the docstring of `jdali.ops`.
PADDING = {
    "extent": "true size of a padded input; the result is then the output and its true size.",
    "out_shape": "padded shape of the output; None: the smallest.",
}


def make_pure(op: Operator) -> Callable[..., object]:
    """Makes a compiled operator's pure function, which takes one sample, or a batch if the operator mixes samples."""

    # If True, `layout` is the operator's argument, not the layout of the inputs.
    own_layout = "layout" in op.public_args

    def function(*inputs: object, **args: object) -> object:
        layout = "" if own_layout else args.pop("layout", "")
        key, values = take_key(op, inputs, args.pop("key", None)) if op.random else (None, list(inputs))
        padding = {name: args.pop(name, None) for name in PADDING}
        passed = [i for i in op.counted(values) if i is not None]
        return pure_call(op, passed, args, key=key, layout=layout, **padding)

    signature = public_signature(op, ArrayLike, ArrayLike, key=Array)
    parameters = list(signature.parameters.values())
    extra = {}
    if not own_layout:
        parameters.append(inspect.Parameter("layout", inspect.Parameter.KEYWORD_ONLY, default=""))
        extra["layout"] = _LAYOUT_DOC
    for name, text in PADDING.items():
        if op.inputs or name != "extent":
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None))
            extra[name] = text
    key_doc = KEY_OF_BATCH_DOC if op.mixes_samples({}) else KEY_DOC
    doc = document(op, extra, by_frame=False, first={"key": key_doc} if op.random else {})
    if keeps_floats(op):
        parameters = [p.replace(default=None) if p.name == "dtype" else p for p in parameters]
        doc += f"\n\n{_FLOATS_DOC}"
    folded = folding(function)
    describe(folded, op, "jdali.ops", signature.replace(parameters=parameters), doc)
    return folded
