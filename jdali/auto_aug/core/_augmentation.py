"""Defines augmentations, operations whose strength a magnitude bin determines."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jdali import fn, types
from jdali._system.tracebacks import warn_user
from jdali.auto_aug.core import _args
from jdali.auto_aug.core._modes import in_either_mode
from jdali.auto_aug.core._parameters import magnitudes_of, rows_of, table_of
from jdali.data_node import DataNode

_KEPT: Any = object()  # default of arguments for which None is a value


class SignedMagnitudeBin:
    """Holds magnitude bins with random signs; see `signed_bin`.

    Attributes:
        bin: number of the bin: an int for all samples, or an integer for each sample.
        random_sign: for each sample, 1 if the magnitude is negated, else 0.
        signed_magnitude_idx: 2 · bin + random_sign.
    """

    def __init__(self, bin: Any, random_sign: Any, signed_magnitude_idx: Any):
        self.bin, self.random_sign, self.signed_magnitude_idx = bin, random_sign, signed_magnitude_idx

    def __getitem__(self, idx: int) -> SignedMagnitudeBin:
        """Returns the bins of augmentation number `idx`, if each sample has bins for a sequence of augmentations."""
        number = self.bin if isinstance(self.bin, int) else self.bin[idx]
        return SignedMagnitudeBin(number, self.random_sign[idx], self.signed_magnitude_idx[idx])


jax.tree_util.register_pytree_node(
    SignedMagnitudeBin,
    lambda bins: ((bins.bin, bins.random_sign, bins.signed_magnitude_idx), None),
    lambda _, children: SignedMagnitudeBin(*children),
)


@in_either_mode
def signed_bin(
    magnitude_bin: Any, random_sign: Any = None, seed: int | None = None, shape: Any = None
) -> SignedMagnitudeBin:
    """Makes magnitude bins with a random sign for each sample.

    Signed bins are optional: an augmentation that negates magnitudes at random draws the sign itself if the bin has none. If
    a sample chooses among several augmentations, it is faster to draw the sign once, before the choice.

    Args:
        magnitude_bin: 0 to the number of bins - 1: an int for all samples, or an integer for each sample.
        random_sign: for each sample, 1 to negate the magnitude, or 0; None draws the signs.
        seed: seed of the draw; None derives it from the pipeline's seed.
        shape: shape of a sample's signs, for a sequence of augmentations; None draws one sign.

    Raises:
        TypeError: `magnitude_bin` is neither an int nor a batch.
        ValueError: `random_sign` is given with `seed` or `shape`.
    """
    if not isinstance(magnitude_bin, (int, DataNode)):
        raise TypeError(
            "signed_bin: The `magnitude_bin` must be an int or _DataNode (output of DALI op or `types.Constant`) representing "
            f"batch of ints from `[0..num_magnitude_bins-1]` range. Got {magnitude_bin!r} instead."
        )
    if random_sign is not None and (seed is not None or shape is not None):
        raise ValueError(
            "signed_bin: The `random_sign` cannot be specified together with neither `seed` nor `shape`."
        )
    if random_sign is None:
        random_sign = fn.random.uniform(values=[0, 1], dtype=np.int32, seed=seed, shape=shape)
    bins: Any = magnitude_bin
    return SignedMagnitudeBin(bins, random_sign, 2 * bins + random_sign)


class Augmentation:
    """Applies an operation with a magnitude to a batch. The decorator `augmentation` makes an `Augmentation`.

    Attributes:
        op: the function, `op(data, parameter, **arguments)`.
        mag_range: (low, high), or an array of magnitudes. None: the operation has no magnitude, and its parameter is None.
        mag_to_param: converts a magnitude to a parameter; by default `np.array`.
        randomly_negate: whether the magnitude of a sample is negated at random.
        param_device: device of the parameters: "cpu", "gpu", or "auto" (where the data is).
        name: name of the augmentation; by default the function's name.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        mag_range: Any = None,
        randomly_negate: bool | None = None,
        mag_to_param: Callable[[Any], Any] | None = None,
        param_device: str | None = None,
        name: str | None = None,
    ):
        self.op, self.mag_range, self.mag_to_param = op, mag_range, mag_to_param or np.array
        self.randomly_negate, self.param_device = bool(randomly_negate), param_device or "cpu"
        self._config = {
            "mag_range": mag_range, "mag_to_param": mag_to_param, "randomly_negate": randomly_negate,
            "param_device": param_device, "name": name,
        }  # fmt: skip
        parameters = inspect.signature(op).parameters.values()
        positional = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        if positional < 2:
            raise TypeError(
                f"The {op} accepts {positional} positional argument(s), but the functions decorated with `@augmentation` must "
                f"accept at least two positional arguments: the samples and parameters. Error in: {self!r}."
            )

    @property
    def name(self) -> str:
        name: str = self._config["name"] or self.op.__name__
        return name

    def __repr__(self) -> str:
        settings = [f"{k}={v!r}" for k, v in self._config.items() if v is not None]
        return f"Augmentation({', '.join([repr(self.op), *settings])})"

    def augmentation(
        self,
        mag_range: Any = _KEPT,
        randomly_negate: Any = _KEPT,
        mag_to_param: Any = _KEPT,
        param_device: Any = _KEPT,
        name: Any = _KEPT,
        augmentation_cls: type[Augmentation] | None = None,
    ) -> Augmentation:
        """Returns an augmentation of the same function with other settings.

        Args:
            mag_range, randomly_negate, mag_to_param, param_device, name: see the class. A setting that is left out stays the
                same; None restores the default.
            augmentation_cls: class of the result; None: the same class.
        """
        changes = {
            "mag_range": mag_range, "mag_to_param": mag_to_param, "randomly_negate": randomly_negate,
            "param_device": param_device, "name": name,
        }  # fmt: skip
        config = self._config | {k: v for k, v in changes.items() if v is not _KEPT}
        return (augmentation_cls or type(self))(self.op, **config)

    @in_either_mode
    def __call__(
        self,
        data: object,
        *,
        magnitude_bin: object = None,
        num_magnitude_bins: int | None = None,
        **kwargs: object,
    ) -> Any:
        """Applies the operation to a batch.

        Args:
            data: a batch.
            magnitude_bin: 0 to `num_magnitude_bins` - 1: an int for all samples, an integer for each sample, or a result of
                `signed_bin`.
            num_magnitude_bins: number of bins.
            kwargs: further arguments of the function; arguments that it does not take are ignored.

        Raises:
            MissingArgException: the function needs an argument that is not in `kwargs`.
        """
        return self.bound(
            data, magnitude_bin=magnitude_bin, num_magnitude_bins=num_magnitude_bins, **kwargs
        )()

    def bound(
        self,
        data: object,
        *,
        magnitude_bin: object = None,
        num_magnitude_bins: int | None = None,
        **kwargs: object,
    ) -> Callable[[], Any]:
        """Looks up the parameter, for `select`; returns a function that applies the operation with this parameter."""
        parameters = _args.further_parameters(self.op)
        missing = [p.name for p in parameters if p.default is p.empty and p.name not in kwargs]
        if missing:
            raise _args.MissingArgException(
                f"The augmentation `{self.name}` requires following named argument(s) which were not provided to "
                f"the call: {', '.join(missing)}.",
                augmentation=self,
                missing_args=missing,
            )
        parameter = self._parameter(data, magnitude_bin, num_magnitude_bins)
        taken = {p.name: kwargs[p.name] for p in parameters if p.name in kwargs}
        return functools.partial(self.op, data, parameter, **taken)

    def _parameter(self, data: Any, magnitude_bin: Any, num_magnitude_bins: int | None) -> object:
        if self.mag_range is None:
            return None
        magnitudes = magnitudes_of(self.mag_range, num_magnitude_bins, self.name)
        if magnitude_bin is None:
            raise TypeError(
                f"The augmentation `{self.name}` has `mag_range` specified, so when called, it requires `magnitude_bin` "
                f"parameter to select the magnitude from the `mag_range`. Error in augmentation: {self!r}."
            )
        device = data.device if self.param_device == "auto" else self.param_device
        signed = isinstance(magnitude_bin, SignedMagnitudeBin)
        if self.randomly_negate and not signed:
            warn_user(
                f"The augmentation `{self.name}` was declared with `random_negate=True`, but unsigned `magnitude_bin` was "
                "passed to the augmentation call, so signs are drawn here. If this is one of several augmentations to choose "
                "from, pass `signed_bin(magnitude_bin)` to all of them: that takes less time."
            )
            magnitude_bin, signed = signed_bin(magnitude_bin), True
        bins = magnitude_bin.bin if signed else magnitude_bin
        index: Any = bins
        if isinstance(bins, int):
            magnitudes, index = magnitudes[[bins]], 0
        if self.randomly_negate:
            magnitudes = np.stack([magnitudes, -magnitudes], axis=1).reshape(-1)
            index = magnitude_bin.random_sign if isinstance(bins, int) else magnitude_bin.signed_magnitude_idx
        table = table_of(magnitudes, self.mag_to_param, self.name)
        if isinstance(index, int):
            return types.Constant(table[index], device=device)
        parameter = rows_of(table, index)
        return parameter.gpu() if device == "gpu" else parameter
