#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf export -f perfetto`: the trace, decoded with protoc, has the events of ndjson, each of them.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	export PYTHONDONTWRITEBYTECODE=1
	command -v protoc >/dev/null || skip "no protoc"
	/usr/bin/python3 -c 'import google.protobuf' 2>/dev/null || skip "no python3-protobuf"
	cd "$BATS_TEST_TMPDIR" || return
}

# compare FILE... [OPTION...]: both exports of the captures.
compare() {
	"$UCXBPF" export -f perfetto -o trace "$@"
	"$UCXBPF" export -f ndjson -o events "$@"
	"$TOP/tests/golden/check_perfetto.py" trace events
}

@test "perfetto: every event of every golden capture, and nothing else" {
	local pairs=() n=0

	for capture in "$DATA"/*.ucxb "$DATA"/gpu/{halo,hostile-fork,hosts}-*/job.ucxb; do
		"$UCXBPF" export -f perfetto -o "$((++n))" "$capture"
		"$UCXBPF" export -f ndjson -o "$n.ndjson" "$capture"
		pairs+=("$n" "$n.ndjson")
		echo "$n: $capture"
	done
	"$TOP/tests/golden/check_perfetto.py" "${pairs[@]}"
}

@test "perfetto: captures of several hosts have a clock each" {
	compare "$DATA/send.ucxb" "$DATA/isend-tcp.ucxb"
}

@test "perfetto: a host whose time of day is wrong is placed by messages, within an uncertainty that is stated" {
	"$(dirname "$UCXBPF")/tests/bench/recast" "$DATA/hosts.n0.ucxb" n0.ucxb drift=150
	compare n0.ucxb "$DATA/hosts.n1.ucxb"
	grep -qa "fitted to messages with other hosts" trace
	sed '/"event":"message"/s/"arrival":[0-9]*/"arrival":1000/' events >changed
	run "$TOP/tests/golden/check_perfetto.py" trace changed
	[ "$status" -eq 1 ]
	[[ $output == *"arrives before it is sent"* ]]
}

@test "perfetto: facts of every sort, with names meant to do harm" {
	made=$(dirname "$UCXBPF")/tests/bench/madefacts
	[ -x "$made" ] || skip "no $made: make tests"
	"$made" perfetto trace
	"$made" ndjson events
	"$TOP/tests/golden/check_perfetto.py" trace events
}

@test "perfetto: filters are those of ndjson" {
	for filter in --kind=control --function=MPI_Isend --process=rank:1 "--transport=posix --op=am_short" \
		--host=nowhere --ucp-op=tag_recv; do
		compare $filter "$DATA/isend.ucxb"
	done
}

@test "perfetto: the same captures give the same bytes" {
	"$UCXBPF" export -f perfetto -o one "$DATA/coll.ucxb"
	"$UCXBPF" export -f perfetto "$DATA/coll.ucxb" | cmp - one
}

@test "perfetto: a comparison that differs is noticed" {
	"$UCXBPF" export -f perfetto -o trace "$DATA/send.ucxb"
	"$UCXBPF" export -f ndjson -o events "$DATA/send.ucxb"
	for change in 's/"bytes":10007/"bytes":10008/' 's/"device":"memory"/"device":"other"/' \
		'/"event":"message"/s/"recv":\([0-9]*\)/"recv":1\1/' 's/"real":1/"real":2/' 's/"rank":0/"rank":5/' \
		'/"MPI_Init"/s/"until":7/"until":8/' '/"event":"message"/d' \
		'/"totals"/s/"produced":1/"produced":2/'; do
		sed "$change" events >changed
		[ -n "$(diff events changed)" ]
		run "$TOP/tests/golden/check_perfetto.py" trace changed
		echo "$change: $output"
		[ "$status" -eq 1 ]
	done
}

@test "perfetto: a capture made with --count says that it has sums alone" {
	"$UCXBPF" export -f perfetto -o trace "$DATA/send-count.ucxb"
	grep -qa "captures made with --count: sums only, no single events" trace
}
