"""Reports on a pipeline: its plan, statistics and graph; and its warm-up."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable
from typing import Any

from jdali._errors import OperatorError
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.ready_queue import Room
from jdali.engine.steps.program import Program
from jdali.engine.steps.stage import StageRunner
from jdali.engine.workers.timing import PhaseTimer, Spent
from jdali.graph.node import Node
from jdali.graph.offers import agreements
from jdali.graph.plan import ExecutionPlan, HostStep

# Batches without a new program after which warming up is over.
QUIET_BATCHES = 20


def opening(node: Node, open_source: Callable[[], Any]) -> Any:
    """Opens a reader; an error names the reader and the user's line."""
    try:
        return open_source()
    except Exception as error:
        text = str(error) if str(error).startswith(node.op.name) else f"{node.op.name}: {error}"
        raise OperatorError.of(error, node.op.name, text=text, where=node.where) from error


def describe(engine: Engine, room: Room | None = None) -> str:
    """The plan as text: one line a step, and under each stage its compiled programs.

    Args:
        engine: of the pipeline.
        room: for batches that are made ahead, if they are.
    """
    lines = [
        (
            f"plan of {len(engine.plan.steps)} steps, batch_size {engine.batch_size}, "
            f"{engine.pool.threads} threads, {engine.compiler.count} programs compiled, "
            f"padding makes them take {waste(engine.stage_runners):.2f} times as long"
        )
    ]
    if room is not None:
        known = f"{room.largest / 2**20:.1f} MiB" if room.largest else "not known yet"
        lines.append(
            f"  made ahead: {room.depth} batches, at most {room.most_bytes / 2**20:.0f} MiB with those under way; "
            f"one takes up to {known} while it is made"
        )
    memory = engine.pool.slabs
    leased, idle = (size / 2**20 for size in memory.usage())
    lines.append(
        f"  host memory: {leased:.1f} MiB leased to batches, {idle:.1f} MiB kept for others, "
        f"of which at most {memory.most_idle / 2**20:.0f} MiB are kept"
    )
    for number, step in enumerate(engine.plan.steps):
        runner = engine.runners[number]
        if isinstance(step, HostStep):
            lines.append(f"  [level {step.level}] host   {step.node.op.name:<32} {runner.shown}")
            continue
        assert isinstance(runner, StageRunner)
        names = " + ".join(n.op.name for n in step.nodes)
        kind = "arguments" if step.is_arguments else f"stage {step.index}"
        lines.append(f"  [level {step.level}] {kind:<6} on {runner.where}: {names}")
        for program in runner.programs.values():
            shapes = ", ".join("×".join(map(str, s)) or "scalar" for s in program.shape)
            lines.append(
                f"      program: {program.batch} samples a call, padded {shapes}; "
                f"compiled in {program.seconds:.2f} s, called {program.calls} times for {program.samples} samples, "
                f"waste {_ratio([program]):.2f}"
            )
    return "\n".join(lines)


def waste(runners: Iterable[StageRunner]) -> float:
    """Time that the samples so far took as they were padded, per time without padding; by the cost model."""
    return _ratio(program for runner in runners for program in runner.programs.values())


def _ratio(programs: Iterable[Program]) -> float:
    spent = [(p.padded_seconds, p.needed_seconds) for p in programs]
    needed = sum(n for _, n in spent)
    return sum(s for s, _ in spent) / needed if needed else 1.0


def statistics(engine: Engine) -> dict[str, Any]:
    """Numbers of compiled programs, calls and seconds, by stage."""
    stages = {}
    for runner in engine.stage_runners:
        programs = runner.programs.values()
        stages[f"stage {runner.stage.index}"] = {
            "operators": [n.op.name for n in runner.stage.nodes],
            "programs": len(runner.programs),
            "calls": sum(p.calls for p in programs),
            "compile_seconds": sum(p.seconds for p in programs),
            "waste": waste([runner]),
        }
    return {
        "programs": engine.compiler.count,
        "waste": waste(engine.stage_runners),
        "host_memory": engine.pool.slabs.usage()._asdict(),
        "iterations": engine.feed.iteration,
        "skipped_samples": len(engine.feed.errors),
        "stages": stages,
    }


@dataclasses.dataclass(frozen=True)
class Times:
    """Time that a pipeline has spent so far.

    Attributes:
        lanes: parts that work on one batch at a time, together; several lanes are gone through at the same time.
        programs: compiled.
        threads: of the pool.
        shrinks: JPEGs are decoded at their full size although `scaled_decoding` could shrink them.
        ahead: batches are made before they are asked for.
    """

    lanes: list[list[tuple[PhaseTimer, Spent]]]
    programs: int
    threads: int
    shrinks: bool
    ahead: bool


def times(engine: Engine, *, scaled_decoding: bool, ahead: bool) -> Times:
    """Returns the time that an engine has spent so far."""
    return Times(
        [[(part, part.spent())] for part in engine.timing.parts],
        engine.compiler.count,
        engine.pool.threads,
        not scaled_decoding and bool(agreements(engine.plan)),
        ahead,
    )


def warm_up(engine: Engine, *, progress: bool) -> int:
    """Runs batches for their compilations, at a position of their own in the sources; programs compiled."""
    feed = engine.feed.twin()
    sizes = [r.size for r in engine.readers.values()]
    most = -(-max(sizes, default=QUIET_BATCHES * engine.batch_size) // engine.batch_size)
    before, quiet = engine.compiler.count, 0
    for batch in range(most):
        compiled = engine.compiler.count
        engine.run(feed)
        quiet = 0 if engine.compiler.count > compiled else quiet + 1
        if progress:
            _bar(batch + 1, most, f"{engine.compiler.count - before} programs")
        if quiet >= QUIET_BATCHES:
            break
    if progress:
        sys.stderr.write("\n")
    return engine.compiler.count - before


def _bar(done: int, total: int, text: str, width: int = 30) -> None:
    filled = width * done // total
    sys.stderr.write(f"\rwarming up [{'█' * filled}{'·' * (width - filled)}] {done}/{total} batches, {text} ")
    sys.stderr.flush()


def dot(plan: ExecutionPlan, *, show_tensors: bool, show_ids: bool, colors: bool) -> str:
    """The graph in Graphviz's DOT format."""
    nodes: dict[Node, None] = {}
    for step in plan.steps:
        for node in (step.node,) if isinstance(step, HostStep) else step.nodes:
            nodes[node] = None
    lines = ["digraph graphname {"]
    for node in nodes:
        label = f"{node.name}\\n{node.op.name}" + (f"\\nid {node.id}" if show_ids else "")
        color = {"cpu": "blue", "mixed": "cyan"}.get(node.device, "#76b900")
        style = f' style="filled" fillcolor="{color}"' if colors else ""
        lines.append(f'  n{node.id} [label="{label}"{style}]')
    for node in nodes:
        for value in [*node.data_inputs, *node.arg_inputs.values()]:
            label = f' [label="{value.name}"]' if show_tensors else ""
            lines.append(f"  n{value.source.id} -> n{node.id}{label}")
    for i, value in enumerate(plan.outputs):
        lines += [f'  output{i} [shape="box"]', f"  n{value.source.id} -> output{i}"]
    return "\n".join([*lines, "}", ""])
