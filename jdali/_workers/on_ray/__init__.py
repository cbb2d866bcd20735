"""Runs tasks in actors of Ray. `jdali.plugin.ray` is the client's side; actors import neither this plugin nor JAX."""

from jdali._workers.on_ray.pipeline_actor import ActorAnswer as ActorAnswer
from jdali._workers.on_ray.pipeline_actor import ActorCall as ActorCall
from jdali._workers.on_ray.pipeline_actor import ActorPlace as ActorPlace
from jdali._workers.on_ray.pipeline_actor import ActorStart as ActorStart
from jdali._workers.on_ray.pipeline_actor import PipelineActor as PipelineActor
