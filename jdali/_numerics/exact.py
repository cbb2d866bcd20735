"""Makes programs compute the same bits in any padded shape and for any number of samples.

If a product and the sum that uses it are in one loop, a compiler fuses them, and rounds once instead of twice. Shapes
decide which operations share a loop, and XLA has no option to prevent the fusion. Therefore `exact` adds -0 to every
product. The value does not change, because fma(a, b, -0) is the rounded product. But the compiler can no longer fuse
the product with another sum. It cannot remove the addition either, because -0 is an operand whose value it does not
know. On a processor with fused multiply-add, this costs no instruction.

Elementary functions come from `elementary`. For the order of sums see `sums`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numerics.elementary import IN_PLACE, magnitude
from jdali._numerics.flat_program import FlatProgram, Step, StepValue
from jdali._numerics.platform import tracing_for
from jdali._numerics.rounding import varying_like, varying_over
from jdali._numerics.threefry import together
from jdali._system.jax_internals import scan_sizes, varying_axes

if TYPE_CHECKING:
    from jax.extend import core

# This value is passed to programs as an operand, because the compiler would fold a constant.
MINUS_ZERO = np.float32(-0.0)


def exact(function: Callable[..., Any], minus_zero: Array, platform: str) -> Callable[..., Any]:
    """Wraps `function`: products are rounded before they are added, and elementary functions come from `elementary`.

    Args:
        function: takes and returns pytrees of arrays. The wrapped function can be traced, but not differentiated.
        minus_zero: float32 scalar -0, an operand of the program.
        platform: platform of the program's device: "cpu", "gpu", ...
    """

    def run(*args: object) -> Any:
        with tracing_for(platform):
            closed, shapes = jax.make_jaxpr(function, return_shape=True)(*args)
        leaves = jax.tree.leaves(args)
        varies = any(map(varying_axes, leaves))
        results = _Evaluation(minus_zero, platform, varies=varies).of(closed, leaves)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


class _Evaluation:
    """Traces a jaxpr again, with rounded products.

    Inside `shard_map`, -0 is marked as varying over the devices, and so is the state of a loop whose length differs by
    sample. JAX rejects an equation if only some of its operands vary, so all operands are marked.

    Args:
        varies: True if the values of any argument differ between the devices of `shard_map`.
    """

    def __init__(self, minus_zero: Array, platform: str, *, varies: bool):
        self._minus_zero, self.platform, self._varies = minus_zero, platform, varies

    def of(self, closed: core.ClosedJaxpr, arguments: Sequence[object]) -> list[Any]:
        program = FlatProgram(closed, self.platform)
        values = dict(enumerate(arguments))

        def read(operand: object) -> Any:
            return values[operand.number] if isinstance(operand, StepValue) else operand

        for level in program.levels:
            for step in level.others:
                self._store(values, step, self._equation(step.eqn, [read(o) for o in step.operands]))
            drawn = together([[read(o) for o in step.operands] for step in level.draws])
            for step, words in zip(level.draws, drawn, strict=True):
                self._store(values, step, words)
        return [read(result) for result in program.results]

    def _store(self, values: dict[int, object], step: Step, results: Sequence[object]) -> None:
        for value, result in zip(step.results, results, strict=True):
            values[value.number] = result

    def _equation(self, eqn: Any, operands: list[Any]) -> Sequence[Any]:
        name, params = eqn.primitive.name, eqn.params
        if name == "while":
            return self._while(params, operands)
        if name == "scan":
            return self._scan(params, operands)
        if name == "cond":
            return self._cond(params, operands)
        if name in IN_PLACE and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating):
            return self.of(jax.make_jaxpr(IN_PLACE[name])(*operands), operands)
        if name == "abs" and jnp.issubdtype(eqn.invars[0].aval.dtype, jnp.complexfloating):
            return self.of(jax.make_jaxpr(magnitude)(*operands), operands)
        if name == "mul" and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.complexfloating):
            return [self._complex_product(*operands)]
        if self._varies:
            if name == "pvary":
                return [varying_over(operands[0], params["axes"])]
            operands = varying_like(operands, *operands)
        result = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(params))
        results = list(result) if eqn.primitive.multiple_results else [result]
        if name in _PRODUCTS:
            results = [self._rounded(r) for r in results]
        elif name == "sqrt" and jnp.issubdtype(results[0].dtype, jnp.floating):
            # Without the comparison, XLA would turn a / sqrt(b) into a · rsqrt(b), see `elementary`.
            results = [jnp.where(jnp.isposinf(operands[0]), operands[0], results[0])]
        return results

    def _rounded(self, product: Any) -> Any:
        if not jnp.issubdtype(product.dtype, jnp.floating):
            return product
        zero: Any = self._minus_zero
        if varying_axes(zero) - varying_axes(product):
            zero = MINUS_ZERO  # in `shard_map`, a product that does not vary must not become varying
        return lax.add(product, jnp.broadcast_to(zero.astype(product.dtype), product.shape))

    def _complex_product(self, a: Any, b: Any) -> Any:
        def times(x: Any, y: Any) -> Any:
            return self._rounded(lax.mul(x, y))

        ar, ai, br, bi = lax.real(a), lax.imag(a), lax.real(b), lax.imag(b)
        return lax.complex(times(ar, br) - times(ai, bi), times(ar, bi) + times(ai, br))

    def _while(self, params: Any, operands: list[Any]) -> Sequence[Any]:
        conditions, bodies = params["cond_nconsts"], params["body_nconsts"]
        of_condition, of_body = operands[:conditions], operands[conditions : conditions + bodies]

        def goes_on(state: Any) -> Any:
            return self.of(params["cond_jaxpr"], [*of_condition, *state])[0]

        def condition(state: object) -> Any:
            return jnp.any(goes_on(state))

        def body(state: Any) -> Any:
            after = self.of(params["body_jaxpr"], [*of_body, *state])
            mask = goes_on(state) if params["cond_jaxpr"].out_avals[0].ndim else None
            if mask is None:
                return after
            # Under `vmap`, samples whose loop has ended keep their state.
            return [
                lax.select(lax.broadcast_in_dim(mask, new.shape, range(mask.ndim)), new, old)
                for new, old in zip(after, state, strict=True)
            ]

        start = varying_like(operands[conditions + bodies :], *operands)
        result: Sequence[Any] = lax.while_loop(condition, body, start)
        return result

    def _scan(self, params: Any, operands: list[Any]) -> Sequence[Any]:
        constants, carried = scan_sizes(params, operands)

        def step(state: Any, element: Any) -> Any:
            results = self.of(params["jaxpr"], [*operands[:constants], *state, *element])
            return results[:carried], results[carried:]

        start = varying_like(operands[constants : constants + carried], *operands)
        state, stacked = lax.scan(
            step, start, operands[constants + carried :],
            length=params["length"], reverse=params["reverse"], unroll=params["unroll"],
        )  # fmt: skip
        return [*state, *stacked]

    def _cond(self, params: Any, operands: list[Any]) -> Sequence[Any]:
        index, *rest = operands

        def run(branch: Any, *values: object) -> list[Any]:
            return varying_like(self.of(branch, values), *operands)

        branches = [functools.partial(run, branch) for branch in params["branches"]]
        result: Sequence[Any] = lax.switch(index, branches, *rest)
        return result


# A division counts as a product, because XLA compiles a division by a constant as one.
_PRODUCTS = {"mul", "div", "square", "integer_pow"}
