#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf replay` and bad input: one clear line on stderr, a documented exit status (docs/exit-codes.md).

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	UCXBPF=${UCXBPF:-$BUILD/ucxbpf}
	cd "$BATS_TEST_TMPDIR" || return
	capture=$(ls "$TOP"/tests/data/*.ucxb 2>/dev/null | head -1)
}

# expect STATUS PATTERN ARGUMENT...: the status, and one line on stderr that fits the pattern.
expect() {
	local status=$1 pattern=$2 got=0

	shift 2
	"$UCXBPF" replay "$@" >out 2>err || got=$?
	cat err
	[ "$got" -eq "$status" ]
	grep -q "$pattern" err
	[ "$(grep -c . err)" -eq 1 ]
}

need_capture() {
	[ -n "$capture" ] || skip "no captures in tests/data"
}

@test "a cause of waiting that is not known is one line, without a rank" {
	"$UCXBPF" replay -vv "$TOP"/tests/data/cg.n?.ucxb >text
	sed -n '/^CAUSES/,/^$/p' text >causes
	[ "$(grep -c '%) not known$' causes)" = 1 ]
	grep -q '%) rank 3, call not known$' causes
	! grep -q 'rank ?\|unknown call' causes || false
	"$UCXBPF" replay --json "$TOP"/tests/data/cg.n?.ucxb |
		jq -e '[.wait_roots[] | select(.process == null) | .did, .function, .call_site] == [null, null, null]'
}

@test "a file that is not there" {
	expect 3 "nowhere.ucxb: [Nn]o such file" nowhere.ucxb
	[ ! -s out ]
}

@test "a directory" {
	expect 3 "irectory" .
}

@test "not a capture: empty, text, zeros" {
	: >empty
	expect 3 "empty: " empty
	echo "this is text, not a capture of anything at all" >text
	expect 3 "text: " text
	head -c 65536 /dev/zero >zeros
	expect 3 "zeros: " zeros
}

@test "usage: no file, unknown option, bad kind" {
	for arguments in "" "--bogus x" "--kind=payload x" "--function=, x"; do
		run "$UCXBPF" replay $arguments
		echo "$output"
		[ "$status" -eq 2 ]
	done
}

@test "help has examples, exit status and every filter" {
	run "$UCXBPF" replay --help
	[ "$status" -eq 0 ]
	for word in Examples: "Exit status" --function --op --ucp-op --transport --device --process \
		--host --kind; do
		[[ $output == *"$word"* ]]
	done
}

@test "a good file is reported although another is bad" {
	need_capture
	expect 4 "nowhere.ucxb: " "$capture" nowhere.ucxb
	[ -s out ]
}

@test "a capture is never overwritten" {
	need_capture
	cp "$capture" copy.ucxb
	expect 2 "not overwritten" -o copy.ucxb copy.ucxb
	cp copy.ucxb other.ucxb
	expect 2 "not overwritten" -o other.ucxb copy.ucxb
	cmp copy.ucxb other.ucxb
	cmp "$capture" copy.ucxb
}

@test "a report that cannot be written" {
	need_capture
	[ -w /dev/full ] || skip "no /dev/full"
	expect 9 "No space left" -o /dev/full --json "$capture"
	expect 9 "No space left" -o /dev/full "$capture"
	expect 9 "No space left" -o /dev/full --html "$capture"
}

@test "a report that cannot be written leaves the one before it" {
	need_capture
	echo before >report.json
	(trap '' XFSZ && ulimit -f 1 && expect 9 "File too large" -o report.json --json "$capture")
	[ "$(cat report.json)" = before ]
	[ "$(ls | grep -c part)" = 0 ]
	ln -s report.json link.json
	"$UCXBPF" replay -o link.json --json "$capture"
	[ -L link.json ]
	jq -e '.schema == "ucxbpf.report/1"' report.json
}

@test "a link that somebody has put in a report's way is not followed" {
	need_capture
	echo precious >victim
	# exec keeps the pid, which a name could be made of
	bash -c 'ln -s victim "report.json.$$.part"; exec "$0" replay -o report.json --json "$1"' "$UCXBPF" "$capture"
	[ "$(cat victim)" = precious ]
	jq -e '.schema == "ucxbpf.report/1"' report.json
	[ ! -L report.json ]
	[ "$EUID" = 0 ] || skip "needs root"
	[ "$(stat -c %a report.json)" = 600 ]
	SUDO_UID=12345 SUDO_GID=12346 "$UCXBPF" replay -o report.json --json "$capture"
	[ "$(stat -c %u:%g:%a report.json)" = 12345:12346:600 ]
	ln -s victim link
	chown -h nobody link
	refused="link: is another user's symbolic link, which is refused: name what it leads to"
	expect 1 "$refused" -o link --json "$capture"
	expect 1 "$refused" -o link --html "$capture"
	[ "$(cat victim)" = precious ]
}

@test "a truncated capture is reported as far as it goes" {
	need_capture
	size=$(stat -c %s "$capture")
	head -c $((size - 7)) "$capture" >short.ucxb
	expect 4 "short.ucxb: " --json short.ucxb
	jq -e '.schema == "ucxbpf.report/1"' out
}

@test "messages under way where a capture breaks off are not in flight at the end" {
	killed=$TOP/tests/data/killed/pingpong.ucxb
	head -c 100000 "$killed" >short.ucxb
	expect 4 "the end of the capture was cut off" --json short.ucxb
	jq -e '.matching.unmatched_sends | .["in flight where a capture breaks off"] > 0 and .["in flight at end"] == null' out
}

@test "a pipe that closes early" {
	need_capture
	run bash -c "set -o pipefail; '$UCXBPF' replay -vv '$capture' | head -1"
	[[ $output == ucxbpf* ]]
}

@test "the same capture twice counts once" {
	need_capture
	cp "$capture" copy.ucxb
	expect 4 "copy.ucxb: .*left out" "$capture" copy.ucxb
	"$UCXBPF" replay "$capture" | diff - out
}

@test "folded stacks: of a capture without them, of a wrong kind, together with JSON" {
	need_capture
	expect 1 "the captures have no stacks: record them with --stacks" --folded "$capture"
	[ ! -s out ]
	for wrong in --folded=frames --folded=; do
		run "$UCXBPF" replay $wrong "$capture"
		[ "$status" -eq 2 ]
		[[ $output == *"not calls, time or bytes"* ]]
	done
	run "$UCXBPF" replay --json --folded "$capture"
	[ "$status" -eq 2 ]
}

@test "--stacks takes no value" {
	for command in "run --stacks=all -- true" "attach --stacks=1 -p 1"; do
		run "$UCXBPF" $command
		[ "$status" -eq 2 ]
		[[ $output == *stacks* ]]
	done
}

@test "reasons for bytes without an operation have a unit" {
	"$UCXBPF" replay "$TOP/tests/data/send-count.ucxb" | tr -s ' \n' ' ' >said
	grep -q '234 KiB of 979 KiB data bytes .* (in progress: no operation seen around it 234 KiB)' said
	"$UCXBPF" replay --exact "$TOP/tests/data/send-count.ucxb" | tr -s ' \n' ' ' >said
	grep -q '(in progress: no operation seen around it 240,112 B)' said
}

@test "a pipe is as wide as COLUMNS says" {
	DATA=$TOP/tests/data
	widest() { awk 'length($0) > widest { widest = length($0) } END { print widest }'; }

	[ "$(COLUMNS=70 "$UCXBPF" replay "$DATA/isend.ucxb" | widest)" -le 70 ]
	[ "$(COLUMNS=140 "$UCXBPF" replay "$DATA/isend.ucxb" | widest)" -gt 70 ]
	COLUMNS=70 "$UCXBPF" replay "$DATA/isend.ucxb" >"$BATS_TEST_TMPDIR/narrow"
	COLUMNS= "$UCXBPF" replay "$DATA/isend.ucxb" >"$BATS_TEST_TMPDIR/plain"
	! cmp -s "$BATS_TEST_TMPDIR/narrow" "$BATS_TEST_TMPDIR/plain" || false
	for nonsense in x -5 0 99999999; do
		COLUMNS=$nonsense "$UCXBPF" replay "$DATA/isend.ucxb" | cmp - "$BATS_TEST_TMPDIR/plain"
	done
}

# A rank moved to another CPU while the records of the first one, 88 ms of them, were lost with the tracer.
@test "a killed tracer: no message is made of records on both sides of those that are missing" {
	killed=$TOP/tests/data/killed/pingpong.ucxb
	"$BUILD/tests/bench/strict" -w "$killed"
	"$UCXBPF" replay --json "$killed" >json 2>/dev/null || [ $? -eq 4 ]
	jq -e '.matching.matched == 4952 and .loss == {produced: 35080, stored: 35080, dropped: {}}' json
	"$UCXBPF" replay "$killed" 2>/dev/null >out || [ $? -eq 4 ]
	grep -q '^  lost  *not known, a capture is not whole: 35,080 records are here$' out
}
