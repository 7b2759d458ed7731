# SPDX-License-Identifier: BSD-3-Clause
# The benchmark's programs work; what they measure is no test's business.

load ../lib/live.bash

setup() { live_setup; }

@test "benchmark: empty probes stand where a tracer's do, and hits are counted exactly" {
	"$UCXBPF" doctor --json | jq -e '.kernel.links == "session"' >/dev/null ||
		skip "this kernel has no uprobe sessions"
	timeout 60 "$TOP/tests/bench/smoke"
}

@test "benchmark: a verdict per promise that was measured" {
	mkdir -p "$WORK/bench"
	cat >"$WORK/bench/replay.json" <<-JSON
		{"records": 10000000, "bytes per record": 5.5, "replay s": 4.0, "read s": 1.0,
		 "replay MiB": 300, "records per s": 2500000}
	JSON
	cd "$TOP/tests/bench"
	BUILD=$WORK /usr/bin/python3 -B -c \
		'from bench import machine, report; print(report.write(machine.OUT))' >"$WORK/out"
	grep -F '| replay: 3 million records/s or more on one core | 2.50 million/s | **not reached** |' "$WORK/out"
	grep -F '| replay: 10 million records in less than 500 MiB | 300 MiB | reached |' "$WORK/out"
	[ "$(wc -l <"$WORK/out")" = 4 ]
}
