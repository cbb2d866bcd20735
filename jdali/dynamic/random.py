"""Provides random operators, and the generators that they draw from."""

from jdali.dynamic._rng import RNG as RNG
from jdali.dynamic._rng import get_default_rng as get_default_rng
from jdali.dynamic._rng import set_seed as set_seed
