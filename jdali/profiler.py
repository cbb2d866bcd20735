"""Reports where a training loop spends its time, and how to make it faster.

Every read, host step, stage and wait of a pipeline runs inside a `jax.profiler.TraceAnnotation` whose name begins with "jdali",
so it appears in traces of `jax.profiler.trace`. Pipelines always measure the time of these parts; `iterator.report()`
summarizes it in a few lines.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from typing import Protocol

from jdali._display.markup import escape, styled
from jdali._system.cpus import cpu_count
from jdali._system.words import counted
from jdali._threads import PhaseTimer, Spent, Times

__all__ = ["PartTime", "Recorder", "Report"]

# If a loop waits for less than this share of its time, a faster pipeline would not help.
_LITTLE = 0.05
# If a loop waits for less than this share of its time, its own work is the main limit.
_SOME = 0.2
# If the times of all parts that run in sequence add up to less than this share of a batch's time, no part is the
# bottleneck, and the loop waits only for a few slow batches. Workers that work for less than this share mostly wait.
_BUSY = 0.6
# A part that computes for less than this share of its busy time mostly waits for storage or other threads.
_WAITING = 0.5
# Parts with less than this share of a batch's time are not shown.
_SHOWN = 0.01
# A machine counts as fully busy if its cores work for this share of the time.
_FULL = 0.9

_KINDS = {
    "source": "source", "samples": "source", "workers": "workers", "reading": "reading", "host": "host", "arguments": "stage",
    "stage": "stage", "device": "stage", "batch": "transfer",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class PartTime:
    """Records the time that a part of the pipeline takes per batch.

    Attributes:
        kind: "source", "workers", "reading", "decoding", "host", "stage" or "transfer".
        name: names of its operators.
        seconds: wall time per batch, without compilation.
        busy: seconds of all threads that work on the part, per batch.
        cpu: processor seconds of these threads, without the time of compiled programs.
        tasks: number of tasks per batch; tasks of a stage are calls of compiled programs.
        inner: parts of `busy`, in seconds, by activity: "setup", "staging" (copying to padded arrays, and to the device),
            "decoding" (of samples that are decoded when a stage reads them).
        user_code: whether the part calls Python functions of the user.
    """

    kind: str
    name: str
    seconds: float
    busy: float
    cpu: float
    tasks: float
    inner: dict[str, float]
    user_code: bool = False


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """Splits the time of an epoch by part of the pipeline; `str` summarizes it in a few lines.

    Attributes:
        batches: number of batches that the loop received.
        seconds: seconds from the start of the loop's first wait to the end of its last wait.
        wait_share: share of `seconds` in which the loop waited for data.
        parts: parts of the pipeline, in execution order.
        bound_by: "loop", "compilation", "start" (the wait for the first batch), or the kind of the slowest part; "" before
            the first batch.
        slowest: part of the pipeline that limits its speed.
        threads: number of threads in a pipeline's pool.
        thread_share: average share of the time in which these threads worked.
        programs: number of programs compiled in this epoch.
        compile_seconds: seconds of compilation; the loop may have waited for only a part of this time.
        verdict: one sentence about what limits the loop.
        advice: suggested changes; the first is likely to help most.
        workers: number of worker processes.
        worker_deaths: number of worker processes that ended unexpectedly.
        worker_bytes: bytes received from worker processes, per batch.
    """

    batches: int
    seconds: float
    wait_share: float
    parts: tuple[PartTime, ...]
    bound_by: str
    slowest: PartTime | None
    threads: int
    thread_share: float
    programs: int
    compile_seconds: float
    verdict: str
    advice: tuple[str, ...]
    workers: int = 0
    worker_deaths: int = 0
    worker_bytes: float = 0.0

    def __str__(self) -> str:
        if not self.batches:
            return self.verdict
        period = self.seconds / self.batches
        head = f"{counted(self.batches, 'batch')} in {self.seconds:.2f} s, {_ms(period)} a batch"
        lines = [f"{head}; the loop waited for data {self.wait_share:.0%} of the time"]
        shown = [p for p in self.parts if p.seconds >= _SHOWN * period or p is self.slowest]
        lines += [_line(part, period, self.threads) for part in shown if part.kind != "workers"]
        lines += [self._line_of_workers(part, period) for part in shown if part.kind == "workers"]
        if self.programs:
            lines.append(f"  {counted(self.programs, 'program')} compiled, {self.compile_seconds:.1f} s")
        lines.append(f"verdict: {self.verdict}")
        return "\n".join([*lines, *(f"  - {advice}" for advice in self.advice)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Shows the report with a bar for each part, in a notebook."""
        return styled(report_html(self))

    def _line_of_workers(self, part: PartTime, period: float) -> str:
        busy = _worker_share(part, period, self.workers)
        died = f"; {self.worker_deaths} died" if self.worker_deaths else ""
        workers = counted(self.workers, "worker")
        return (
            f"  workers  {_ms(part.seconds):>10} {part.seconds / period:5.0%}  {part.name} ({workers} {busy:.0%} "
            f"busy; {self.worker_bytes / 2**20:.1f} MiB a batch{died})"
        )


