from __future__ import annotations

import dataclasses
import enum
import re
from typing import Any

import jax.numpy as jnp
import numpy as np

from jdali import types


@dataclasses.dataclass(frozen=True, eq=False)
class DType:
    """Describes an element type.

    It compares equal to the corresponding `DALIDataType` and NumPy type, and NumPy and JAX accept it as a dtype. Calling it
    with data makes a tensor of this type.

    Attributes:
        kind: signed, unsigned, float, bool or enum.
        bits: size of an element in bits.
        exponent_bits, significand_bits: bits of a floating type's parts; None for other types.
        bytes: size of an element in bytes; None: the smallest number of bytes into which the bits fit.
        type_id: DALI's number of the type; None if tensors cannot have the type.
        name: short name such as "f32"; None generates it from kind and bits.
        docs: a description.
    """

    class Kind(enum.Enum):
        signed = 1
        unsigned = 2
        float = 3
        bool = 4
        enum = 5

    kind: Kind
    bits: int
    exponent_bits: int | None = None
    significand_bits: int | None = None
    bytes: int | None = None
    type_id: types.DALIDataType | None = None
    name: str | None = None
    docs: str | None = None

    def __post_init__(self) -> None:
        letters = {DType.Kind.signed: "i", DType.Kind.unsigned: "u", DType.Kind.float: "f"}
        if self.name is None:
            if self.kind not in letters:
                raise ValueError(f"DType: a type of kind {self.kind} needs a name")
            object.__setattr__(self, "name", f"{letters[self.kind]}{self.bits}")
        if self.bytes is None:
            object.__setattr__(self, "bytes", -(-self.bits // 8))

    @property
    def dtype(self) -> np.dtype:
        """Returns the NumPy type; because of this attribute, NumPy and JAX accept a `DType` as a dtype."""
        if self.type_id is None:
            raise TypeError(f"{self} is not a type of tensors")
        return types.to_dtype(self.type_id)

    def __repr__(self) -> str:
        sizes = f"bits={self.bits}"
        if self.kind is DType.Kind.float:
            sizes += f", exponent_bits={self.exponent_bits}, significand_bits={self.significand_bits}"
        return f"DType(kind=Kind.{self.kind.name}, {sizes})"

    def __str__(self) -> str:
        return str(self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DType):
            try:
                other = dtype(other)
            except (TypeError, ValueError):
                return NotImplemented
        return (self.type_id, self.name) == (other.type_id, other.name)

    __ne__ = object.__ne__  # the opposite of `__eq__`; defined because DALI's class defines it

    def __hash__(self) -> int:
        return hash(self.name if self.type_id is None else self.type_id)

    def __call__(
        self, data: object, device: object = None, layout: str | None = None, pad: bool = False
    ) -> Any:
        """Makes a tensor of this type; see `tensor`."""
        return _make_tensor[0](data, dtype=self, device=device, layout=layout, pad=pad)

    @staticmethod
    def parse(name: str) -> DType:
        """Returns the type with a name such as "f32", "u8" or "bool", or a NumPy name such as "float32" or "uint8"."""
        if name in _NAMED:
            return _NAMED[name]
        match = re.fullmatch(r"(int|uint|float|bfloat)(\d+)", name)
        short = f"{'bf' if match[1] == 'bfloat' else match[1][0]}{match[2]}" if match else ""
        if short not in _NAMED:
            raise ValueError(f"Unsupported type name: {name}; there are {', '.join(_NAMED)}")
        return _NAMED[short]

    @staticmethod
    def from_type_id(type_id: Any) -> DType:
        """Returns the type for one of DALI's type numbers, or a `DALIDataType`."""
        number = types.DALIDataType(type_id)
        if number not in _NUMBERED:
            raise KeyError(f"{number} is not an element type")
        return _NUMBERED[number]

    @staticmethod
    def from_fw_type(numpy_type: Any) -> DType:
        """Returns the type for a NumPy or JAX type, `float` (FLOAT, as in DALI) or `bool`."""
        if numpy_type is None or numpy_type is int:
            raise TypeError(
                f"'{numpy_type}' could not be converted into any known DALIDataType: give a type with a size, such as int32"
            )
        if numpy_type is float:
            return float32
        return _NUMBERED[types.to_dali_type(jnp.dtype(numpy_type))]


# The function `tensor`, which `DType.__call__` calls. `_tensor.py` imports this module and sets it; an import in the
# other direction would be circular.
_make_tensor: list[Any] = []


def _standard() -> list[DType]:
    made = []
    for kind, prefix in ((DType.Kind.signed, "INT"), (DType.Kind.unsigned, "UINT")):
        made += [DType(kind, bits, type_id=types.DALIDataType[f"{prefix}{bits}"]) for bits in (8, 16, 32, 64)]
    made += [
        DType(DType.Kind.float, 16, 5, 10, type_id=types.FLOAT16),
        DType(DType.Kind.float, 32, 8, 23, type_id=types.FLOAT),
        DType(DType.Kind.float, 64, 11, 52, type_id=types.FLOAT64),
        DType(DType.Kind.float, 16, 8, 7, name="bf16"),
        DType(DType.Kind.bool, 8, type_id=types.BOOL, name="bool"),
        DType(DType.Kind.enum, 32, type_id=types.DATA_TYPE, name="DataType"),
        DType(DType.Kind.enum, 32, type_id=types.IMAGE_TYPE, name="ImageType"),
        DType(DType.Kind.enum, 32, type_id=types.INTERP_TYPE, name="InterpType"),
    ]
    return made


_NAMED = {str(t): t for t in _standard()}
_NUMBERED = {t.type_id: t for t in _NAMED.values() if t.type_id is not None}

int8, int16, int32, int64 = (_NAMED[f"i{bits}"] for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_NAMED[f"u{bits}"] for bits in (8, 16, 32, 64))
float16, float32, float64 = (_NAMED[f"f{bits}"] for bits in (16, 32, 64))
bfloat16 = _NAMED["bf16"]
boolean = _NAMED["bool"]
DataType, ImageType, InterpType = _NAMED["DataType"], _NAMED["ImageType"], _NAMED["InterpType"]


def dtype(*args: Any) -> DType:
    """Returns the element type for one argument; with several arguments, calls `DType` with them.

    Args:
        args: a `DType`, a `DALIDataType`, a name, a NumPy or JAX type, `float` (FLOAT, as in DALI) or `bool`.
    """
    if len(args) != 1:
        return DType(*args)
    (value,) = args
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return DType.parse(value)
    if isinstance(value, types.DALIDataType):
        return DType.from_type_id(value)
    return DType.from_fw_type(value)


def type_id(dtype: object) -> types.DALIDataType:
    """Returns DALI's number of an element type."""
    found = globals()["dtype"](dtype).type_id
    if found is None:
        raise ValueError(f"{dtype} has no type number")
    assert isinstance(found, types.DALIDataType)
    return found
