"""io.file.read: the content of files by path; by hand and against DALI."""

import numpy as np
import pytest
from support import oracle

import jdali
import jdali.dynamic as jd
from jdali import fn, pipeline_def
from jdali._operators.record import REGISTRY, HostOp


def encoded(path, dtype=np.uint8):
    return np.frombuffer(str(path).encode(), np.uint8).view(dtype)


@pytest.fixture
def paths(tmp_path):
    contents = {"one.bin": b"abc", "two é.bin": b"\x00xyz1", "three": b"0123456789"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {tmp_path / name: content for name, content in contents.items()}


def read(samples, **args):
    @pipeline_def(batch_size=len(samples), num_threads=2, device_id=None)
    def pipeline():
        names = fn.external_source(source=[samples], cycle=True, batch=True)
        return fn.io.file.read(names, **args)

    pipe = pipeline()
    try:
        (out,) = pipe.run()
        return [np.asarray(out.at(i)) for i in range(len(samples))]
    finally:
        pipe.close()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("args", [{}, {"dont_use_mmap": True, "use_o_direct": True}], ids=str)
def test_content(paths, dtype, args):
    got = read([encoded(path, dtype) for path in paths], **args)
    assert [a.dtype for a in got] == [np.uint8] * 3
    assert [a.tobytes() for a in got] == list(paths.values())


def test_a_path_ends_at_zero(paths, tmp_path):
    path, content = next(iter(paths.items()))
    assert read([encoded(f"{path}\0\0junk")])[0].tobytes() == content
    (tmp_path / "empty").write_bytes(b"")
    assert read([encoded(tmp_path / "empty")])[0].shape == (0,)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_as_dali(paths, dtype):
    samples = [encoded(path, dtype) for path in paths] + [encoded(f"{next(iter(paths))}\0x", dtype)]
    (expected,) = oracle.run("io.file.read", [samples])
    for mine, theirs in zip(read(samples), expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (encoded("/no/such"), "cannot read /no/such: No such file"),
        (np.zeros(0, np.uint8), "the path is empty"),
        (np.zeros(3, np.int32), "a path must be uint8 or int8 with one axis, got int32 with 1"),
        (np.zeros((1, 3), np.uint8), "got uint8 with 2"),
    ],
    ids=str,
)
def test_wrong_paths(sample, message):
    with pytest.raises(jdali.OperatorError, match=f"io.file.read: .*{message}"):
        read([sample])


def test_dynamic(paths):
    path, content = next(iter(paths.items()))
    assert np.asarray(jd.io.file.read(encoded(path))).tobytes() == content


def test_record():
    record = REGISTRY["io.file.read"]
    assert isinstance(record, HostOp)
    assert (record.outputs, len(record.inputs)) == (1, 1)
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument
