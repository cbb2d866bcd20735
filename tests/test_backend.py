"""What the schemas of operators tell: the same as the real DALI's, where it has the operator."""

import pytest
from support import oracle

from jdali import backend

NAMES = [
    "Resize",
    "readers__File",
    "decoders__Image",
    "random__CoinFlip",
    "PythonFunction",
    "BBoxPaste",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_schemas_agree_with_dali(name):
    oracle.dali()
    import nvidia.dali.backend

    ours, theirs = backend.GetSchema(name), nvidia.dali.backend.GetSchema(name)
    for fact in ("Name", "OperatorName", "ModulePath", "IsStateful", "MinNumInput"):
        assert getattr(ours, fact)() == getattr(theirs, fact)(), fact
    assert ours.MaxNumInput() >= theirs.MaxNumInput()
    for argument in ours.GetArgumentNames():
        if argument in theirs.GetArgumentNames() and argument != "seed":
            assert ours.IsArgumentOptional(argument) == theirs.IsArgumentOptional(argument), argument
            assert ours.IsTensorArgument(argument) == theirs.IsTensorArgument(argument), argument


def test_arguments():
    schema = backend.GetSchema("Resize")
    assert "interp_type" in schema.GetArgumentNames()
    assert schema.HasArgument("size")
    assert not schema.HasArgument("images")
    assert not schema.HasArgumentDefaultValue("size")
    assert schema.GetArgumentDefaultValueString("antialias") == "True"
    assert schema.GetInputName(0) == "image"
    assert schema.Dox().startswith("Resizes")
    assert not schema.HasRandomSeedArg()
    assert backend.GetSchema("random__Uniform").HasRandomSeedArg()
    with pytest.raises(KeyError, match='Argument "images" is not defined for operator "Resize"'):
        schema.HasArgumentDefaultValue("images")
    with pytest.raises(ValueError, match="argument 'size' has no default"):
        schema.GetArgumentDefaultValueString("size")
    with pytest.raises(IndexError, match="there is no input 1, it takes up to 1"):
        schema.GetInputName(1)


def test_unknown_operators():
    with pytest.raises(KeyError, match="Schema for operator 'Nope' not registered"):
        backend.GetSchema("Nope")
    assert backend.TryGetSchema("math__Add") is None  # a part of expressions, which nobody calls


def test_registered_operators():
    assert "decoders__Image" in backend.RegisteredMixedOps()
    assert "Resize" in backend.RegisteredGPUOps()
    assert {"Resize", "readers__File"} <= set(backend.RegisteredCPUOps())
    for name in backend.RegisteredCPUOps():
        assert "cpu" in backend.GetSchema(name).GetSupportedBackends()


def test_internal_operators():
    hidden = set(backend.RegisteredCPUOps(internal_ops=True)) - set(backend.RegisteredCPUOps())
    assert "math__Add" in hidden
    assert "Resize" not in hidden


def test_names_of_the_past():
    assert backend.GetSchema("FileReader", follow_aliases=True).Name() == "readers__File"
    assert backend.GetSchema("Resize", follow_aliases=True).Name() == "Resize"
    assert backend.TryGetSchema("FileReader") is None
