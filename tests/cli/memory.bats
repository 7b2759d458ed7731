#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Memory runs out at any allocation: the status is the documented one for it, and a line says why.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	LIB=$TOP/build/tests/progs/lib/lib_no_memory.so
	ldd "$UCXBPF" | grep -q libasan && skip "the sanitizer has an allocator of its own"
	return 0
}

# WANTED STATUS, UCXBPF'S ARGUMENTS: 60 places from the first to the last allocation. The very first is argp's.
runs_out() {
	local wanted=$1 count at
	shift
	count=$(NO_MEMORY_COUNT=1 LD_PRELOAD=$LIB "$UCXBPF" "$@" 2>&1 >"$BATS_TEST_TMPDIR/out" | tail -n 1)
	echo "$*: $count allocations"
	[ "$count" -gt 1000 ]
	for ((i = 0; i < 60; i++)); do
		at=$((20 + i * (count - 20) / 60))
		run env NO_MEMORY_FROM=$at LD_PRELOAD="$LIB" "$UCXBPF" "$@"
		echo "$*, from allocation $at on: status $status, ${lines[*]: -1}"
		[ "$status" = "$wanted" ]
		[[ $output == *"out of memory"* ]]
	done
}

@test "a report, an export and a page end with 1" {
	runs_out 1 replay "$TOP/tests/data/abort.ucxb"
	runs_out 1 replay --json "$TOP/tests/data/attach-mpich.ucxb"
	runs_out 1 export -f ndjson "$TOP/tests/data/abort.ucxb"
	runs_out 1 replay --html -o "$BATS_TEST_TMPDIR/page.html" "$TOP/tests/data/abort.ucxb"
}

@test "a check and a policy end with 5" {
	runs_out 5 check "$TOP/tests/data/abort.ucxb"
	runs_out 5 policy learn "$TOP/tests/data/allreduce-ring.ucxb"
}
