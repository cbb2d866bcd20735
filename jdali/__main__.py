"""Runs the command line, `python -m jdali`."""

from __future__ import annotations

import sys

from jdali.cli import main

sys.exit(main())
