# SPDX-License-Identifier: BSD-3-Clause
"""Five collectives on four sizes, ROUNDS times; rank 0 prints what came out.

usage: collectives.py ROUNDS
"""
import sys
import zlib
from array import array

from mpi4py import MPI

SIZES = (1, 127, 8191, 65537)

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def empty(count):
    return array("q", bytes(8 * count))


buffers = [(array("q", range(rank, count + rank)), empty(count), empty(size * count), empty(size * count))
           for count in SIZES]
checksum = 0
for number in range(int(sys.argv[1])):
    for own, total, everyone, swapped in buffers:
        own[0] = number + rank
        comm.Allreduce(own, total)
        comm.Bcast(own, root=number % size)
        comm.Allgather(own, everyone)
        comm.Alltoall(everyone, swapped)
        comm.Reduce(own, total if rank == 0 else None, root=0)
        checksum = zlib.crc32(swapped, zlib.crc32(total, checksum))
if rank == 0:
    print(f"collectives: {size} ranks, checksum {checksum:08x}")
