#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report (`ucxbpf replay --json`) with what a GPU test program says it sent (ledger.h).

usage: compare.py REPORT.json LEDGERS [--late] [--way ipc|staged|shm|host] [--balanced]
  LEDGERS  folder with RANK.memory and RANK.pid
  --late   the tracer came when all memory was there: at least 99 % of the bytes have the right
           memory, none a wrong one; else every operation has it. Host memory that was pinned before
           may be called "host", which is counted
  --way    how bytes from GPU to GPU must have moved
  --balanced
           the way of every message must be known, and from each rank to each other one must have
           been transferred as many bytes as were sent

Prints one line per difference, or what was compared, and exits with 1 if there was any.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path

RECEIVED_BY = {"MPI_Send": "MPI_Recv", "MPI_Isend": "MPI_Irecv"}
SEND_OPS, RECEIVE_OPS = ("tag_send", "tag_send_sync"), ("tag_recv",)
UNKNOWN = ("unknown", "gpu")  # "gpu": of a GPU, but which is not known
LATE_SHARE = 0.99

# What these "get" comes from this process: it goes into memory of the peer that is mapped here.
COPYING = ("cuda_copy", "gdr_copy")

# Which GPU a pool made before the trace is on, nothing tells of a process that uses several (docs/gpu.md).
LATE_UNTOLD = ("cupy_async",)


class Sum(Counter):
    """(key, "count" or "bytes") -> number"""

    def put(self, key, row):
        self[key, "count"] += row["count"]
        self[key, "bytes"] += row["bytes"]


