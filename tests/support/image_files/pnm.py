"""PBM, PGM and PPM files."""

from __future__ import annotations

import numpy as np

from support.pictures import noise

_SIZE = b"13 9"


def files() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    rgb, gray = noise(9, 13, 3), noise(9, 13, None)
    found = {}
    for most in (255, 65535, 1, 15, 100, 254, 1023):
        samples = rng.integers(0, most + 1, (9, 13, 3))
        kind = np.uint8 if most < 256 else np.dtype(">u2")
        head = b" %s %d\n" % (_SIZE, most)
        for letter, plain, raw in (("gray", b"P2", b"P5"), ("RGB", b"P3", b"P6")):
            chosen = samples if letter == "RGB" else samples[..., 0]
            found[f"{letter} up to {most}"] = raw + head + chosen.astype(kind).tobytes()
            found[f"plain {letter} up to {most}"] = (
                plain + head + b" ".join(b"%d" % n for n in chosen.ravel())
            )
    bits = gray > 99
    body = rgb.tobytes()
    return found | {
        "bits": b"P4 %s\n" % _SIZE + np.packbits(bits, axis=1).tobytes(),
        "plain bits": b"P1 %s\n" % _SIZE + b" ".join(b"%d" % b for b in bits.ravel()),
        "plain bits without spaces": b"P1 %s\n" % _SIZE + b"".join(b"%d" % b for b in bits.ravel()),
        "comments": b"P6 # a\n# b\n13 # c\n9\n# d\n255\n" + body,
        "carriage returns": b"P6\r\n13 9\r\n255\n" + body,
        "tabs": b"P6\t13\t9\t255\t" + body,
        "zeros before the numbers": b"P6\n013 09\n0255\n" + body,
        "bytes behind the end": b"P6\n13 9\n255\n" + body + b"hello",
        "comments in plain data": b"P2 %s 255\n" % _SIZE + b"\n#x\n".join(b"%d" % n for n in gray.ravel()),
        "values above the largest": b"P5 %s 100\n" % _SIZE + gray.tobytes(),
        "PAM": b"P7\nWIDTH 13\nHEIGHT 9\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n" + body,
        "PFM": b"PF\n13 9\n-1.0\n" + (rgb / 255).astype("<f4").tobytes(),
    }
