"""JPEG files with all that cameras and programs put into them."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

import numpy as np

from support.data import image
from support.pictures import cmyk, pillow

END = b"\xff\xd9"
_FRAMES = (0xC0, 0xC1, 0xC2)
# Numbers of codes of 1, 2, ... bits for the categories 0 to 11 of DC, and "end of block" in 2 bits.
_DC_LENGTHS = (0, 1, 5, 1, 1, 1, 1, 1, 1, *[0] * 7)
_END_OF_BLOCK = "00"


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def with_segment(jpeg: bytes, marker: int, body: bytes, at: int = 20) -> bytes:
    """The file with one more segment, by default behind that of JFIF."""
    return jpeg[:at] + segment(marker, body) + jpeg[at:]


def plain(**options: object) -> bytes:
    return pillow(image(40, 56), "jpeg", quality=90, **options)


def with_scan_parameters(jpeg: bytes, parameters: Sequence[int]) -> bytes:
    """With other values for the first and last coefficient of its first scan, and its precision."""
    at = jpeg.index(b"\xff\xda") + 5 + 2 * 3
    return jpeg[:at] + bytes(parameters) + jpeg[at + 3 :]


def with_ids(jpeg: bytes, ids: Sequence[int]) -> bytes:
    """With other identifiers of its components."""
    changed = bytearray(jpeg)
    frame = next(i for i in range(2, len(jpeg)) if jpeg[i] == 0xFF and jpeg[i + 1] in _FRAMES)
    scan = jpeg.index(b"\xff\xda")
    for component, one in enumerate(ids):
        changed[frame + 10 + 3 * component] = changed[scan + 5 + 2 * component] = one
    return bytes(changed)


def flat(
    height: int,
    width: int,
    factors: Sequence[tuple[int, int]],
    scans: Sequence[Sequence[int]] = (),
    interval: int = 0,
) -> bytes:
    """A baseline file whose blocks are flat.

    Args:
        height, width: of the picture.
        factors: horizontal and vertical sampling of each component.
        scans: components of each; none: all in one.
        interval: blocks, or groups of them, between restarts.
    """
    most_x, most_y = (max(one) for one in zip(*factors, strict=True))
    across, down = -(-width // (8 * most_x)), -(-height // (8 * most_y))
    rng = np.random.default_rng(0)
    values = [rng.integers(-60, 60, (down * y, across * x)) for x, y in factors]
    out = [
        b"\xff\xd8",
        segment(0xDB, b"\0" + bytes([8] * 64)),
        segment(0xC0, struct.pack(">BHHB", 8, height, width, len(factors))
                + b"".join(bytes([c, x << 4 | y, 0]) for c, (x, y) in enumerate(factors, 1))),
        segment(0xC4, b"\0" + bytes(_DC_LENGTHS) + bytes(range(12))),
        segment(0xC4, b"\x10" + bytes([0, 1] + [0] * 14) + b"\0"),
    ]  # fmt: skip
    if interval:
        out.append(segment(0xDD, struct.pack(">H", interval)))
    for scan in scans or [range(len(factors))]:
        out.append(
            segment(0xDA, bytes([len(scan)]) + b"".join(bytes([c + 1, 0]) for c in scan) + b"\0\x3f\0")
        )
        if len(scan) == 1:
            (c,) = scan
            x, y = factors[c]
            rows, columns = (
                -(-n * f // (8 * most)) for n, f, most in ((height, y, most_y), (width, x, most_x))
            )
            units = [[(c, row, column)] for row in range(rows) for column in range(columns)]
        else:
            units = [
                [
                    (c, row * factors[c][1] + y, column * factors[c][0] + x)
                    for c in scan for y in range(factors[c][1]) for x in range(factors[c][0])
                ]
                for row in range(down) for column in range(across)
            ]  # fmt: skip
        step = interval or len(units)
        parts = [_coded(units[i : i + step], values) for i in range(0, len(units), step)]
        out.extend(
            part if n == 0 else bytes([0xFF, 0xD0 + (n - 1) % 8]) + part for n, part in enumerate(parts)
        )
    return b"".join([*out, END])


def _coded(units: Sequence[Sequence[tuple[int, int, int]]], values: Sequence[np.ndarray]) -> bytes:
    """Blocks between two restarts."""
    codes, code = [], 0
    for bits, count in enumerate(_DC_LENGTHS, 1):
        codes += [format(code + i, f"0{bits}b") for i in range(count)]
        code = (code + count) << 1
    last: dict[int, int] = {}
    bits_written = ""
    for c, row, column in (block for unit in units for block in unit):
        value = int(values[c][row, column])
        step, last[c] = value - last.get(c, 0), value
        size = abs(step).bit_length()
        bits_written += codes[size]
        if size:
            bits_written += format(step if step > 0 else step + (1 << size) - 1, f"0{size}b")
        bits_written += _END_OF_BLOCK
    bits_written += "1" * (-len(bits_written) % 8)
    coded = bytes(int(bits_written[i : i + 8], 2) for i in range(0, len(bits_written), 8))
    return coded.replace(b"\xff", b"\xff\0")


SAMPLINGS = [
    [one, (1, 1), (1, 1)]
    for one in ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4), (3, 1), (1, 3), (3, 2))
] + [
    [(2, 2), (2, 1), (2, 1)], [(2, 2), (1, 2), (1, 2)], [(2, 2), (1, 1), (2, 1)], [(2, 2), (1, 2), (2, 1)],
    [(1, 1), (2, 2), (2, 2)], [(2, 1), (1, 1), (2, 1)], [(4, 1), (2, 1), (2, 1)],
    [(2, 2)], [(2, 1)], [(4, 4)], [(1, 3)],
]  # fmt: skip
SCANS = [[[0], [1], [2]], [[0], [1, 2]], [[0], [1, 2], [0]], [[0], [1]], [[0]]]


def _variants(jpeg: bytes) -> dict[str, bytes]:
    """A whole picture with all around it that libjpeg skips or warns of."""
    jfif = b"JFIF\0\1\1"
    bare = jpeg[:2] + jpeg[20:]
    adobe = b"Adobe\0\x64\0\0\0\0"
    return {
        "plain": jpeg,
        "JFIF 2.1": jpeg.replace(jfif, b"JFIF\0\2\1"),
        "JFIF 0.1": jpeg.replace(jfif, b"JFIF\0\0\1"),
        "no JFIF": bare,
        "JFIF with half a thumbnail": with_segment(bare, 0xE0, jfif + b"\0\0\1\0\1\2\2ab", 2),
        "profile out of order": with_segment(jpeg, 0xE2, b"ICC_PROFILE\0\2\1abc"),
        "profile number 0": with_segment(jpeg, 0xE2, b"ICC_PROFILE\0\0\0abc"),
        "part of a profile": with_segment(jpeg, 0xE2, b"ICC_PROFILE\0\1\3abc"),
        "half a segment of Adobe's": with_segment(jpeg, 0xEE, adobe[:7]),
        "stray bytes in the header": jpeg[:20] + b"stray" + jpeg[20:],
        "fill bytes": jpeg[:2] + b"\xff\xff" + jpeg[2:],
        "zeros before the end": jpeg[:-2] + bytes(50) + END,
        "fill bytes before the end": jpeg[:-2] + b"\xff" * 50 + END,
        "bytes behind the end": jpeg + b"hello",
        "pictures behind the end": jpeg + plain(progressive=True) * 40,
        **{f"Adobe's transform {n}": with_segment(jpeg, 0xEE, adobe + bytes([n])) for n in (0, 1, 2, 7)},
        **{
            f"Adobe's transform {n}, no JFIF": with_segment(bare, 0xEE, adobe + bytes([n]), 2)
            for n in (0, 1, 2, 7)
        },
    }


def files() -> dict[str, bytes]:
    whole, progressive = plain(), plain(progressive=True)
    bare = whole[:2] + whole[20:]
    # A table of codes stands before most scans; of the first two it is one table or more, up to the scan itself.
    scans = [m.start() for m in re.finditer(rb"(\xff\xc4[^\xff]*)*\xff\xda", progressive)]
    printed = cmyk(image(40, 56)[..., [0, 1, 2, 0]].copy(), "jpeg", quality=90)
    transform = printed.index(b"Adobe") + 11
    return {
        **_variants(whole),
        **{f"progressive, {name}": data for name, data in _variants(progressive).items()},
        **{f"scan {p}": with_scan_parameters(whole, p) for p in ((0, 0, 0), (1, 63, 0), (0, 63, 16))},
        **{f"ids {i}": with_ids(bare, i) for i in ((0, 1, 2), tuple(b"RGB"), (34, 35, 33), (1, 34, 35), (5, 7, 9))},
        "ids RGB, JFIF": with_ids(whole, tuple(b"RGB")),
        "RGB": plain(keep_rgb=True),
        "gray": pillow(image(40, 56, None), "jpeg"),
        **{f"CMYK, Adobe's transform {n}": printed[:transform] + bytes([n]) + printed[transform + 1 :] for n in (0, 1, 2, 5)},
        **{f"restarts {n}": plain(restart_marker_blocks=n) for n in (1, 3)},
        **{f"progressive, restarts {n}": plain(restart_marker_blocks=n, progressive=True) for n in (1, 3)},
        **{f"sampling {s}": flat(50, 70, s) for s in SAMPLINGS},
        **{f"scans {s}": flat(50, 70, [(2, 2), (1, 1), (1, 1)], s) for s in SCANS},
        "restarts in scans": flat(50, 70, [(2, 2), (1, 1), (1, 1)], SCANS[0], interval=2),
        "restarts in a scan": flat(50, 70, [(2, 2), (1, 1), (1, 1)], interval=2),
        "progressive, a scan twice": progressive[: scans[1]] + progressive[scans[0] :],
        "progressive, fewer scans": progressive[: scans[-1]] + END,
        "progressive, without its first scan": progressive[: scans[0]] + progressive[scans[1] :],
        "one pixel": flat(1, 1, [(2, 2), (1, 1), (1, 1)]),
        "zeros for the end": whole[:-2] + bytes(40),
        "two zeros for the end": whole[:-2] + bytes(2),
        "bytes for the end": whole[:-2] + b"hello",
        **damaged(),
    }  # fmt: skip


def damaged() -> dict[str, bytes]:
    """Pictures of which a part is missing, behind something that is harmless."""
    found = {}
    for kind, jpeg, inner in (
        ("", plain(), b"\xff\xda"),
        ("restarts, ", plain(restart_marker_blocks=2), b"\xff\xd0"),
        ("progressive, ", plain(progressive=True), b"\xff\xc4"),
    ):
        missing = len(jpeg) // 6
        rest = jpeg[20:]
        within = rest.index(inner, rest.index(b"\xff\xda"))
        thumbnail = jpeg[:2] + segment(0xE1, b"Exif\0\0II*\0" + plain()) + jpeg[2:20]
        for name, data in {
            "": jpeg,
            ", JFIF 2.1": jpeg.replace(b"JFIF\0\1\1", b"JFIF\0\2\1"),
            ", stray bytes and a thumbnail": thumbnail + b"stray" + rest,
            ", stray bytes in the data and a thumbnail": thumbnail + rest[:within] + b"stray" + rest[within:],
        }.items():
            found[f"{kind}cut{name}"] = data[:-missing]
            # Behind stray bytes between scans libjpeg is silent about what a later scan lacks.
            if not ("progressive" in kind and "in the data" in name):
                found[f"{kind}cut, an end{name}"] = data[:-missing] + END
            found[f"{kind}cut, zeros{name}"] = data[:-missing] + bytes(missing)
            found[f"{kind}cut, another picture{name}"] = data[:-missing] + jpeg
    whole = flat(50, 70, [(2, 2), (1, 1), (1, 1)], interval=2)
    second, third = whole.index(b"\xff\xd1"), whole.index(b"\xff\xd2")
    return found | {
        "restarts, one is missing": whole[:second] + whole[second + 2 :],
        "restarts, a part is missing": whole[:second] + whole[third:],
        "restarts, less in a part": whole[: third - 3] + whole[third:],
    }
