"""The last step of a batch is a method of somebody who may go away."""

import gc

from support.nodes import engine_of
from support.numbers import NumberReader

from jdali.engine.flow.finishing import Finishing


class Owner:
    def __init__(self):
        self.calls = []

    def finish(self, number, result):
        self.calls.append((number, result))
        return result


def test_batches_stay_as_they_are_unless_somebody_wants_more():
    engine = engine_of(NumberReader(9))
    finishing, result = Finishing(), engine.run()
    assert not finishing.wanted
    assert finishing(0, result) is result
    owner = Owner()
    finishing.set(owner.finish)
    assert finishing.wanted
    assert finishing(3, result) is result
    assert owner.calls == [(3, result)]
    engine.close()


def test_the_owner_is_not_kept():
    engine = engine_of(NumberReader(9))
    finishing, result = Finishing(), engine.run()
    owner = Owner()
    finishing.set(owner.finish)
    calls = owner.calls
    del owner
    gc.collect()
    assert not finishing.wanted
    assert finishing(0, result) is result
    assert calls == []
    engine.close()
