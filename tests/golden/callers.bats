#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Who called UCP without MPI stands where an MPI function would, in the text report.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	cd "$BATS_TEST_TMPDIR" || return
}

# named CAPTURE WORD: for the row of MPI FUNCTIONS, the slowest transfers, the switches, and what is not known
named() {
	"$UCXBPF" replay -vv --exact "$TOP/tests/data/$1.ucxb" >text
	sed -n '/^MPI FUNCTIONS/,/^$/p' text | grep "^  $2  "
	! sed -n '/^SLOWEST/,/^$/p; /^MPI FUNCTIONS/,/^$/p; /^PROTOCOLS/,/^$/p' text | grep 'outside MPI' || false
	[ "$(sed -n '/^SLOWEST/,/^$/p' text | grep -c "  $2  ")" -gt 0 ]
	grep -q "^  $2, tag_send, " text
	tr -s '\n ' ' ' <text | grep -q " outside MPI calls ($2) "
}

@test "a library above UCP, also one linked into the program" {
	named ucxpy-tag UCX-Py
	named ucxx-perftest ucxx
	named charm-pingpong Charm++
}

@test "captures that do not tell who called: outside MPI" {
	"$UCXBPF" replay "$TOP/tests/data/ucp-tag.ucxb" >text
	sed -n '/^MPI FUNCTIONS/,/^$/p' text | grep '^  outside MPI  '
}
