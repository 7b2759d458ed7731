#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report (`ucxbpf replay --json`) with what the program says it did, to the last number.

usage: check.py REPORT.json LEDGERS [options]
  LEDGERS          folder with the programs' RANK.json files (tests/progs/truth.h)
  --transports A,B data may only have moved over these
  --witness DIR    RANK.json files of the PMPI counter
  --net TX0:AGAIN0,TX1:AGAIN1
                   bytes that node n<rank> sent during the run, and how many of them were sent again at most
  --count          the capture was made with --count: messages are not known, sums are exact
  --thinned        records may be missing: sums are exact all the same, what is matched is right, and the share
                   with detail is told
  --calls          it was made with --level mpi: nothing but calls is known

Prints one line per difference and exits with 1 if there was any.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path

P2P = {f"MPI_{name}" for name in (
    "Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend", "Start", "Startall",
    "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace", "Send_c", "Ssend_c", "Isend_c", "Sendrecv_c")}
SEND_OPS = ("tag_send", "tag_send_sync")


class Check:
    """One report against the ledgers of all ranks."""

    def __init__(self, report, ledgers):
        self.report, self.ledgers = report, ledgers
        self.differences = []
        # functions that send for the program, but for those whose messages a ledger leaves to the library
        self.p2p = P2P - {name for ledger in ledgers.values() for name in ledger.get("own", [])}
        self.mpi = any(row["name"].startswith("MPI_") for l in ledgers.values() for row in l["calls"])
        self.rank_of = {}

    def expect(self, what, seen, true):
        if seen != true:
            self.differences.append(f"{what}: report says {seen}, true is {true}")

    def expect_counters(self, what, seen, true):
        for key in sorted(set(seen) | set(true), key=str):
            self.expect(f"{what} {key}", seen.get(key, 0), true.get(key, 0))

    def processes(self):
        by_pid = {ledger["pid"]: rank for rank, ledger in self.ledgers.items()}
        for process in self.report["processes"]:
            rank = process["rank"] if self.mpi else by_pid.get(process["pid"])
            if rank not in self.ledgers:
                continue
            ledger = self.ledgers[rank]
            if self.mpi:
                self.expect(f"size at rank {rank}", process["size"], ledger["size"])
            if process["pid"] != ledger["pid"]:
                continue
            self.rank_of[process["id"]] = rank
        self.expect("ranks found", sorted(self.rank_of.values()), sorted(self.ledgers))

    def loss(self):
        loss = self.report["loss"]
        self.expect("records dropped", sum(loss["dropped"].values()), 0)
        self.expect("records stored", loss["stored"], loss["produced"])

    def calls(self):
        seen, true = Counter(), Counter()
        for row in self.report["calls"]:
            if row["process"] in self.rank_of:
                seen[self.rank_of[row["process"]], row["function"]] += row["count"]
        for rank, ledger in self.ledgers.items():
            for row in ledger["calls"]:
                true[rank, row["name"]] += row["count"]
        self.expect_counters("calls", seen, true)
        return seen

    def messages(self):
        seen, true = {}, {}
        for row in self.report["messages"]:
            src, dst = self.rank_of.get(row["src"]), self.rank_of.get(row["dst"])
            if not self.mpi or row["function"] in self.p2p:
                add(seen, (src, dst, row["function"] if self.mpi else None), row)
        for rank, ledger in self.ledgers.items():
            for row in ledger["messages"]:
                add(true, (rank, row["dst"], row["name"] if self.mpi else None), row)
        self.expect_counters("messages (count, bytes)", seen, true)

    def matching(self):
        matching = self.report["matching"]
        open_receives = sum(ledger["unmatched_receives"] for ledger in self.ledgers.values())
        self.expect("sends matched", matching["matched"], matching["sends"])
        self.expect("ambiguous", matching["ambiguous"], 0)
        self.expect("unmatched sends", nonzero(matching["unmatched_sends"]), {})
        unmatched = nonzero(matching["unmatched_receives"])
        self.expect(f"unmatched receives {unmatched}", sum(unmatched.values()), open_receives)

    def attribution(self):
        attribution = self.report["attribution"]
        reasons = attribution.get("unexplained_reasons") or ""
        self.expect(f"bytes unexplained {reasons}", attribution["unexplained"], 0)
        self.expect("bytes with an op", attribution["to_op"], attribution["data_bytes"])
        if self.mpi:
            self.expect("bytes with a call", attribution["to_call"], attribution["data_bytes"])

    def ops(self):
        """MPI: every send is one tagged UCP send. Bare UCP: each op that the program made."""
        seen, true, unknown = {}, {}, set()
        for row in self.report["ops"]:
            rank = self.rank_of.get(row["process"])
            if self.mpi and row["op"] in SEND_OPS and row["function"] in self.p2p:
                add(seen, (rank, row["function"]), row)
            elif not self.mpi and any(row["op"] == r["name"] for l in self.ledgers.values() for r in l["ops"]):
                add(seen, (rank, row["op"]), row)
                if row["bytes_unknown"]:
                    unknown.add((rank, row["op"]))
        for rank, ledger in self.ledgers.items():
            for row in ledger["messages" if self.mpi else "ops"]:
                add(true, (rank, row["name"]), row)
        for key in unknown if self.report.get("counted") or self.report.get("detail") else ():
            self.expect(f"some bytes of {key}", seen[key][1] <= true[key][1], True)
            seen[key] = seen[key][0], true[key][1]
        self.expect_counters("ops (count, bytes)", seen, true)

    def pairs(self):
        """Payload between two processes, by transfers: what the matched messages add up to.

        But for what a process sends to itself by a rendezvous that UCX 1.18 does with a memcpy: its name
        is "rndv" alone, without a way (src/uct/sm/self/self.c: UCT_COMPONENT_FLAG_RKEY_PTR). And an active message of
        several buffers has no known size where it arrives before its send has returned.
        """
        moved, sent, unknown = Counter(), Counter(), set()
        for row in self.report["transfers"]:
            if row["kind"] == "data":
                ends = row["process"], row["peer"]
                moved[tuple(reversed(ends)) if row["op"].startswith("get") else ends] += row["bytes"]
        if any(ledger.get("one_sided") for ledger in self.ledgers.values()):
            return
        for row in self.report["messages"]:
            sent[row["src"], row["dst"]] += row["bytes"]
            if row["bytes_unknown"]:
                unknown.add((row["src"], row["dst"]))
        for row in self.report["ops"]:
            if row["op"] in SEND_OPS and row["protocol"] == "rndv":
                sent[row["process"], row["process"]] -= row["bytes"]
        for pair in unknown:
            self.expect(f"payload of pair {pair}, some of unknown size", moved[pair] > sent[pair], True)
            sent[pair] = moved[pair]
        self.expect_counters("payload of pair", +moved, +sent)

    def thinned(self):
        """Produced is stored and dropped, each record that was dropped is in a sum, no message is made up."""
        loss, detail = self.report["loss"], self.report.get("detail", {})
        self.expect("records accounted for", loss["stored"] + sum(loss["dropped"].values()), loss["produced"])
        self.expect("share with detail told", bool(detail), bool(loss["dropped"]))
        self.expect("records in no sum", detail.get("unsummed", 0), 0)
        self.expect("captures that lack a part", detail.get("partial", 0), 0)
        calls = sum(row["count"] for row in self.report["calls"])
        self.expect("calls with and without detail", detail.get("calls", {}).get("of", calls), calls)
        self.expect("calls and operations of no known call",
                    [r for t in ("calls", "ops") for r in self.report[t] if r["function"] == "unknown"], [])
        seen, true = {}, {}
        for row in self.report["messages"]:
            if not self.mpi or row["function"] in self.p2p:
                add(seen, (self.rank_of.get(row["src"]), self.rank_of.get(row["dst"]),
                           row["function"] if self.mpi else None), row)
        for rank, ledger in self.ledgers.items():
            for row in ledger["messages"]:
                add(true, (rank, row["dst"], row["name"] if self.mpi else None), row)
        for key, (count, size) in seen.items():
            most = true.get(key, (0, 0))
            self.expect(f"messages {key}: {count} of {size} bytes are some of {most}",
                        count <= most[0] and size <= most[1], True)
        self.payload()

    def counted(self):
        """Nothing is made up where messages are not known, and pairs add up to the ledgers'."""
        self.expect("captures that count", self.report.get("counted", {}).get("captures"), 1)
        self.expect("matching", self.report["matching"], None)
        self.expect("messages", self.report["messages"], [])
        self.expect("failures known", [r["op"] for r in self.report["ops"] if r["errors"] is not None], [])
        self.expect("in row 'other'", [r for r in self.report["ops"] if r["op"] == "other"], [])
        self.payload()

    def payload(self):
        """Of pairs, by transfers: those that are not of the library's own messages are the ledgers' messages.

        A transfer without its operation, whose record is missing, may be either.
        """
        attribution = self.report["attribution"]
        self.expect("bytes to op or in progress", attribution["to_op"] + attribution["unexplained"],
                    attribution["data_bytes"])
        if self.mpi and not any(ledger.get("one_sided") for ledger in self.ledgers.values()):
            true = Counter()
            for rank, ledger in self.ledgers.items():
                for row in ledger["messages"]:
                    true[rank, row["dst"]] += row["bytes"]
            internal = [r for r in self.report["transfers"] if r["ucp_op"] in SEND_OPS and r["function"] not in self.p2p]
            either = (attribution["unexplained_reasons"] or {}).get("record of the operation missing", 0)
            moved = self.moved() - self.moved(internal)
            for pair in moved | true:
                share = moved[pair] - either <= true[pair] <= moved[pair]
                self.expect(f"payload of pair {pair}, {true[pair]}, is {moved[pair]} less {either} or a part of it",
                            share, True)

    def moved(self, transfers=None):
        """Payload by (from, to), ranks, of the data transfers."""
        moved = Counter()
        for row in self.report["transfers"] if transfers is None else transfers:
            if row["kind"] == "data":
                ends = self.rank_of.get(row["process"]), self.rank_of.get(row["peer"])
                moved[tuple(reversed(ends)) if row["op"].startswith("get") else ends] += row["bytes"]
        return moved

    def transports(self, allowed):
        used = {row["transport"] for row in self.report["transfers"] if row["kind"] == "data"}
        self.expect("other transports", sorted(map(str, used - allowed)), [])

    def witness(self, directory, calls):
        for path in directory.glob("*.json"):
            for function, count in json.loads(path.read_text()).items():
                self.expect(f"witness: rank {path.stem} {function}", calls[int(path.stem), function], count)

    def network(self, sent):
        """Each node's interface sent the payload and at most 5 % more, beside 256 KiB of launcher and what it sent again."""
        payload = Counter()
        for row in self.report["transfers"]:
            if row["transport"] == "tcp" and row["kind"] == "data":
                payload[self.rank_of.get(row["process"])] += row["bytes"]
        for rank, (wire, again) in enumerate(sent):
            share = payload[rank] <= wire <= payload[rank] * 1.05 + (256 << 10) + again
            self.expect(f"interface of n{rank} sent {wire}, payload {payload[rank]}: fits", share, True)


