# SPDX-License-Identifier: BSD-3-Clause
"""Medians with their spread."""
import statistics


def median(values):
    return statistics.median(values) if values else None


def quartiles(values):
    """First quartile, median, third: [a, b, c]; None without values."""
    values = sorted(values)
    if not values:
        return None
    if len(values) == 1:
        return values * 3
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return [first, middle, third]


def ratios(pairs):
    """Quartiles of a/b over pairs; a pair without both counts for nothing."""
    return quartiles([a / b for a, b in pairs if a is not None and b is not None and b > 0])
