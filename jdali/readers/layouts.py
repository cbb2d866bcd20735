"""Layouts of the outputs of a reader."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jdali.readers.base import Loaded


def with_layouts(loaded: Loaded, layouts: Sequence[str] | None) -> Loaded:
    """Gives each output a layout ("" for none); None changes nothing."""
    if layouts is None:
        return loaded
    columns = tuple(
        dataclasses.replace(column, spec=column.spec.replace(layout=layout)) if len(column) else column
        for column, layout in zip(loaded.columns, layouts, strict=True)
    )
    return loaded._replace(columns=columns)
