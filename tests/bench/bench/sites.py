# SPDX-License-Identifier: BSD-3-Clause
"""
Lists of probe sites, as ../floor.c reads and prints them: what a tracer has in place, and the 30
sites that the second target is about.
"""
import struct
import subprocess
from collections import namedtuple
from pathlib import Path

from . import machine

Site = namedtuple("Site", "offset kind path")  # kind: "span", both ends; "entry"

# 6 + 8 + 16: what a tracer of the ping-pong would probe with both ends, without more thought.
FIXED = {
    "libmpi": ["MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall"],
    "libucp": [f"ucp_tag_{name}" for name in (
        "send_nb", "send_nbr", "send_nbx", "send_sync_nb", "send_sync_nbx", "recv_nb", "recv_nbr",
        "recv_nbx")],
    "libuct": [f"uct_mm_ep_{name}" for name in (
        "am_bcopy", "am_short", "am_short_iov", "check", "cleanup_remote_segs", "flush",
        "pending_add", "pending_purge", "process_pending", "t_delete", "t_new")]
    + [f"uct_scopy_ep_{name}" for name in (
        "flush", "get_zcopy", "progress_tx", "put_zcopy", "t_init")],
}


def of_process(pid):
    """The probes that a running tracer holds."""
    run = subprocess.run([machine.TOOLS / "floor", "sites", str(pid)], capture_output=True,
                         text=True, check=True)
    rows = [line.split(" ", 3) for line in run.stdout.splitlines()]
    return sorted({Site(int(offset, 16), kind, path) for offset, kind, _, path in rows},
                  key=lambda site: (site.path, site.offset))


def write(sites, path):
    path.write_text("".join(f"{site.offset:#x} {site.kind} 0 {site.path}\n" for site in sites))


class Symbols:
    """Functions that a 64-bit little-endian ELF file exports."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        header = struct.unpack_from("<QQ", self.data, 32)
        entry, count = struct.unpack_from("<HH", self.data, 54)
        programs = [struct.unpack_from("<IIQQQQ", self.data, header[0] + i * entry)
                    for i in range(count)]
        self.loads = [(vaddr, offset, size) for kind, _, offset, vaddr, _, size in programs
                      if kind == 1]
        entry, count = struct.unpack_from("<HH", self.data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, header[1] + i * entry)
                    for i in range(count)]
        self.functions = {}
        for kind, offset, size, link in ((s[1], s[4], s[5], s[6]) for s in sections):
            if kind == 11:
                self.read_table(offset, size, sections[link][4])

    def read_table(self, table, size, strings):
        for at in range(table, table + size, 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", self.data, at)
            if info & 15 == 2 and section:
                end = self.data.index(b"\0", strings + name)
                self.functions[self.data[strings + name:end].decode()] = (value, length)

    def offset(self, value):
        return next(value - vaddr + offset for vaddr, offset, size in self.loads
                    if vaddr <= value < vaddr + size)

    def address(self, offset):
        return next(offset - start + vaddr for vaddr, start, size in self.loads
                    if start <= offset < start + size)

    def name_at(self, offset):
        """(function, distance from its start) of a file offset, or None."""
        value = self.address(offset)
        for name, (start, length) in self.functions.items():
            if start <= value < start + length:
                return name, value - start
        return None


def fixed(known):
    """
    The 30 sites, all with both ends, in the libraries of known sites: where ucxbpf puts its probe into
    a function that it knows, else behind endbr64, so that nothing is single-stepped.
    """
    found = []
    for path in sorted({site.path for site in known}):
        functions = FIXED.get(Path(path).name.split(".so")[0], [])
        symbols = Symbols(path) if functions else None
        placed = [site.offset for site in known if site.path == path]
        for function in functions:
            if function not in symbols.functions:
                continue
            value, length = symbols.functions[function]
            start = symbols.offset(value)
            skip = 4 if symbols.data[start:start + 4] == b"\xf3\x0f\x1e\xfa" else 0
            there = [offset for offset in placed if start <= offset < start + max(length, 1)]
            found.append(Site(there[0] if there else start + skip, "span", path))
    return found
