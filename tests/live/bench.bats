# SPDX-License-Identifier: BSD-3-Clause
# The benchmark's programs work; what they measure is no test's business.

load ../lib/live.bash

@test "benchmark: empty probes stand where a tracer's do, and hits are counted exactly" {
	live_setup
	"$UCXBPF" doctor --json | jq -e '.kernel.links == "session"' >/dev/null ||
		skip "this kernel has no uprobe sessions"
	timeout 60 "$TOP/tests/bench/smoke"
}

@test "benchmark: its arithmetic" { "$TOP/tests/bench/selftest"; }
