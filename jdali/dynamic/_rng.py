"""Defines the random generators of dynamic mode. A generator's state is its seed and the number of draws so far."""

from __future__ import annotations

import operator
import re
import secrets
import threading
from typing import Any

import jax
import numpy as np

from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.random_key import is_key, one_key
from jdali._system.devices import to_host
from jdali.engine import eager

_MASK64 = 0xFFFF_FFFF_FFFF_FFFF
_STATE = re.compile(r"threefry_([0-9A-F]{16})_(\d+)")


class RNG:
    """Generates random numbers; each call of a random operator takes one draw from it.

    The values of sample i of a batch depend only on the seed, the number of the draw and i.

    Args:
        seed: 64-bit seed; None chooses a random seed.
        state: state of another generator to continue from, in place of `seed`.
    """

    def __init__(self, seed: int | None = None, state: str | None = None):
        self._lock = threading.Lock()
        self._seed, self._position = 0, 0
        if state is not None:
            self.set_state(state)
        else:
            self.seed = secrets.randbits(64) if seed is None else seed

    @property
    def seed(self) -> int:
        """Returns the seed. Setting it restarts the sequence of random numbers."""
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"RNG: seed is {value!r:.60}, it must be an integer") from None
        with self._lock:
            self._seed, self._position = number & _MASK64, 0

    @property
    def state(self) -> str:
        """Returns the seed and the number of draws so far, as text."""
        with self._lock:
            return f"threefry_{self._seed:016X}_{self._position}"

    @state.setter
    def state(self, value: str) -> None:
        match = _STATE.fullmatch(str(value))
        if match is None:
            raise ValueError(f"RNG: {value!r} is not a state of a generator")
        with self._lock:
            self._seed, self._position = int(match[1], 16), int(match[2])

    def get_state(self, *, cuda_stream: object = None) -> str:
        """Returns the state; `cuda_stream` has no effect."""
        return self.state

    def set_state(self, value: str) -> None:
        """Continues from a state."""
        self.state = value

    def clone(self) -> RNG:
        """Makes a generator with the same state."""
        return RNG(state=self.state)

    def advance(self, n: int) -> None:
        """Skips the random numbers of `n` calls."""
        with self._lock:
            self._position += int(n)

    def draw(self) -> eager.RandomDraw:
        """Takes one draw, for an operator."""
        with self._lock:
            self._position += 1
            return eager.RandomDraw(self._seed, self._position - 1)

    def __call__(self) -> int:
        """Takes one draw, and returns the random number as an integer from 0 to 2**32 - 1."""
        draw = self.draw()
        number = np.array([draw.number & 0xFFFF_FFFF], np.uint32)
        keys = SampleKeys(seed_words(draw.seed), draw.number >> 32, number, np.zeros(1, np.uint32))
        return int(keys.numpy_rng(0).bit_generator.random_raw()) & 0xFFFF_FFFF

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None, self.state)  # without the lock

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"


def draw_of(name: str, rng: object, key: object) -> eager.RandomDraw:
    """Takes one draw from a JAX key, a generator, or the thread's default generator. Errors show `name`."""
    if rng is not None and not isinstance(rng, RNG):
        hint = "; pass a JAX key as key=" if is_key(rng) else ""
        raise ValueError(
            f"{name}: rng must be an instance of jdali.dynamic.random.RNG, "
            f"but got {type(rng).__module__}.{type(rng).__qualname__}{hint}"
        )
    if key is None:
        return (rng or get_default_rng()).draw()
    if rng is not None:
        raise TypeError(f"{name}: a call has rng= or key=, not both")
    high, low = to_host(jax.random.key_data(one_key(name, key))).tolist()[-2:]
    return eager.RandomDraw(high << 32 | low, 0)


_default = threading.local()


def get_default_rng() -> RNG:
    """Returns this thread's default generator."""
    if not hasattr(_default, "rng"):
        _default.rng = RNG()
    return _default.rng


def set_seed(seed: int) -> None:
    """Restarts the default generator of this thread."""
    get_default_rng().seed = seed
