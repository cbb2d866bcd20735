"""Plugins for frameworks that are not installed say how to install them."""

import importlib
import sys

import pytest

PLUGINS = {
    "grain": ("grain", "Grain"),
    "numba": ("numba", "Numba"),
    "paddle": ("paddle", "PaddlePaddle"),
    "pytorch": ("torch", "PyTorch"),
    "ray": ("ray", "Ray"),
    "tf": ("tensorflow", "TensorFlow"),
}
EXTRAS = {"pytorch": "torch"}


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_to_install(plugin, monkeypatch):
    package, title = PLUGINS[plugin]
    for name in list(sys.modules):
        if name.startswith(f"jdali.plugin.{plugin}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"plugin.{plugin} needs {title}, which is not installed") as caught:
        importlib.import_module(f"jdali.plugin.{plugin}")
    assert f'pip install ".[{EXTRAS.get(plugin, plugin)}]"' in str(caught.value)


def test_what_to_install_for_nodes(monkeypatch):
    monkeypatch.delitem(sys.modules, "jdali.dynamic.pytorch.nodes", raising=False)
    monkeypatch.setitem(sys.modules, "torchdata", None)
    monkeypatch.setitem(sys.modules, "torchdata.nodes", None)
    with pytest.raises(ImportError, match="needs PyTorch and torchdata, which are not installed") as caught:
        importlib.import_module("jdali.dynamic.pytorch.nodes")
    assert 'pip install ".[torch]"' in str(caught.value)
