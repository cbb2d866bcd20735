"""Describes a pipeline: its plan, statistics, times and graph. `warm_up` compiles its programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jdali._system.progress import progress_bar
from jdali._system.words import counted
from jdali._threads import Times
from jdali.engine.engine import Engine
from jdali.engine.executors.elsewhere import MadeElsewhere
from jdali.engine.in_flight import Room
from jdali.engine.shapes.coarse import text_of
from jdali.engine.steps.program import Program
from jdali.engine.steps.stage import StageRunner
from jdali.graph import ExecutionPlan, HostStep, Node, scaled_consumers

# Warming up ends after this many batches in a row without a new program.
QUIET_BATCHES = 20


def describe(engine: Engine, room: Room | None = None) -> str:
    """Describes the plan: a line for each step and, below each stage, a line for each of its compiled programs."""
    first = f"plan of {counted(len(engine.plan.steps), 'step')}, batch_size {engine.batch_size}, "
    first += counted(engine.pool.threads, "thread")
    if engine.elsewhere is not None and not engine.here.steps:
        first += " in each worker"
    first += f", {counted(engine.programs, 'program')} compiled"
    if engine.budget.count:
        first += f", padding makes them take {waste(engine.stage_programs):.2f} times as long"
    lines = [first]
    if not engine.cursor.iteration and not engine.programs:
        lines.append(
            "  no batch was made yet: programs and padded shapes come with the first ones (run, warmup)"
        )
    if room is not None:
        most = f"; one takes up to {room.largest / 2**20:.1f} MiB while it is made" if room.largest else ""
        lines.append(
            f"  made ahead: {counted(room.depth, 'batch')}, at most {room.most_bytes / 2**20:.0f} MiB with those under way{most}"
        )
    memory = engine.pool.slabs
    leased, idle = (size / 2**20 for size in memory.usage())
    lines.append(
        f"  host memory: {leased:.1f} MiB leased to batches, {idle:.1f} MiB kept for others, "
        f"of which at most {memory.most_idle / 2**20:.0f} MiB are kept"
    )
    if engine.elsewhere is not None:
        lines += _describe_elsewhere(engine.elsewhere, here=len(engine.here.steps))
    for number, step in enumerate(engine.here.steps):
        runner = engine.runners[number]
        if isinstance(step, HostStep):
            lines.append(f"  [level {step.level}] host   {step.node.op.name:<32} {runner.shown}")
            continue
        assert isinstance(runner, StageRunner)
        names = " + ".join(n.op.name for n in step.nodes)
        lines.append(f"  [level {step.level}] {step.title:<6} on {runner.where}: {names}")
        shapes = runner.shapes
        lines.append(
            f"      padded shapes: level {shapes.level} ({text_of(shapes.level)}), "
            f"{shapes.count_seen} so far, {counted(len(runner.programs), 'program')}, waste {waste(runner.programs.values()):.2f}"
        )
        for program in runner.programs.values():
            padded = ", ".join("×".join(map(str, s)) or "scalar" for s in program.shape)
            lines.append(
                f"      program: {counted(program.batch, 'sample')} a call, padded {padded}; "
                f"compiled in {program.seconds:.2f} s, called {counted(program.calls, 'time')} for "
                f"{counted(program.samples, 'sample')}, "
                f"waste {waste([program]):.2f}"
            )
    return "\n".join(lines)


def _describe_elsewhere(elsewhere: MadeElsewhere, *, here: int) -> list[str]:
    workers, counts = elsewhere.workers, elsewhere.workers.counts()
    leased, idle = counts.leased / 2**20, counts.idle / 2**20
    where = f" on {counts.nodes} nodes" if counts.nodes > 1 else ""
    there = counted(workers.count, workers.title.removesuffix("s"))
    lines = [
        f"  {there}, {counts.ready} ready{where}: {counted(counts.made, 'batch')} made, {counts.deaths} died",
        f"  shared memory: {leased:.1f} MiB leased to batches, {idle:.1f} MiB kept for others",
    ]
    for step in elsewhere.border.elsewhere.steps:
        kind = "host" if isinstance(step, HostStep) else step.title
        lines.append(
            f"  [level {step.level}] {kind:<6} in workers: {' + '.join(n.op.name for n in step.nodes)}"
        )
    why = (
        "they work on the accelerator, or on what comes from it" if here else "none is left for this process"
    )
    lines.append(f"  border: the steps above run in workers, {here} below it in this process: {why}")
    return lines


def waste(programs: Iterable[Program]) -> float:
    """Returns the modelled time of the samples with padding, divided by their time without padding."""
    spent = [(p.padded_seconds, p.needed_seconds) for p in programs]
    needed = sum(n for _, n in spent)
    return sum(s for s, _ in spent) / needed if needed else 1.0


def statistics(engine: Engine) -> dict[str, Any]:
    """Counts compiled programs, calls and seconds, by stage."""
    stages = {}
    for runner in engine.stage_runners:
        programs = runner.programs.values()
        stages[f"stage {runner.stage.index}"] = {
            "operators": [n.op.name for n in runner.stage.nodes],
            "programs": len(runner.programs),
            "shape_level": runner.shapes.level,
            "calls": sum(p.calls for p in programs),
            "compile_seconds": sum(p.seconds for p in programs),
            "waste": waste(programs),
        }
    return {
        "programs": engine.programs,
        "waste": waste(engine.stage_programs),
        "host_memory": engine.pool.slabs.usage()._asdict(),
        "iterations": engine.cursor.iteration,
        "stages": stages,
    }


def times(engine: Engine, *, ahead: bool) -> Times:
    elsewhere, phases = engine.elsewhere, [(part, part.spent()) for part in engine.timing.parts]
    return Times(
        [[phase] for phase in phases],
        sum(spent.programs for _, spent in phases),
        engine.pool.threads,
        not engine.options.scaled_decoding and bool(scaled_consumers(engine.plan)),
        ahead,
        0 if elsewhere is None else elsewhere.workers.count,
        0 if elsewhere is None else elsewhere.workers.counts().deaths,
        0 if elsewhere is None else elsewhere.nbytes,
    )


def warm_up(engine: Engine, *, progress: bool) -> int:
    """Makes batches at a separate position in the sources, to compile programs; returns the number compiled."""
    before, state = engine.programs, None
    while state != (now := _shape_state(engine)):
        state = now
        _run_until_quiet(engine, progress=progress)
    return engine.programs - before


def _shape_state(engine: Engine) -> list[object]:
    # A stage at another level needs new programs. The levels in workers are not known here, but their programs are.
    levels = [runner.shapes.level for runner in engine.stage_runners]
    return [*levels, engine.elsewhere and engine.elsewhere.programs]


def _run_until_quiet(engine: Engine, *, progress: bool) -> None:
    cursor, quiet = engine.cursor.twin(), 0
    elsewhere = engine.elsewhere
    sizes = [r.size for r in engine.readers.values()]
    most = -(-max(sizes, default=QUIET_BATCHES * engine.batch_size) // engine.batch_size)
    with progress_bar(most, "batches", "warming up", wanted=progress) as advance:
        for _ in range(most):
            compiled, task = engine.programs, engine.draw(cursor)
            # Each idle worker gets a copy, because each compiles its programs.
            copies = (
                [None]
                if elsewhere is None
                else [engine.begin(task, 0) for _ in range(elsewhere.workers.count)]
            )
            for begun in copies:
                engine.make(task, begun=begun)
            quiet = 0 if engine.programs > compiled else quiet + 1
            advance(1)
            if quiet >= QUIET_BATCHES:
                break


def dot(plan: ExecutionPlan, *, show_tensors: bool, show_ids: bool, colors: bool) -> str:
    """Writes the graph in Graphviz's DOT format."""
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
        for value in node.operands:
            label = f' [label="{value.name}"]' if show_tensors else ""
            lines.append(f"  n{value.source.id} -> n{node.id}{label}")
    for i, value in enumerate(plan.outputs):
        lines += [f'  output{i} [shape="box"]', f"  n{value.source.id} -> output{i}"]
    return "\n".join([*lines, "}", ""])
