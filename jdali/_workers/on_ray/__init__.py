"""Actors of Ray that make tasks. `jdali.plugin.ray` has the rest: an actor imports neither that nor JAX."""
