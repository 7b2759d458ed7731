#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_diff.py SCHEMA FILE...: comparisons follow the schema, which names all of their keys, and add up. Prints
what is wrong; exits with 77 where jsonschema is missing."""
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
sys.dont_write_bytecode = True
from closed_schema import close  # noqa: E402

try:
    import jsonschema
except ImportError:
    print("no jsonschema")
    sys.exit(77)


def breaches(diff):
    changed = Counter(row["section"] for row in diff["rows"] if row["verdict"] == "changed")
    if diff["differences"] != sum(changed.values()):
        yield "differences are not those of the rows"
    if diff["sections"] != {name: changed[name] for name in diff["sections"]}:
        yield "sections are not those of the rows"
    for row in diff["rows"]:
        if row["before"] is None and row["after"] is None and row["verdict"] != "not_compared":
            yield f"a row of nothing: {row}"
        if (row["reason"] is None) != (row["verdict"] in ("same", "changed")) and "not of" not in (row["reason"] or ""):
            yield f"a reason too much, or too few: {row}"
        for value in filter(None, (row["before"], row["after"])):
            for number in (n for n in value.values() if isinstance(n, dict)):
                if not number["low"] <= number["median"] <= number["high"]:
                    yield f"not in order: {row}"


def main(schema, files):
    validator = jsonschema.Draft7Validator(close(json.loads(Path(schema).read_text())))
    bad = 0
    for file in files:
        diff = json.loads(Path(file).read_text())
        for what in [e.message[:200] for e in validator.iter_errors(diff)] + list(breaches(diff)):
            print(f"{file}: {what}")
            bad = 1
    return bad


sys.exit(main(sys.argv[1], sys.argv[2:]))
