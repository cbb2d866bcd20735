"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.fn.io import file as file

