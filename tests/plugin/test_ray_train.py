"""Trainers of Ray Train that share a set of workers by its name, each with its shard."""

import sys
from pathlib import Path

import pytest
from support.faults import child
from support.worker_pipelines import COUNT, of_shard, write_pictures

pytest.importorskip(
    "ray.train.v2.jax", reason="Ray Train is not installed: pip install 'ray[train]'", exc_type=ImportError
)

PROGRAM = """
    import sys
    import ray
    from ray.train import RunConfig, ScalingConfig
    from ray.train.v2.jax import JaxTrainer

    def train(config):
        sys.path.insert(0, {tests!r})
        from support.worker_pipelines import of_shard
        from jdali.plugin.ray import Workers

        rank = ray.train.get_context().get_world_rank()
        found = of_shard({folder!r}, rank, Workers(2, num_cpus=0.5, name="loaders"))
        open({folder!r} + f"/{{rank}}.txt", "w").write(" ".join(found))

    ray.init(address="local", num_cpus=3, object_store_memory=100 << 20, include_dashboard=False, log_to_driver=False)
    trainer = JaxTrainer(
        train,
        scaling_config=ScalingConfig(num_workers=2, resources_per_worker={{"CPU": 0.5}}),
        run_config=RunConfig(storage_path={folder!r}),
    )
    trainer.fit()
    ray.shutdown()
"""


@pytest.mark.slow  # a cluster of its own, with a controller and two trainers
@pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only")
def test_trainers_share_a_named_set_each_with_its_shard(tmp_path):
    folder = write_pictures(tmp_path / "all")
    ended = child(PROGRAM.format(tests=str(Path(__file__).parents[1]), folder=folder))
    assert ended.code == 0, ended.err
    found = [Path(folder, f"{rank}.txt").read_text().split() for rank in range(2)]
    assert found == [of_shard(folder, rank, 0) for rank in range(2)]
    names = [{entry.partition(":")[0] for entry in entries} for entries in found]
    assert not names[0] & names[1]
    assert names[0] | names[1] == {f"{i:02}.png" for i in range(COUNT)}
