"""ArrayRecord files: how they may be written, orders, damage, and what forged sizes may cost."""

import struct

import numpy as np
import pytest
from support.every_reader import array_record as written
from support.fuzz import refusals
from support.readers import everything, failures, opened, reads

from jdali import SampleError, storage
from jdali._operators.record import REGISTRY
from jdali.readers.formats import riegeli

RNG = np.random.default_rng(0)
# Empty, small, larger than a block of 64 KiB, and one that compresses.
CONTENT = [
    b"",
    b"a",
    *(RNG.bytes(int(n)) for n in RNG.integers(1, 5000, 40)),
    RNG.bytes(200_000),
    bytes(300_000),
]
OPTIONS = [
    f"group_size:{group},{compression}"
    for group in (1, 7, 1000)
    for compression in ("uncompressed", "zstd:3", "brotli:6", "snappy")
] + ["group_size:1,pad_to_block_boundary:true", "group_size:1,uncompressed,pad_to_block_boundary:true"]


def records(found):
    return [sample[0].tobytes() for sample in found]


@pytest.mark.parametrize("options", OPTIONS)
def test_however_it_was_written(tmp_path, options):
    path = written(tmp_path / "x.array_record", CONTENT, options)
    assert records(everything("array_record", paths=path)) == CONTENT


def test_as_its_own_library_reads(tmp_path):
    path = written(tmp_path / "x.array_record", CONTENT, "group_size:3")
    module = pytest.importorskip("array_record.python.array_record_module")
    reader = module.ArrayRecordReader(path)
    order = RNG.permutation(len(CONTENT)).tolist()
    ours = opened("array_record", paths=path)
    assert [ours.load(i)[0].tobytes() for i in order] == reader.read(order)
    reader.close()


def test_small_records_come_in_one_piece(tmp_path):
    """Those that are not compressed are not copied one by one, but for one a block whose header interrupts it."""
    content = [RNG.bytes(1000) for _ in range(300)]
    path = written(tmp_path / "x.array_record", content, "group_size:1,uncompressed")
    (column,), _ = opened("array_record", paths=path).load_many(np.arange(300))
    assert records(zip(column.host_samples(), strict=True)) == content
    assert len({id(block) for block in column.blocks}) <= 2


def test_files_of_both_kinds(tmp_path):
    paths = [written(tmp_path / f"{group}.array_record", CONTENT, f"group_size:{group}") for group in (1, 4)]
    assert records(everything("array_record", paths=paths)) == 2 * CONTENT
    assert opened("array_record", paths=paths).source(len(CONTENT) + 5) == f"{paths[1]}#record 5"


def test_a_chunk_is_read_once_a_pass(tmp_path, monkeypatch):
    content = [bytes([i]) * 100 for i in range(60)]
    path = written(tmp_path / "x.array_record", content, "group_size:5")
    parsed = []
    real = riegeli.parse_chunk
    monkeypatch.setattr(
        "jdali.readers.array_record.parse_chunk", lambda raw, at: parsed.append(at) or real(raw, at)
    )
    for options in ({}, {"random_shuffle": True, "initial_fill": 8}):
        reader = opened("array_record", paths=path, seed=1, **options)
        parsed.clear()
        found = [reader.load_many(reader.take(6).indices).columns[0] for _ in range(10)]
        assert sorted(s.tobytes() for column in found for s in column.host_samples()) == content
        assert len(parsed) == len(set(parsed)) == 12


def test_what_is_refused(tmp_path):
    path = written(tmp_path / "x.array_record", [b"a"], "group_size:1,transpose:true")
    with pytest.raises(ValueError, match=r"x.array_record: has transposed records.*transpose:false"):
        opened("array_record", paths=path)
    path = written(tmp_path / "y.array_record", [], "group_size:1")
    with pytest.raises(ValueError, match=r"there are no records in .*y.array_record"):
        opened("array_record", paths=path)
    (tmp_path / "z").write_bytes(b"no such file")
    with pytest.raises(ValueError, match=r"z: has 12 bytes, an ArrayRecord file has at least 65536"):
        opened("array_record", paths=str(tmp_path / "z"))
    (tmp_path / "z").write_bytes(bytes(1 << 17))
    with pytest.raises(ValueError, match=r"z: where a chunk of records should be is no chunk"):
        opened("array_record", paths=str(tmp_path / "z"))


