# SPDX-License-Identifier: BSD-3-Clause
"""What a report says is not in order, and how that differs from what ought to be said."""


def said(findings):
    """All that is neither as it should be nor of no concern: "VERDICT RULE SUBJECT"."""
    return sorted(f"{f['verdict']} {f['rule']} {f['subject']}" for f in findings
                  if f["verdict"] not in ("pass", "skip"))


def differences(fault, status, lines):
    """Of a row with `expect`, `status` and `unknown_elsewhere`; none: the verdict is exact."""
    missing = [line for line in fault.expect if line not in lines]
    more = [line for line in lines if line not in fault.expect and not (
        fault.unknown_elsewhere and line.startswith("unknown "))]
    wrong = [f"not said: {line}" for line in missing] + [f"said:     {line}" for line in more]
    if wrong or status != fault.status:
        wrong.insert(0, f"exit status {status}, wanted {fault.status}")
    return wrong