class Compare:
    def __init__(self, report, rows, pids):
        self.report, self.rows, self.differences = report, rows, []
        by_pid = {pid: rank for rank, pid in pids.items()}
        self.rank_of = {p["id"]: by_pid[p["pid"]] for p in report["processes"]
                        if p["pid"] in by_pid}
        self.gpus = {d["pci"].lower(): d["name"] for d in report.get("devices", []) if d.get("pci")}
        self.functions = {row["function"] for row in rows}
        if sorted(self.rank_of.values()) != sorted(pids):
            self.differences.append(f"ranks in the report: {sorted(self.rank_of.values())}, "
                                    f"there were {sorted(pids)}")

    def devices(self):
        """Every GPU of the ledger by its PCI address, where the report has any."""
        used = {row[f"{side}_bus_id"] for row in self.rows for side in ("src", "dst")
                if f"{side}_bus_id" in row}
        if self.gpus:
            self.differences += [f"no GPU {address} in devices[]"
                                 for address in sorted(used - set(self.gpus))]

    def memory(self, row, side):
        """What the report should call one end of a ledger's row."""
        if row[f"{side}_mem"] != "gpu":
            return row[f"{side}_mem"]
        return self.gpus.get(row[f"{side}_bus_id"], f"gpu{row[f'{side}_device']}")

    def expect(self, what, seen, true):
        for key, unit in sorted(set(seen) | set(true), key=str):
            a, b = seen[key, unit], true[key, unit]
            if a != b:
                self.differences.append(f"{what} {' '.join(map(str, key))}: report says {a:,} "
                                        f"{unit}, true is {b:,}")

    def ops(self):
        """(rank, "sends" or "receives", memory) as reported, and as it was."""
        seen, true = Sum(), Sum()
        receives = {RECEIVED_BY[function] for function in self.functions}
        for row in self.report["ops"]:
            rank = self.rank_of.get(row["process"])
            if rank is None:
                continue
            if row["op"] in SEND_OPS and row["function"] in self.functions:
                seen.put((rank, "sends", self.seen_memory(row)), row)
            if row["op"] in RECEIVE_OPS and row["function"] in receives:
                seen.put((rank, "receives", self.seen_memory(row)), row)
        for row in self.rows:
            true.put((row["src"], "sends", self.memory(row, "src")), row)
            true.put((row["dst"], "receives", self.memory(row, "dst")), row)
        return seen, true

    @staticmethod
    def seen_memory(row):
        return row.get("memory") or "unknown"

    def messages(self):
        """With the memory at both ends, where reports say it."""
        seen, true = Sum(), Sum()
        sides = all("src_mem" in row and "dst_mem" in row for row in self.report["messages"])
        for row in self.report["messages"]:
            ranks = self.rank_of.get(row["src"]), self.rank_of.get(row["dst"])
            if row["function"] in self.functions:
                ends = (row["src_mem"] or "unknown", row["dst_mem"] or "unknown") if sides else ()
                seen.put((*ranks, *ends), row)
        for row in self.rows:
            ends = (self.memory(row, "src"), self.memory(row, "dst")) if sides else ()
            true.put((row["src"], row["dst"], *ends), row)
        return seen, true

    def transfers(self):
        """Data whose memory is not known at one end, or that nothing explains."""
        counted = self.functions | {RECEIVED_BY[function] for function in self.functions}
        for row in self.report["transfers"]:
            if row["kind"] == "control" or row["function"] not in counted or not row["count"]:
                continue
            for side in ("src_mem", "dst_mem"):
                if row[side] is None or row[side] in UNKNOWN:
                    self.differences.append(
                        f"{side} of {row['count']} {row['transport']} {row['op']} of "
                        f"{row['function']} ({row['bytes']:,} bytes) is {row[side]}: "
                        f"{row.get(side[:3] + '_reason')}")
        unexplained = self.report["attribution"]["unexplained"]
        if unexplained:
            self.differences.append(f"{unexplained:,} data bytes without an operation")

    def way(self, wanted):
        """What cudaMalloc gives goes from GPU to GPU by cuda_ipc, or never."""
        between = any(row["src_kind"] == row["dst_kind"] == "cudaMalloc" and row["size"] >= 1 << 20
                      for row in self.rows)
        seen = any(row["transport"] == "cuda_ipc" and row["count"] for row in
                   self.report["transfers"])
        if wanted == "ipc" and between and not seen:
            self.differences.append("no transfer over cuda_ipc")
        if wanted != "ipc" and seen:
            self.differences.append("transfers over cuda_ipc, which was not to be used")

    def balance_late(self):
        """The same of nearly all bytes: a message may have begun before the tracer came."""
        rows = [row for row in self.report["messages"] if row["function"] in self.functions]
        total = sum(row["bytes"] for row in rows)
        known = sum(row["bytes"] for row in rows if row.get("chain"))
        if known < LATE_SHARE * total:
            why = Counter()
            for row in rows:
                why[row.get("chain_reason")] += 0 if row.get("chain") else row["bytes"]
            self.differences.append(f"no way of {total - known:,} of {total:,} bytes: {why.most_common(3)}")
        seen, true = self.transferred()
        for key, n in true.items():
            if not LATE_SHARE * n <= seen[key] <= n:
                self.differences.append(f"transferred {key}: {seen[key]:,} of {n:,} bytes")

    def balance(self):
        """Every message has its way, and the transfers between two ranks are their messages' bytes."""
        for row in self.report["messages"]:
            if row["function"] in self.functions and row["bytes"] and not row.get("chain"):
                self.differences.append(
                    f"no way of {row['count']:,} messages of {row['function']} ({row['bytes']:,} "
                    f"bytes), {row.get('src_mem')} to {row.get('dst_mem')}: "
                    f"{row.get('chain_reason')}")
        self.expect("transferred", *self.transferred())

    def transferred(self):
        """(source, destination) of data, as the transfers say it, and as it was sent."""
        counted = self.functions | {RECEIVED_BY[function] for function in self.functions}
        seen, true = Counter(), Counter()
        for row in self.report["transfers"]:
            if row["kind"] == "data" and row["function"] in counted:
                ends = self.rank_of.get(row["process"]), self.rank_of.get(row["peer"])
                fetched = row["op"].startswith("get_") and row["transport"] not in COPYING
                ends = ends[::-1] if fetched else ends
                seen[ends, "bytes"] += row["bytes"]
        for row in self.rows:
            true[(row["src"], row["dst"]), "bytes"] += row["bytes"]
        return seen, true

    def loss(self):
        loss = self.report["loss"]
        if loss["dropped"]:
            self.differences.append(f"records were lost: {loss['dropped']}")

    def exact(self):
        self.expect("operations", *self.ops())
        self.expect("messages", *self.messages())
        self.transfers()
        return f"{sum(row['count'] for row in self.rows):,} messages exact{self.chains()}"

    def chains(self):
        """How much of what was counted has its way from memory to memory."""
        rows = [row for row in self.report["messages"]
                if row["function"] in self.functions and "chain" in row]
        total, known = sum(row["bytes"] for row in rows), sum(row["bytes"] for row in rows
                                                              if row["chain"])
        return f", {100 * known / total:.0f} % of bytes with their way" if total else ""

    def late(self):
        """Bytes at the ends of operations: right, wrong, unknown."""
        seen, true = ({key: n for (key, unit), n in sums.items() if unit == "bytes" and n}
                      for sums in self.ops())
        total, unknown, pinned = sum(true.values()), 0, 0
        right = sum(min(n, true.get(key, 0)) for key, n in seen.items())
        wrong = 0
        for key, n in sorted(seen.items(), key=str):
            more = n - true.get(key, 0)
            if key[2] in UNKNOWN:
                unknown += n
                continue
            if key[2] == "host" and more > 0:
                other = (*key[:2], "pinned")
                told = min(more, true.get(other, 0) - min(seen.get(other, 0), true.get(other, 0)))
                pinned, more = pinned + told, more - told
            if more > 0:
                wrong += more
                self.differences.append(f"operations {' '.join(map(str, key))}: report says {n:,} "
                                        f"bytes, true is {true.get(key, 0):,}")
        text = (f"{100 * (right + pinned) / total:.2f} % right, of these {pinned:,} bytes pinned "
                f"and called host; {wrong:,} wrong, {unknown:,} unknown of {total:,}")
        untold = sum(row["bytes"] for row in self.rows for side in ("src", "dst")
                     if row[f"{side}_kind"] in LATE_UNTOLD)
        if right + pinned < LATE_SHARE * (total - untold):
            self.differences.append(text)
        return text


def read_ledgers(folder):
    rows = [json.loads(line) for path in sorted(folder.glob("*.memory"))
            for line in path.read_text().splitlines()]
    pids = {int(path.stem): int(path.read_text()) for path in folder.glob("*.pid")}
    if not rows:
        raise ValueError(f"no ledger in {folder}")
    return rows, pids


def compare(report, folder, late=False, way=None, balanced=False):
    """(differences, what was compared in a few words)"""
    one = Compare(report, *read_ledgers(Path(folder)))
    one.loss()
    one.devices()
    text = one.late() if late else one.exact()
    if way:
        one.way(way)
    if balanced:
        one.balance_late() if late else one.balance()
    return one.differences, text


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("ledgers", type=Path)
    parser.add_argument("--late", action="store_true")
    parser.add_argument("--way", choices=["ipc", "staged", "shm", "host"])
    parser.add_argument("--balanced", action="store_true")
    options = parser.parse_args()
    differences, text = compare(json.loads(options.report.read_text()), options.ledgers,
                                options.late, options.way, options.balanced)
    print("\n".join(differences) or text)
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
