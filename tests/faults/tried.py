# SPDX-License-Identifier: BSD-3-Clause
"""On what each rule was tried: real evidence that fails it and that passes it, or tests with made-up evidence alone."""
import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
RULE = re.compile(r'^### ((?:[A-Z]+)-\d\d):', re.M)
FEW = 3  # names; the others are counted

# What no table has: live tests in which the rule must fail.
ALSO_FAILED = {
    "PERF-01": ["tests/faults/confirm.bats"],
    "WAIT-01": ["tests/live/waits.bats"],
    "WAIT-02": ["tests/live/waits.bats"],
    "WAIT-03": ["tests/live/waits.bats"],
}

HEAD = """
## What each rule was tried on

Names stand for real evidence: staged faults (above), and files of real runs in `tests/data` (`gpu-sweep/sound` is a folder there), whose
expected verdicts are in `tests/data/verdicts.txt`. *Made* is synthetic evidence of tests (`tests/unit/judge_*_test.c`,
`tests/golden/rules.bats`): a rule with only such evidence was never seen to work on a machine. `scripts/check-rules` requires at least
that for each rule, failing and passing. `verbs/mlx5` is soft-RoCE by another device's name. Larger messages took less time in
`gpu-sweep/one-gpu-for-all` (PROTO-01), which was measured, not staged: four ranks on one GPU.

| rule | failed by | passed by |
| --- | --- | --- |
"""


def rules():
    return RULE.findall((TOP / "docs/rules.md").read_text())


def recorded():
    """(verdict, rule) -> sections of tests/data/verdicts.txt."""
    found, name = {}, None
    for line in (TOP / "tests/data/verdicts.txt").read_text().splitlines():
        words = line.split()
        if line.startswith("= "):
            name = f"`{words[1].rstrip(':')}`"
        elif words and words[0] in ("pass", "fail") and name not in found.setdefault((words[0], words[1]), []):
            found[words[0], words[1]].append(name)
    return found


def staged(faults, mark):
    """Rule -> rows that expect it to fail."""
    found = {}
    for fault in faults:
        for rule in sorted({line.split()[1] for line in fault.expect if line.startswith("fail ")}):
            found.setdefault(rule, []).append(f"{mark}`{fault.name}`")
    return found


def cell(names):
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more if names else "*made*"


def document(nodes, gpus):
    """Of the faults of both tables."""
    kept, text, real = recorded(), HEAD, []
    for rule in rules():
        failed = [*staged(nodes, "").get(rule, []), *staged(gpus, "*GPU* ").get(rule, []),
                  *kept.get(("fail", rule), []), *(f"`{path}`" for path in ALSO_FAILED.get(rule, []))]
        passed = kept.get(("pass", rule), [])
        text += f"| {rule} | {cell(failed)} | {cell(passed)} |\n"
        real.append((bool(failed), bool(passed)))
    return text + (f"\nOf {len(real)} rules, real evidence failed and passed {sum(a and b for a, b in real)}, "
                   f"only failed {sum(a and not b for a, b in real)}, only passed {sum(b and not a for a, b in real)}, "
                   f"and did neither for {sum(not a and not b for a, b in real)}.\n")