def add(table, key, row):
    count, size = table.get(key, (0, 0))
    table[key] = count + row["count"], size + row["bytes"]


def nonzero(reasons):
    return {reason: count for reason, count in reasons.items() if count}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report", type=Path)
    parser.add_argument("ledgers", type=Path)
    parser.add_argument("--transports")
    parser.add_argument("--witness", type=Path)
    parser.add_argument("--net")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--thinned", action="store_true")
    parser.add_argument("--calls", action="store_true")
    arguments = parser.parse_args()
    ledgers = {int(path.stem): json.loads(path.read_text()) for path in arguments.ledgers.glob("[0-9]*.json")}
    check = Check(json.loads(arguments.report.read_text()), ledgers)
    check.processes()
    if not arguments.thinned:
        check.loss()
    calls = check.calls()
    if not arguments.calls:
        check.ops()
    if arguments.count:
        check.counted()
    elif arguments.thinned:
        check.thinned()
    elif not arguments.calls:
        check.messages()
        check.matching()
        check.attribution()
        check.pairs()
    if arguments.transports:
        check.transports(set(arguments.transports.split(",")))
    if arguments.witness:
        check.witness(arguments.witness, calls)
    if arguments.net:
        check.network([map(int, part.split(":")) for part in arguments.net.split(",")])
    print("\n".join(check.differences))
    return bool(check.differences)


sys.exit(main())
