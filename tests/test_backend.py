"""What the backend tells of operators and of the machine: the same as the real DALI's, where that has them."""

import pytest
from support import odd_sizes, oracle, refusals

import jdali
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


# --- the machine -------------------------------------------------------------------------------------
# Parts of DALI's C++ and of its Python code, which programs do not ask for.
INSIDE = {
    "CUDAStreamSynchronize", "DLDeviceType", "ExternalContextCheckpoint", "GetCUDAStreamDevice", "GetSchemaAndTarget",
    "Init", "LoadDefaultPlugins", "LoadDirectory", "LoadLibrary", "OpSpec", "Pipeline", "PipelineDebug",
    "SetCUDACurrentDevice", "SharedMem", "Stream", "atexit", "cuda_checked", "gc", "initialized", "sys", "sysconfig",
    "warnings",
}  # fmt: skip


@pytest.mark.oracle
def test_what_dalis_programs_ask_for_is_there():
    dali = oracle.dali()
    theirs = {name for name in dir(dali.backend) if not name.startswith("_")} - INSIDE
    assert theirs <= set(dir(backend))
    asked = {"__cuda_version__", "__git_sha__", "__version__", "pickling", "plugin_manager", "sysconfig"}
    public = {name for name in dir(dali) if not name.startswith("_")} - {
        "backend_impl", "internal", "python_function_plugin", "reducers",
    }  # fmt: skip
    assert public | asked <= set(dir(jdali))
    assert all(hasattr(jdali, name) for name in public | asked)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        "GetCUDADeviceCount", "GetCudaVersion", "GetCufftVersion", "GetCxx11AbiFlag", "GetDeviceBufferGrowthFactor",
        "GetHostBufferGrowthFactor", "GetHostBufferShrinkThreshold", "GetNppVersion", "GetNvjpegVersion",
        "IsDriverInitialized", "ReleaseUnusedMemory", "RestrictPinnedMemUsage",
    ],
)  # fmt: skip
def test_answers_without_a_gpu_are_dalis(name):
    if backend.GetCUDADeviceCount():
        pytest.skip("there is a GPU")
    assert getattr(backend, name)() == getattr(oracle.dali().backend, name)()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GetCUDACurrentDevice", ()), ("PreallocateDeviceMemory", (100, 0)), ("SetHostBufferGrowthFactor", (0.5,)),
        ("SetDeviceBufferGrowthFactor", (4.5,)), ("SetBufferGrowthFactor", (0.0,)),
        ("SetHostBufferShrinkThreshold", (1.5,)),
    ],
)  # fmt: skip
def test_what_dali_refuses_without_a_gpu(name, arguments):
    if backend.GetCUDADeviceCount():
        pytest.skip("there is a GPU")
    theirs = refusals.of(lambda dali: getattr(dali.backend, name)(*arguments), oracle.dali())
    assert issubclass(theirs.kind, (RuntimeError, ValueError))
    with pytest.raises(theirs.kind) as ours:
        getattr(backend, name)(*arguments)
    if theirs.kind is ValueError:
        assert theirs.text.rstrip(".") in str(ours.value)


def test_factors_that_were_set():
    before = backend.GetHostBufferGrowthFactor(), backend.GetHostBufferShrinkThreshold()
    try:
        backend.SetBufferGrowthFactor(2)
        assert backend.GetHostBufferGrowthFactor() == backend.GetDeviceBufferGrowthFactor() == 2.0
        backend.SetHostBufferShrinkThreshold(0.25)
        assert backend.GetHostBufferShrinkThreshold() == 0.25
    finally:
        backend.SetBufferGrowthFactor(before[0])
        backend.SetHostBufferShrinkThreshold(before[1])


def test_unused_memory_is_released():
    pipe = odd_sizes.flipping(odd_sizes.UNIFORM)
    pool = pipe.internals().engine.pool.slabs  # built, and nothing is under way
    lease = pool.lease(1 << 20)
    del lease
    assert pool.usage().idle >= 1 << 20
    backend.ReleaseUnusedMemory()
    assert pool.usage().idle == 0
    pipe.close()


def test_versions_are_numbers():
    assert isinstance(jdali.__cuda_version__, int)
    assert backend.__cuda_version__ == jdali.__cuda_version__ >= 0
    assert backend.GetNvimgcodecVersion() == -1
    assert backend.GetOpenCVVersion() == ""
    with pytest.warns(Warning, match="something"):
        backend.deprecation_warning("something")
