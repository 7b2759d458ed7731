# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Markdown."""


def table(head, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines)


def spread(values, form):
    return "?" if not values else f"{values[1]:{form}} ({values[0]:{form}}–{values[2]:{form}})"
