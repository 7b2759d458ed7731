#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_serve.py FOLDER JOB METRICS OPENMETRICS JSON SCHEMA LINES

FOLDER has the ledgers of mpi_rate's two ranks, RANK.log. METRICS and OPENMETRICS were scraped once the job had ended, JSON
and LINES are what `ucxbpf serve --json --summaries LINES` wrote. All of them must have the ledger's numbers; MPI_Init and
MPI_Finalize may send four messages of a byte. Prints the payload."""
import json
import sys

import jsonschema
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain

EXTRA = 4  # messages, and bytes


def near(name, seen, true, extra=EXTRA):
    assert true <= seen <= true + extra, f"{name}: {seen} seen, {true} in the ledger"


def read(parse, path):
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in parse(open(path).read()) for s in f.samples}


def of(samples, name, job, **labels):
    """The sum of a job's samples with these labels."""
    return sum(value for (sample, pairs), value in samples.items()
               if sample == name and {"jobid": job, **labels}.items() <= dict(pairs).items())


def is_data(pairs):
    return dict(pairs)["data_path"] not in ("control", "staged")


def check_metrics(samples, job, calls, sends, size):
    # of each call there may be one at MPI_Init and MPI_Finalize, too
    near("calls", of(samples, "ucxbpf_mpi_calls_total", job), calls, 16)
    near("sends", of(samples, "ucxbpf_operations_total", job, direction="out"), sends)
    near("bytes", of(samples, "ucxbpf_operation_bytes_total", job), size)
    moved = sum(value for (name, pairs), value in samples.items() if name == "ucxbpf_transfer_bytes_total" and is_data(pairs)
                and dict(pairs)["jobid"] == job)
    near("payload of transfers", moved, size)
    assert all(dict(pairs)["transport"] in ("posix", "cma") for (name, pairs) in samples if name == "ucxbpf_transfers_total")
    assert of(samples, "ucxbpf_processes", job) == 0
    assert of(samples, "ucxbpf_processes_ended_total", job, status="0") == 2
    assert samples["ucxbpf_lost_records_total", ()] == 0


def check_json(path, schema, job, sends, size):
    before = {}
    intervals = [json.loads(line) for line in open(path)]
    for n, one in enumerate(intervals, 1):
        jsonschema.validate(one, schema)
        assert one["n"] == n
        rows = {row["jobid"]: row for row in one["jobs"]}
        for name in ("calls", "sends", "send_bytes", "receives"):
            assert before.get(name, 0) <= rows.get(job, before).get(name, 0), f"{name} shrinks"
        before = rows.get(job, before)
    near("sends as JSON", before["sends"], sends)
    near("bytes as JSON", before["send_bytes"], size)


def main():
    folder, job, metrics, open_metrics, stream, schema, lines = sys.argv[1:]
    ledgers = [[int(word) for word in open(f"{folder}/{rank}.log").readlines()[-1].split()] for rank in (0, 1)]
    _, calls, sends, size = (sum(column) for column in zip(*ledgers))
    check_metrics(read(plain, metrics), job, calls, sends, size)
    check_metrics(read(openmetrics, open_metrics), job, calls, sends, size)
    check_json(stream, json.load(open(schema)), job, sends, size)
    (line,) = [json.loads(text) for text in open(lines)]
    assert line["schema"] == "ucxbpf.line/1" and line["job"] == job and line["ranks"] == 2, line
    near("sends of the line", line["sends"], sends)
    near("bytes of the line", line["bytes"], size)
    assert max(map(len, open(lines))) <= 200
    print(size)


main()
