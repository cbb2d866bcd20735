"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.ops.io import file as file

