"""The same lines of code run on jdali's dynamic mode and on DALI's."""

import numpy as np
import pytest
from support.data import SHARED
from support.oracle import dali

import jdali.dynamic as jd

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (6, 8, 3), np.uint8)
SMALL = RNG.integers(0, 256, (4, 8, 3), np.uint8)
REAL = RNG.uniform(-2, 2, (3, 4)).astype(np.float32)

# Line of code with `m` the module, `t` a tensor, `b` a batch, `r` a tensor of reals; and the largest
# error that is allowed. 0 where both only move or compare integers; 1 where an integer result is
# rounded from reals summed in another order; else a few units in the last place of float32.
LINES = [
    ("m.flip(t)", 0),
    ("m.flip(b, horizontal=m.as_batch([1, 0]), vertical=1)", 0),
    ("m.flip(t, horizontal=m.as_batch([1, 0, 1]))", 0),
    ("m.crop(b, crop=(2, 3), crop_pos_x=m.as_batch([0.1, 0.9]))", 0),
    ("m.crop(b, crop=m.as_batch([[1, 2], [4, 8]]))", 0),
    ("m.crop_mirror_normalize(t, mean=[1, 2, 3], std=2.0, mirror=1)", 1e-5),
    ("m.brightness_contrast(b, brightness=m.as_batch([0.5, 1.5]), contrast=1.2)", 1),
    ("m.resize(t, size=(3, 4))", 1),
    ("m.resize(b, resize_x=5, interp_type=types.INTERP_NN)", 0),
    ("m.rotate(b, angle=m.as_batch([30.0, 90.0]), fill_value=0)", 1),
    ("m.cast(r, dtype=m.int32)", 0),
    ("m.cat(b, t, axis=0)", 0),
    ("m.stack(t, t)", 0),
    ("m.pad(b)", 0),
    ("m.reshape(t, shape=[8, -1], layout='AB')", 0),
    ("m.one_hot(m.as_batch([1, 2]), num_classes=4)", 0),
    ("m.zeros(shape=[2], batch_size=2)", 0),
    ("m.full(5, shape=[2])", 0),
    ("m.element_extract(m.as_tensor(np.stack([IMAGE, IMAGE + 1]), layout='FHWC'), element_map=[1])", 0),
    ("m.normalize(r)", 1e-5),
    ("m.reductions.mean(b, axes=[0, 1])", 1e-4),
    ("m.reductions.sum(t)", 0),
    ("m.transforms.rotation(angle=m.as_batch([30.0, 45.0]))", 1e-6),
    ("m.permute_batch(b, indices=m.as_batch([1, 0]))", 0),
    ("m.get_property(t, key='layout')", 0),
    ("t + 1", 0),
    ("b + b * 2 - 3", 0),
    ("1.5 * b", 0),
    ("t // 7", 0),
    ("t / 7", 1e-5),
    ("t + np.ones(3)", 0),
    ("t + np.float64(1)", 0),
    ("b + [1.5]", 0),
    ("(t > 100) & (t < 200)", 0),
    ("-t", 0),
    ("~t", 0),
    ("abs(r)", 0),
    ("m.math.sqrt(m.math.fabs(r))", 1e-6),
    ("m.math.clamp(t, 20, 100)", 0),
    ("m.math.atan2(r, 2.0)", 1e-6),
    ("t[1]", 0),
    ("t[..., 0]", 0),
    ("t[-1, 2:5]", 0),
    ("t[m.tensor(1)]", 0),
    ("b.slice[:, 1]", 0),
    ("b.slice[m.as_batch([0, 3])]", 0),
    ("b.tensors[1]", 0),
    ("m.as_tensor(b, pad=True)", 0),
    ("m.as_tensor(m.as_batch([r, r], layout='AB'))", 0),
    ("m.as_tensor(r, dtype=m.uint8)", 0),
    ("m.tensor([1.7, 2.5], dtype=m.int32)", 0),
    ("m.as_batch([r], dtype=m.int8)", 0),
    ("m.Batch.broadcast(t, 2)", 0),
    ("m.tensor(range(3))", 0),
    ("m.tensor([[0, 1], range(2)])", 0),
    ("m.as_batch([range(2), range(3)])", 0),
    ("m.tensor([1.0, 2.0]) + range(2)", 0),
    ("m.crop(t, crop=range(2, 4))", 0),
    ("m.tensor(2**31)", 0),
    ("m.tensor([2**31, 1])", 0),
    ("m.tensor([np.array([1, 2]), np.array([3, 4])])", 0),
    ("m.tensor([np.float64(1.1)])", 0),
    ("m.tensor([np.uint8(1)])", 0),
    ("m.as_batch([np.float64(1.1)])", 0),
    ("m.tensor(1, dtype=float)", 0),
    ("m.tensor(1, dtype=bool)", 0),
]


