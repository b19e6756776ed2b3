"""Files that are no text: what they are, told from their first bytes."""

from __future__ import annotations

import re

SAMPLE = 24 << 10
FORMATS = {
    b"\x7fELF": "a program or library (ELF)",
    b"PK\x03\x04": "a ZIP archive, as checkpoints (.pt) and wheels are",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF-": "a PDF",
    b"\x89HDF": "an HDF5 file",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "a NumPy array",
    b"SQLite format 3": "an SQLite database",
    b"BZh": "an archive (bzip2): unpack it first",
    b"\xfd7zXZ": "an archive (xz): unpack it first",
    b"\x28\xb5\x2f\xfd": "an archive (zstd): unpack it first",
    b"7z\xbc\xaf": "an archive (7-Zip): unpack it first",
    b"!<arch>": "a library of object files",
}
TAR = (257, b"ustar")
PICKLE = re.compile(rb"\x80[\x02-\x05][\x8a\x95}\](cc\x00].{0,8}", re.DOTALL)
GARBAGE = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
# Control characters are a tenth of compressed data; bytes over 127 are text in many encodings.
MOST_GARBAGE = 0.06
SHORTEST = 256


def binary(head: bytes) -> str:
    """What the first bytes of a file are, in words, where they are no text; else empty."""
    for magic, words in FORMATS.items():
        if head.startswith(magic):
            return words
    if head[TAR[0] :].startswith(TAR[1]):
        return "an archive (tar): unpack it first"
    if PICKLE.match(head):
        return "a Python pickle"
    text = head[:SAMPLE].replace(b"\0", b"")
    return "binary data" if len(text) >= SHORTEST and len(GARBAGE.findall(text)) > len(text) * MOST_GARBAGE else ""
