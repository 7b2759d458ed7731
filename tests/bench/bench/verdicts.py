# SPDX-License-Identifier: BSD-3-Clause
"""
Targets against measurements: rows (target, numbers, reached), reached None where
nothing was measured.
"""

SHORT = ["lat 8", "lat 4096", "bw 8", "bw 4096"]
MIDDLE = ["lat 65536", "bw 65536"]


def name(label):
    pattern, size = label.split()
    size = int(size)
    return f"{pattern} {size} B" if size < 1024 else (
        f"{pattern} {size >> 10} KiB" if size < 1 << 20 else f"{pattern} {size >> 20} MiB")


def compare(target, numbers, limits, places=2):
    """
    numbers: label -> measured or None; limits: label -> at most. One number beyond its limit decides
    against a target, but only all of them decide for it.
    """
    seen = {label: value for label, value in numbers.items() if value is not None}
    text = [f"{label} {value:.{places}f}" for label, value in seen.items()]
    text += [f"{label} not measured" for label in numbers if label not in seen]
    reached = all(value <= limits[label] for label, value in seen.items())
    if reached and len(seen) < len(numbers):
        reached = None
    return target, ", ".join(text) if seen else "not measured", reached


def middle(spread):
    return spread[1] if spread else None


def over_floor(overhead, case, short, long):
    rows = overhead["cases"].get(case, {}).get("patterns", {})
    numbers = {name(label): middle(rows[label].get("to floor")) if rows else None
               for label in SHORT + MIDDLE}
    limits = {name(label): short if label in SHORT else long for label in SHORT + MIDDLE}
    return numbers, limits


def exact(overhead):
    for case, title in (("mpi", "level mpi"), ("ucp", "level ucp --exact"), ("uct", "--exact")):
        yield compare(f"{title}: at most 1.15 of the floor at 8 B and 4 KiB, 1.25 at 64 KiB",
                      *over_floor(overhead, case, 1.15, 1.25))
    yield compare("`--count --exact`: at most 1.08 of the floor", *over_floor(overhead, "count", 1.08, 1.08))


def derived(overhead):
    for target, pair, limits in (
            ("default: at most 0.85 of bpftrace's count of the sites of --exact", "default to bpftrace",
             dict.fromkeys(SHORT, 0.85)),
            ("default: at most 0.9 of empty entry+return probes on the fixed 30 sites at 8 B, 0.5 at 64 KiB",
             "default to fixed", {"lat 8": 0.9, "lat 65536": 0.5}),
            ("level ucp: at most 0.8 of shim + backtrace()", "ucp-default to shim",
             dict.fromkeys(SHORT[:2] + MIDDLE[:1], 0.8))):
        ratios = overhead.get("ratios", {}).get(pair)
        if ratios:
            yield compare(target, {name(label): middle(ratios[label]) for label in limits},
                          {name(label): limit for label, limit in limits.items()})
    count = overhead["cases"].get("count-default", {}).get("patterns", {})
    if count:
        yield compare("`--count`: adds at most 1,500 ns to a message of 8 B",
                      {name("lat 8"): middle(count["lat 8"]["added"])}, {name("lat 8"): 1500}, 0)


def added_by(overhead, ours, theirs, label):
    """Of medians: the other tracer has a job of its own, and may seem to add nothing."""
    one, other = (middle(overhead["cases"][case]["patterns"].get(label, {}).get("added"))
                  for case in (ours, theirs))
    if one is None or other is None:
        return None
    return one / other if other > 0 else float("inf")


def messages(overhead):
    yield from exact(overhead)
    yield from derived(overhead)


def applications(apps):
    for way, limit in (("default", 1.03), ("count", 1.015), ("budget 1 %", 1.01)):
        numbers = {app: middle(result.get("traced", {}).get(way, {}).get("slower"))
                   for app, result in apps.items()}
        rounds = min((result.get("rounds", 0) for result in apps.values()), default=0)
        yield compare(f"applications, {way}: at most {limit} of the untraced time (median of "
                      f"{rounds} pairs)", numbers, dict.fromkeys(numbers, limit), 3)
    numbers = {app: result.get("traced", {}).get("default", {}).get("bytes per record")
               for app, result in apps.items()}
    yield compare("at most 8 bytes per record on disk on the applications", numbers,
                  dict.fromkeys(numbers, 8))


