#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: dask_sum.py TASKS BYTES: a scheduler and two workers on this node over ucx://; the workers exchange arrays."""
import sys

from distributed import Client, LocalCluster


def made(number, length):
    return bytes([number % 251]) * length


def joined(left, right):
    return left[:1] + right


def main(tasks, length):
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, protocol="ucx", host="127.0.0.1",
                      dashboard_address=None, memory_limit=0) as cluster, Client(cluster) as client:
        workers = sorted(client.scheduler_info()["workers"])
        parts = [client.submit(made, i, length, workers=[workers[i % 2]]) for i in range(tasks)]
        ends = [client.submit(joined, part, parts[i - 1], workers=[workers[i % 2]]) for i, part in enumerate(parts)]
        assert [len(end) for end in client.gather(ends)] == [length + 1] * tasks
    print("tasks", 2 * tasks)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