def report_html(report: Report) -> str:
    """Renders the verdict, the advice, and a bar for each part as HTML."""
    if not report.batches:
        return f"<p>{escape(report.verdict)}</p>"
    period = report.seconds / report.batches
    top = max([part.seconds for part in report.parts], default=0.0) or 1.0
    bars = "".join(
        f"<tr><td>{escape(part.kind)}</td><td>{_ms(part.seconds)}</td>"
        f'<td><meter max="1" value="{part.seconds / top:.3f}"></meter></td><td>{escape(part.name)}</td></tr>'
        for part in report.parts
        if part.seconds >= _SHOWN * period or part is report.slowest
    )
    advice = "".join(f"<li>{escape(text)}</li>" for text in report.advice)
    waits = f'<meter max="1" value="{report.wait_share:.3f}"></meter> {report.wait_share:.0%} of the time'
    return (
        f"<p><strong>{escape(report.verdict)}</strong></p>{f'<ul>{advice}</ul>' if advice else ''}"
        f"<p>{counted(report.batches, 'batch')} in {report.seconds:.2f} s, {_ms(period)} a batch; "
        f"the loop waited for data {waits}</p>"
        f'<div class="jd-table"><table>{bars}</table></div>'
        f"<details><summary>as text</summary><pre>{escape(report)}</pre></details>"
    )


def _worker_share(part: PartTime, period: float, workers: int) -> float:
    """Returns the share of the workers' time in which they worked."""
    return part.busy / max(period * workers, 1e-9)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def _line(part: PartTime, period: float, threads: int) -> str:
    text = f"  {part.kind:<9}{_ms(part.seconds):>10} {part.seconds / period:5.0%}  {part.name}"
    more = []
    if part.tasks > 1.5:
        calls = f"{part.tasks:.0f} calls, " if part.kind == "stage" else ""
        more.append(f"{calls}{counted(threads, 'thread')} {part.busy / (period * threads):.0%} busy with it")
    if part.kind in ("source", "reading", "decoding", "host") and part.cpu < _WAITING * part.busy:
        more.append(f"waits {1 - part.cpu / part.busy:.0%} of that")
    more += [f"{name} {_ms(seconds)}" for name, seconds in part.inner.items() if seconds > part.busy / 20]
    return text + (f" ({'; '.join(more)})" if more else "")


class _Timed(Protocol):
    """Declares the interface of a pipeline that a `Recorder` uses."""

    def times(self) -> Times: ...


@dataclasses.dataclass(frozen=True)
class _Mark:
    """Holds the counters and the CPU time of the process at one moment."""

    pipelines: list[Times]
    batch: Spent
    cpu: float


