"""Readers: a module for each format, which also defines the operator; what they share has an underscore."""
