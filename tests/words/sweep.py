"""Compares the errors of jdali with DALI's over the wrong calls of `words` and of the operators' tables.

    python -m words.sweep [--write] [PART OF A NAME]

prints each call whose words or types differ, and how many are alike. With `--write` it writes `unlike.json`, which says of the
calls of `words` what differs; `test_words.py` holds it.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path

from ops import refused_calls, refused_images, refused_tensors
from words.calls import Call, run
from words.calls_of_modes import CALLS
from words.compared import ALIKE, compare, main_sentence

UNLIKE = Path(__file__).with_name("unlike.json")


def tables() -> dict[str, Call]:
    """The rows of the operators' tables."""
    modules = (refused_calls, refused_images, refused_tensors)
    return {
        f"table: {words}": functools.partial(run, call) for module in modules for words, call in module.CALLS
    }


def main(*arguments: str) -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    part = next((a for a in arguments if a != "--write"), "")
    counts: Counter[str] = Counter()
    unlike: dict[str, list[str]] = defaultdict(list)
    for name, call in {**CALLS, **tables()}.items():
        if part not in name:
            continue
        found = compare(call)
        counts[found.verdict] += 1
        if found.theirs is not None and found.ours is not None:
            counts["(both refuse)"] += 1
            counts["(the same words)"] += found.words
            counts["(the same type)"] += found.type
        if found.verdict != ALIKE:
            if name in CALLS:
                unlike[found.verdict].append(name)
            theirs = found.theirs and f"{found.theirs.kind.__name__}: {main_sentence(found.theirs.text)}"
            ours = found.ours and f"{type(found.ours).__name__}: {str(found.ours).partition(chr(10))[0]}"
            print(f"{found.verdict}  {name}\n   DALI:  {theirs}\n   jdali: {ours}")
    print(dict(counts))
    if "--write" in arguments:
        UNLIKE.write_text(json.dumps(dict(sorted(unlike.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