@pytest.mark.parametrize("group", [1, 2])
def test_a_file_cut_short_is_one_bad_sample(tmp_path, group):
    good = written(tmp_path / "good.array_record", CONTENT[:6], f"group_size:{group}")
    bad = tmp_path / "bad.array_record"
    bad.write_bytes((tmp_path / "good.array_record").read_bytes()[:-70_000])
    with pytest.raises(ValueError, match="bad.array_record"):
        opened("array_record", paths=[good, str(bad)])
    reader = REGISTRY["readers.array_record"].run(paths=(good, str(bad), good), _goes_on=True)
    assert reader.size == 13
    found = failures(reader)
    assert list(found) == [6]
    assert "bad.array_record" in found[6]
    with pytest.raises(ValueError, match="bad.array_record"):
        REGISTRY["readers.array_record"].run(paths=(str(bad),), _goes_on=True)


@pytest.mark.parametrize("group", [1, 3])
def test_a_damaged_chunk(tmp_path, group):
    path = tmp_path / "x.array_record"
    written(path, [bytes([65 + i]) * 100 for i in range(9)], f"group_size:{group},uncompressed")
    data = bytearray(path.read_bytes())
    at = data.index(b"D" * 100) - (42 if group == 1 else 45)
    data[at + 8] ^= 1  # the size of its data
    path.write_bytes(data)
    found = failures(opened("array_record", paths=str(path)))
    assert list(found) == ([3] if group == 1 else [3, 4, 5])
    assert "x.array_record#record 3" in found[3]


@pytest.fixture
def _little_memory():
    before = storage.configure(max_sample_bytes=1 << 20)
    yield
    storage.configure(max_sample_bytes=before.max_sample_bytes)


@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("compression", ["zstd:3", "brotli:6", "snappy"])
def test_few_bytes_that_become_many(tmp_path, compression):
    path = written(tmp_path / "x.array_record", [bytes(3 << 20)], f"group_size:1,{compression}")
    with pytest.raises(SampleError, match="max_sample_bytes of jdali.storage.configure"):
        opened("array_record", paths=path).load(0)


@pytest.mark.parametrize("compression", ["zstd:3", "brotli:6", "snappy"])
def test_claims_of_more_than_there_is(tmp_path, compression):
    """A chunk whose sizes all agree, but whose data end before: no byte of other memory comes along."""
    path = tmp_path / "x.array_record"
    written(path, [bytes(range(250))], f"group_size:1,{compression}")
    data = bytearray(path.read_bytes())
    at = 64
    assert struct.unpack_from("<Q", data, at + 32) == (250,)
    data[at + 32] = 251  # as does each of two varints in its data, which are of two bytes
    two = bytes([0xFA, 0x01])
    head = data[at : at + 400]
    data[at : at + 400] = head[:40] + head[40:].replace(two, bytes([0xFB, 0x01]), 2)
    path.write_bytes(data)
    with pytest.raises(
        SampleError, match=r"its chunk (cannot be decompressed|holds other than the 251 bytes)"
    ):
        opened("array_record", paths=str(path)).load(0)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "options", ["group_size:1,uncompressed", "group_size:1", "group_size:3,brotli", "group_size:2,snappy"]
)
def test_fuzz(tmp_path, options):
    path = tmp_path / "x.array_record"
    written(path, [bytes([i]) * (i * 9) for i in range(6)], options)
    content = path.read_bytes()
    used = len(content[:65536].rstrip(b"\0"))
    tail = content[65536:][:200]

    def damaged(data):
        """The chunks and their index, then the postscript."""
        return data[: -len(tail)].ljust(65536, b"\0")[:65536] + data[-len(tail) :].ljust(65536, b"\0")

    read_file = reads("readers.array_record", path, paths=(str(path),))
    law = {"says": r"readers.array_record: .*x.array_record"}
    assert refusals(lambda data: read_file(damaged(data)), content[:used] + tail, count=400, **law) > 100
