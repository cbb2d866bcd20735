"""Values that rise with what batches need: the programs of a stage, and the same bits by each of them."""

import numpy as np
from engine.tasks.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node

from jdali._batches import Rising
from jdali._system.devices import host_device
from jdali.engine.steps.program import Compiler
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import Values
from jdali.engine.workers.pool import Pool
from jdali.graph import Graph, step_of


def test_a_stage_never_goes_back_to_less():
    random = np.random.default_rng(3)
    small, alike, large = (random.integers(0, 256, (n, 20, 1)).astype(np.uint8) for n in (19, 20, 60))

    def run(samples):
        graph = Graph()
        (data,) = source_node(graph).outputs
        node = node_of(graph, "resize", data, size=(21, 21))
        runner = StageRunner(step_of(node), seed=1, max_batch=1, device=host_device(), compiler=Compiler())
        values, pool = [], Pool(1)
        for sample in samples:
            env = Values({data: batch(sample, layout="HWC")})
            runner.run(env, sample_ids(1), StepContext(pool))
            values += rows(env[node.outputs[0]])
        pool.close()
        return values, [rising_of(key) for key in runner.programs]

    first, risen = run([small, large, small, alike])
    # The third batch has the plan of the first one, and its program; the last one has a program with room for more.
    assert len(risen) == 3
    assert risen[0].value < risen[1].value == risen[2].value <= risen[0].most
    alone, fresh = run([alike])
    assert fresh == risen[:1]
    assert alone == first[3:]
    assert first[0] == first[2]


def rising_of(key):
    """The one `Rising` value in the key of a program."""
    (call,), *_ = key
    (value,) = (value for _, value in call.static if isinstance(value, Rising))
    return value
