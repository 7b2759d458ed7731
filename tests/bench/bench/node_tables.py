# SPDX-License-Identifier: BSD-3-Clause
"""
What part "node" measured, as tables: visits of one number of ranks, pattern and case are summed up over the
rounds. Also of a run that was cut off: what is missing is a "?".
"""
from . import stats, verdicts
from .markdown import spread, table

TITLES = {"floor-uct": "empty, sites of uct", "uct": "level uct, --exact", "floor-count": "empty, sites of --count",
          "count": "--count", "budget": "--budget 3%", "ucp": "level ucp", "mpi": "level mpi --no-call-ends",
          "derive": "level uct"}
# Cases without empty probes of their own, and the case whose empty probes they are compared with.
FLOORS = {"derive": "uct"}
# An untraced time before and after that differ more: something else happened.
DISTURBED = 1.3


class Visits:
    def __init__(self, result):
        self.visits = result["visits"]
        # the numbers of ranks and the patterns, in the order in which they were measured
        self.ranks = sorted({visit["ranks"] for visit in self.visits})
        self.patterns = list(dict.fromkeys(visit["pattern"] for visit in self.visits))
        self.cases = [case for case in TITLES if any(visit["case"] == case for visit in self.visits)]

    def of(self, ranks, pattern, case):
        return [visit for visit in self.visits
                if (visit["ranks"], visit["pattern"], visit["case"]) == (ranks, pattern, case)]

    def untraced(self, ranks, pattern):
        return stats.quartiles([visit[when] for visit in self.visits for when in ("before", "after")
                                if (visit["ranks"], visit["pattern"]) == (ranks, pattern)])

    def added(self, ranks, pattern, case):
        """Round -> (us added, times the untraced); disturbed visits are left out."""
        found = {}
        for visit in self.of(ranks, pattern, case):
            around = visit["before"], visit["after"]
            if max(around) <= DISTURBED * min(around):
                base = sum(around) / 2
                found[visit["round"]] = visit["us"] - base, visit["us"] / base
        return found

    def over_floor(self, ranks, pattern, case):
        """Quartiles of the time added by the time that empty probes at the case's sites added in the same round."""
        mine, floor = (self.added(ranks, pattern, name) for name in (case, f"floor-{FLOORS.get(case, case)}"))
        return stats.ratios([(mine[number][0], floor[number][0]) for number in mine if number in floor])


def number(value, form):
    return "?" if value is None else f"{value:{form}}"


def us(values):
    return spread(values, ".2f" if values and values[1] < 10 else ".1f")


def times_table(visits, pattern):
    rows = []
    for ranks in visits.ranks:
        cells = [ranks, us(visits.untraced(ranks, pattern))]
        for case in visits.cases:
            seen = [visit["us"] for visit in visits.of(ranks, pattern, case)]
            times = stats.median([times for _, times in visits.added(ranks, pattern, case).values()])
            cells.append(us(stats.quartiles(seen)) + (f" x{times:.1f}" if times else ""))
        rows.append(cells)
    return table([f"{pattern}, ranks", "untraced"] + [TITLES[case] for case in visits.cases], rows)


def floors_table(visits):
    cases = [case for case in ("uct", "derive", "count") if case in visits.cases]
    rows = [[pattern, ranks] + [spread(visits.over_floor(ranks, pattern, case), ".2f") for case in cases]
            for pattern in visits.patterns for ranks in visits.ranks]
    return table(["pattern", "ranks"] + [TITLES[case] for case in cases], rows)


def summed(seen):
    """Of the visits of one case: what its captures hold, and what they took."""
    def total(key):
        return sum(visit.get(key, 0) for visit in seen)

    def middle(value):
        return stats.median([found for found in map(value, seen) if found is not None])

    losses = [visit["loss"] for visit in seen if "loss" in visit]
    produced, stored, dropped = (sum(loss[key] for loss in losses) for key in ("produced", "stored", "dropped"))
    read = [visit for visit in seen if "sums" in visit]
    return {
        "produced": produced, "dropped": dropped if losses else None,
        "lost": dropped / produced if produced else None,
        "per s": middle(lambda visit: visit["loss"]["produced"] / visit["run s"] if "loss" in visit else None),
        "sums": sum(visit["sums"]["calls"] for visit in read) / sum(visit["sums"]["own calls"] for visit in read)
        if read else None,
        "exact": all(visit["sums"]["exact"] for visit in read) if read else None,
        "consumer ms": total("cpu s") * 1e9 / stored if stored > 10000 else None,
        "memory": max((visit["memory MiB"] for visit in seen), default=None),
        "start": middle(lambda visit: visit["start s"]), "stop": middle(lambda visit: visit["stop s"]),
        "replay s": middle(lambda visit: visit["replay s"] * 1e6 / visit["loss"]["stored"]
                           if visit.get("loss", {}).get("stored", 0) > 10000 else None),
        "matched": total("matched") / total("sends") if total("sends") else None,
        "sends": total("sends"),
    }


