"""Running the operators that are not compiled: on the thread pool, one sample a task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches.array_like import check_alike
from jdali._batches.extent import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators import argument_rules
from jdali._operators.call import PerBatch, PlannedCall, plan_call
from jdali._operators.together import Made, Probed
from jdali.engine._failure import NodeFailure, failing_as
from jdali.engine._ids import SampleIds
from jdali.engine._pool import Cost, Pool
from jdali.engine._stage import seed_of
from jdali.engine._values import Values, argument_values, input_values
from jdali.graph._node import DataNode, Node
from jdali.tensors import TensorList

# Fractions of its size at which a JPEG can be decoded cheaply.
DENOMINATORS = (8, 4, 2, 1)

# Of samples that are worked on together, a thread should have so much, or so many.
_TASK_BYTES, _TASK_SAMPLES = 1 << 20, 64


class Memo:
    """What was read and made for a batch that is made again because some of its samples are bad.

    Attributes:
        read: by number of the reader what was read.
        made: results of host operators, by number of the node and position in the batch.
    """

    def __init__(self) -> None:
        self.read: dict[int, Any] = {}
        self.made: dict[tuple[int, int], Any] = {}

    def knows(self, node: Node) -> bool:
        """Whether something is known that a host operator has made."""
        return any(key[0] == node.id for key in self.made)

    def remember(self, node: Node, ids: SampleIds, made: Made) -> None:
        """Notes what a host operator has made of samples together."""
        columns = [column.host_samples() for column in made.columns]
        for i, (position, *outputs) in enumerate(zip(ids.position.tolist(), *columns, strict=True)):
            if i not in made.failures:
                self.made[node.id, position] = tuple(outputs)

    def forget(self, positions: Container[int]) -> None:
        """Other samples stand in these positions from now on."""
        self.made = {key: value for key, value in self.made.items() if key[1] not in positions}

    def remembering(self, node: Node, ids: SampleIds, function: Callable[[int], Any]) -> Callable[[int], Any]:
        """`function`, but for samples whose result is known."""

        def remembered(i: int) -> Any:
            key = (node.id, int(ids.position[i]))
            if key not in self.made:
                self.made[key] = function(i)
            return self.made[key]

        return remembered


def _follows_its_position(node: Node) -> bool:
    """Whether a sample of the output depends on nothing but what the sources gave for that position."""
    if node.op.kind != "host" or node.op.batched:
        return False
    values = [*node.data_inputs, *node.arg_inputs.values()]
    return all(v.source.op.kind == "reader" or _follows_its_position(v.source) for v in values)


class HostRunner:
    """Runs one host operator on a batch."""

    def __init__(self, node: Node, *, seed: int, shrink_for: tuple[Node, ...] = ()):
        """Prepares what does not change from batch to batch.

        Args:
            node: the operator.
            seed: of the pipeline.
            shrink_for: the resizes that alone use the node's output, if it may decode at the fraction of
                the size that they need.
        """
        self.node = node
        self._shrink_for = shrink_for
        self._cost = Cost()
        self._memoised = _follows_its_position(node)
        op = node.op
        self._layouts = op.output_layouts(node.args) if op.output_layouts else ("",) * len(node.outputs)
        self._seed = seed_of(node, seed)
        self._static = {k: v for k, v in node.args.items() if not isinstance(v, DataNode)}
        bound = op.bind({k: node.args.get(k) for k in node.args})
        self._probe_args = {
            k: op.args[k].convert(bound[k])
            for k in op.args
            if not isinstance(bound[k], DataNode) and op.args[k].kind.name == "STATIC"
        }

    def set_pipeline_seed(self, seed: int) -> None:
        """Gives the seed to the operator, unless it has one of its own."""
        self._seed = seed_of(self.node, seed)

    def reseed(self, seed: int, stream: int) -> None:
        """Gives a random operator this seed and stream."""
        self._seed = (seed_words(seed), stream)

    def run(self, env: Values, ids: SampleIds, pool: Pool, memo: Memo | None = None) -> None:
        """Adds the node's outputs to `env`.

        Args:
            env: values so far.
            ids: the samples of the node's part of the batch.
            pool: where samples are worked on.
            memo: what is there is not computed again: that is how a batch in which one sample was
                replaced does not decode the others twice.

        Raises:
            NodeFailure: with all samples that failed.
        """
        node = self.node
        if node.op.kind == "regroup":  # which looks at no sample
            self._regroup(env)
            return
        inputs = [self._input(env, v, len(ids)) for v in node.inputs]
        if node.op.batched:
            self._whole_batch(env, inputs)
        else:
            self._per_sample(env, ids, pool, inputs, memo)

    def _input(self, env: Mapping[DataNode, TensorList], value: Any, count: int) -> list[np.ndarray]:
        if isinstance(value, DataNode):
            return env[value].to_samples()
        return [value] * count

    def _regroup(self, env: Values) -> None:
        node = self.node
        values = [env[v] for v in node.data_inputs]
        args = {k: env[v] if isinstance(v, DataNode) else v for k, v in node.args.items()}
        try:
            for name, value in node.arg_inputs.items():
                argument_rules.check_dtype(node.op.name, node.op.args[name], env[value].spec.dtype)
                argument_rules.sample_shape(node.op.name, node.op.args[name], env[value].spec.extents)
            results = node.op.run(*values, **args)
        except Exception as error:
            raise NodeFailure.of(node, error) from error
        results = results if isinstance(results, tuple) else (results,)
        env.update(zip(node.outputs, results, strict=True))

    def _whole_batch(self, env: Values, inputs: list[Any]) -> None:
        node = self.node
        try:
            results = node.op.run(*inputs, **self._static)
        except Exception as error:
            raise NodeFailure.of(node, error) from error
        self._store(env, results, None)

    def _per_sample(
        self, env: Values, ids: SampleIds, pool: Pool, inputs: list[Any],
        memo: Memo | None,
    ) -> None:  # fmt: skip
        op = self.node.op
        probed = None if op.probe is None else self._probed(inputs[0])
        plan = self._plan(env, ids, probed)
        fixed = dict(plan.call.static) | {k: None if c is None else c.value for k, c in plan.call.constants}
        varying = {k: np.asarray(v) for k, v in plan.traced.items()}
        if self._shrink_for:
            self._shrink(env, plan.outputs[0], varying)
        headers = None if probed is None else probed.headers
        if memo is None or not self._memoised or not memo.knows(self.node):
            made = self._together(inputs, fixed, varying, headers, pool)
            if made is not None:
                self._keep(env, ids, made, plan, memo)
                return

        def one(i: int) -> Any:
            arguments = fixed | {k: v[i] for k, v in varying.items()}
            if headers is not None:
                arguments["header"] = headers[i]
            head = (None,) if op.random else ()
            return op.run(*head, *(samples[i] for samples in inputs), **arguments)

        work = memo.remembering(self.node, ids, one) if memo is not None and self._memoised else one
        results = pool.map(self.node, work, len(ids), self._cost, in_order=op.effects)
        self._store(env, _transpose(results, len(self.node.outputs)), plan)

    def _shrink(self, env: Values, whole: BatchSpec, varying: dict[str, np.ndarray]) -> None:
        """Chooses the fraction of its size at which each picture is decoded, and notes what of it that is."""
        varying["denominator"] = denominator = self._denominators(whole)
        start = varying["_window"][:, :2] if "_window" in varying else np.zeros((whole.batch_size, 2))
        env.decoded_from[self.node.outputs[0]] = np.column_stack(
            [denominator, whole.extents[:, :-1], start % denominator[:, None] / denominator[:, None]]
        ).astype(np.float32)

    def _together(
        self, inputs: Sequence[Sequence[np.ndarray]], fixed: Mapping[str, Any],
        varying: Mapping[str, np.ndarray], headers: Any, pool: Pool,
    ) -> Made | None:  # fmt: skip
        """What the operator makes of all samples, if it works on them together."""
        together = self.node.op.together
        if together is None or len(inputs) != 1 or not inputs[0]:
            return None
        samples = inputs[0]
        size = sum(sample.nbytes for sample in samples)

        def share(work: Callable[[slice], None], count: int) -> None:
            tasks = min(pool.threads, 1 + max(size // _TASK_BYTES, count // _TASK_SAMPLES))
            step = -(-count // tasks)
            parts = [slice(at, min(at + step, count)) for at in range(0, count, step)]
            for _ in map(work, parts) if len(parts) == 1 else pool.executor.map(work, parts):
                pass

        known = {} if headers is None else {"headers": headers}
        return together(samples, share=share, **known, **fixed, **varying)

    def _keep(self, env: Values, ids: SampleIds, made: Made, plan: PlannedCall, memo: Memo | None) -> None:
        """Takes what was made of all samples together."""
        node = self.node
        if memo is not None and self._memoised:
            memo.remember(node, ids, made)
        _raise_if_any(node, made.failures)
        made_of = env.made_of(node)
        for o, (value, column) in enumerate(zip(node.outputs, made.columns, strict=True)):
            layout = plan.outputs[o].layout if o < len(plan.outputs) and node.op.setup else self._layouts[o]
            spec = column.spec.replace(layout=layout)
            device = "gpu" if value.device == "gpu" else "cpu"
            env[value] = TensorList.from_store(dataclasses.replace(column, spec=spec), device, made_of)

    def _probed(self, samples: Sequence[np.ndarray]) -> Probed:
        probe = self.node.op.probe
        assert probe is not None
        if not samples:
            return Probed(np.zeros((0, 3), np.int64), np.dtype(np.uint8), None, {})
        found = probe(samples, **self._probe_args)
        _raise_if_any(self.node, found.failures)
        return found

    def _plan(self, env: Mapping[DataNode, TensorList], ids: SampleIds, probed: Probed | None) -> PlannedCall:
        try:
            return self._plan_call(env, ids, probed)
        except Exception as error:
            raise NodeFailure.of(self.node, error) from error

    def _plan_call(
        self, env: Mapping[DataNode, TensorList], ids: SampleIds, probed: Probed | None
    ) -> PlannedCall:
        node, op = self.node, self.node.op
        specs = [] if probed is None else [BatchSpec(probed.extents, probed.dtype)]
        start = len(specs)
        values = {}
        for i, value in enumerate(node.inputs[start:], start):
            if isinstance(value, DataNode):
                specs.append(env[value].spec)
                if op.input(i).argument:
                    values[op.input(i).name] = input_values(env[value], op, op.input(i).name)
            else:
                shape = np.broadcast_to(np.array(value.shape, np.int64), (len(ids), value.ndim))
                specs.append(BatchSpec(shape, value.dtype))
                values[op.input(i).name] = np.broadcast_to(value, (len(ids), *value.shape))
        args = dict(self._static)
        for name, argument in node.arg_inputs.items():
            args[name] = PerBatch(argument_values(env[argument], op, name))
        keys = None
        if op.random:
            seed, stream = self._seed
            keys = SampleKeys(seed, stream, ids.epoch, ids.index)
        return plan_call(op, specs, args, batch_size=len(ids), keys=keys, input_values=values)

    def _denominators(self, whole: BatchSpec) -> np.ndarray:
        """int [N]: the largest of 1, 2, 4, 8 that leaves at least as much as each resize asks for."""
        result = np.full(whole.batch_size, max(DENOMINATORS))
        for consumer in self._shrink_for:
            plan = plan_call(consumer.op, [whole], consumer.args, batch_size=whole.batch_size)
            wanted = np.maximum(plan.outputs[0].extents[:, :-1], 1)
            ratio = (whole.extents[:, :-1] // wanted).min(axis=1)
            for denominator in DENOMINATORS:  # descending
                result = np.where(ratio < denominator, np.minimum(result, denominator // 2), result)
        return np.maximum(result, 1)

    def _store(self, env: Values, results: Any, plan: PlannedCall | None) -> None:
        node = self.node
        made_of = env.made_of(node)
        for o, (value, samples) in enumerate(zip(node.outputs, results, strict=True)):
            spec = plan.outputs[o] if plan is not None and o < len(plan.outputs) and node.op.setup else None
            layout = spec.layout if spec is not None else self._layouts[o]
            device = "gpu" if value.device == "gpu" else "cpu"
            if len(samples):
                samples = [np.asarray(s) for s in samples]
                if spec is None:
                    self._check(samples, layout)
                env[value] = TensorList.from_samples(samples, layout, device, made_of)
            else:
                empty = spec or BatchSpec(np.zeros((0, 1), np.int64), np.dtype(np.uint8))
                env[value] = TensorList.from_samples([], layout, device, made_of, spec=empty)

    def _check(self, samples: Sequence[np.ndarray], layout: str) -> None:
        """What an operator that says nothing of its outputs gave."""
        with failing_as([self.node]):
            check_alike(samples)
            if layout and len(layout) != samples[0].ndim:
                raise ValueError(f"layout {layout!r} does not describe samples with {samples[0].ndim} axes")


def _raise_if_any(node: Node, failures: Mapping[int, Exception]) -> None:
    if failures:
        ordered: dict[int | None, Exception] = {i: failures[i] for i in sorted(failures)}
        raise NodeFailure(node, ordered) from next(iter(ordered.values()))


def _transpose(results: Sequence[Any], outputs: int) -> list[list[Any]]:
    """From one tuple of outputs a sample to one list of samples an output."""
    rows = [r if isinstance(r, tuple) else (r,) for r in results]
    return [[row[o] for row in rows] for o in range(outputs)]
