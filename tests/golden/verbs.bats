#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of two hosts over real verbs devices (soft-RoCE, tests/guest/README.md), judged with the hosts'
# inventories from before and after.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	RC=$TOP/tests/data/verbs/rc
}

@test "reports of verbs jobs are exact, and each fault is named" {
	"$TOP/tests/guest/compare" "$TOP/tests/data/verbs"
}

# counters STATUS INVENTORY...: what COV-02 says
counters()
{
	local got=0

	"$UCXBPF" check -f json -o "$BATS_TEST_TMPDIR/check.json" "$RC"/n?.ucxb "${@:2}" || got=$?
	jq -r '.findings[] | select(.rule == "COV-02") | "\(.verdict) \(.subject)"' "$BATS_TEST_TMPDIR/check.json" | sort
	[ "$got" = "$1" ]
}

@test "no inventory of a node, or but one: its counters tell nothing" {
	[ "$(counters 3 "$RC"/n0.*.json)" = $'pass n0:rxe0:1\nunknown n1' ]
	[ "$(counters 0 "$RC"/n?.after.json)" = "skip all captures" ]
	[ "$(counters 3 "$RC"/n?.after.json "$RC"/n0.before.json)" = $'pass n0:rxe0:1\nunknown n1' ]
}
