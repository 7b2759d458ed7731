#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_pending.py SCHEMA JSON...: fails where a document of `ucxbpf pending` does not fit its schema, or has a key that
the schema does not name."""
import json
import sys
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from closed_schema import close  # noqa: E402


def main():
    schema = json.loads(Path(sys.argv[1]).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(close(schema))
    bad = 0
    for name in sys.argv[2:]:
        for error in validator.iter_errors(json.loads(Path(name).read_text())):
            print(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            bad += 1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
