"""Tasks that go to an actor of Ray in one call: how many, and who is blamed when the actor dies."""

import pickle
import sys
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

pytest.importorskip("ray", reason="Ray is not installed")
from ray.exceptions import ActorDiedError

from jdali._workers import TaskKilledError, TaskOutcome, WorkerDeath, pack
from jdali._workers.on_ray import ActorAnswer, ActorPlace
from jdali.plugin.ray import actor_slot, call_size, dispatcher

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
PLACE, OTHER = ActorPlace("node", "1", 7), ActorPlace("other", "2", 8)


def answered():
    """A reply with the result of one task."""
    result, _ = pack(None)
    packed, _ = pack((TaskOutcome(result.head, (), False, 0.1, 0.1),))
    return replied(ActorAnswer(packed))


def replied(answer):
    reply = Future()
    reply.set_result(answer)
    reply.object_ref = None
    return reply


@pytest.mark.parametrize(
    ("seconds", "cpu", "nbytes", "calls", "most"),
    [
        (0.004, 0.004, 200_000, 4, 16),  # 8x8 pictures: the most there is
        (0.03, 0.03, 200_000, 4, 4),  # six fit, a power of two is taken
        (0.06, 0.004, 200_000, 4, 8),  # on a busy machine
        (0.3, 0.004, 200_000, 4, 1),  # storage is slow: results would come late
        (0.004, 0.004, 12 << 20, 4, 2),  # sixteen would not fit into the bytes of a call
        (0.004, 0.004, 200_000, 32, 2),  # sixteen actors: a thread waits for each task
        (0.2, 0.2, 19 << 20, 4, 1),  # training pictures
        (0.0, 0.0, 0, 256, 1),
    ],
)  # fmt: skip
def test_small_tasks_travel_together(seconds, cpu, nbytes, calls, most):
    size = call_size.CallSize()
    for _ in range(7):
        size.note(seconds, cpu, nbytes, calls)
    assert size.most == 1
    size.note(seconds, cpu, nbytes, calls)
    assert size.most == most


def test_the_number_follows_the_tasks():
    size = call_size.CallSize()
    for cpu in [0.001] * 8 + [0.08] * 8:
        size.note(cpu, cpu, 100, 4)
    assert size.most == 2


class Actor:
    """Takes calls of `make`, and answers none."""

    def __init__(self):
        self.calls, self.replies = [], []
        self.make = SimpleNamespace(remote=self._make)

    def _make(self, name, call):
        group = pickle.loads(call.packed.head, buffers=call.arrays)
        self.calls.append([pickle.loads(task.head) for task in group.tasks])
        self.replies.append(Future())
        return SimpleNamespace(future=lambda: self.replies[-1])


@pytest.fixture
def handing_out():
    """A dispatcher of two actors without its thread; calls may have four tasks."""
    made = dispatcher.RayDispatcher(SimpleNamespace(count=2, max_restarts=-1))
    made._call_size.most = 4
    for index in range(2):
        made._slots[index] = actor_slot.ActorSlot(index, Actor(), PLACE, is_absent=False)
    actors = [slot.handle for slot in made._slots.values()]

    def submit(*orders, patience=2):
        futures = [made.submit(order, order, patience=patience) for order in orders]
        made._hand_out()
        return futures

    return made, actors, submit


def test_each_actor_gets_its_share_in_order(handing_out):
    made, actors, submit = handing_out
    assert made.in_flight == 17
    submit(*range(16))
    assert [actor.calls for actor in actors] == [
        [[0, 1, 2, 3], [8, 9, 10, 11]],
        [[4, 5, 6, 7], [12, 13, 14, 15]],
    ]


def test_an_idle_actor_gets_the_first_task_at_once(handing_out):
    _, actors, submit = handing_out
    for order in range(4):
        submit(order)
    assert [actor.calls for actor in actors] == [[[0], [2]], [[1], [3]]]


def test_a_task_that_may_kill_goes_alone(handing_out):
    _, actors, submit = handing_out
    submit(5, 6, patience=1)
    submit(0, 1)
    assert [actor.calls for actor in actors] == [[[5], [0]], [[6], [1]]]


def test_the_tasks_of_an_actor_that_died_go_alone_and_the_second_death_has_the_blame(handing_out):
    made, actors, submit = handing_out
    futures = submit(*range(8))
    assert [actor.calls for actor in actors] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    slot, other = made._slots.values()
    lost = Future()
    lost.set_exception(ActorDiedError())

    made._answered(slot, slot.jobs[:2], PLACE, lost)
    assert (slot.place, slot.calls, [job.order for job in slot.jobs]) == (None, 1, [4, 5])
    assert [(job.order, job.goes_alone, len(job.deaths)) for job in sorted(made._waiting)] == [
        (0, True, 1), (1, True, 0),
    ]  # fmt: skip
    made._answered(slot, slot.jobs[:], PLACE, lost)
    assert (slot.calls, slot.jobs, made.counts().deaths) == (0, [], 1)

    other.jobs, other.calls = [], 0
    made._hand_out()
    assert actors[1].calls[2:] == [[0], [1]]
    made._answered(other, other.jobs[:1], PLACE, lost)
    with pytest.raises(TaskKilledError, match=r"7 on node node died; .*7 on node node died"):
        futures[0].result(0)
    assert not futures[1].done()


