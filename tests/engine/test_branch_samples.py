"""Samples of branches: those of the parent for which a predicate holds."""

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import batch, source_node

from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedStep, make, part_of
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool
from jdali.graph import WHOLE_BATCH, Domain, Graph


@pytest.fixture
def predicates():
    graph = Graph()
    return [source_node(graph, name).outputs[0] for name in "ab"]


def positions(part):
    return part.position.tolist()


def test_branches_in_branches(predicates):
    first, second = predicates
    env = Values({first: batch(True, False, True, True), second: batch(0, 7, 0)})  # of the three
    parts = {WHOLE_BATCH: sample_ids(4)}
    holds = Domain(WHOLE_BATCH, first, branch=True)
    inner = Domain(holds, second, branch=False)
    assert positions(part_of(inner, parts, env)) == [0, 3]
    assert positions(parts[holds]) == [0, 2, 3]
    assert positions(part_of(Domain(WHOLE_BATCH, first, branch=False), parts, env)) == [1]
    del env[first]
    assert positions(part_of(inner, parts, env)) == [0, 3]  # known already


def test_the_branch_of_a_number(predicates):
    first, _ = predicates
    env, parts = Values({first: batch(2, 1, 2)}), {WHOLE_BATCH: sample_ids(3)}
    assert positions(part_of(Domain(WHOLE_BATCH, first, branch=2), parts, env)) == [0, 2]


def test_in_an_empty_branch_no_predicate_is_looked_at(predicates):
    first, second = predicates
    env, parts = Values({first: batch(False, False)}), {WHOLE_BATCH: sample_ids(2)}
    inner = Domain(Domain(WHOLE_BATCH, first), second)
    assert len(part_of(inner, parts, env)) == 0


def test_a_bad_predicate_names_the_line_of_the_condition(predicates):
    first, _ = predicates
    env, parts = Values({first: batch([1, 2], [3, 4])}), {WHOLE_BATCH: sample_ids(2)}
    with pytest.raises(NodeFailure) as caught:
        part_of(Domain(WHOLE_BATCH, first, where="file.py:9"), parts, env)
    assert "file.py:9" in str(caught.value.user_error(None))
    assert caught.value.node is first.source
    assert not caught.value.is_of_samples


def test_operators_without_samples_have_empty_outputs():
    node, env, pool = source_node(outputs=2), Values(), Pool(1)
    make(
        [PreparedStep([node], lambda *_: pytest.fail("it has no samples"))],
        env,
        {WHOLE_BATCH: sample_ids(0)},
        pool,
    )
    pool.close()
    assert [len(env[value]) for value in node.outputs] == [0, 0]
    assert np.asarray([env[value].device == value.device for value in node.outputs]).all()
