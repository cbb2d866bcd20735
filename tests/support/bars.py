"""Bars of progress that count instead of drawing."""

from __future__ import annotations

import sys

import tqdm

from jdali._system import progress


class Bar:
    """Stands for a bar of tqdm."""

    def __init__(self, options):
        self.options, self.done = options, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def update(self, count):
        self.done += count


def on_a_terminal(monkeypatch):
    """Makes stderr a terminal; returns the list of bars that are shown there."""
    bars = []

    def shown(**options):
        bars.append(Bar(options))
        return bars[-1]

    monkeypatch.setattr(progress, "_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(tqdm, "tqdm", shown)
    return bars