class Recorder:
    """Measures the time of pipelines, and of the iterator over them, since the last `mark`.

    Args:
        batch: timer of the iterator's own work.
    """

    def __init__(self, pipelines: Sequence[_Timed], batch: PhaseTimer):
        self._pipelines, self._batch = list(pipelines), batch
        self._begin = self._now()

    def mark(self) -> None:
        """Restarts the measurement."""
        self._begin = self._now()

    def _now(self) -> _Mark:
        return _Mark([p.times() for p in self._pipelines], self._batch.spent(), time.process_time())

    def report(self, batches: int, seconds: float, waited: float, first_wait: float = 0.0) -> Report:
        """Reports the time since the mark.

        Args:
            seconds: seconds from the start of the loop's first wait to the end of its last wait.
            waited: seconds that the loop waited.
            first_wait: seconds of `waited` before the first batch.
        """
        begin = self._begin  # read it first, because another thread may call `mark` meanwhile
        end = self._now()
        first = end.pipelines[0]
        # Average over the pipelines that have the same parts as the first one, because pipelines run in parallel.
        pairs = [
            (a.lanes, b.lanes)
            for a, b in zip(begin.pipelines, end.pipelines, strict=True)
            if [len(lane) for lane in b.lanes] == [len(lane) for lane in first.lanes]
        ]
        lanes = [
            [
                (part, sum((b[i][j][1] - a[i][j][1] for a, b in pairs), Spent()))
                for j, (part, _) in enumerate(lane)
            ]
            for i, lane in enumerate(first.lanes)
        ]
        batch = _split(self._batch, end.batch - begin.batch, lanes[-1][-1][0])
        lanes = [*lanes, batch] if first.ahead else [[pair for lane in lanes for pair in lane] + batch]
        cores = cpu_count()
        facts = _Facts(
            batches,
            seconds,
            waited,
            first_wait,
            [[_per_batch(part, spent) for part, spent in lane] for lane in lanes],
            first,
            sum(b.programs - a.programs for a, b in zip(begin.pipelines, end.pipelines, strict=True)),
            # Batches made ahead may have compiled before the mark.
            min(sum(_compiling(spent) for lane in lanes for _, spent in lane) / len(pairs), seconds),
            cores,
            (end.cpu - begin.cpu) / max(seconds * cores, 1e-9),
        )
        slowest, bound_by, verdict, advice = _judged(facts)
        parts: dict[tuple[str, str], PartTime] = {}
        for part in (part for lane in facts.lanes for part in lane):
            # If two parts have the same name, keep the longer time, because two threads may have waited for the same program.
            key = (part.kind, part.name)
            parts[key] = max(part, parts.get(key, part), key=lambda p: p.seconds)
        return Report(
            batches, seconds, waited / seconds if seconds > 0 else 0.0, tuple(parts.values()), bound_by, slowest,
            first.threads, facts.thread_share, facts.programs, facts.compiling, verdict, tuple(advice),
            first.workers,
            sum(b.deaths - a.deaths for a, b in zip(begin.pipelines, end.pipelines, strict=True)),
            sum(b.nbytes - a.nbytes for a, b in zip(begin.pipelines, end.pipelines, strict=True)) / max(batches, 1),
        )  # fmt: skip


def _split(part: PhaseTimer, spent: Spent, device: PhaseTimer) -> list[tuple[PhaseTimer, Spent]]:
    """Splits an iterator's time into the wait for the device and the iterator's own work."""
    waited = Spent(count=spent.count, tasks=spent.count, seconds=spent.inner["computing"])
    waited.busy = waited.seconds
    return [(device, waited), (part, spent - dataclasses.replace(waited, count=0, tasks=0))]


def _compiling(spent: Spent) -> float:
    """Returns the compile time of a part in seconds, capped at its wall time; several threads may compile at once."""
    return min(spent.inner["compiling"], spent.seconds)


def _per_batch(part: PhaseTimer, spent: Spent) -> PartTime:
    count = max(spent.count, 1)
    inner = {
        name: spent.inner[name] / count for name in ("setup", "staging", "decoding") if spent.inner[name]
    }
    if "decoding" in inner:  # of late samples, which are decoded while they are staged
        inner["staging"] = max(inner.get("staging", 0.0) - inner["decoding"], 0.0)
    return PartTime(
        "decoding" if part.work == "decoding" else _KINDS[part.kind],
        part.name,
        (spent.seconds - _compiling(spent)) / count,
        max(spent.busy - spent.inner["compiling"], 0.0) / count,
        spent.cpu / count,
        spent.tasks / count,
        inner,
        part.work == "user code",
    )


@dataclasses.dataclass(frozen=True)
class _Facts:
    """Holds the measurements from which the verdict and the advice are derived."""

    batches: int
    seconds: float
    waited: float
    first_wait: float
    lanes: list[list[PartTime]]
    times: Times
    programs: int
    compiling: float
    cores: int
    cpu_share: float

    @property
    def period(self) -> float:
        return self.seconds / max(self.batches, 1)

    @property
    def thread_share(self) -> float:
        busy = sum(part.busy for lane in self.lanes for part in lane if part.tasks > 1)
        return busy / max(self.period * self.times.threads, 1e-9)


