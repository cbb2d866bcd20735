"""Contains the installation commands of optional dependencies, for messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


def install(extra: str = "") -> str:
    """Returns the command that installs jdali with one of its extras.

    jdali is on no package index yet; see docs/releasing.md for `pip install "jdali[extra]"`.
    """
    target = f'".[{extra}]"' if extra else "--force-reinstall ."
    return f"pip install {target} in a clone of jdali"


@contextlib.contextmanager
def needed_by(module: str, library: str, extra: str) -> Iterator[None]:
    """Names the module and the installation command if an import in the `with` block fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{module} needs {library}, which is not installed: {install(extra)}") from error
