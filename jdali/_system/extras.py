"""Contains the installation commands of optional dependencies, for messages."""

from __future__ import annotations


def install(extra: str = "") -> str:
    """Returns the command that installs jdali with one of its extras.

    jdali is on no package index yet; see docs/releasing.md for `pip install "jdali[extra]"`.
    """
    target = f'".[{extra}]"' if extra else "--force-reinstall ."
    return f"pip install {target} in a clone of jdali"
