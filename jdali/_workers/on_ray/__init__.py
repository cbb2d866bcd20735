"""Actors of Ray that make tasks. `jdali.plugin.ray` has the rest: an actor imports neither that nor JAX."""

from jdali._workers.on_ray.actor_messages import ActorAnswer as ActorAnswer
from jdali._workers.on_ray.actor_messages import ActorCall as ActorCall
from jdali._workers.on_ray.actor_messages import ActorPlace as ActorPlace
from jdali._workers.on_ray.actor_messages import ActorStart as ActorStart
from jdali._workers.on_ray.pipeline_actor import PipelineActor as PipelineActor
