"""The registry loads operators when they are asked for; the catalog says where they are."""

import importlib
import pkgutil

import pytest

import jdali.ops
import jdali.readers
from jdali._operators.base import Registry
from jdali._operators.catalog import CATALOG
from jdali._operators.record import REGISTRY, host_operator, kind_of


def test_the_catalog_is_complete():
    """If not, run tools/make_stubs.py."""
    for package in (jdali.ops, jdali.readers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    found = {}
    for name, op in REGISTRY.loaded().items():
        if op.run.__module__.startswith(("jdali.ops.", "jdali.readers.")):
            found.setdefault(op.run.__module__, {})[name] = type(op).__name__
    assert found == CATALOG


def test_an_operator_is_loaded_when_it_is_asked_for():
    registry = Registry({"jdali.ops.image._flip": {"flip": "DeviceOp"}})
    assert ("flip" in registry, list(registry), len(registry)) == (True, ["flip"], 1)
    assert (registry.kind_name("flip"), dict(registry.loaded())) == ("DeviceOp", {})
    with pytest.raises(KeyError):  # its module registers it, but in the registry of the package
        registry["flip"]
    registry.register("flip", "the record", "jdali.ops.image._flip")
    assert (registry["flip"], list(registry), len(registry)) == ("the record", ["flip"], 1)
    del registry["flip"]
    assert ("flip" in registry, len(registry)) == (False, 0)
    with pytest.raises(KeyError):
        del registry["flip"]


def test_a_name_of_the_catalog_cannot_be_taken():
    with pytest.raises(ValueError, match="operator flip is registered twice"):

        @host_operator(name="flip")
        def other(data, /): ...

    assert REGISTRY["flip"].run.__module__ == "jdali.ops.image._flip"


def test_kinds_are_known_without_loading():
    assert all(kind_of(name) is type(op) for name, op in REGISTRY.items())
