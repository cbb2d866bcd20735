"""readers.webdataset: samples, extensions, indexes, formats of tar, damaged files; against DALI and by "
"hand."""

import io
import json
import tarfile

import numpy as np
import pytest
from support import records
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened, survives
from support.settled import settle_at_once

from jdali import fn, pipeline_def, types
from jdali.readers.formats import webdataset_index as module

MEMBERS = [
    ("d/0.jpg", b"image 0"), ("d/0.cls", b"0"), ("d/0.left.png", b"png 0"),
    ("d/1.JPG", b"IMAGE 1"), ("d/1.cls", b"1"),
    ("d/2.cls", b"2"), ("d/2.jpeg", b"image 2"), ("d/2.jpg", b"second"),
    ("d/.hidden.jpg", b"no"), ("noext", b"none"),
    ("e/2.jpg", b""), ("e/2.cls", b"3" * 600),
    ("d/0.jpg", b"again"),
]  # fmt: skip


def arrays(*rows):
    return [tuple(np.frombuffer(content, np.uint8) for content in row) for row in rows]


def write_index(path, members, offsets, version="v1.2"):
    """What DALI's wds2idx would write."""
    samples, last = [], None
    for (name, content), offset in zip(members, offsets, strict=True):
        folder, _, file = name.rpartition("/")
        stem, dot, extension = file.partition(".")
        if not stem:
            continue
        if (folder, stem) != last:
            samples.append([])
            last = (folder, stem)
        samples[-1] += [extension if dot else name, offset, len(content)] + [name] * (version == "v1.2")
    return records.index(path, [[version, len(samples)], *samples])


@pytest.fixture
def made(tmp_path):
    """(path, index) of an archive of MEMBERS."""
    offsets = records.tar(tmp_path / "data.tar", MEMBERS)
    return str(tmp_path / "data.tar"), write_index(tmp_path / "data.idx", MEMBERS, offsets)


CASES = [
    (
        {"ext": ["jpg", "cls"]},
        arrays(
            (b"image 0", b"0"), (b"", b"1"), (b"second", b"2"), (b"", b""), (b"", b"3" * 600), (b"again", b""),
        ),
    ),
    (
        {"ext": ["cls", "jpg;JPG;jpeg"], "missing_component_behavior": "skip"},
        arrays((b"0", b"image 0"), (b"1", b"IMAGE 1"), (b"2", b"image 2"), (b"3" * 600, b"")),
    ),
    (
        {"ext": "JPG", "case_sensitive_extensions": False},
        arrays((b"image 0",), (b"IMAGE 1",), (b"second",), (b"",), (b"",), (b"again",)),
    ),
    ({"ext": ["left.png", "png"], "missing_component_behavior": "Empty"}, arrays((b"png 0", b""), *[(b"", b"")] * 5)),
    ({"ext": ["cls", "cls"], "missing_component_behavior": "skip"}, arrays(*[(c, c) for c in (b"0", b"1", b"2", b"3" * 600)])),
    ({"ext": ["noext"], "missing_component_behavior": "skip"}, arrays((b"none",))),
]  # fmt: skip


@pytest.mark.parametrize(("args", "expected"), CASES, ids=str)
def test_samples(made, args, expected):
    path, index = made
    assert_same(everything("webdataset", paths=path, **args), expected)
    assert_same(everything("webdataset", paths=path, index_paths=index, **args), expected)
    assert_same(everything("webdataset", paths=[path, path], index_paths=[index] * 2, **args), expected * 2)


@pytest.mark.oracle
@pytest.mark.parametrize(("args", "expected"), CASES, ids=str)
def test_samples_as_dali(made, args, expected):
    path, index = made
    if args["ext"] == ["cls", "cls"]:
        pytest.skip("DALI takes samples for incomplete if two outputs come from one file")
    assert_same(dali_everything("webdataset", paths=path, index_paths=index, **args), expected)
    if args.get("missing_component_behavior") == "skip":  # else it gives an empty sample for the hidden file
        assert_same(dali_everything("webdataset", paths=path, **args), expected)


def test_an_extension_that_no_sample_has_is_said(made):
    @pipeline_def(batch_size=1, num_threads=1)
    def pipe(behavior=""):
        return fn.readers.webdataset(
            paths=[made[0]], ext=["cls", "JPEG"], missing_component_behavior=behavior
        )

    with pytest.warns(
        UserWarning, match=r"no sample has .* extension JPEG: .*data.tar has JPG, cls, jpeg, jpg"
    ) as said:
        pipe().build()
    assert said[0].filename == __file__
    pipe("empty").build()  # it is meant


