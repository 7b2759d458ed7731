#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The page that a browser shows: one file, nothing fetched, the report in it.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR" || return
}

need_zstd() {
	command -v zstd >/dev/null || skip "no zstd"
}

@test "a page of each capture has its report, and fetches nothing" {
	need_zstd
	for capture in "$DATA"/*.ucxb; do
		"$UCXBPF" replay --json -o report.json "$capture"
		"$UCXBPF" export -f html -o page.html "$capture"
		python3 "$TOP/tests/golden/check_html.py" page.html report.json
	done
}

@test "the same captures give the same page, by replay --html too, and to a pipe" {
	"$UCXBPF" export -f html -o one.html "$DATA/coll.ucxb"
	"$UCXBPF" replay --html -o two.html "$DATA/coll.ucxb"
	cmp one.html two.html
	"$UCXBPF" export -f html "$DATA/coll.ucxb" | cmp - one.html
}

@test "filters hold" {
	need_zstd
	"$UCXBPF" replay --json --function MPI_Allreduce --process index:1 "$DATA/coll.ucxb" >report.json
	"$UCXBPF" replay --html --function MPI_Allreduce --process index:1 -o page.html "$DATA/coll.ucxb"
	python3 "$TOP/tests/golden/check_html.py" page.html report.json
}

@test "--window is for pages, and says what it wants" {
	local got=0

	"$UCXBPF" export -f html --window 120ms:125ms -o page.html "$DATA/coll.ucxb"
	grep -q '"windows":\[{"host":0,"from_ns":120000000,"to_ns":125000000}\]' page.html
	for wrong in 3s:2s 1s 1s: :1s 1s:2s:3s 1:2 1s:1s; do
		got=0
		"$UCXBPF" export -f html --window "$wrong" -o page.html "$DATA/coll.ucxb" 2>err || got=$?
		[ "$got" -eq 2 ]
		grep -q "say FROM:TO" err
	done
	got=0
	"$UCXBPF" export -f html --window 100s:101s -o beyond.html "$DATA/coll.ucxb" 2>err || got=$?
	[ "$got" -eq 2 ]
	grep -qF "nothing written: --window begins after the last event of every host" err
	[ ! -e beyond.html ]
	got=0
	"$UCXBPF" export -f json --window 1s:2s "$DATA/coll.ucxb" 2>err || got=$?
	[ "$got" -eq 2 ]
	grep -q -- "does not support --window" err
}

@test "a page is not written over a capture, nor as two reports at once" {
	local got=0

	cp "$DATA/send.ucxb" copy.ucxb
	"$UCXBPF" replay --html -o copy.ucxb "$DATA/send.ucxb" 2>err || got=$?
	[ "$got" -eq 2 ]
	grep -q "is a capture, not overwritten" err
	cmp copy.ucxb "$DATA/send.ucxb"
	got=0
	"$UCXBPF" replay --html --json "$DATA/send.ucxb" 2>err || got=$?
	[ "$got" -eq 2 ]
}
