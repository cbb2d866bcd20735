"""Defines the decorator `augmentation`, which makes augmentations from functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from jdali.auto_aug.core._augmentation import Augmentation


@overload
def augmentation(
    function: Callable[..., Any],
    *,
    mag_range: object = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], Any] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Augmentation: ...
@overload
def augmentation(
    function: None = None,
    *,
    mag_range: object = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], Any] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Callable[[Callable[..., Any]], Augmentation]: ...
def augmentation(
    function: Callable[..., Any] | None = None,
    *,
    mag_range: object = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], Any] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Any:
    """Makes an `Augmentation` from a function that calls operators of `jdali.fn`.

    The function takes the data and a parameter by position, and may take further arguments. A call of the augmentation
    takes a magnitude bin in place of the parameter, and passes `mag_to_param(±magnitudes[magnitude_bin])` on.

        >>> @augmentation(mag_range=(0, 0.5), randomly_negate=True, mag_to_param=lambda m: 1 + m)
        ... def darken(data, factor):
        ...     return fn.brightness(data, brightness=factor)

    Args:
        function: called as `function(data, parameter, **arguments)`; returns a batch. It runs only on the samples that choose
            it.
        mag_range: ends (low, high) of evenly spaced magnitudes, or an array with the magnitude of each bin. None: the
            augmentation has no magnitude, and the parameter is None.
        randomly_negate: whether to negate the magnitude of each sample with a probability of one half.
        mag_to_param: converts a magnitude to an array or numbers; shape and type must be equal for all magnitudes. It is
            called once for each magnitude while the pipeline is defined. None: the magnitude is the parameter.
        param_device: "cpu", "gpu", or "auto" (where the data is); None: "cpu".
        name: name of the augmentation; None: the function's name.
        augmentation_cls: class of the result; None: `Augmentation`.

    Raises:
        TypeError: `function` is not callable, takes fewer than two positional arguments, or is already an augmentation.
            Call the method `augmentation` to change the settings of an augmentation.
    """

    def decorate(function: Callable[..., object]) -> Augmentation:
        return (augmentation_cls or Augmentation)(
            function, mag_range=mag_range, randomly_negate=randomly_negate, mag_to_param=mag_to_param,
            param_device=param_device, name=name,
        )  # fmt: skip

    if function is None:
        return decorate
    if not callable(function):
        raise TypeError(
            f"The `@augmentation` decorator was used to decorate the object that is not callable: {function!r}."
        )
    if isinstance(function, Augmentation):
        raise TypeError(
            "The `@augmentation` was applied to already decorated Augmentation. For another one with other settings call "
            f"`{function.name}.augmentation`, or decorate `{function.name}.op`. Error in augmentation: {function!r}."
        )
    return decorate(function)
