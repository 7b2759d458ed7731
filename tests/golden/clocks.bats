#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What replay says of the clocks of hosts is true where the truth is known.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	RECAST=$(dirname "$UCXBPF")/tests/bench/recast
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR"
}

report() {
	"$UCXBPF" replay --json "$@"
}

# Host 0 of the report is n1, so its other one is n0.
recast_n0() {
	"$RECAST" "$DATA/hosts.n0.ucxb" n0.ucxb "$@"
	report n0.ucxb "$DATA/hosts.n1.ucxb" >report.json
	jq -e '.hosts[0].name == "n1" and (.clocks | length) == 1' report.json
}

@test "nodes that are namespaces of one machine have one clock" {
	report "$DATA"/hosts.n?.ucxb | jq -e '.clocks | length == 1 and all(.[]; .reason == null
		and (.offset_ns | fabs) <= .offset_uncertainty_ns
		and (.drift_ppb | fabs) <= .drift_uncertainty_ppb)'
	report "$DATA"/cg.n?.ucxb | jq -e '.clocks | length == 6 and all(.[]; .reason == null
		and (.offset_ns | fabs) <= .offset_uncertainty_ns
		and (.drift_ppb | fabs) <= .drift_uncertainty_ppb)
		and all(.[] | select(.there > 100); .offset_uncertainty_ns < 15000)'
}

@test "a clock that shows another time: told to the ns, and nothing else changes" {
	report "$DATA"/hosts.n?.ucxb >before.json
	recast_n0 offset=86400123456789
	jq -e --slurpfile before before.json '.clocks[0].offset_ns == $before[0].clocks[0].offset_ns + 86400123456789
		and .clocks[0].offset_uncertainty_ns == $before[0].clocks[0].offset_uncertainty_ns
		and .matching == $before[0].matching and .messages == $before[0].messages' report.json
	recast_n0 offset=-3000000000000
	jq -e --slurpfile before before.json '.clocks[0].offset_ns == $before[0].clocks[0].offset_ns - 3000000000000
		and .matching == $before[0].matching' report.json
}

@test "a clock that goes faster or slower: within what is stated, and not taken for a steady one" {
	local ppm
	for ppm in 400 -400; do
		recast_n0 drift=$ppm
		# of 0.65 s, 400 millionths are 260 us
		jq -e --argjson ppb ${ppm}000 '.matching.matched == 242 and (.clocks[0] | .reason == null
			and (.drift_ppb - $ppb | fabs) <= .drift_uncertainty_ppb
			and (.drift_ppb | fabs) > .drift_uncertainty_ppb
			and (.offset_ns | fabs) <= .offset_uncertainty_ns + 260000)' report.json
	done
}

@test "more than any clock drifts is none, and one host alone has none" {
	recast_n0 drift=5000
	jq -e '.clocks[0] | .offset_ns == null and .drift_ppb == null
		and (.reason | startswith("no two clocks of constant rates fit"))' report.json
	"$UCXBPF" replay n0.ucxb "$DATA/hosts.n1.ucxb" | grep -q '^  n1 -> n0  121 + 121  unknown: no two clocks'
	report "$DATA/sizes.ucxb" | jq -e 'has("clocks") | not'
}

# of FILE...: waits by rank, in no order of processes, and how many are not known
waits() {
	report "$@" | jq '{ unknown: .waits_unknown, rows: ([.waits[] | { key: "\(.kind) \(.function) \(.rank) \(.call_site) \(.culprit_rank)",
		value: { sum_ns, count, max_ns, fresh_ns, uncertainty_ns } }] | from_entries) }'
}

@test "waits between hosts: equal to the ns whatever time a clock shows" {
	waits "$DATA"/hosts.n?.ucxb >before.json
	jq -e '(.rows | length) == 9 and ([.rows[] | select(.uncertainty_ns > 0)] | length) == 7' before.json
	for offset in 86400123456789 -3000000000000; do
		recast_n0 offset=$offset
		waits n0.ucxb "$DATA/hosts.n1.ucxb" | cmp - before.json
	done
}

@test "waits between hosts of other rates: within the uncertainty, and those below it are not known" {
	local short="shorter than the hosts' clocks are known"
	waits "$DATA"/hosts.n?.ucxb >before.json
	for ppm in 50 400 -400; do
		recast_n0 drift=$ppm
		waits n0.ucxb "$DATA/hosts.n1.ucxb" >after.json
		jq -e --slurpfile before before.json --arg short "$short" '. as $after | $before[0].rows | all(to_entries[];
			$after.rows[.key] as $new | .value | ($new.sum_ns - .sum_ns | fabs) <= 1000 + .sum_ns * 400e-6
				+ .uncertainty_ns + $new.uncertainty_ns)
			and (keys == ($after.rows | keys)) and $after.unknown[$short] > 20' after.json
		"$UCXBPF" export -f ndjson n0.ucxb "$DATA/hosts.n1.ucxb" | jq -s -e '[.[] | select(.event == "wait" and .uncertainty > 0)]
			| length > 10 and all(.[]; .end - .start > .uncertainty)'
	done
}
