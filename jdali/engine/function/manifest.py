"""Describes an exported folder, as plain data that is checked when it is read."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from jdali._storage import files
from jdali._system import limits
from jdali._system.extras import install

VERSION = 3  # 2 added conditionals; 3 added keys, and a fingerprint without the user's lines
MANIFEST = "preprocess.json"
MOST_BATCH = 1 << 16  # largest fixed batch size of a program
_NAME = re.compile(r"[0-9a-z]{1,64}(\.[0-9a-z]{1,16}){0,2}")


Size: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Word: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
Reference: TypeAlias = tuple[Size, Size]  # number of a node and of its output


class FolderError(RuntimeError):
    """Raised if an exported folder cannot be used: it is damaged, or its version or fingerprint differs."""


class ProgramFile(msgspec.Struct, forbid_unknown_fields=True):
    """Describes a program for one platform and `batch` samples; 0 stands for any number of samples."""

    platform: str
    batch: Annotated[int, msgspec.Meta(ge=0, le=MOST_BATCH)]
    file: str
    sha256: str


class ExportedProgram(msgspec.Struct, forbid_unknown_fields=True):
    """Lists the programs of one padded shape and one computation, which `key` identifies (`FunctionForm.key`)."""

    key: str
    shapes: list[list[Size]]
    files: list[ProgramFile]


class FixedValue(msgspec.Struct, forbid_unknown_fields=True):
    """Describes a value that replaces an operator's output."""

    value: Reference
    array: Any


class HeldKey(msgspec.Struct, forbid_unknown_fields=True):
    """Describes a key from which an operator draws the same values for every sample."""

    node: int
    words: tuple[Word, Word]


class ExportedStart(msgspec.Struct, forbid_unknown_fields=True):
    """Describes a value that the function takes."""

    value: Reference
    layout: str
    dtype: str


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """Describes an exported folder.

    Attributes:
        fingerprint: digest of all other fields, without the lines of the user's code (`where`).
        graph: fingerprint of the graph, as in states of a pipeline.
        nodes: as `written_graph` writes them; nodes that are not needed, such as readers, are sources without data.
        start, outputs: values that the function takes and returns, by numbers of the node and its output.
        sizes: for each output, the size of its samples; None if the samples differ in size.
    """

    version: int
    jdali: str
    jax: str
    fingerprint: str
    graph: str
    seed: int
    nodes: list[dict[str, Any]]
    domains: list[list[Any]]
    start: list[ExportedStart]
    outputs: list[Reference]
    names: list[str]
    dtypes: list[str]
    layouts: list[str]
    sizes: list[list[Size] | None]
    fixed: list[FixedValue]
    held: list[HeldKey]
    programs: list[ExportedProgram]

    def computed_fingerprint(self) -> str:
        """Computes the fingerprint, with the checksum of each program instead of its bytes.

        Lines of the user's code are left out, because only error messages show them. So the same definition in another
        file has the same fingerprint.
        """
        nodes = [{name: value for name, value in row.items() if name != "where"} for row in self.nodes]
        domains = [row[:-1] for row in self.domains]
        rest = msgspec.structs.replace(self, fingerprint="", nodes=nodes, domains=domains)
        return hashlib.sha256(msgspec.json.encode(rest, order="deterministic")).hexdigest()[:32]


def require_flatbuffers() -> None:
    """Raises ImportError without flatbuffers, which JAX needs to write and read programs."""
    if importlib.util.find_spec("flatbuffers") is None:
        raise ImportError(f"exported programs need the package flatbuffers: {install('export')}")


def read_manifest(folder: Path, jdali_version: str) -> Manifest:
    """Reads and checks the description of a folder; raises FolderError if it is damaged, or another version wrote it."""
    path = folder / MANIFEST
    try:
        data = files.read(str(path))
    except OSError as error:
        raise FolderError(
            f"{folder}: there is no {MANIFEST} to be read ({error}); was it exported?"
        ) from error
    try:
        found = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(found.get("version", b"null"))
        writer = msgspec.json.decode(found.get("jdali", b"null"))
        if version != VERSION or writer != jdali_version:
            raise FolderError(
                f"{folder}: written by jdali {writer} in format {version}; this is jdali {jdali_version}, which reads what "
                f"it writes itself, in format {VERSION}: export the pipeline again, or install jdali {writer}"
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise FolderError(f"{path} is damaged: {error}") from error
    if manifest.computed_fingerprint() != manifest.fingerprint:
        raise FolderError(f"{path} is damaged: it does not have the fingerprint that it says")
    limits.check(
        "max_items",
        len(manifest.nodes) + len(manifest.domains) + len(manifest.programs),
        f"{path}: its list of operators",
    )
    for program in manifest.programs:
        for file in program.files:
            if not _NAME.fullmatch(file.file):
                raise FolderError(f"{path} is damaged: {file.file!r:.80} is not a name of a program")
    return manifest


def read_program(folder: Path, file: ProgramFile) -> bytes:
    """Reads a program; raises FolderError if it is damaged."""
    path = folder / file.file
    try:
        data = files.read(str(path))
    except OSError as error:
        raise FolderError(f"{path}: a program of the folder cannot be read: {error}") from error
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise FolderError(f"{path} is damaged: its checksum is not that in {MANIFEST}")
    return data
