"""Errors of pipelines, nodes, tensors, iterators, debug and dynamic mode: DALI's words and types.

`unlike.json` lists the calls that differ, by what differs. `words.sweep` writes it, and it holds both ways: a call that it does
not list is alike, one that it lists is not.
"""

from __future__ import annotations

import json

import pytest
from support import oracle
from words import compared
from words.calls_of_modes import CALLS
from words.sweep import UNLIKE

LISTED = {name: verdict for verdict, names in json.loads(UNLIKE.read_text()).items() for name in names}
TRIED = [name for name in CALLS if LISTED.get(name) != compared.DIES]  # another crash proves nothing


@pytest.mark.oracle
@pytest.mark.parametrize("name", TRIED)
def test_words_and_types_are_dalis(name):
    if oracle.dali().backend.GetCUDADeviceCount():
        pytest.skip("with a GPU, DALI's build refuses other calls")
    found = compared.compare(CALLS[name])
    assert found.verdict == LISTED.get(name, compared.ALIKE), found


def test_all_that_is_listed_is_tried():
    assert set(LISTED) <= set(CALLS)
