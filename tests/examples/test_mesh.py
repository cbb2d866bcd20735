"""The example on a mesh: weights are split, and a checkpoint goes on on a mesh of another shape."""

import pytest
from support.resuming import write_pictures

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")
pytest.importorskip("orbax.checkpoint")

EXAMPLE = "mesh"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    data = tmp_path_factory.mktemp("pictures")
    for name in ("a", "b"):
        (data / name).mkdir()
        write_pictures(data / name, 10)
    return data


def _settings(example, checkpoints, pictures, steps, mesh):
    return example.parse([
        "--checkpoints", str(checkpoints), "--data", str(pictures), "--steps", str(steps), "--save-every", "3",
        "--batch-size", "4", "--size", "8", "--widths", "4", "8", "--threads", "2", "--mesh", *mesh,
    ])  # fmt: skip


@pytest.mark.exhaustive  # laws/test_every_function.py has meshes, laws/test_resume.py goes on
@pytest.mark.filterwarnings("default")  # what other packages deprecate is not tested here
def test_a_run_goes_on_with_other_devices(example, pictures, tmp_path, capsys):
    whole = example.run(_settings(example, tmp_path / "whole", pictures, 9, "11"), example.MeshTraining)
    first = example.run(_settings(example, tmp_path / "parts", pictures, 6, "42"), example.MeshTraining)
    capsys.readouterr()
    second = example.run(_settings(example, tmp_path / "parts", pictures, 9, "21"), example.MeshTraining)
    assert "goes on after step 6" in capsys.readouterr().out
    assert sorted(second) == [7, 8, 9]
    # Sums over the batch are added in another order; Adam divides by their roots, which makes more of it.
    assert first | second == pytest.approx(whole, rel=1e-3)


def test_batches_and_weights_are_split(example, pictures, tmp_path):
    training = example.MeshTraining(_settings(example, tmp_path, pictures, 1, "42"))
    with training.data as batches:
        assert len(next(batches)["image"].addressable_shards) == 8
        assert next(batches)["image"].addressable_shards[0].data.shape[0] == 1
    kernel = training.model.blocks[1].convolution.kernel[...]
    assert kernel.addressable_shards[0].data.shape[-1] * 2 == kernel.shape[-1] == 8


def test_a_batch_that_cannot_be_split_is_refused(example, pictures, tmp_path, capsys):
    with pytest.raises(SystemExit):
        _settings(example, tmp_path, pictures, 1, "31")
    assert "cannot be split over 3 devices" in capsys.readouterr().err
