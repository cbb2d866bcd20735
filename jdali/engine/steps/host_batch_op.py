"""Runs operators that take all samples of a batch at once, and work on them in the pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import BatchSpec, Store
from jdali._operators.call import CallRequest, PlannedCall, plan_call
from jdali._operators.record import HostBatchOp, HostOutputs, Probed, Scaled
from jdali._threads import inner
from jdali.engine.failure import failing_as
from jdali.engine.steps.host_op import HostRunner, fixed_and_varying, raise_if_any
from jdali.engine.steps.late import LEAST_BYTES, LateSamples
from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool, ThreadPolicy, shares
from jdali.graph import DataNode, Node
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class _BatchCall:
    """Holds the arguments of one `run`. `fixed` are the same for all samples, `varying` are arrays [N, ...]."""

    inputs: Sequence[Any]
    fixed: Mapping[str, Any]
    varying: Mapping[str, np.ndarray]
    scaled: Scaled | None = None  # sizes at which pictures are decoded; None: full size
    headers: Any = None

    def select(self, rows: np.ndarray) -> _BatchCall:
        """Returns a call for some of the samples, without the headers that the probe found."""
        inputs = [
            v.select(rows) if isinstance(v, TensorList) else [v[i] for i in rows.tolist()]
            for v in self.inputs
        ]
        varying = {name: values[rows] for name, values in self.varying.items()}
        scaled = None if self.scaled is None else self.scaled.select(rows)
        return _BatchCall(inputs, self.fixed, varying, scaled)


class PoolWorkers:
    """Implements `Workers` for one call, on samples of `size` bytes in total."""

    def __init__(self, pool: Pool, policy: ThreadPolicy, size: int, *, in_order: bool = False):
        self._pool, self._policy, self._size, self._in_order = pool, policy, size, in_order

    def share(self, work: Callable[[slice], None], count: int) -> None:
        parts = shares(count, self._size, self._pool.threads)
        if len(parts) == 1:
            work(parts[0])
        else:
            self._pool.run_all(work, parts)

    def each(self, work: Callable[[int], object], count: int) -> tuple[list[Any], dict[int, Exception]]:
        return self._pool.attempt(work, count, self._policy, in_order=self._in_order)


class HostBatchOpRunner(HostRunner):
    """Runs one `HostBatchOp`."""

    def __init__(
        self, node: Node, op: HostBatchOp, *, seed: int, device: jax.Device, scaled_for: Sequence[Node] = (),
        may_be_late: bool = False,
    ):  # fmt: skip
        """Prepares what does not change from batch to batch.

        Args:
            scaled_for: for a decoder, the operators that read its pictures, if all accept pictures decoded at a smaller
                size; empty to decode at full size.
            may_be_late: True if samples may be made later, when a stage reads them, see `late`.
        """
        super().__init__(node, seed, may_be_brief=op.probe is not None)  # True for decoders
        self._op, self._device, self._scaled_for, self._may_be_late = op, device, scaled_for, may_be_late
        self.at_once = 1 if op.effects or node.mixes_samples else 2
        self._probe = op.probing(node.args)

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        node = self.node
        inputs = [self._input(env, v, len(ids)) for v in node.inputs]
        probed = self._probed(inputs[0]) if self._probe is not None else None
        contents = None if probed is None else probed.contents
        plan = self._plan(env, ids, contents)
        if not len(ids):
            self._keep(env, tuple(Store.empty(spec) for spec in plan.outputs))
            return
        scaled = self._scaled(plan, probed)
        if scaled is not None:
            env.scaled[node.outputs[0]] = scaled
        headers = None if probed is None else probed.headers
        call = _BatchCall(inputs, *fixed_and_varying(plan), scaled, headers)
        if not self._may_be_late or scaled is not None:
            self._make(env, call, pool)
        elif (rows := self._rows_on_device(call)) is not None:
            self._make_on_device(env, plan.outputs[0], call, pool, rows)
        elif self._is_late(plan.outputs[0], pool):
            late = self._later(env, plan.outputs[0], call, pool)
            self._keep_late(env, late, late.store)
        else:
            self._make(env, call, pool)

    def _make(self, env: Values, call: _BatchCall, pool: Pool) -> None:
        made = self._made(call, pool)
        raise_if_any(self.node, made.failures)
        self._keep(env, made.columns)

    def _is_late(self, spec: BatchSpec, pool: Pool) -> bool:
        """Returns True if the samples of a batch are made only when a stage reads them."""
        # With several threads, all but one would be idle during the last call of the stage.
        if pool.threads > 1 or spec.batch_size < 2:
            return False
        return int(spec.extents.prod(axis=1).sum()) * spec.dtype.itemsize >= LEAST_BYTES

    def _later(self, env: Values, spec: BatchSpec, call: _BatchCall, pool: Pool) -> LateSamples:
        here = pool.here()  # the thread of the stage that reads the samples decodes them

        def some(rows: np.ndarray) -> Store:
            with inner("decoding"):
                made = self._made(self._part(call, rows), here)
            raise_if_any(self.node, made.failures)
            return made.columns[0]

        return LateSamples(spec, some, lambda: self._make(env, call, pool))

    def _keep_late(self, env: Values, late: LateSamples, store: Store) -> None:
        env.late[self.node.outputs[0]] = late
        self._keep(env, (store,))

    def _rows_on_device(self, call: _BatchCall) -> np.ndarray | None:
        """Returns bool [N], True for samples that are decoded on the device; None if there are none."""
        if self._op.on_device is None or self.node.device != "mixed":
            return None
        rows = self._op.on_device.rows(call.inputs[0], call.headers, self._device, **call.fixed)
        return rows if rows.any() else None

    def _make_on_device(
        self, env: Values, spec: BatchSpec, call: _BatchCall, pool: Pool, rows: np.ndarray
    ) -> None:
        """Has a stage decode the samples in `rows`, bool [N], on the device when it reads them; decodes all others now."""
        there, here = np.flatnonzero(rows), np.flatnonzero(~rows)
        made = self._made(self._part(call, here), pool) if len(here) else None
        if made is not None and made.failures:
            self._make(env, call, pool)  # raises the errors, by position in the whole batch
            return
        part, decoding = self._part(call, there), self._op.on_device
        assert decoding is not None

        def padded(rows: np.ndarray, shape: tuple[int, ...], count: int) -> jax.Array:
            some = part.select(rows)
            with inner("decoding"), failing_as([self.node]):
                return decoding.padded(
                    some.inputs[0], shape, count, self._device, **some.fixed, **some.varying
                )

        late = dataclasses.replace(
            self._later(env, spec.replace(extents=spec.extents[there]), part, pool),
            all=lambda: self._make(env, call, pool), padded=padded, device=self._device,
        )  # fmt: skip
        store = late.store
        if made is not None:
            store = Store.concat([store, made.columns[0]]).select(np.argsort(np.concatenate([there, here])))
        self._keep_late(env, late, store)

    def _input(self, env: Values, value: Any, count: int) -> Any:
        if not isinstance(value, DataNode):
            return TensorList.from_dense(np.stack([value] * count)) if self._op.in_place else [value] * count
        return env[value] if self._op.in_place else env[value].to_samples()

    def _probed(self, samples: Sequence[np.ndarray]) -> Probed:
        assert self._probe is not None
        with failing_as([self.node]):
            found = self._probe(samples)
        raise_if_any(self.node, found.failures)
        return found

    def _scaled(self, plan: PlannedCall, probed: Probed | None) -> Scaled | None:
        """Chooses the sizes at which the pictures of a batch are decoded. Returns None to decode them at full size."""
        scales = self._op.scales
        if scales is None or probed is None or not self._scaled_for:
            return None
        whole = plan.outputs[0]
        requests = [CallRequest(n.op, [whole], n.args, batch_size=whole.batch_size) for n in self._scaled_for]
        wanted = [plan_call(request).outputs[0] for request in requests]
        return scales.choose(whole, wanted, plan.traced, probed.headers)

    def _part(self, call: _BatchCall, rows: np.ndarray) -> _BatchCall:
        part = call.select(rows)
        if self._probe is None:
            return part
        select = getattr(call.headers, "select", None)
        if select is not None:
            return dataclasses.replace(part, headers=select(rows))
        return dataclasses.replace(part, headers=self._probed(part.inputs[0]).headers)

    def _made(self, call: _BatchCall, pool: Pool) -> HostOutputs:
        op = self._op
        # Sizes are summed only if they decide how the batch is divided.
        counts = pool.threads > 1 and not op.in_place
        size = sum(s.nbytes for samples in call.inputs for s in samples) if counts else 0
        workers = PoolWorkers(pool, self.policy, size, in_order=op.effects)
        with failing_as([self.node]):
            given: dict[str, Any] = {"workers": workers, "device": self._device}
            given |= {"headers": call.headers, "scaled": call.scaled}
            asked = {name: value for name, value in given.items() if name in op.engine_parameters}
            head = (None,) if op.random else ()
            made = op.run(*head, *call.inputs, **call.fixed, **call.varying, **asked)
            if not isinstance(made, HostOutputs):
                raise TypeError(f"{op.name}: gave {type(made).__name__}, not HostOutputs")
            all_failed = not made.columns and made.failures
            if not all_failed and len(made.columns) != len(self.node.outputs):
                raise ValueError(
                    f"{op.name}: made {len(made.columns)} outputs, it has {len(self.node.outputs)}"
                )
        return made

    def _keep(self, env: Values, columns: tuple[Store, ...]) -> None:
        made_of = env.made_of(self.node)
        for value, column in zip(self.node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, made_of)
