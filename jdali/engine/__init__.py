"""The engine: buckets, staging, compiled stages, threads."""