def ndd():
    dali()
    import nvidia.dali.experimental.dynamic as module

    return module


def samples(value, module) -> list[np.ndarray]:
    return [np.asarray(s) for s in value] if isinstance(value, module.Batch) else [np.asarray(value)]


def evaluate(line: str, module, types):
    names = {
        "m": module, "types": types, "np": np, "IMAGE": IMAGE, "t": module.as_tensor(IMAGE, layout="HWC"),
        "b": module.as_batch([IMAGE, SMALL], layout="HWC"), "r": module.as_tensor(REAL),
    }  # fmt: skip
    return eval(line, names)


@pytest.mark.cases(6)
@pytest.mark.oracle
@pytest.mark.parametrize(("line", "tolerance"), LINES)
def test_as_dali(line, tolerance):
    theirs_module = ndd()
    import nvidia.dali.types as dali_types

    theirs = evaluate(line, theirs_module, dali_types)
    theirs.evaluate()  # before, DALI does not know the layout of an indexed tensor
    ours = evaluate(line, jd, jd.types)
    assert isinstance(ours, jd.Batch) == isinstance(theirs, theirs_module.Batch)
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.shape == theirs.shape
    if "transforms" not in line:  # DALI calls the axes of a matrix "**"
        assert (ours.layout or "") == (theirs.layout or "")
    pairs = zip(samples(ours, jd), samples(theirs, theirs_module), strict=True)
    for mine, expected in pairs:
        difference = np.abs(mine.astype(np.float64) - expected.astype(np.float64))
        assert difference.max(initial=0) <= tolerance


@pytest.mark.oracle
@pytest.mark.parametrize(
    "line", ["t", "b", "r", "m.tensor(5)", "m.as_batch([1, 2, 3])", "b.slice[0]", "r > 0"]
)
def test_prints_as_dali(line):
    assert str(evaluate(line, jd, None)) == str(evaluate(line, ndd(), None))


@pytest.mark.oracle
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data pack is not here")
def test_pictures_as_dali():
    theirs_module = ndd()
    files = [str(p) for p in sorted((SHARED / "coco" / "images").glob("*.jpg"))[:2]]
    # Two JPEG decoders: their inverse transforms and chroma filters round differently.
    for mine, expected in zip(jd.imread(files), theirs_module.imread(files), strict=True):
        mine, expected = np.asarray(mine), np.asarray(expected)
        assert mine.shape == expected.shape
        difference = np.abs(mine.astype(int) - expected)
        assert difference.mean() < 1.5


@pytest.mark.oracle
@pytest.mark.parametrize("batch_size", [None, 2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"pad_last_batch": True}, {"num_shards": 2, "shard_id": 1}, {"max_batch_size": 3}]
)
def test_epochs_as_dali(tmp_path, options, batch_size):
    files = []
    for i in range(5):
        (tmp_path / f"{i}.bin").write_bytes(bytes([i] * (i + 1)))
        files.append(str(tmp_path / f"{i}.bin"))

    def epochs(module):
        reader = module.readers.File(files=files, labels=list(range(10, 15)), **options)
        found = []
        for _ in range(3):
            for data, label in reader.next_epoch(batch_size=batch_size):
                found.append([s.tolist() for s in samples(data, module) + samples(label, module)])
            found.append("end")
        return found

    assert epochs(jd) == epochs(ndd())
