"""Formats words for messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Formats a number and a noun: "1 batch", "2 batches", "0 workers"."""
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{plural if number != 1 else ''}"
