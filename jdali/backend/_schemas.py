"""Provides functions of DALI's backend about operators: names, schemas and devices."""

from __future__ import annotations

import sys
from typing import Any

from jdali._operators.record import REGISTRY, Arg, ArgKind, Operator, ReaderOp
from jdali._operators.surface import ALIASES, HIDDEN, class_name, schema_name
from jdali.fn._build import generic_arguments


class OpSchema:
    """Describes an operator; `GetSchema` returns one."""

    def __init__(self, operator: Operator):
        self._operator = operator

    def __repr__(self) -> str:
        return f"<OpSchema of {self.Name()}>"

    def Name(self) -> str:
        """Returns the name of the schema, for instance "readers__File"."""
        return schema_name(self._operator.name)

    def OperatorName(self) -> str:
        """Returns the name of the class without modules, for instance "File"."""
        return class_name(self._operator.name).rpartition(".")[2]

    def ModulePath(self) -> list[str]:
        """Returns the modules that contain the class, for instance ["readers"]."""
        return self._operator.name.split(".")[:-1]

    def Dox(self) -> str:
        """Returns the documentation."""
        return self._operator.doc

    def IsStateful(self) -> bool:
        """Returns True if a call depends on earlier calls or has side effects."""
        op = self._operator
        return op.random or op.effects or isinstance(op, ReaderOp)

    def HasRandomSeedArg(self) -> bool:
        """Returns True if the operator draws random values; it then takes the argument `seed`."""
        return self._operator.random

    def GetSupportedBackends(self) -> list[str]:
        """Returns the devices on which DALI has the operator; in jdali most operators run on CPU and GPU."""
        return list(self._operator.devices)

    def MinNumInput(self) -> int:
        """Returns the number of required inputs."""
        return self._operator.min_inputs

    def MaxNumInput(self) -> int:
        """Returns the maximum number of inputs; `sys.maxsize` if there is no limit (in DALI, 64 to 999)."""
        most = self._operator.max_inputs
        return sys.maxsize if most is None else most

    def GetInputName(self, index: int) -> str:
        """Returns the name of an input.

        Raises:
            IndexError: the operator has no input `index`.
        """
        if not 0 <= index < self.MaxNumInput():
            raise IndexError(f"{self.Name()}: there is no input {index}, it takes up to {self.MaxNumInput()}")
        return self._operator.input(index).name

    def GetArgumentNames(self) -> list[str]:
        """Returns the names of all arguments, in alphabetical order."""
        return sorted({*self._operator.public_args, *generic_arguments(self._operator)})

    def HasArgument(self, name: str) -> bool:
        """Returns True if the operator has an argument of this name."""
        return name in self.GetArgumentNames()

    def IsArgumentOptional(self, name: str) -> bool:
        """Returns True if an argument may be left out; False for an unknown name."""
        return self.HasArgument(name) and not self._argument(name).required

    def HasArgumentDefaultValue(self, name: str) -> bool:
        """Returns True if an argument has a default that is not None.

        Raises:
            KeyError: the operator has no argument of this name.
        """
        argument = self._argument(name)
        return not argument.required and argument.default is not None

    def GetArgumentDefaultValueString(self, name: str) -> str:
        """Returns the `repr` of a default.

        Raises:
            KeyError: the operator has no argument of this name.
            ValueError: the argument has no default.
        """
        if not self.HasArgumentDefaultValue(name):
            raise ValueError(f"{self.Name()}: argument {name!r} has no default")
        return repr(self._argument(name).default)

    def IsTensorArgument(self, name: str) -> bool:
        """Returns True for an argument that may differ by sample; False for an unknown name."""
        return self.HasArgument(name) and self._argument(name).kind is ArgKind.PER_SAMPLE

    def _argument(self, name: str) -> Arg:
        if name in self._operator.public_args:
            return self._operator.public_args[name]
        generic = generic_arguments(self._operator)
        if name not in generic:
            raise KeyError(f'Argument "{name}" is not defined for operator "{self.Name()}".')
        return Arg(name, ArgKind.STATIC, Any, generic[name][1])


def _public() -> list[Operator]:
    return [REGISTRY[name] for name in REGISTRY if not name.startswith(HIDDEN)]


def TryGetSchema(name: str, follow_aliases: bool = False) -> OpSchema | None:
    """Returns the schema of an operator, like `GetSchema`; None for an unknown name."""
    if follow_aliases:
        name = next((schema_name(new) for old, new in ALIASES.items() if schema_name(old) == name), name)
    return next((OpSchema(op) for op in _public() if schema_name(op.name) == name), None)


def GetSchema(name: str, follow_aliases: bool = False) -> OpSchema:
    """Returns the schema of an operator.

    Args:
        name: name of the schema ("Resize", "readers__File").
        follow_aliases: accept a deprecated alias ("FileReader").

    Raises:
        KeyError: no schema has this name.
    """
    schema = TryGetSchema(name, follow_aliases)
    if schema is None:
        raise KeyError(f"Schema for operator '{name}' not registered")
    return schema


def RegisteredCPUOps(internal_ops: bool = False) -> list[str]:
    """Lists the schemas of operators that DALI has for the CPU.

    Args:
        internal_ops: whether to include operators that are only parts of other operators.
    """
    return _registered("cpu", internal_ops)


def RegisteredGPUOps(internal_ops: bool = False) -> list[str]:
    """Lists the schemas of operators that DALI has for the GPU."""
    return _registered("gpu", internal_ops)


def RegisteredMixedOps(internal_ops: bool = False) -> list[str]:
    """Lists the schemas of operators whose inputs are on the CPU and whose outputs are on the GPU."""
    return _registered("mixed", internal_ops)


def _registered(device: str, internal_ops: bool) -> list[str]:
    operators = REGISTRY.values() if internal_ops else _public()
    return sorted(schema_name(op.name) for op in operators if device in op.devices)
