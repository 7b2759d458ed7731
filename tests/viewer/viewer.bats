#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The HTML report in a real browser: each view shows the numbers of `replay --json`, filters included; nothing
# is complained of, nothing is asked of a network. `make check-viewer` keeps pictures of every view.

LIMIT=120 # seconds for all; a browser that hangs is ended with everything it started

setup_file() {
	export TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	printf '%(%s)T' -1 >"$BATS_FILE_TMPDIR/began"
}

setup() {
	[ -x /usr/bin/chromium ] || skip "no chromium"
	command -v node >/dev/null || skip "no node"
	[ -d "$TOP/user/viewer/node_modules/playwright-core" ] || skip "no playwright-core: make"
}

check() {
	local left=$((LIMIT - $(printf '%(%s)T' -1) + $(cat "$BATS_FILE_TMPDIR/began")))

	[ "$left" -gt 0 ]
	HOME=$BATS_TEST_TMPDIR timeout --kill-after=5 "$left" node "$BATS_TEST_DIRNAME/check.mjs" "$@"
}

@test "every view's numbers are the report's, under each filter" {
	check numbers "$TOP/tests/data/coll.ucxb"
}

@test "tables and graphs: bare UCX, tcp, sums alone, and GPUs" {
	check brief "$TOP/tests/data/ucp-am.ucxb" "$TOP/tests/data/isend-tcp.ucxb" "$TOP/tests/data/send-count.ucxb" \
		"$TOP/tests/data/gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb"
}

@test "timeline: calls in their order, through the layers, to the other end" {
	check events "$TOP/tests/data/isend-tcp.ucxb"
}

@test "filters by hand and by time, and keys" {
	check controls "$TOP/tests/data/coll.ucxb"
}

@test "names that are meant to do harm are text" {
	made=$(dirname "$UCXBPF")/tests/bench/madefacts
	[ -x "$made" ] || skip "no $made: make tests"
	"$made" html "$BATS_TEST_TMPDIR/made.html"
	check names "$BATS_TEST_TMPDIR/made.html"
}
