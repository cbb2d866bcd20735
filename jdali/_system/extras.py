"""The one module with the installation commands of optional dependencies."""

from __future__ import annotations


def install(extra: str = "") -> str:
    """Returns the command that installs jdali with one of its extras.

    jdali is on no package index yet; docs/releasing.md says when this becomes `pip install "jdali[extra]"`.
    """
    target = f'".[{extra}]"' if extra else "--force-reinstall ."
    return f"pip install {target} in a clone of jdali"
