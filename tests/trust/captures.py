# SPDX-License-Identifier: BSD-3-Clause
"""Captures (docs/format.md) written again with other side records, and with sums that are right for them."""
import ctypes
import json
import struct
from pathlib import Path

ZSTD, XXHASH = ctypes.CDLL("libzstd.so.1"), ctypes.CDLL("libxxhash.so.0")
ZSTD.ZSTD_compressBound.restype = ZSTD.ZSTD_compress.restype = ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
ZSTD.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
ZSTD.ZSTD_decompress.argtypes = ZSTD.ZSTD_compress.argtypes[:4]
XXHASH.XXH64.restype, XXHASH.XXH64.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]

FILE_HEADER, SIDES = 16, 1
# Offsets in a chunk's header, all of u32 or, from 56 on, of u64
HEADER_SIZE, TYPE, STORED, RAW, PAYLOAD_SUM, HEADER_SUM = 8, 12, 16, 20, 56, 64


def compressed(data):
    room = ZSTD.ZSTD_compressBound(len(data))
    to = ctypes.create_string_buffer(room)
    size = ZSTD.ZSTD_compress(to, room, data, len(data), 1)
    return to.raw[:size]


def decompressed(data, size):
    to = ctypes.create_string_buffer(max(size, 1))
    if ZSTD.ZSTD_decompress(to, size, data, len(data)) != size:
        raise ValueError("a chunk that does not decompress")
    return to.raw[:size]


def lines_changed(raw, change):
    sides = [json.loads(line) for line in raw.split(b"\n")[:-1]]
    for side in sides:
        change(side)
    return b"".join(json.dumps(side, ensure_ascii=False).encode() + b"\n" for side in sides)


def rewritten(path, out, change):
    """A capture, with change(side) called for each side record, which it alters in place."""
    data = Path(path).read_bytes()
    parts, at = [data[:FILE_HEADER]], FILE_HEADER
    while at < len(data):
        size, kind, stored, raw = struct.unpack_from("<4I", data, at + HEADER_SIZE)
        header, payload = bytearray(data[at:at + size]), data[at + size:at + size + stored]
        at += size + stored
        if kind == SIDES:
            text = lines_changed(decompressed(payload, raw), change)
            payload = compressed(text)
            struct.pack_into("<2I", header, STORED, len(payload), len(text))
            struct.pack_into("<2Q", header, PAYLOAD_SUM, XXHASH.XXH64(payload, len(payload), 0), 0)
            struct.pack_into("<Q", header, HEADER_SUM, XXHASH.XXH64(bytes(header), size, 0))
        parts += [bytes(header), payload]
    Path(out).write_bytes(b"".join(parts))