def _judged(facts: _Facts) -> tuple[PartTime | None, str, str, list[str]]:
    """Returns `slowest`, `bound_by`, `verdict` and `advice` of a `Report`."""
    if not facts.batches or facts.seconds <= 0:
        return None, "", "no batch was taken yet", []
    lane = max(facts.lanes, key=lambda lane: sum(part.seconds for part in lane))
    slowest = max(lane, key=lambda part: part.seconds)
    share = facts.waited / facts.seconds
    pace = (
        f"{slowest.name} ({slowest.kind}) takes {_ms(slowest.seconds)} of the {_ms(facts.period)} of a batch"
    )
    if share < _LITTLE:
        verdict = f"bound by the training loop: it waited for data {share:.1%} of the time"
        return slowest, "loop", verdict, _spare_workers(facts)
    starts = facts.first_wait > facts.waited / 2
    if share < _SOME and facts.compiling <= facts.waited / 2:
        if starts:
            verdict = f"bound by the training loop: it waited for data {share:.0%} of the time, mostly for the first batch"
            return slowest, "loop", verdict, _spare_workers(facts)
        verdict = f"bound by the training loop for the most part: it waited for data {share:.0%} of the time; {pace}"
        return slowest, "loop", verdict, _advice(slowest, facts)
    if facts.compiling > facts.waited / 2:
        verdict = f"bound by compilation: {counted(facts.programs, 'program')} took {facts.compiling:.1f} s"
        advice = [
            "call pipeline.warmup() before training; programs are kept for the next start",
            "fewer sizes of samples need fewer programs: crop or resize to one size early in the pipeline",
        ]
        return slowest, "compilation", verdict, advice
    if starts:
        verdict = (
            f"bound by the start: of {facts.waited:.2f} s that the loop waited, {facts.first_wait:.2f} s were for the "
            "first batch"
        )
        return slowest, "start", verdict, _advice_on_start(facts)
    advice = _advice(slowest, facts)
    if not facts.times.ahead:
        advice.insert(0, "batches are computed only when the loop requests them: let the pipeline run ahead "
                      "(exec_pipelined, exec_async; a source in place of feed_input)")  # fmt: skip
    elif sum(part.seconds for part in lane) < _BUSY * facts.period:
        advice.append("no part is busy all the time, so batches differ: raise prefetch_queue_depth")
    return slowest, slowest.kind, f"bound by data: {pace}", advice


def _advice_on_start(facts: _Facts) -> list[str]:
    """Returns advice for a loop that mostly waited for its first batch."""
    advice = ["measure more batches, or the next epoch, to find the slowest part after the first batch"]
    if facts.times.workers:
        advice.append(
            "before the first batch workers start and compile their programs: fewer workers start sooner"
        )
    return advice


def _spare_workers(facts: _Facts) -> list[str]:
    """Advises removing worker processes if some are idle."""
    workers = facts.times.workers
    part = next((part for lane in facts.lanes for part in lane if part.kind == "workers"), None)
    if part is None:
        return []
    enough = max(math.ceil(workers * _worker_share(part, facts.period, workers) / _BUSY), 1)
    return [f"{enough} of the {workers} workers are enough: remove some"] if enough < workers else []


def _advice(part: PartTime, facts: _Facts) -> list[str]:
    waits = part.busy > 0 and part.cpu < _WAITING * part.busy
    threads = facts.times.threads
    advice: list[str] = []
    full = facts.cpu_share > _FULL
    if part.kind == "decoding" and facts.times.shrinks:
        advice.append(
            "scaled_decoding=True decodes JPEGs at the fraction of their size that the resize needs"
        )
    if part.kind == "reading" and waits:
        advice.append(
            f"the threads mostly wait for storage: raise num_threads (now {threads}); or put the data closer, or "
            "into fewer, larger files"
        )
    elif part.kind in ("reading", "decoding", "host", "stage") and part.tasks > 1 and not full:
        if threads < facts.cores:
            advice.append(f"raise num_threads: it is {threads} on {facts.cores} cores")
        elif waits and part.kind == "host":
            advice.append(
                "its threads wait more than they compute: for each other's Python, or for something outside"
            )
    if part.kind == "workers":
        workers = facts.times.workers
        if _worker_share(part, facts.period, workers) < _BUSY:
            advice.append(
                "workers wait for what is drawn or settled in this process: batches differ, or samples fail"
            )
        elif workers < facts.cores:
            advice.append(f"add workers: there are {workers} on {facts.cores} cores")
    elif part.kind == "source":
        advice.append(
            "the source is asked in one thread, for one batch at a time: let it prepare batches in threads or "
            "processes of its own, or read the data with fn.readers"
        )
    elif part.kind == "decoding" or part.inner.get("decoding", 0.0) > part.busy / 2:
        advice.append("smaller files decode faster: store the pictures at about the size that training needs")
    elif part.user_code:
        advice.append("Python on every sample is slow: use operators of fn, or plugin.jax.fn.jax_function")
    elif part.kind == "stage":
        if part.inner.get("staging", 0.0) > part.busy / 2:
            advice.append("most of the time is copying to padded arrays: samples of one size need no copy")
        elif part.tasks > 4 and facts.times.programs > 4:
            advice.append("samples of many sizes need many calls: crop or resize them early")
        advice.append('smaller pictures and cheaper operators cost less; device="gpu" where there is one')
    elif part.kind == "transfer":
        advice.append("return fewer bytes to the loop: uint8 in place of float32, samples of one size")
    if full:
        advice.append(f"all {facts.cores} cores are busy: more threads do not help")
    return advice
