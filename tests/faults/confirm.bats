#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf sweep run` on four nodes of which one is slow: it is looked at once more before it is blamed. Goes by
# times, so it is no part of `make check`.

load ../lib/live.bash
load ../lib/sweep.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "ucxbpf-traffic-openmpi is not built"
	[ -e "/run/ucxbpf-$BED" ] || "$TOP/tests/nodes" up 4 || skip "no network namespaces here"
	# a third of the others' speed, and further from it than twice their spread
	sweep_policy 'n[0-3]' 'rules: { PERF-01: { mad: 2, floor: 0.7, one_machine: true } }'
}

options=(--ranks 1 --variant sample:15 --max-size 64K --max-count 5)

# slow NODE: 64 KiB from it take 0.1 s, from others 5 ms: more than sharing this machine's cores adds
slow()
{
	local node rate

	for node in n0 n1 n2 n3; do
		rate=100mbit
		[ "$node" != "$1" ] || rate=5mbit
		"$TOP/tests/nodes" enter "$node" tc qdisc replace dev eth0 root tbf rate "$rate" burst 16k latency 2s ||
			skip "no tc here"
	done
}

perf_01()
{
	jq -r '.findings[] | select(.rule == "PERF-01" and .verdict != "pass") |
		"\(.verdict) \(.severity) \(.subject)"' "$WORK/sweep/report.json"
}

@test "a slow node is found, looked at again, and blamed" {
	slow n2
	sweep 2 hosts "${options[@]}"
	[ "$(perf_01)" = "fail critical n2" ]
	jq -e '.findings[] | select(.rule == "PERF-01" and .subject == "n2") | .seen |
		test("confirmed in 3 more")' "$WORK/sweep/report.json"
	[ -z "$(sweep_left)" ]
	# the same from the folder alone
	"$UCXBPF" sweep report -f json "$WORK/sweep" >"$WORK/again.json" || true
	cmp <(jq -S .findings "$WORK/again.json") <(jq -S .findings "$WORK/sweep/report.json")
}

@test "interrupted while it is looked at again: what was found first stands" {
	slow n2
	sweep_interrupted confirm/go "${options[@]}"
	grep -q 'the confirmation was interrupted: the verdict is that of the first pass' "$WORK/err"
	[ "$(perf_01)" = "fail warning n2" ]
	[ -e "$WORK/sweep/confirm/plan.unfinished" ]
	[ -z "$(sweep_left)" ]
	"$UCXBPF" sweep report -f json "$WORK/sweep" >"$WORK/again.json" || true
	cmp <(jq -S .findings "$WORK/again.json") <(jq -S .findings "$WORK/sweep/report.json")
}
