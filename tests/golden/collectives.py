# SPDX-License-Identifier: BSD-3-Clause
"""Which calls of exported events (ndjson) are collective operations of a world that is known for certain."""
import re
from collections import Counter, defaultdict

OPS = {"Barrier": "BARRIER", "Allgather": "ALLGATHER", "Allgatherv": "ALLGATHERV", "Alltoall": "ALLTOALL",
       "Alltoallv": "ALLTOALLV", "Alltoallw": "ALLTOALLW", "Allreduce": "ALLREDUCE",
       "Reduce_scatter": "REDUCE_SCATTER", "Reduce_scatter_block": "REDUCE_SCATTER_BLOCK", "Scan": "SCAN",
       "Exscan": "EXSCAN"}
ROOTED = {"Bcast": "BCAST", "Gather": "GATHER", "Gatherv": "GATHERV", "Scatter": "SCATTER", "Scatterv": "SCATTERV",
          "Reduce": "REDUCE"}
TO_ROOT = {"Gather", "Gatherv", "Reduce"}
MISSING = re.compile("without task storage|damaged|cut off|was killed|records are missing|^libmpi.* mapped before")
NO_ROOT = 0xffffffff


def sort_of(call):
    """(name, blocks) or None."""
    name = (call["function"] or "").removeprefix("MPI_").removesuffix("_c")
    if name in OPS or name in ROOTED:
        return name, True
    name = name[1:].capitalize() if name[:1] == "I" else ""
    return (name, False) if name in OPS or name in ROOTED else None


def why_calls_are_missing(events):
    totals = events["totals"][0]["totals"]
    if events["export"][0]["filter"]:
        return "a filter is set: calls may be left out"
    if events["window"]:
        return "captured in windows: calls are missing"
    if totals["loss"]["dropped"] or any(MISSING.search(note) for note in totals["notes"]):
        return "records were lost"
    return None


def why_none(events, several):
    missing = why_calls_are_missing(events)
    if missing:
        return missing
    return "several captures of a host: calls between them may be missing" if several else None


def joined(events, members):
    """All of them are reached from the first by messages."""
    beside = defaultdict(set)
    for message in events["message"]:
        beside[message["src"]].add(message["dst"])
        beside[message["dst"]].add(message["src"])
    seen, todo = {members[0]}, [members[0]]
    while todo:
        todo += (more := beside[todo.pop()] - seen)
        seen |= more
    return seen >= set(members)


def why_not(events, world, size, calls):
    """Of a world: processes that called MPI, with the calls of each."""
    ranks = {}
    for process in world:
        own = calls[process["id"]]
        if process["rank"] is None or size is None or process["rank"] >= size:
            return "rank or size of its world are not known"
        if process["rank"] in ranks:
            return "several processes have one rank"
        ranks[process["rank"]] = process["id"]
        if not process["from_start"] or not any(call["function"].startswith("MPI_Init") for call in own):
            return "a rank was not traced from its start"
        if any(call["communicator"] is None for call in own if sort_of(call)):
            return "which communicator is MPI_COMM_WORLD is not known"
    if sorted(ranks) != list(range(size)):
        return "not all ranks were traced"
    if not joined(events, list(ranks.values())):
        return "no messages join its ranks"
    return None


def turns_of(calls):
    return sorted((call for call in calls if (sort := sort_of(call)) and sort[1] and
                   call["communicator"] == "MPI_COMM_WORLD"), key=lambda call: call["start"])


def root_of(turn, ranks, ops):
    """The one rank that receives nothing, or sends nothing, in a call of all ranks; None: not certain."""
    if len(turn) == 1:
        return ranks[0]
    did = [{op["sends"] for op in ops[call["id"]]} for call in turn]
    alone = [rank for rank, ways in zip(ranks, did) if ways == {sort_of(turn[0])[0] not in TO_ROOT}]
    return alone[0] if len(alone) == 1 and all(did) else None


def expected_collectives(events, several):
    """Ends of collective operations; how many calls are no such operation, by reason, and how many are.
    several: more captures than hosts."""
    calls, worlds, told, reasons = defaultdict(list), defaultdict(list), {}, Counter()
    ops, roots = defaultdict(list), {}
    for op in events["op"]:
        if op["op"].startswith("tag_"):
            ops[op["call"]].append(op)
    for call in events["call"]:
        calls[call["process"]].append(call)
    for process in events["process"]:
        if any(call["function"].startswith("MPI_Init") or sort_of(call) for call in calls[process["id"]]):
            worlds[process["job"], process["size"]].append(process)
    world_reason = {}
    for (_, size), world in worlds.items():
        reason = why_none(events, several) or why_not(events, world, size, calls)
        turns = {process["rank"]: turns_of(calls[process["id"]]) for process in world}
        least = min(map(len, turns.values()))
        first = [[sort_of(call)[0] for call in row[:least]] for row in turns.values()]
        if not reason and any(row != first[0] for row in first):
            reason = "its ranks call different ones"
        members = tuple(process["id"] for process in sorted(world, key=lambda p: p["rank"] or 0))
        for process in world:
            world_reason[process["id"]] = reason
        for row in turns.values() if not reason else ():
            for call in row[:least]:
                told[call["id"]] = members
        for turn in zip(*(row[:least] for row in turns.values())) if not reason else ():
            if sort_of(turn[0])[0] in ROOTED:
                roots |= dict.fromkeys((call["id"] for call in turn), root_of(turn, list(turns), ops))
    rows = []
    for call in events["call"]:
        sort = sort_of(call)
        if not sort:
            continue
        if call["id"] in told and roots.get(call["id"], NO_ROOT) is None:
            reasons["its root is not certain"] += 1
        elif call["id"] in told:
            notes = () if sort[0] == "Barrier" else (("bytes_unknown", 1),)
            rows.append((call["id"], call["process"], (OPS | ROOTED)[sort[0]], told[call["id"]],
                         roots.get(call["id"], NO_ROOT), 0, 0, notes))
        elif call["communicator"] == "another":
            reasons["another communicator than MPI_COMM_WORLD: its members are not known"] += 1
        elif not sort[1]:
            reasons["not blocking: its end is not known"] += 1
        else:
            reasons[world_reason[call["process"]] or "not seen of every rank"] += 1
    return rows, reasons | {"told": len(rows)}
