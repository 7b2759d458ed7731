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

@test "the schema check finds breaches" {
	run jq -rn '{schema: "ucxbpf.report/2"} | tojson'
	run jq -r -f "$TOP/tests/golden/schema.jq" <<<"$output"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"report.schema"* ]]
	[[ $output == *"transfers: not an array"* ]]
}
