"""Sets the layouts of a reader's outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jdali.readers.base import Loaded


def with_layouts(loaded: Loaded, layouts: Sequence[str] | None) -> Loaded:
    if layouts is None:
        return loaded
    columns = tuple(
        dataclasses.replace(column, spec=column.spec.replace(layout=layout)) if len(column) else column
        for column, layout in zip(loaded.columns, layouts, strict=True)
    )
    return loaded._replace(columns=columns)
