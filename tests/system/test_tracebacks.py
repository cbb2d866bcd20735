"""A warning shows the user's line, in installed packages too, but not that of a library between two frames of jdali."""

import os

import pytest

from jdali._system import tracebacks
from jdali.auto_aug.core import Policy, augmentation


@augmentation
def nothing(data, _):
    return data


@pytest.mark.parametrize(("folder", "is_users"), [("site-packages", True), ("library", False)])
def test_the_line_of_a_warning(folder, is_users, tmp_path, monkeypatch):
    monkeypatch.setattr(tracebacks, "_STANDARD", f"{tmp_path}{os.sep}")
    path = str(tmp_path / folder / "module.py")
    names = {"Policy": Policy, "nothing": nothing}
    exec(compile("def define():\n    Policy('p', 3, [[(nothing, 0, None)]])", path, "exec"), names)
    with pytest.warns(UserWarning, match="probability 0") as found:
        names["define"]()
    assert found[0].filename == (path if is_users else __file__)
