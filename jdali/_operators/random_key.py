"""Separates the JAX key (first argument or `key=`) from the other arguments of a random operator's pure function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._operators.base import Operator

KEY_DOC = (
    "JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by\n"
    "        `jax.vmap`, with a key for each sample."
)

KEY_OF_BATCH_DOC = (
    "JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. One for the batch."
)


def call_with_key(op: Operator) -> str:
    """Returns the text of a call of an operator's pure function, such as `ops.noise.gaussian(key, data)`."""
    inputs = [i.name for i in op.inputs if not i.optional]
    return f"ops.{op.name}({', '.join(['key', *inputs])})"


def take_key(op: Operator, inputs: Sequence[object], named: object) -> tuple[Array, list[Any]]:
    """Separates the key from the inputs of a call; raises TypeError if there is none, or more than one."""
    first = inputs[0] if inputs else None
    if named is not None and not is_key(named):
        raise no_key(op, f"key= is {described(named)}, which is not a key")
    if named is not None and (is_typed(first) or (is_key(first) and len(inputs) > len(op.inputs))):
        raise TypeError(f"{op.name}: the key is given twice, first and as key=")
    if named is None and not is_key(first):
        found = f"its first argument is {described(first)}" if inputs else "the call has none"
        elsewhere = next((i for i, value in enumerate(inputs) if is_typed(value)), None)
        if elsewhere is not None:
            found += f", the key is argument {elsewhere + 1}"
        raise no_key(op, found)
    key: Any = first if named is None else named
    rest = inputs[1:] if named is None else inputs
    return one_key(op.name, key), list(rest)


def is_typed(value: object) -> bool:
    """Returns True if a value is an array of JAX's typed keys."""
    return isinstance(value, Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def is_key(value: object) -> bool:
    """Returns True if a value is one key or an array of keys, typed or as the uint32 words of JAX's default kind."""
    if not isinstance(value, (Array, np.ndarray)):
        return False
    if is_typed(value):
        return True
    if value.dtype != np.uint32 or value.ndim not in (1, 2):
        return False
    return value.shape[-1:] == jax.eval_shape(jax.random.PRNGKey, 0).shape


def described(value: Any) -> str:
    if is_key(value):
        many = value.ndim > (0 if is_typed(value) else 1)
        return f"a batch of {len(value)} keys" if many else "a key"
    if isinstance(value, (Array, np.ndarray)):
        return f"an array, {value.dtype} {list(value.shape)}"
    return f"{value!r:.40}"


def take_first_key(name: str, args: Sequence[object], named: object) -> tuple[Array | None, list[Any]]:
    """Separates the key, which is the first argument or `key=`, from the other arguments; the key is None if not passed."""
    first = is_key(args[0]) if args else False
    if named is not None and first and is_typed(args[0]):
        raise TypeError(f"{name}: the key is given twice, first and as key=")
    if named is None and not first:
        return None, list(args)
    key: Any = args[0] if named is None else named
    return one_key(name, key), list(args[1:] if named is None else args)


def one_key(name: str, key: Any) -> Array:
    """Checks that a value is one key, and returns it typed."""
    if not is_key(key):
        raise TypeError(
            f"{name}: key= is {described(key)}, which is not a key; make one by jax.random.key(0)"
        )
    if key.ndim > (0 if is_typed(key) else 1):
        raise TypeError(
            f"{name}: got {described(key)}, and a call is for one sample, which has one key: "
            "map it over the samples with jax.vmap"
        )
    return key if is_typed(key) else jax.random.wrap_key_data(jnp.asarray(key))


def no_key_of(name: str) -> TypeError:
    return TypeError(
        f"{name} draws random values, and of an array it is a pure function: pass a JAX key first, "
        f"{name}(key, ...), or key=..., for example key=jax.random.key(0)"
    )


def no_key(op: Operator, found: str) -> TypeError:
    return TypeError(
        f"{op.name} draws random values: pass a JAX key first, {call_with_key(op)}, or key=..., "
        f"for example key=jax.random.key(0); {found}"
    )
