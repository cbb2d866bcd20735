"""Reports on an engine: its plan, its graph, what padding costs, and warming up."""

import types

import pytest
from support.nodes import engine_of, node_of
from support.numbers import NumberReader

from jdali.engine import report
from jdali.engine.in_flight import Room


@pytest.fixture
def engine():
    made = engine_of(NumberReader(10), after=lambda graph, value: node_of(graph, "copy", value).outputs[0])
    yield made
    made.close()


def test_the_plan_has_a_line_for_each_step(engine):
    room = Room(2, 4 << 20, is_strict=False)
    room.note(1 << 20)
    lines = report.describe(engine, room).splitlines()
    assert lines[0].startswith("plan of 2 steps, batch_size 3, 1 thread, 0 programs compiled")
    assert "no batch was made yet" in lines.pop(1)
    assert "made ahead: 2 batches, at most 4 MiB" in lines[1]
    assert "one takes up to 1.0 MiB" in lines[1]
    assert lines[2].startswith("  host memory: 0.0 MiB leased")
    assert lines[3].split() == [
        "[level",
        "0]",
        "host",
        "external_source",
        "reads",
        "in",
        "the",
        "thread",
        "pool",
    ]
    assert lines[4].split()[:4] == ["[level", "0]", "host", "copy"]


def test_waste_is_a_ratio_of_all_programs_together():
    def program(padded, needed):
        return types.SimpleNamespace(padded_seconds=padded, needed_seconds=needed)

    assert report.waste([]) == report.waste([program(0.0, 0.0)]) == 1.0
    assert report.waste([program(3.0, 1.0), program(1.0, 1.0), program(2.0, 2.0)]) == 6 / 4


def test_statistics_count_what_was_drawn(engine):
    engine.make(engine.draw())
    found = report.statistics(engine)
    assert (found["iterations"], found["programs"], found["stages"]) == (1, 0, {})


def test_warming_up_goes_through_an_epoch_and_moves_nothing(engine, capsys):  # no terminal: no bar
    read = []
    (reader,) = engine.sources.values()
    reader.delay = read.append
    assert report.warm_up(engine, progress=True) == 0
    assert sorted(read) == sorted([*range(10), 0, 1])  # four batches of three
    assert engine.cursor.iteration == 0
    assert capsys.readouterr().err == ""


def test_warming_up_is_over_after_quiet_batches():
    engine = engine_of(NumberReader(1000))
    runs = []
    engine.make = lambda task, begun: runs.append(task)
    report.warm_up(engine, progress=False)
    assert len(runs) == report.QUIET_BATCHES
    engine.close()


def test_the_graph_in_dot(engine):
    text = report.dot(engine.plan, show_tensors=True, show_ids=True, colors=True)
    assert '  n0 [label="source\\nexternal_source\\nid 0" style="filled" fillcolor="blue"]' in text
    assert '  n0 -> n1 [label="' in text
    assert "  n1 -> output0" in text
    plain = report.dot(engine.plan, show_tensors=False, show_ids=False, colors=False)
    assert "  n0 -> n1\n" in plain
    assert "fillcolor" not in plain


def test_times_go_through_the_parts_in_order(engine):
    engine.make(engine.draw())
    times = report.times(engine, ahead=True)
    assert [part.kind for ((part, _),) in times.lanes] == ["source", "reading", "host", "device"]
    assert [spent.count for ((_, spent),) in times.lanes] == [1, 1, 1, 0]
    assert (times.programs, times.threads, times.shrinks, times.ahead) == (0, 1, False, True)