def estimated(estimate):
    numbers = {row["way"]: middle(row["ratio"]) for row in estimate["rows"]}
    off = {way: max(ratio, 1 / ratio) for way, ratio in numbers.items()}
    reached = compare("", off, dict.fromkeys(off, 1.15))[2]
    yield ("time in BPF programs, from samples: within 1.15 times of the kernel's, median",
           ", ".join(f"{way} {ratio:.2f}" for way, ratio in numbers.items()), reached)


def rates(rate):
    rows = {f"{row['producers']} x {row['stored per s'] / row['producers'] / 1e6:.2f} M/s": row
            for row in rate["rows"]}
    for target, key, limit, places in (
            ("0 drops at 1.6 million records/s per core, default ring", "dropped", 0, 0),
            ("at most 50 ms of consumer CPU per million records", "consumer ms per million", 50, 1),
            ("tracer below 150 MiB resident", "memory MiB", 150, 0)):
        numbers = {label: row[key] for label, row in rows.items()}
        text, reached = compare(target, numbers, dict.fromkeys(numbers, limit), places)[1:]
        fastest = max(row["stored per s"] / row["producers"] for row in rate["rows"])
        if key == "dropped" and reached and fastest < rate["target"]:
            text, reached = text + " (a core makes no more here)", None
        yield target, text, reached


def replayed(replay):
    speed = replay["records per s"] / 1e6
    yield "replay: 3 million records/s or more on one core", f"{speed:.2f} million/s", speed >= 3
    yield ("replay: 10 million records in less than 500 MiB", f"{replay['replay MiB']:.0f} MiB",
           replay["replay MiB"] < 500)


def exported(export):
    rows = export["rows"]
    html = {row["format"]: row for row in rows}.get("html")
    yield ("export: 10 million records in less than 1 GiB, every format",
           ", ".join(f"{row['format']} {row['MiB']:.0f} MiB" for row in rows),
           all(row["MiB"] < 1024 for row in rows))
    if html:
        yield ("export: html of 10 million records in less than 30 s of CPU, a file of less than 30 MiB",
               f"{html['cpu s']:.1f} s, {html['out MiB']:.1f} MiB",
               html["cpu s"] < 30 and html["out MiB"] < 30)


def viewed(viewer):
    for title, page in viewer.get("pages", {}).items():
        if "skipped" in page:
            yield f"page of {title}: usable and fluid", "not measured", None
            continue
        yield compare(f"page of {title}: usable within 2 s of opening",
                      {"slowest s": max(page["usable"]) / 1000}, {"slowest s": 2})
        numbers = {action: times["view"]["p95"] for action, times in page["actions"].items()}
        yield compare(f"page of {title}: answers within 50 ms at the 95th percentile", numbers,
                      dict.fromkeys(numbers, 50), 0)


def verified(verifier):
    most = max(verifier["programs"], key=lambda row: row["verified"])
    yield ("every program within 50,000 verified instructions (`bpf/budget.txt`)",
           f"{most['verified']:,} ({most['program']}, {most['links']} links)",
           most["verified"] <= 50000 and not verifier["status"])


def machines(gpu):
    for target, *measured in derived(gpu):
        yield f"GPU machine: {target}", *measured
    if {"default", "nsys"} <= set(gpu["cases"]):
        limits = {**dict.fromkeys(SHORT, 1), **dict.fromkeys(MIDDLE, 1.5)}
        yield compare("GPU machine: default adds less than Nsight Systems' MPI+UCX trace, at 64 KiB at most 1.5 of it",
                      {name(label): added_by(gpu, "default", "nsys", label) for label in limits},
                      {name(label): limit for label, limit in limits.items()})


CHECKS = {"overhead": messages, "apps": applications, "estimate": estimated, "rate": rates,
          "replay": replayed, "export": exported, "viewer": viewed, "verifier": verified, "gpu": machines}


def all_of(results):
    return [row for part, check in CHECKS.items() if part in results
            for row in check(results[part])]
