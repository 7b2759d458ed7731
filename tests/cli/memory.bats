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

# WANTED STATUS, UCXBPF'S ARGUMENTS: 60 places from the first to the last allocation.
runs_out() {
	local wanted=$1 count at
	shift
	count=$(NO_MEMORY_COUNT=1 LD_PRELOAD=$LIB "$UCXBPF" "$@" 2>&1 >"$BATS_TEST_TMPDIR/out" | tail -n 1)
	echo "$*: $count allocations"
	[ "$count" -gt 1000 ]
	for ((i = 0; i < 60; i++)); do
		at=$((1 + i * (count - 1) / 60))
		run env NO_MEMORY_FROM=$at LD_PRELOAD="$LIB" "$UCXBPF" "$@"
		echo "$*, from allocation $at on: status $status, ${lines[*]: -1}"
		[ "$status" = "$wanted" ]
		[[ $output == *"out of memory"* ]]
	done
}

# WANTED STATUS, UCXBPF'S ARGUMENTS: one allocation fails, each of the first 20 and 40 of the others. A command that can
# do without it prints its usual output.
fails_once() {
	local wanted=$1 count at usual out=$BATS_TEST_TMPDIR/out
	shift
	usual=0
	NO_MEMORY_COUNT=1 LD_PRELOAD=$LIB "$UCXBPF" "$@" 2>"$out.err" >"$out" || usual=$?
	count=$(tail -n 1 "$out.err")
	echo "$*: $count allocations"
	[ "$count" -gt 500 ]
	for ((i = 0; i < 60; i++)); do
		at=$((i < 20 ? i + 1 : 20 + (i - 19) * (count - 20) / 40))
		status=0
		NO_MEMORY_FROM=$at NO_MEMORY_TIMES=1 LD_PRELOAD=$LIB "$UCXBPF" "$@" 2>"$out.err" >"$out.now" || status=$?
		echo "$*, without allocation $at: status $status, $(tail -n 1 "$out.err")"
		if grep -q 'out of memory\|not enough memory\|Cannot allocate memory' "$out.err"; then
			[ "$status" = "$wanted" ]
		else
			[ "$status" = "$usual" ]
			cmp "$out" "$out.now"
		fi
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

@test "one allocation that fails makes no other result" {
	fails_once 1 replay "$TOP/tests/data/abort.ucxb"
	fails_once 1 replay --json "$TOP/tests/data/attach-mpich.ucxb"
	fails_once 1 export -f ndjson "$TOP/tests/data/abort.ucxb"
	fails_once 5 check -f json "$TOP/tests/data/abort.ucxb"
	fails_once 5 policy check "$TOP/tests/data/places/rails.yaml"
}

# Side records that take 51 MB each, beside sizes of some KiB: what all captures share has room for one.
@test "captures that were made to take memory share what there is" {
	run /usr/bin/python3 - "$TOP" "$UCXBPF" "$BATS_TEST_TMPDIR" <<-'EOT'
		import resource, subprocess, sys
		top, ucxbpf, work = sys.argv[1:]
		sys.path.insert(0, f"{top}/tests/trust")
		import captures

		def grow(side):
		    if side["t"] == "end":
		        side["more"] = [[]] * 200000

		paths = []
		for name in "abort", "coll", "rma", "self", "send", "sizes", "threads", "types":
		    paths.append(f"{work}/{name}.ucxb")
		    captures.rewritten(f"{top}/tests/data/{name}.ucxb", paths[-1], grow)
		ended = subprocess.run([ucxbpf, "replay", "--json", *paths], capture_output=True, text=True)
		print(ended.stderr)
		print("status", ended.returncode, "left out", ended.stderr.count("would take too much memory were left out"))
		print("MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
	EOT
	echo "$output"
	[ "$status" = 0 ]
	[ "$(sed -n 's/^MiB //p' <<<"$output")" -lt 200 ]
	grep -q '^status 4' <<<"$output"
}

@test "side records of a later version are counted, and are no damage" {
	/usr/bin/python3 - "$TOP" "$BATS_TEST_TMPDIR/later.ucxb" <<-'EOT'
		import sys
		sys.path.insert(0, f"{sys.argv[1]}/tests/trust")
		import captures

		def later(side):
		    if side["t"] == "end":
		        side["t"] = "later"

		captures.rewritten(f"{sys.argv[1]}/tests/data/send.ucxb", sys.argv[2], later)
	EOT
	"$UCXBPF" replay --json "$BATS_TEST_TMPDIR/later.ucxb" >"$BATS_TEST_TMPDIR/report"
	[ "$(jq '.notes["side records of an unknown kind"]' "$BATS_TEST_TMPDIR/report")" = 1 ]
	"$UCXBPF" replay --json "$TOP/tests/data/send.ucxb" | jq 'del(.self, .notes)' >"$BATS_TEST_TMPDIR/usual"
	jq 'del(.self, .notes)' "$BATS_TEST_TMPDIR/report" | diff "$BATS_TEST_TMPDIR/usual" -
}