def test_dtypes(tmp_path):
    ints, halves = np.arange(-3, 4, dtype=np.int64), np.array([0.5, 1], np.float16)
    members = [("0.i", ints.tobytes()), ("0.h", halves.tobytes()), ("1.i", b"123"), ("2.h", b"")]
    records.tar(tmp_path / "data.tar", members)
    args = {"paths": str(tmp_path / "data.tar"), "ext": ["i", "h"], "dtypes": [types.INT64, types.FLOAT16]}
    reader = opened("webdataset", **args)
    assert_same([reader.load(0), reader.load(2)], [(ints, halves), (ints[:0], halves[:0])])
    with pytest.raises(
        ValueError,
        match=r"data.tar#sample 1: component size and dtype incompatible: the 3 bytes at byte \d+ are not a whole number of i",
    ):
        reader.load(1)
    with pytest.raises(ValueError, match="1 dtypes for 2 outputs"):
        opened("webdataset", **args | {"dtypes": types.INT64})


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_in_all_formats(tmp_path, format):
    lengths = [1, 90, 99, 100, 101, 150] + [300] * (format != tarfile.USTAR_FORMAT)
    members = []
    for i, length in enumerate(lengths):
        folder = "f" * (length // 2 - 1) + "/" if length > 10 else ""
        stem = (folder + f"{i}é" + "n" * length)[: length - 3] or str(i)
        members += [(f"{stem}.a", b"a%d" % i), (f"{stem}.b", b"b%d" % i)]
    records.tar(tmp_path / "data.tar", members, format=format)
    got = everything("webdataset", paths=str(tmp_path / "data.tar"), ext=["a", "b"])
    assert_same(got, arrays(*[(b"a%d" % i, b"b%d" % i) for i in range(len(lengths))]))


def test_an_extended_header_of_many_records(tmp_path):
    """It is read in one pass; a copy for each record would take half a minute."""
    content = b"6 a=b\n" * 150_000 + b"14 path=0.jpg\n"
    with tarfile.open(tmp_path / "data.tar", "w") as archive:
        entry = tarfile.TarInfo()
        entry.type, entry.size = tarfile.XHDTYPE, len(content)
        archive.addfile(entry, io.BytesIO(content))
        archive.addfile(tarfile.TarInfo("short"))
    assert opened("webdataset", paths=str(tmp_path / "data.tar"), ext="jpg").size == 1


def test_entries_that_are_no_files(tmp_path):
    with tarfile.open(tmp_path / "data.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind in (
            ("d", tarfile.DIRTYPE),
            ("d/0.jpg", tarfile.SYMTYPE),
            ("d/1.jpg", tarfile.LNKTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "x" * 200
            archive.addfile(entry)
        archive.addfile(tarfile.TarInfo("d/2.jpg"))
    reader = opened("webdataset", paths=str(tmp_path / "data.tar"), ext="jpg")
    assert reader.size == 1


def test_several_archives_and_sources(made, tmp_path):
    records.tar(tmp_path / "empty.tar", [])
    records.tar(tmp_path / "more.tar", [("a.cls", b"no"), ("b.jpg", b"b"), ("b.cls", b"9")])
    paths = [made[0], str(tmp_path / "empty.tar"), str(tmp_path / "more.tar")]
    reader = opened("webdataset", paths=paths, ext=["jpg", "cls"], missing_component_behavior="skip")
    assert reader.size == 4
    assert [reader.source(i) for i in (1, 3)] == [f"{paths[0]}#sample 2", f"{paths[2]}#sample 1"]
    assert reader.load(3)[1].tobytes() == b"9"


def test_joined_archives(tmp_path):
    """`cat a.tar b.tar`: the samples that tarfile finds in both, also behind an empty archive and short ends."""
    names = [[f"{i}.jpg" for i in range(3)], [], [f"{i}.jpg" for i in range(3, 7)]]
    parts = []
    for number, mine in enumerate(names):
        records.tar(tmp_path / "part.tar", [(name, name.encode()) for name in mine])
        zeros = (1 + number) * 512
        parts.append((tmp_path / "part.tar").read_bytes()[: len(mine) * 1024] + bytes(zeros))
    joined = tmp_path / "joined.tar"
    joined.write_bytes(b"".join(parts))
    with tarfile.open(joined, ignore_zeros=True) as archive:
        expected = [(np.frombuffer(archive.extractfile(member).read(), np.uint8),) for member in archive]
    assert len(expected) == 7
    assert_same(everything("webdataset", paths=str(joined), ext="jpg"), expected)
    index = list(module.index_lines(str(joined), lambda done: None))
    (tmp_path / "index").write_text("\n".join(index))
    got = everything("webdataset", paths=str(joined), index_paths=str(tmp_path / "index"), ext="jpg")
    assert_same(got, expected)
    # What is no archive is passed over, as tar does; a damaged one is not.
    joined.write_bytes(parts[0] + b"rest of a tape" * 100)
    assert opened("webdataset", paths=str(joined), ext="jpg").size == 3
    joined.write_bytes(parts[0] + b"x" + parts[2][1:])
    with pytest.raises(ValueError, match=f"the checksum of the header at byte {len(parts[0])} is wrong"):
        opened("webdataset", paths=str(joined), ext="jpg")


def gnu_sparse(name, regions):
    """A header of GNU's old format and the blocks that continue it, of a file that has one letter in each region."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = b"S", sum(size for _, size in regions)
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    numbers = [b"%011o\0%011o\0" % region for region in regions]
    header[386:482] = b"".join(numbers[:4]).ljust(96, b"\0")
    header[482:495] = bytes([len(regions) > 4]) + b"%011o\0" % (1 << 20)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = [numbers[at : at + 21] for at in range(4, len(numbers), 21)]
    blocks = [b"".join(block).ljust(504, b"\0") + bytes([block is not more[-1]]) + bytes(7) for block in more]
    return bytes(header) + b"".join(blocks)


def pax_sparse(name, regions, version):
    """The headers of PAX, and for 1.0 the map in front of the content, see `gnu_sparse`."""
    own = {"GNU.sparse.size": str(1 << 20), "GNU.sparse.numblocks": str(len(regions))}
    text = ",".join(f"{start},{size}" for start, size in regions)
    first = b""
    if version == "0.1":
        own |= {"GNU.sparse.map": text, "GNU.sparse.name": name}
    if version == "1.0":
        own = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 20)}
        own |= {"GNU.sparse.name": name}
        first = f"{len(regions)}\n{text.replace(',', chr(10))}\n".encode()
        first = first.ljust(-(-len(first) // 512) * 512, b"\0")
    entry = tarfile.TarInfo(name if version == "0.0" else f"GNUSparseFile.1/{name}")
    entry.size, entry.pax_headers = len(first) + sum(size for _, size in regions), own
    header = entry.tobuf(tarfile.PAX_FORMAT)
    if version == "0.0":  # pairs of records that tarfile cannot write, for it wants each key once
        pairs = b"".join(
            b"%d %s" % (len(record) + 3, record)
            for start, size in regions
            for record in (b"GNU.sparse.offset=%d\n" % start, b"GNU.sparse.numbytes=%d\n" % size)
        )
        extra = header[512 : header.index(b"\0", 512)] + pairs
        outer = tarfile.TarInfo("x")
        outer.type, outer.size = tarfile.XHDTYPE, len(extra)
        header = (
            outer.tobuf(tarfile.USTAR_FORMAT)
            + extra.ljust(-(-len(extra) // 512) * 512, b"\0")
            + header[-512:]
        )
    return header + first


@pytest.mark.parametrize("form", ["gnu", "gnu, continued", "0.0", "0.1", "1.0"])
def test_sparse_files_are_no_others(tmp_path, form):
    regions = [(start << 12, 10) for start in range(60 if form == "gnu, continued" else 3)]
    header = gnu_sparse("1.jpg", regions) if form.startswith("gnu") else pax_sparse("1.jpg", regions, form)
    content = b"".join(b"%c" % (ord("A") + number % 26) * 10 for number in range(len(regions)))
    plain = tmp_path / "plain.tar"
    records.tar(plain, [("0.jpg", b"first"), ("2.jpg", b"last")])
    block = -len(content) % 512
    path = tmp_path / "sparse.tar"
    path.write_bytes(plain.read_bytes()[:1024] + header + content + bytes(block) + plain.read_bytes()[1024:])
    with tarfile.open(path) as archive:  # it is what it should be
        member = archive.getmember("1.jpg")
        assert (member.issparse(), member.size) == (True, 1 << 20)
        assert archive.extractfile(member).read().replace(b"\0", b"") == content
    reader = opened("webdataset", paths=str(path), ext="jpg")
    bad = failures(reader)
    assert list(bad) == [1]
    assert (
        "is stored as a sparse file, which is not read: write the archive without the option --sparse"
        in bad[1]
    )
    assert [reader.load(i)[0].tobytes() for i in (0, 2)] == [b"first", b"last"]
    with pytest.raises(ValueError, match=r"1.jpg at byte \d+ is stored as a sparse file"):
        list(module.index_lines(str(path), lambda done: None))


def test_index_is_built_once(made, monkeypatch):
    settle_at_once(monkeypatch)
    built = []
    build = module.build_index
    monkeypatch.setattr(module, "build_index", lambda p: built.append(p) or build(p))
    first = everything("webdataset", paths=made[0], ext="cls")
    assert_same(everything("webdataset", paths=made[0], ext="cls"), first)
    assert built == [made[0]]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"ext": []}, "ext is empty"),
        ({"paths": []}, "No webdataset archives provided: paths is empty"),
        ({"index_paths": ["a", "b"]}, "2 index files for 1 archives"),
        (
            {"missing_component_behavior": "what"},
            "Invalid value for missing_component_behavior",
        ),
        (
            {"missing_component_behavior": "error"},
            "Underful sample detected: sample 1 of .*data.tar has no file with the extension jpg",
        ),
        (
            {"ext": ["xyz"], "missing_component_behavior": "skip"},
            "The number of input samples: 0, needs.* there are no samples with xyz in .*data.tar",
        ),
    ],
    ids=str,
)
def test_wrong_arguments(made, args, message):
    with pytest.raises(ValueError, match=f"^readers.webdataset: {message}"):
        opened("webdataset", **({"paths": made[0], "ext": ["jpg", "cls"]} | args))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'must begin with "v1.2" or "v1.1" and the number of samples, but begins with \'\''),
        ("v9 1\njpg 512 7 a\n", "but begins with 'v9 1'"),
        (
            "v1.2 2\njpg 512 7 a\n",
            "no extensions provided for the sample: it says that it has 2 samples, but has 1",
        ),
        (
            "v1.2 1\njpg 512 7\n",
            "line 1 - Could not find all necessary component parameters .*`<ext> <offset> <size> <filename>`",
        ),
        (
            "v1.2 1\njpg 512 -7 a\n",
            "line 1 - Could not find all necessary component parameters .*`<ext> <offset> <size> <filename>`",
        ),
        ("v1.2 1\njpg 513 7 a\n", "no file can begin at byte 513"),
        ("v1.1 1\njpg 0 7\n", "no file can begin at byte 0"),
        ("v1.1 1\njpg 51200000 7\n", "no file can begin at byte 51200000"),
        ("v1.2 1\njpg 512 8 a\n", "does not fit .*: there is no file of 8 bytes at byte 512; make it anew"),
        ("v1.2 1\njpg 1024 7 a\n", "does not fit .*: there is no file of 7 bytes at byte 1024"),
        ("v1.2 0\n", "there are no samples"),
    ],
)
def test_bad_index(made, tmp_path, text, message):
    (tmp_path / "bad").write_text(text)
    with pytest.raises(ValueError, match=f"^readers.webdataset: .*{message}"):
        opened("webdataset", paths=made[0], index_paths=str(tmp_path / "bad"), ext="jpg")


def test_index_of_the_older_version(made, tmp_path):
    with tarfile.open(made[0]) as archive:
        offsets = [member.offset_data for member in archive]
    index = write_index(tmp_path / "old", MEMBERS, offsets, "v1.1")
    got = everything("webdataset", paths=made[0], index_paths=index, ext=["jpg", "cls"])
    assert_same(got, CASES[0][1])


def test_damaged_archives(made, tmp_path):
    path, index = made
    good = (tmp_path / "data.tar").read_bytes()
    cases = [
        (b"", "is empty"), (good[:700], "it ends at byte 700, within the block that ends at byte 1024"),
        (good[:1500], "it ends at byte 1500, within the header at byte 1024"), (b"x" + good[1:], "not a tar archive, or damaged"),
        (good[:1024] + b"x" + good[1025:], "the checksum of the header at byte 1024 is wrong"),
        (b"\x1f\x8b" + good[2:], r"it is compressed \(gzip\)"),
    ]  # fmt: skip
    for content, message in cases:
        (tmp_path / "data.tar").write_bytes(content)
        with pytest.raises(ValueError, match=f"^readers.webdataset: {path}: .*({message})"):
            opened("webdataset", paths=path, ext=["jpg"])
    # With an index, only what is damaged cannot be read.
    (tmp_path / "data.tar").write_bytes(good[:1024] + b"x" * 512 + good[1536:])
    bad = failures(opened("webdataset", paths=path, index_paths=index, ext=["jpg", "cls"]))
    assert list(bad) == [0]
    assert "there is no file of 1 bytes at byte 1536" in bad[0]
    (tmp_path / "data.tar").write_bytes(good[: good.index(b"3" * 600) + 30])
    lines = (tmp_path / "data.idx").read_text().splitlines()
    shorter = records.index(tmp_path / "i", [["v1.2", 5], *[line.split() for line in lines[1:6]]])
    bad = failures(opened("webdataset", paths=path, index_paths=shorter, ext=["jpg", "cls"]))
    assert list(bad) == [4]
    assert "reach past the end" in bad[4]
    # Without the blocks of zeros at the end nothing is missing.
    (tmp_path / "data.tar").write_bytes(good.rstrip(b"\0") + bytes(-len(good.rstrip(b"\0")) % 512))
    assert_same(everything("webdataset", paths=path, ext=["jpg", "cls"]), CASES[0][1])


def test_mutations_never_do_more_than_raise(made, tmp_path):
    rng = np.random.default_rng(1)
    data = (tmp_path / "data.tar").read_bytes()[:8192]
    offsets = np.flatnonzero(np.frombuffer(data, np.uint8))  # most of an archive is zeros that nothing reads

    class Filled(np.random.Generator):
        def integers(self, low, high=None, **more):  # type: ignore[override]
            return (
                int(offsets[int(super().integers(len(offsets)))])
                if low == len(data)
                else super().integers(low, high, **more)
            )

    def open_():
        given = {"index_paths": made[1]} if rng.random() < 0.3 else {}
        return opened("webdataset", paths=made[0], ext=["jpg", "cls"], **given)

    generator = Filled(np.random.PCG64(1))
    assert survives(data, generator, open_, tmp_path / "data.tar", cases=600) > 300


# --- the data pack --------------------------------------------------------------------------------
PACK = SHARED / "records" / "webdataset"


def test_pack_against_its_list(shared_data):
    samples = json.loads((SHARED / "records" / "samples.json").read_text())
    paths = [str(PACK / f"shard-00000{i}.tar") for i in range(3)]
    got = everything("webdataset", paths=paths, ext=["jpg", "cls"])
    assert len(got) == 24
    for (image, label), sample in zip(got, samples, strict=True):
        assert image.tobytes() == (SHARED / "records" / "images" / sample["name"]).read_bytes()
        assert int(label.tobytes()) == sample["label"]
    for name in ("gnu", "pax", "pax_short", "ustar"):
        assert_same(everything("webdataset", paths=str(PACK / f"{name}.tar"), ext=["jpg", "cls"]), got[:4])


@pytest.mark.oracle
def test_pack_as_dali(shared_data):
    basic = {"ext": ["jpg", "cls"]}
    cases = [
        ("shard-000000", basic, True), ("ustar", basic, True), ("gnu", basic, True), ("pax", basic, False),
        ("not_contiguous", basic, True), ("single", basic, True), ("missing_components", basic, True),
        # Without an index DALI gives one sample more for a hidden file.
        ("junk_members", basic, False),
        ("case", {"ext": ["jpg;JPG", "CLS"]}, True), ("case", basic | {"case_sensitive_extensions": False}, True),
        ("dotted_ext", {"ext": ["cls.txt", "right.png"]}, True),
        (
            "dtypes",
            {
                "ext": ["u8", "i16", "i64", "f32", "f64"],
                "dtypes": [types.UINT8, types.INT16, types.INT64, types.FLOAT, types.FLOAT64],
            },
            True,
        ),
    ]  # fmt: skip
    for name, args, also_without in cases:
        args = args | {"paths": str(PACK / f"{name}.tar")}
        index = {"index_paths": str(PACK / f"{name}.idx")}
        expected = dali_everything("webdataset", **args, **index)
        assert_same(everything("webdataset", **args, **index), expected)
        assert_same(everything("webdataset", **args), expected)
        if also_without:
            assert_same(everything("webdataset", **args), dali_everything("webdataset", **args))


def test_pack_of_bad_files(shared_data):
    for path in sorted((SHARED / "bad" / "webdataset").iterdir()):
        if path.name == "truncated_no_eof_blocks.tar":
            assert opened("webdataset", paths=str(path), ext="jpg").size == 4
        elif path.suffix == ".tar":
            with pytest.raises(ValueError, match=f"readers.webdataset: {path}: "):
                opened("webdataset", paths=str(path), ext="jpg")
        else:
            with pytest.raises(ValueError, match=f"readers.webdataset: .*{path}"):
                opened("webdataset", paths=str(PACK / "ustar.tar"), index_paths=str(path), ext="jpg")
    with pytest.raises(ValueError, match=r"gnu_wrong_offsets.idx does not fit"):
        opened(
            "webdataset",
            paths=str(PACK / "gnu.tar"),
            index_paths=str(PACK / "gnu_wrong_offsets.idx"),
            ext="jpg",
        )