def test_a_task_that_crashes_its_process_has_the_blame_and_the_others_of_the_call_go_again(handing_out):
    made, actors, submit = handing_out
    futures = submit(*range(16))
    slot, _ = made._slots.values()
    crash = WorkerDeath(11, -11, "node")
    made._answered(slot, slot.jobs[:4], PLACE, replied(ActorAnswer(death=crash, position=2, deaths=1)))
    with pytest.raises(TaskKilledError, match="11 on node node was killed by signal 11"):
        futures[2].result(0)
    assert [(job.order, job.goes_alone) for job in sorted(made._waiting)] == [
        (0, False), (1, False), (3, False),
    ]  # fmt: skip
    assert made.counts().deaths == 1
    submit(16)
    assert actors[0].calls[2:] == [[0, 1, 3, 16]]


def test_a_task_is_lost_when_two_processes_that_make_it_are_killed(handing_out):
    """SIGKILL may come from outside, so one death is no proof; a call that waited in the process is not to blame."""
    made, actors, submit = handing_out
    futures = submit(*range(16))
    slot, other = made._slots.values()
    killed, waited = ActorAnswer(death=WorkerDeath(11, -9), position=1, deaths=1), ActorAnswer(deaths=1)
    made._answered(slot, slot.jobs[:4], PLACE, replied(killed))
    made._answered(slot, slot.jobs[:4], PLACE, replied(waited))
    assert not any(future.done() for future in futures)
    assert [job.order for job in made._waiting if job.goes_alone] == [1]
    assert made.counts().deaths == 1
    other.jobs, other.calls = [], 0
    made._hand_out()
    calls = [call for actor in actors for call in actor.calls]
    assert [1] in calls
    at = 0 if [1] in actors[0].calls else 1
    slot = made._slots[at]
    job = next(job for job in slot.jobs if job.order == 1)
    made._answered(slot, [job], PLACE, replied(ActorAnswer(death=WorkerDeath(12, -9), deaths=2)))
    with pytest.raises(TaskKilledError, match=r"11 was killed by signal 9 .*; .*12 was killed"):
        futures[1].result(0)


def test_an_actor_whose_process_died_makes_a_copy_of_a_task_first(handing_out):
    made, actors, submit = handing_out
    first, second = made._slots.values()
    submit(0, 1)
    for slot in (first, second):
        made._answered(slot, slot.jobs[:], PLACE, answered())
    submit(2, 3)
    made._answered(first, first.jobs[:], PLACE, replied(ActorAnswer(death=WorkerDeath(11, -9), deaths=1)))
    made._hand_out()
    made._rehearse()
    assert [actor.calls for actor in actors] == [[[0], [2], [3]], [[1], [3], [2]]]
    actors[0].replies[-1].set_result(ActorAnswer(pack(None)[0]))
    made._handle_events()
    assert (first.is_warm, first.calls, first.jobs) == (True, 0, [])


def test_an_actor_that_joins_makes_a_copy_of_a_task_first(handing_out):
    made, actors, submit = handing_out
    first, second = made._slots.values()
    second.place = None
    submit(0)
    made._rehearse()  # none is warm: there is nothing to spare
    made._answered(first, first.jobs[:], PLACE, answered())
    assert first.is_warm
    submit(1, 2)
    second.note_ready(OTHER)
    made._hand_out()
    made._rehearse()
    made._rehearse()  # it has one
    submit(3, 4)
    assert [actor.calls for actor in actors] == [[[0], [1], [2]], [[1]]]
    actors[1].replies[0].set_result(ActorAnswer())
    made._handle_events()
    assert (second.is_warm, second.calls, second.jobs) == (True, 0, [])
    made._hand_out()
    assert actors[1].calls[1:] == [[3], [4]]


def test_an_actor_that_dies_while_it_makes_a_copy_is_asked_again(handing_out):
    made, actors, submit = handing_out
    first, second = made._slots.values()
    first.is_warm = True
    submit(0)
    made._rehearse()
    actors[1].replies[0].set_exception(ActorDiedError())
    made._handle_events()
    assert (second.place, second.is_absent, second.calls) == (None, True, 0)
    assert [job.deaths for job in first.jobs] == [[]]  # the task is not to blame
    assert made.counts().deaths == 1
