"""Trains on a mesh of devices, and goes on from a checkpoint on the same mesh or another one.

    python mesh.py --checkpoints FOLDER --mesh 4 2 --cpu-devices 8 --steps 100
    python mesh.py --checkpoints FOLDER --mesh 2 1 --cpu-devices 2 --steps 200    # goes on with two devices

The first axis of the mesh splits the batch, the second one the weights: each device has some of the channels that
a layer makes. jdali makes the batches as global arrays. Orbax writes the parts of the weights from where they lie,
and reads them to where they shall lie; the data go on with the next sample, whatever the mesh.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import jax
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from resume import Training, parser, run


class MeshTraining(Training):
    """A training whose batches and weights are split over a mesh of shape `args.mesh`: ("data", "model")."""

    def __init__(self, args: argparse.Namespace):
        # Auto: the compiler decides where intermediate results lie, so the model knows nothing of the mesh.
        mesh = jax.make_mesh(
            args.mesh, ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto),
            devices=jax.devices()[: math.prod(args.mesh)],
        )  # fmt: skip
        super().__init__(args, NamedSharding(mesh, P("data")))
        both = (self.model, self.optimizer)
        nnx.update(both, jax.tree.map(lambda x: jax.device_put(x, sharding_of(x, mesh)), nnx.state(both)))


def sharding_of(weights: jax.Array, mesh: Mesh) -> NamedSharding:
    """Splits the last axis of a kernel over "model" if it divides evenly; all else lies on every device."""
    if weights.ndim > 1 and weights.shape[-1] % mesh.shape["model"] == 0:
        return NamedSharding(mesh, P(*[None] * (weights.ndim - 1), "model"))
    return NamedSharding(mesh, P())


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument(
        "--mesh", type=int, nargs=2, default=[1, 1], metavar=("DATA", "MODEL"), help="devices along each axis"
    )
    arguments.add_argument("--cpu-devices", type=int, help="make that many devices of the CPU")
    args = arguments.parse_args(argv)
    if args.batch_size % args.mesh[0]:
        arguments.error(f"--batch-size {args.batch_size} cannot be split over {args.mesh[0]} devices")
    return args


if __name__ == "__main__":
    args = parse()
    if args.cpu_devices:
        jax.config.update("jax_num_cpu_devices", args.cpu_devices)
    run(args, MeshTraining)
