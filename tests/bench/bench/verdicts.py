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


def messages(overhead):
    for case in ("mpi", "ucp", "uct"):
        yield compare(f"level {case}: at most 1.15 of the floor at 8 B and 4 KiB, 1.25 at 64 KiB",
                      *over_floor(overhead, case, 1.15, 1.25))
    yield compare("`--count`: at most 1.08 of the floor", *over_floor(overhead, "count", 1.08, 1.08))
    for target, pair, limit in (
            ("full records: no dearer than bpftrace's count of the same sites", "uct to bpftrace", 1),
            ("level ucp: at most 0.8 of shim + backtrace()", "ucp to shim", 0.8)):
        ratios = overhead["ratios"].get(pair, {})
        numbers = {name(label): middle(ratios.get(label)) for label in SHORT + MIDDLE}
        yield compare(target, numbers, dict.fromkeys(numbers, limit))
    ratio = middle(overhead["ratios"].get("uct to fixed", {}).get("lat 8"))
    added = [middle(overhead["cases"][case]["patterns"]["lat 8"]["added"])
             for case in ("uct", "fixed") if case in overhead["cases"]]
    target, text, reached = compare(
        "default level: adds no more per 8 B message than empty entry+return probes on the fixed 30 "
        "sites", {name("lat 8"): ratio}, {name("lat 8"): 1})
    if ratio and None not in added:
        text += f" ({added[0]:.0f} against {added[1]:.0f} ns)"
    yield target, text, reached
    if "uct to nsys" in overhead["ratios"]:
        yield from machines(overhead)


def applications(apps):
    for way, limit in (("default", 1.03), ("count", 1.015)):
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
    yield ("every program within 50,000 verified instructions",
           f"{most['verified']:,} ({most['program']}, {most['links']} links)",
           most["verified"] <= 50000 and not verifier["status"])


def machines(gpu):
    rows = [gpu["cases"].get(case, {}).get("patterns", {}) for case in ("uct", "nsys")]
    numbers = {}
    for label in gpu["labels"]:
        ours, theirs = (middle(row[label]["added"]) if row else None for row in rows)
        if ours is None or theirs is None:
            numbers[name(label)] = None
        else:
            numbers[name(label)] = ours / theirs if theirs > 0 else float("inf")
    yield compare("GPU machine: level uct adds less than Nsight Systems' MPI+UCX trace", numbers,
                  dict.fromkeys(numbers, 1))


CHECKS = {"overhead": messages, "apps": applications, "estimate": estimated, "rate": rates,
          "replay": replayed, "export": exported, "viewer": viewed, "verifier": verified, "gpu": machines}


def all_of(results):
    return [row for part, check in CHECKS.items() if part in results
            for row in check(results[part])]
