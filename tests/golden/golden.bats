#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Captures of the test programs, replayed without privileges, give exactly the reports they gave.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	export UCXBPF DATA
}

captures() {
	ls "$DATA"/*.ucxb 2>/dev/null
}

# No capability at all: uid 0 is then an ordinary user.
unprivileged() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		"$@"
	fi
}

@test "golden captures replay to their reports" {
	[ -n "$(captures)" ] || skip "no captures in tests/data"
	run unprivileged "$TOP/tests/golden/run.sh"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "every golden report has its capture" {
	for f in "$DATA"/*.json; do
		[ -e "$f" ] || skip "no reports in tests/data"
		ls "${f%.json}".ucxb "${f%.json}".*.ucxb 2>/dev/null | grep -q . || {
			echo "$f: no capture"
			false
		}
	done
}

# Those whose reports are not kept, and which no other test reads so: files of one job together.
@test "reports of other captures have the form, and their sums balance" {
	local job files breaches failed=0

	for job in format/v1 format/v2 gpu-nodes/1.13.1-v1 gpu-nodes/1.18.1-v2 site/sound site/nocma held/stuck held/busy; do
		mapfile -t files < <(ls "$DATA/$job".*ucxb)
		"$UCXBPF" replay --json "${files[@]}" >"$BATS_TEST_TMPDIR/report"
		breaches=$(jq -r -f "$TOP/tests/golden/schema.jq" "$BATS_TEST_TMPDIR/report")
		[ -z "$breaches" ] || { echo "$job:" "$breaches" && failed=1; }
	done
	[ "$failed" = 0 ]
}

# mpi_stuck, and mpi_rate without pauses, as attach --count -d 0.5 saw them: both are in MPI_Recv at both looks.
@test "sums alone: a call that two looks saw goes on where no call was counted between them" {
	local line='[.[] | .certain == false and .bound and .function == "MPI_Recv"] | all'

	"$UCXBPF" replay --json "$DATA/held/stuck.ucxb" | jq -e ".open | length == 1 and .[0].age_ns > 5e8 and ($line)"
	"$UCXBPF" replay "$DATA/held/stuck.ucxb" | grep -x '1 rank may wait:'
	"$UCXBPF" replay --json "$DATA/held/busy.ucxb" | jq -e ".open | length == 2 and all(.age_ns == 0) and ($line)"
	"$UCXBPF" replay "$DATA/held/busy.ucxb" >"$BATS_TEST_TMPDIR/busy"
	[ -z "$(grep 'may wait' "$BATS_TEST_TMPDIR/busy")" ]
}

@test "the schema check finds breaches" {
	run jq -rn '{schema: "ucxbpf.report/2"} | tojson'
	run jq -r -f "$TOP/tests/golden/schema.jq" <<<"$output"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"report.schema"* ]]
	[[ $output == *"transfers: not an array"* ]]
}

@test "the comparison of live tests balances the bytes of pairs, of bare UCP as well" {
	local ledgers=$BATS_TEST_TMPDIR/ledgers report=$BATS_TEST_TMPDIR/report

	mkdir "$ledgers"
	echo '{"pid": 7, "size": 1, "calls": [], "messages": [], "ops": [], "unmatched_receives": 0}' >"$ledgers/0.json"
	cat >"$report" <<-END
		{"processes": [{"id": 0, "pid": 7, "rank": null, "size": null}], "loss": {"produced": 1, "stored": 1, "dropped": {}},
		 "calls": [], "ops": [], "messages": [], "matching": {"sends": 0, "matched": 0, "ambiguous": 0,
		 "unmatched_sends": {}, "unmatched_receives": {}},
		 "attribution": {"data_bytes": 8, "to_op": 8, "to_call": 0, "unexplained": 0},
		 "transfers": [{"kind": "data", "process": 0, "peer": 0, "op": "am_short", "bytes": 8, "transport": "self"}]}
	END
	run "$TOP/tests/live/check.py" "$report" "$ledgers"
	echo "$output"
	[ "$status" = 1 ]
	[ "$output" = "payload of pair (0, 0): report says 8, true is 0" ]
}
