#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The HTML report in a real browser: each view shows the numbers of `replay --json`, filters included; nothing
# is complained of, nothing is asked of a network. `make check-viewer` keeps pictures of every view.

LIMIT=600 # seconds for all; a browser that hangs is ended with everything it started

setup_file() {
	export TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	printf '%(%s)T' -1 >"$BATS_FILE_TMPDIR/began"
}

setup() {
	[ -x /usr/bin/chromium ] || skip "no chromium"
	command -v node >/dev/null || skip "no node"
	[ -d "$TOP/user/show/viewer/node_modules/playwright-core" ] || skip "no playwright-core: make"
}

check() {
	local left=$((LIMIT - $(printf '%(%s)T' -1) + $(cat "$BATS_FILE_TMPDIR/began")))

	[ "$left" -gt 0 ]
	HOME=$BATS_TEST_TMPDIR timeout --kill-after=5 "$left" node "$BATS_TEST_DIRNAME/check.mjs" "$@"
}

@test "every view's numbers are the report's, under each filter" {
	check numbers "$TOP/tests/data/coll.ucxb"
}

@test "tables and graphs: bare UCX, tcp, sums alone, GPUs, one-sided, and two hosts" {
	check brief "$TOP/tests/data/ucp-am.ucxb" "$TOP/tests/data/isend-tcp.ucxb" "$TOP/tests/data/send-count.ucxb" \
		"$TOP/tests/data/gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb" "$TOP/tests/data/gpu-allreduce.ucxb" \
		"$TOP/tests/data/gpu/pairs-plain-peer-1.18.1-v2-ipc-static-start/job.ucxb" \
		"$TOP/tests/data/rma.ucxb" "$TOP/tests/data/hosts.n0.ucxb,$TOP/tests/data/hosts.n1.ucxb"
}

@test "who called UCP outside MPI, as in the text report, and under each filter" {
	check callers "$TOP/tests/data/ucxx-perftest.ucxb" "$TOP/tests/data/charm-pingpong.ucxb" "$TOP/tests/data/ucc-test-mpi.ucxb"
	check brief "$TOP/tests/data/ucxx-perftest.ucxb" "$TOP/tests/data/ampi-pingpong.ucxb"
}

@test "hosts: variables, cores, NICs, ways, clocks" {
	check hosts "$TOP/tests/data/gpu-nodes/1.18.1-v2.n0.ucxb,$TOP/tests/data/gpu-nodes/1.18.1-v2.n1.ucxb,$TOP/tests/data/hang.ucxb,$TOP/tests/data/send.ucxb" \
		"$(printf '%s,' "$TOP"/tests/data/cg.n[012].ucxb)$TOP/tests/data/cg.n3.ucxb"
}

@test "time, waits, their causes and calls that have not returned, as in the report; they have colours of their own" {
	check times "$TOP/tests/data/gromacs.ucxb" "$TOP/tests/data/hang.ucxb" "$TOP/tests/data/send-ends.ucxb" \
		"$(printf '%s,' "$TOP"/tests/data/cg.n[012].ucxb)$TOP/tests/data/cg.n3.ucxb"
}

@test "who is behind in a hang, in the words of the text report; a click leads to the rank in the timeline" {
	check behind "$TOP/tests/data/hang.ucxb" "$TOP/tests/data/stuck-skip-openmpi.ucxb" "$TOP/tests/data/stuck-sends-mpich.ucxb" \
		"$TOP/tests/data/stuck-stopped-mpich.ucxb" "$TOP/tests/data/stuck-deadlock-openmpi.ucxb"
}

@test "how many ranks may wait, in a capture of sums: as in the text report" {
	check waiting "$TOP/tests/data/held/stuck.ucxb" "$TOP/tests/data/held/busy.ucxb"
}

@test "timeline: calls in their order, through the layers, to the other end" {
	check events "$TOP/tests/data/isend-tcp.ucxb"
}

@test "timeline by hand: keys, search, its strip, a chosen time, details beside it, Back" {
	check interact "$TOP/tests/data/gromacs.ucxb"
}

@test "timeline: a chosen time has the lines of its messages, from who sent each to who got it" {
	check lines "$TOP/tests/data/gromacs.ucxb"
}

@test "1,024 processes: a row of pixels each, their order, folding, a part of the matrix, the graph by hosts" {
	made=$(dirname "$UCXBPF")/tests/bench/mkpage
	[ -x "$made" ] || skip "no $made: make tests"
	"$made" "$BATS_TEST_TMPDIR/many.html" 200000 1024 32
	check many "$BATS_TEST_TMPDIR/many.html"
}

@test "filters by hand and by time, and keys" {
	check controls "$TOP/tests/data/coll.ucxb"
}

@test "axe finds nothing against any view, light or dark, beside the filters or alone" {
	check access "$TOP/tests/data/coll.ucxb" "$(printf '%s,' "$TOP"/tests/data/cg.n[012].ucxb)$TOP/tests/data/cg.n3.ucxb" \
		"$TOP/tests/data/send-count.ucxb" "$TOP/tests/data/gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb"
}

@test "magnified nothing is lost; on paper there are no filters and no table is cut off" {
	check sizes "$(printf '%s,' "$TOP"/tests/data/cg.n[012].ucxb)$TOP/tests/data/cg.n3.ucxb"
}

@test "no text runs over its neighbour, with names of C++ and without" {
	check fits "$TOP/tests/data/gromacs.ucxb" "$TOP/tests/data/hang.ucxb" \
		"$TOP/tests/data/gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb"
}

@test "by keys alone, and the focus is seen: a filter, a table's order, a row, an operation" {
	check keys "$TOP/tests/data/coll.ucxb"
}

@test "a report and its verdict link to each other, by paths that are relative" {
	capture="$TOP/tests/data/coll.ucxb" here="a \"report\" 100%.html"
	mkdir "$BATS_TEST_TMPDIR/of"
	cd "$BATS_TEST_TMPDIR"
	"$UCXBPF" export -f html --beside=of/verdict.html -o "$here" "$capture"
	"$UCXBPF" check -f html --beside="../$here" -o of/verdict.html "$capture" || [ $? -le 3 ]
	cd "$TOP"
	check beside "$BATS_TEST_TMPDIR/$here,$BATS_TEST_TMPDIR/of/verdict.html"
	for path in /verdict.html file:verdict.html ""; do
		run "$UCXBPF" export -f html --beside="$path" -o "$BATS_TEST_TMPDIR/no.html" "$capture"
		[ "$status" = 2 ]
		[[ "$output" == *"say where it is from here"* ]]
	done
}

@test "a damaged section is named, and no number of it is shown" {
	"$UCXBPF" export -f html -o "$BATS_TEST_TMPDIR/whole.html" "$TOP/tests/data/coll.ucxb"
	for section in report calls events; do
		sed -E "s|(id=\"data-$section\">.{40})......|\1AAAAAA|" "$BATS_TEST_TMPDIR/whole.html" >"$BATS_TEST_TMPDIR/$section.html"
		! cmp -s "$BATS_TEST_TMPDIR/whole.html" "$BATS_TEST_TMPDIR/$section.html" || false
		check damaged "$BATS_TEST_TMPDIR/$section.html"
	done
}

@test "names that are meant to do harm are text" {
	made=$(dirname "$UCXBPF")/tests/bench/madefacts
	[ -x "$made" ] || skip "no $made: make tests"
	"$made" html "$BATS_TEST_TMPDIR/made.html"
	check names "$BATS_TEST_TMPDIR/made.html"
}
