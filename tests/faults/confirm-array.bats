#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf sweep run --chunk` on eight nodes of which one is slow: the job that judges the parts submits one that looks
# at it again. Goes by times, so it is no part of `make check`.

load ../lib/live.bash
load ../lib/sweep.bash

setup_file() { live_file_setup; }
teardown_file() { "$BATS_TEST_DIRNAME/../slurm" down; }

setup()
{
	local status=0 node rate

	live_setup
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "ucxbpf-traffic-openmpi is not built"
	[ -e "/run/ucxbpf-slurm-$BED" ] || "$TOP/tests/slurm" up 8 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
	sweep_policy 'n[0-7]' 'rules: { PERF-01: { mad: 2, floor: 0.7, one_machine: true } }'
	for node in n0 n1 n2 n3 n4 n5 n6 n7; do
		rate=100mbit
		[ "$node" != n2 ] || rate=5mbit
		"$TOP/tests/nodes" enter "$node" tc qdisc replace dev eth0 root tbf rate "$rate" burst 16k latency 2s ||
			skip "no tc here"
	done
}

options=(--chunk 4 --ranks 1 --variant sample:15 --max-size 64K --max-count 5)

perf_01()
{
	jq -r '.findings[] | select(.rule == "PERF-01" and .verdict != "pass") |
		"\(.verdict) \(.severity) \(.subject)"' "$WORK/sweep/report.json"
}

@test "a slow node is found in parts, looked at again by a job of its own, and blamed" {
	SWEEP_LIMIT=200 sweep 2 slurm "${options[@]}"
	[ "$(perf_01)" = "fail critical n2" ]
	grep -q 'PERF-01  n2 .* not confirmed yet' "$WORK/sweep/log/judge"
	[ "$(cat "$WORK"/sweep/confirm/ledger/n2.*.ndjson | jq -r .stage | sort -u | grep -v null)" = confirm ]
	[ -z "$(sweep_left)" ]
}

@test "without that: the first verdict, and no job more" {
	SWEEP_LIMIT=200 sweep 1 slurm "${options[@]}" --no-confirm
	[ "$(perf_01)" = "fail warning n2" ]
	[ ! -e "$WORK/sweep/confirm" ]
	[ ! -e "$WORK/sweep/log/confirm.job" ]
}
