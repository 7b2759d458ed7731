# SPDX-License-Identifier: BSD-3-Clause
"""Results as Markdown: build/bench/PART.json to build/bench/overhead.md, a section per part."""
import json

from . import node_tables, verdicts
from .markdown import spread, table
from .verdicts import name

PARTS = ["machine", "overhead", "apps", "estimate", "rate", "replay", "export", "viewer", "verifier",
         "gpu", "gpu_ring", "node",
         "producers"]


def ns(spread):
    if not spread:
        return "?"
    return f"{spread[1]:+,.0f}"


def machine(facts):
    text = "Measured on " + ", ".join(
        f"{key} {value}" for key, value in facts.items() if value and key != "parts") + "."
    old = {part: version for part, version in facts.get("parts", {}).items()
           if version != facts["ucxbpf"]}
    return text + "".join(f" Part {part}: {version}." for part, version in old.items())


def verdict(results):
    words = {True: "reached", False: "**not reached**", None: "not measured"}
    return table(["target", "measured", ""],
                 [(what, number, words[reached])
                  for what, number, reached in verdicts.all_of(results)])


def added(result, pattern):
    labels = [label for label in result["labels"] if label.startswith(pattern + " ")]
    rows = [["untraced, ns"] + [f"{result['untraced'][label][1]:,.0f}" for label in labels] + [""]]
    for case in result["cases"].values():
        cells = []
        for label in labels:
            row = case["patterns"][label]
            times = f" x{row['times']:.{1 if row['times'] >= 3 else 2}f}" if row["times"] else ""
            cells.append(ns(row["added"]) + times)
        stop = case.get("stop s")
        left = f", {case['probes']:.0f} probes left" if "probes" in case else ""
        rows.append([case["title"] + left, *cells, f"{stop:.1f}" if stop is not None else "-"])
    return table([pattern] + [name(label).split(" ", 1)[1] for label in labels] + ["stop s"], rows)


def floors(result):
    labels = [label for label in result["labels"] if not label.endswith(" 1048576")]
    rows = [[case["title"]] + [spread(case["patterns"][label].get("to floor"), ".2f")
                               for label in labels]
            for case in result["cases"].values() if case["floor"]]
    rows += [[pair] + [spread(values[label], ".2f") for label in labels]
             for pair, values in result["ratios"].items()]
    return table(["added, as a ratio"] + [name(label) for label in labels], rows)


def hits(result):
    rows = [[case, facts["sites"], facts["spans"], facts.get("hit", "")]
            + [facts["hits per message"][label] for label in result["labels"]]
            for case, facts in result["sites"].items()]
    return table(["sites of", "probes", "both ends", "hit"]
                 + [name(label) for label in result["labels"]], rows)


def records(result):
    seen = [case for case in result["cases"].values() if "records" in case]
    return (f"{sum(case['records'] for case in seen):,} records stored, "
            f"{sum(case['dropped'] for case in seen):,} dropped in all visits; the tracer took at "
            f"most {max((case['memory MiB'] for case in seen), default=0):.0f} MiB.")


def gpu(result):
    return machine(result["machine"]) + "\n\n" + overhead(result)


def overhead(result):
    text = [f"Medians of {result['rounds']} rounds; added ns per message, and times the untraced "
            "ones.", added(result, "lat")]
    if any(label.startswith("bw ") for label in result["labels"]):
        text.append(added(result, "bw"))
    text += ["Added time by added time of the same round, median (quartiles):", floors(result)]
    if result.get("sites"):
        text += ["Probe hits per message, both ranks:", hits(result)]
    text.append(records(result))
    text += [f"- left out: {case}: {why}" for case, why in result["skipped"].items()]
    return "\n\n".join(text)


def hits_line(sites):
    """A round is a message sent and one received by each of two ranks, at once."""
    return "Hits per rank and round: " + ", ".join(
        f"{name} {min(facts['hits per message'].values()):.0f}" for name, facts in sites.items()) + "."


def gpu_ring(result):
    text = [machine(result["machine"]), f"Medians of {result['rounds']} rounds; added ns per round, "
            "and times the untraced ones.", added(result, "ring"), hits_line(result["sites"]), records(result)]
    text += [f"- left out: {case}: {why}" for case, why in result["skipped"].items()]
    return "\n\n".join(text)


def node(result):
    return machine(result["machine"]) + "\n\n" + node_tables.section(result)


def apps(result):
    rows = []
    for app, facts in result.items():
        if "skipped" in facts:
            rows.append([app, facts["skipped"]] + [""] * 8)
            continue
        for way, one in facts["traced"].items():
            rows.append([app, way, spread(facts["untraced s"], ".2f"), spread(one["job s"], ".2f"),
                         spread(one["slower"], ".3f"), spread(one["whole slower"], ".3f"),
                         f"{one['log MiB']:.1f}", f"{one['records']:,}",
                         f"{one['bytes per record']:.2f}", f"{one['memory MiB']:.0f}"])
    return table(["whole run", "traced", "untraced s", "traced s", "ratio", "with start and end",
                  "log MiB", "records", "bytes each", "tracer MiB"], rows)