def percent(share):
    """Never 0 % or 100 % of what is a little more or less."""
    if share is None:
        return "?"
    text = f"{share * 100:.1f}"
    if share and text == "0.0":
        return "< 0.1 %"
    if share < 1 and text == "100.0":
        return "> 99.9 %"
    return f"{text} %"


def captures_table(visits):
    rows = []
    for case in visits.cases:
        if case.startswith("floor-"):
            continue
        for pattern in visits.patterns:
            for ranks in visits.ranks:
                seen = visits.of(ranks, pattern, case)
                if not seen:
                    continue
                sums = summed(seen)
                rows.append([TITLES[case], pattern, ranks, f"{sums['produced']:,}", number(
                    sums["per s"] and sums["per s"] / 1e6, ".2f"), percent(sums["lost"]),
                    "exact" if sums["exact"] else percent(sums["sums"]), number(sums["consumer ms"], ".0f"),
                    number(sums["memory"], ".0f"), number(sums["start"], ".2f"), number(sums["stop"], ".2f"),
                    number(sums["replay s"], ".2f"), percent(sums["matched"]) if sums["sends"] else "-"])
    return table(["traced", "pattern", "ranks", "records", "million/s", "lost", "calls found", "consumer ms per million",
                  "tracer MiB", "attach s", "detach s", "replay s per million", "sends matched"], rows)


def joins_table(joins):
    rows = []
    for case in dict.fromkeys(join["case"] for join in joins):
        for ranks in sorted({join["ranks"] for join in joins}):
            seen = [join for join in joins if (join["case"], join["ranks"]) == (case, ranks)]
            if not seen:
                continue
            rows.append([TITLES[case.removeprefix("join-")], ranks,
                         number(stats.median([join["before"]["median"] for join in seen]), ".2f"),
                         number(stats.median([join["placing s"] for join in seen]), ".2f"),
                         *(joined(seen, when, how) for when, how in JOINED)])
    return table(["joins a loop", "ranks", "before, us", "attach s", "while placing", "first second",
                  "first second, slowest block", "after 2 s"], rows)


JOINED = [("placing", "mean"), ("first second", "mean"), ("first second", "most"), ("after 2 s", "mean")]


def ratios(seen, when, how):
    """Times that of before, the mean by the mean and the slowest block by the median one."""
    return [join[when][how] / join["before"]["mean" if how == "mean" else "median"]
            for join in seen if join[when] and join["before"]]


def joined(seen, when, how):
    found = ratios(seen, when, how)
    return f"x{stats.median(found):.2f}" if found else "?"


def goals(visits, joins):
    """Rows as those of verdicts.compare()."""
    def compare(target, numbers, limit, places=2):
        numbers = numbers or {"": None}
        return verdicts.compare(target, numbers, dict.fromkeys(numbers, limit), places)

    def each(case, key):
        return {f"{pattern} {ranks}": summed(visits.of(ranks, pattern, case))[key]
                for pattern in visits.patterns for ranks in visits.ranks}

    for case, limit in (("uct", 1.25), ("count", 1.15)):
        numbers = {f"{pattern} {ranks}": verdicts.middle(visits.over_floor(ranks, pattern, case))
                   for pattern in visits.patterns if case == "count" or pattern == "allreduce"
                   for ranks in visits.ranks}
        yield compare(f"{TITLES[case]}: adds at most {limit} times what empty probes at its sites add", numbers, limit)
    yield compare("level uct: no record lost (records)", each("uct", "dropped"), 0, 0)
    yield compare("level uct: at most 50 ms of consumer CPU per million records", each("uct", "consumer ms"), 50, 0)
    yield compare("level uct: tracer takes at most 256 MiB", each("uct", "memory"), 256, 0)
    for when, how, limit in (("after 2 s", "mean", 1.05), ("first second", "mean", 2), ("first second", "most", 2)):
        numbers = {str(ranks): verdicts.middle(stats.quartiles(ratios(
            [join for join in joins if (join["case"], join["ranks"]) == ("join-budget", ranks)], when, how)))
            for ranks in visits.ranks}
        slowest = ", its slowest block" if how == "most" else ""
        yield compare(f"--budget 3% on a running allreduce loop: {when}{slowest}, at most {limit} times the time",
                      numbers, limit)


def section(result):
    visits = Visits(result)
    words = {True: "reached", False: "**not reached**", None: "not measured"}
    text = [f"{result['cpus']} CPUs, {result['cores']} cores, a rank bound to each."]
    text += [table(["goal", "measured", ""], [(what, numbers, words[reached])
                                              for what, numbers, reached in goals(visits, result["joins"])])]
    text += ["us per iteration, median (quartiles) of the visits, and times the untraced ones:"]
    text += [times_table(visits, pattern) for pattern in visits.patterns]
    text += ["Added time by that of empty probes at the same sites in the same round, median (quartiles):",
             floors_table(visits), "The captures:", captures_table(visits)]
    if result["joins"]:
        text += ["Times the untraced loop, by its own clock:", joins_table(result["joins"])]
    text += [f"- {ranks} ranks were left out: {why}" for ranks, why in result["left out"].items()]
    text += [f"- failed: {one['ranks']} ranks, {one['case']}: {one['why']}" for one in result["failed"]]
    return "\n\n".join(text)
