"""Tables that workers share: computed once, and used by whoever opens the reader again."""

import io
import json
import os
import pickle
import struct
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.faults import until
from support.worker_kinds import workers_of

import jdali
from jdali import fn
from jdali._storage import NameTable
from jdali.readers.shared_tables import noting, reusing, shared

NAMES = ["a/0.png", "ü/1.png", "", "\udcff.png"]


def test_a_table_is_computed_where_there_is_none_and_noted():
    with noting() as noted:
        assert shared("one", lambda: [1]) == [1]
    assert shared("two", lambda: [2]) == [2]
    assert noted == {"one": [1]}


def test_a_known_table_is_not_computed_again():
    with reusing({"one": [1]}):
        assert shared("one", lambda: pytest.fail("it is known")) == [1]
        assert shared("two", lambda: [2]) == [2]
    assert shared("one", lambda: [3]) == [3]


def test_names_travel_as_arrays_without_a_copy():
    table = NameTable.of(NAMES * 200).with_others({3: "another"})
    buffers = []
    head = pickle.dumps(table, 5, buffer_callback=buffers.append)
    assert len(head) < 1000
    back = pickle.loads(head, buffers=buffers)
    expected = NAMES * 200
    expected[3] = "another"
    assert list(back) == expected
    assert back[-1] == expected[-1]
    assert back.take(np.array([1, 3])) == [NAMES[1], "another"]
    assert np.shares_memory(np.frombuffer(back.text, np.uint8), np.frombuffer(buffers[0].raw(), np.uint8))
    assert list(NameTable.joined([back, back])) == 2 * expected
    assert list(pickle.loads(pickle.dumps(back))) == expected


def anonymous_kilobytes(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def names_of(count):
    return [f"folder/picture_{number:012}_of_a_long_name.jpg" for number in range(count)]


def files(folder, count):
    return {"file_root": folder, "files": names_of(count), "labels": list(range(count))}


def coco(folder, count):
    names = names_of(count)
    data = {
        "images": [{"id": i, "file_name": name, "width": 9, "height": 9} for i, name in enumerate(names)],
        "annotations": [
            {"image_id": i, "category_id": 1, "bbox": [0, 0, 5, 5], "segmentation": [[1.25] * 20]} for i in range(count)
        ],
        "categories": [{"id": 1}],
    }  # fmt: skip
    path = Path(folder, f"{count}.json")
    path.write_text(json.dumps(data))
    return {"file_root": folder, "annotations_file": str(path), "images": names, "polygon_masks": True}


def mxnet(folder, count):
    count *= 10
    payload = struct.pack("<IfQQ", 0, 0.0, 0, 0) + b"jpeg"
    record = struct.pack("<II", 0xCED7230A, len(payload)) + payload
    path = Path(folder, f"{count}.rec")
    path.write_bytes(record * count)
    index = "".join(f"{i}\t{len(record) * i}\n" for i in range(count))
    path.with_suffix(".idx").write_text(index)
    return {"path": str(path), "index_path": str(path.with_suffix(".idx"))}


def webdataset(folder, count):
    path = Path(folder, f"{count}.tar")
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        info = tarfile.TarInfo("000000000.jpg")
        info.size = 512
        tar.addfile(info, io.BytesIO(bytes(512)))
    os.truncate(path, 1024 * (count + 1))  # the other members are a hole
    lines = [f"jpg {1024 * i + 512} 512 {i:09}.jpg\n" for i in range(count)]
    path.with_suffix(".idx").write_text(f"v1.2 {count}\n" + "".join(lines))
    return {"paths": str(path), "index_paths": str(path.with_suffix(".idx")), "ext": ["jpg"]}


@pytest.mark.cases(1)
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of processes is asked of Linux")
@pytest.mark.parametrize(
    ("reader", "arguments"), [("file", files), ("coco", coco), ("mxnet", mxnet), ("webdataset", webdataset)]
)
def test_a_worker_takes_no_more_for_a_large_data_set(reader, arguments, tmp_path):
    """Names of 100,000 files are 11 MB as objects, outlines of as many images 15, a million offsets of records 8."""

    def taken(count):
        @jdali.pipeline_def(batch_size=2, num_threads=1, workers=1)
        def define():
            return getattr(fn.readers, reader)(**arguments(str(tmp_path), count))

        with closing(define()) as pipe:
            pipe.build()
            workers = workers_of(pipe)
            assert until(lambda: workers.counts().ready)
            return anonymous_kilobytes(workers.pids()[0])

    assert taken(100_000) - taken(100) < 5_000


def test_arguments_in_whose_place_tables_travel_are_left_out(tmp_path):
    """A worker reads the files that the pipeline was given, with their labels."""
    for number in range(4):
        (tmp_path / f"{number}.bin").write_bytes(bytes([number]) * 3)
    given = {"files": [f"{number}.bin" for number in (2, 0, 3)], "labels": [7, 8, 9]}

    @jdali.pipeline_def(batch_size=3, num_threads=1, workers=1)
    def define():
        return fn.readers.file(file_root=str(tmp_path), **given)

    with closing(define()) as pipe:
        contents, labels = pipe.run()
        assert [sample.tolist() for sample in contents.as_cpu().to_samples()] == [[2] * 3, [0] * 3, [3] * 3]
        assert labels.as_array().ravel().tolist() == given["labels"]