def estimate(result):
    rows = [[row["way"], row["runs"], f"{row['kernel ms']:,.0f}", f"{row['sampled'] * 100:.0f} %",
             spread(row["ratio"], ".2f"), f"{row['least']:.2f}–{row['most']:.2f}"]
            for row in result["rows"]]
    return (f"Load of the machine while measuring: {result['load']:.1f}.\n\n"
            + table(["traced", "runs", "kernel, ms", "hits sampled", "estimate by kernel's",
                     "least and most"], rows))


def rate(result):
    return table(["producers", "asked, per core", "stored per s", "dropped",
                  "consumer ms per million", "tracer MiB"],
                 [[row["producers"], f"{row['rate asked']:,}" if row["rate asked"] else "flat out",
                   f"{row['stored per s']:,.0f}", row["dropped"],
                   f"{row['consumer ms per million']:.1f}", f"{row['memory MiB']:.0f}"]
                  for row in result["rows"]])


def replay(result):
    return (f"{result['records']:,} records: {result['replay s']:.2f} s, "
            f"{result['records per s'] / 1e6:.2f} million records/s, "
            f"{result['replay MiB']:.0f} MiB, {result['bytes per record']:.2f} bytes per record "
            f"on disk (reading alone: {result['read s']:.2f} s).")


def producers(result):
    rows = []
    for row in result["rows"]:
        empty = row["objects"]
        cells = [empty["ranks"], f"{empty['cpu s']:.2f}", f"{empty['MiB']:.0f}"]
        for name in ("in all", "of each"):
            full = row[name]
            per = (full["cpu s"] - empty["cpu s"]) * 1e9 / full["records"]
            cells += [f"{full['records'] / 1e6:.1f}", f"{full['cpu s']:.2f}", f"{per:.0f}",
                      f"{full['read cpu s']:.2f}", f"{full['MiB']:.0f}"]
        rows.append(cells)
    head = ["million records", "s of CPU", "ns per record beyond the objects", "reading alone, s", "MiB"]
    return table(["ranks", "objects alone, s of CPU", "MiB", *head, *head], rows) + "\n\n" + lost(result["rows"])


def lost(rows):
    """Of captures with losses: results that were measured before these have none."""
    cells = [[row["objects"]["ranks"], share, f"{one['records'] / 1e6:.1f}", f"{one['cpu s']:.2f}",
              f"{(one['cpu s'] - row['objects']['cpu s']) * 1e9 / one['records']:.0f}", f"{one['MiB']:.0f}"]
             for row in rows for share, one in row.get("lost", {}).items()]
    return cells and table(["ranks", "batches lost, %", "million records stored", "s of CPU",
                            "ns per record beyond the objects", "MiB"], cells) or ""


def export(result):
    return table(["format", "s", "s of CPU", "memory, MiB", "output, MiB"],
                 [[row["format"], f"{row['s']:.1f}", f"{row['cpu s']:.1f}", f"{row['MiB']:.0f}",
                   f"{row['out MiB']:,.1f}"] for row in result["rows"]])


def viewer(result):
    if "skipped" in result:
        return f"Not measured: {result['skipped']}."
    text = []
    for title, page in result["pages"].items():
        if "skipped" in page:
            text.append(f"**{title}**: not measured: {' '.join(page['skipped'])}")
            continue
        usable = page["usable"]
        text.append(f"**{title}**: {page['MiB']:.1f} MiB, Chromium {page['browser']}; usable after "
                    f"{min(usable):,.0f} to {max(usable):,.0f} ms ({len(usable)} openings). Load of "
                    f"the machine while measuring: {page['load']:.1f}.")
        scopes = ("view", "page", "cpu")
        rows = [[action, times["view"]["n"]] + [f"{times[scope][key]:.0f}" for scope in scopes
                                                for key in ("median", "p95")]
                for action, times in page["actions"].items()]
        text.append(table(["ms until shown", "actions", "view, median", "view, 95 %", "whole page, median",
                           "whole page, 95 %", "CPU, median", "CPU, 95 %"], rows))
    return "\n\n".join(text)


def verifier(result):
    return table(["links", "program", "verified", "code, bytes"],
                 [[row["links"], row["program"], f"{row['verified']:,}", f"{row['code']:,}"]
                  for row in result["programs"]])


SECTIONS = {"machine": machine, "overhead": overhead, "apps": apps, "estimate": estimate,
            "rate": rate, "replay": replay, "export": export, "viewer": viewer, "verifier": verifier,
            "gpu": gpu, "gpu_ring": gpu_ring, "node": node, "producers": producers}


def sections(folder):
    results = {part: json.loads((folder / f"{part}.json").read_text())
               for part in PARTS if (folder / f"{part}.json").exists()}
    texts = {part: SECTIONS[part](result) for part, result in results.items()}
    texts["verdicts"] = verdict(results)
    return texts


def write(folder):
    """Writes overhead.md; returns the verdicts as text."""
    texts = sections(folder)
    order = ["verdicts"] + [part for part in PARTS if part in texts]
    (folder / "overhead.md").write_text("\n\n".join(
        f"## {part}\n\n{texts[part]}" for part in order) + "\n")
    return texts["verdicts"]
