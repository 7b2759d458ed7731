# SPDX-License-Identifier: BSD-3-Clause
"""gpu_python.py DEVICES: what Python programs of AI and HPC send: tensors of PyTorch, arrays of CuPy and numpy, by mpi4py.

Their allocators cut GPU memory into pieces of their own, over whatever CUDA runtime they bring. Each kind goes to each
kind, at several sizes; the ledger is that of ledger.h. One of PyTorch and CuPy is enough.
"""
import ctypes
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import numpy

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

SIZES = ((8, 7), (4096, 5), (65536, 3), (4 << 20, 2))
LARGEST = SIZES[-1][0]
PIECES = 3  # of a kind, one after the other: allocators hand out parts of what they hold

rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
devices = [int(number) for number in sys.argv[1].split(",")]
device = devices[rank % len(devices)]
# makes the context, which UCX wants to find
if torch:
    torch.cuda.set_device(device)
    torch.zeros(1, device="cuda")
if cupy:
    cupy.cuda.Device(device).use()
    cupy.zeros(1)
if not torch and not cupy:
    sys.exit("error: neither PyTorch nor CuPy is here")

from mpi4py import MPI  # noqa: E402: it starts MPI

world = MPI.COMM_WORLD
truth = Path(os.environ["TRUTH"])


def cupy_of(allocator):
    def make():
        with cupy.cuda.using_allocator(allocator):
            return cupy.zeros(LARGEST, dtype=cupy.uint8)
    return make


# kind -> where its memory is, how a piece is made
KINDS = {"numpy": ("host", lambda: numpy.zeros(LARGEST, dtype=numpy.uint8))}
if torch:
    KINDS["torch"] = "gpu", lambda: torch.zeros(LARGEST, dtype=torch.uint8, device="cuda")
    KINDS["torch_pinned"] = "pinned", lambda: torch.zeros(LARGEST, dtype=torch.uint8, pin_memory=True).numpy()
if cupy:
    KINDS["cupy"] = "gpu", cupy_of(cupy.cuda.MemoryPool().malloc)
    KINDS["cupy_async"] = "gpu", cupy_of(cupy.cuda.MemoryAsyncPool().malloc)
    KINDS["cupy_managed"] = "managed", cupy_of(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)


def bus_id():
    text = ctypes.create_string_buffer(32)
    driver = ctypes.CDLL("libcuda.so.1")
    assert driver.cuDeviceGetPCIBusId(text, len(text), ctypes.c_int(device)) == 0
    return text.value.decode().lower()


places = world.allgather((device, bus_id()))
ledger = Counter()


def end(side, kind, of_rank):
    memory, _ = KINDS[kind]
    made = {f"{side}_kind": kind, f"{side}_mem": memory}
    if memory == "gpu":
        made.update({f"{side}_device": places[of_rank][0], f"{side}_bus_id": places[of_rank][1]})
    return made


def is_value(piece, value):
    return bool((piece == value).all())


def settle():
    for synchronize in ([torch.cuda.synchronize] if torch else []) + (
            [cupy.cuda.runtime.deviceSynchronize] if cupy else []):
        synchronize()


def exchange(pieces, sender, kinds):
    """One message of a size from the sender's memory to the other one's."""
    for i, (size, count) in enumerate(SIZES):
        for k in range(count):
            piece, value = pieces[kinds[rank != sender]][k % PIECES][:size], 1 + 16 * i + k
            if rank == sender:
                piece[:] = value
                settle()
                ledger[1 - rank, *kinds, size] += 1
                world.Send([piece, MPI.BYTE], 1 - rank, 1)
                continue
            world.Recv([piece, MPI.BYTE], 1 - rank, 1)
            assert is_value(piece, value), f"{kinds}, {size} bytes: not what was sent"


def exchange_all(pieces):
    for sender in range(2):
        for src in KINDS:
            for dst in KINDS:
                exchange(pieces, sender, (src, dst))


def hold():
    """Waits to be attached to. What was sent before does not count."""
    if "HOLD" not in os.environ:
        return
    world.Barrier()
    ledger.clear()
    (truth / f"{rank}.ready").touch()
    while not (truth / "go").exists():
        time.sleep(0.001)
    world.Barrier()


def write():
    with open(truth / f"{rank}.memory", "w") as file:
        for (to, src, dst, size), count in ledger.items():
            file.write(json.dumps({"function": "MPI_Send", "src": rank, "dst": to, **end("src", src, rank),
                                   **end("dst", dst, to), "size": size, "count": count,
                                   "bytes": size * count}) + "\n")


(truth / f"{rank}.pid").write_text(f"{os.getpid()}\n")
pieces = {kind: [make() for _ in range(PIECES)] for kind, (_, make) in KINDS.items()}
if "HOLD" in os.environ:
    exchange_all(pieces)
hold()
exchange_all(pieces)
world.Barrier()
write()
