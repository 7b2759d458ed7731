#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second opinion on UCP's calls, of the program as it is: the kernel's own uprobe events.

usage: witness.py LIBUCP LEDGER
Counts calls and bytes by process until a line or the end of its input comes, then writes LEDGER: {"PID": {"OP": [calls,
bytes]}}. Prints "ready" once it counts. Data that is not contiguous has no length here: it gives up then.
"""
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
# operation: function, where its count is, and its ucp_request_param_t (x86-64)
CALLS = {
    "tag_send": ("ucp_tag_send_nbx", "%dx", "%r8"),
    "tag_send_sync": ("ucp_tag_send_sync_nbx", "%dx", "%r8"),
    "stream_send": ("ucp_stream_send_nbx", "%dx", "%cx"),
    "am_send": ("ucp_am_send_nbx", "%r9", "+8(%sp)"),
    "put": ("ucp_put_nbx", "%dx", "%r9"),
    "get": ("ucp_get_nbx", "%dx", "%r9"),
}
# of ucp/api/ucp.h: UCP_OP_ATTR_FIELD_DATATYPE, the offset of ucp_request_param_t.datatype; and what a datatype is
FIELD_DATATYPE = 1 << 3
DATATYPE_AT = 24
CLASS, SIZE_SHIFT = 7, 3
BYTE = 1 << SIZE_SHIFT
LINE = re.compile(r"\(\s*(\d+)\) \[\d+\].*: w_(\w+): .*count=(\d+) mask=(\d+) dt=(\d+)")


def offsets(library):
    """Where each function begins in the file."""
    found, segments = {}, []
    for line in subprocess.run(["readelf", "-lW", library], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            segments.append([int(word, 16) for word in words[1:3]] + [int(words[4], 16)])
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", library], check=True, capture_output=True, text=True).stdout
    for line in symbols.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC":
            at = int(words[1], 16)
            found[words[7].split("@")[0]] = next((at - vaddr + offset for offset, vaddr, size in segments
                                                  if vaddr <= at < vaddr + size), None)
    return found


class Events:
    def __init__(self, library):
        self.name = f"w{os.getpid()}"
        self.instance = TRACING / "instances" / self.name
        at = offsets(library)
        self.ops = [op for op, (function, _, _) in CALLS.items() if at.get(function)]
        for op in self.ops:
            function, count, param = CALLS[op]
            self.define(f"p:{self.name}/w_{op} {library}:{at[function]:#x} count={count}:u64 "
                        f"mask=+0({param}):u32 dt=+{DATATYPE_AT}({param}):u64")
        self.instance.mkdir()
        (self.instance / "options/record-tgid").write_text("1")
        (self.instance / "buffer_size_kb").write_text("16384")
        self.switch("1")

    def define(self, line):
        file = os.open(TRACING / "uprobe_events", os.O_WRONLY | os.O_APPEND)  # cannot be sought, as open() does
        try:
            os.write(file, line.encode() + b"\n")
        finally:
            os.close(file)

    def switch(self, value):
        (self.instance / "events" / self.name / "enable").write_text(value)

    def ledger(self):
        self.switch("0")
        counts = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        for line in (self.instance / "trace").read_text().splitlines():
            match = LINE.search(line)
            if not match:
                if not line.startswith("#"):
                    raise SystemExit(f"witness: not understood: {line}")
                continue
            pid, op, count, mask, datatype = match.groups()
            datatype = int(datatype) if int(mask) & FIELD_DATATYPE else BYTE
            if datatype & CLASS:
                raise SystemExit(f"witness: not contiguous: {line}")
            entry = counts[pid][op]
            entry[0] += 1
            entry[1] += int(count) * (datatype >> SIZE_SHIFT)
        return counts

    def remove(self):
        self.switch("0")
        self.instance.rmdir()
        for op in self.ops:
            self.define(f"-:{self.name}/w_{op}")


def main(library, ledger):
    events = Events(os.path.realpath(library))
    try:
        print("ready", flush=True)
        sys.stdin.readline()
        Path(ledger).write_text(json.dumps(events.ledger()))
    finally:
        events.remove()


if __name__ == "__main__":
    main(*sys.argv[1:])
