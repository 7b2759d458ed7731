#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf export -f otf2`: OTF2's own tools read the archive; it has the events of ndjson, each of them.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	export PYTHONDONTWRITEBYTECODE=1
	cd "$BATS_TEST_TMPDIR" || return
}

needs_reader() {
	/usr/bin/python3 -c 'import otf2' 2>/dev/null || skip "no python3-otf2"
}

# compare FILE... [OPTION...]: both exports of the captures.
compare() {
	rm -rf archive
	"$UCXBPF" export -f otf2 -o archive "$@"
	"$UCXBPF" export -f ndjson -o events "$@"
	"$TOP/tests/golden/check_otf2.py" archive events
}

@test "otf2: every event of golden captures of each sort, and nothing else" {
	needs_reader
	local pairs=() n=0

	# OTF2's Python takes its time: not all of those that are much alike
	for capture in "$DATA"/{abort,attach,comms,rma,self,send,send-*,threads*,types,ucp-*,wild}.ucxb \
		"$DATA"/gpu/{halo-same,hostile-fork}-*/job.ucxb; do
		"$UCXBPF" export -f otf2 -o "$((++n))" "$capture"
		"$UCXBPF" export -f ndjson -o "$n.ndjson" "$capture"
		pairs+=("$n" "$n.ndjson")
		echo "$n: $capture"
	done
	"$TOP/tests/golden/check_otf2.py" "${pairs[@]}"
}

@test "otf2: hosts lie beside each other as their clocks say" {
	needs_reader
	compare "$DATA/send.ucxb" "$DATA/isend-tcp.ucxb"
}

@test "otf2: facts of every sort, with names meant to do harm" {
	needs_reader
	made=$(dirname "$UCXBPF")/tests/bench/madefacts
	[ -x "$made" ] || skip "no $made: make tests"
	mkdir archive
	"$made" otf2 archive
	"$made" ndjson events
	"$TOP/tests/golden/check_otf2.py" archive events
}

@test "otf2: filters are those of ndjson" {
	needs_reader
	for filter in --kind=control --function=MPI_Isend "--transport=posix --op=am_short" --host=nowhere \
		--ucp-op=tag_recv; do
		compare $filter "$DATA/isend.ucxb"
	done
}

@test "otf2: a comparison that differs is noticed" {
	needs_reader
	"$UCXBPF" export -f otf2 -o archive "$DATA/send.ucxb"
	"$UCXBPF" export -f ndjson -o events "$DATA/send.ucxb"
	for change in 's/"bytes":10007/"bytes":10008/' 's/"device":"memory"/"device":"other"/' \
		'/"event":"message"/s/"arrival":\([0-9]*\)/"arrival":1\1/' 's/"real":1/"real":2/' '/"event":"message"/d' \
		'/"totals"/s/"produced":1/"produced":2/'; do
		sed "$change" events >changed
		[ -n "$(diff events changed)" ]
		run "$TOP/tests/golden/check_otf2.py" archive changed
		echo "$change: $output"
		[ "$status" -eq 1 ]
	done
}

@test "otf2: otf2-print reads it, and counts what the report counts" {
	command -v otf2-print >/dev/null || skip "no otf2-print"
	for name in send coll threads-parallel; do
		"$UCXBPF" export -f otf2 -o "$name" "$DATA/$name.ucxb"
		otf2-print "$name/traces.otf2" >text 2>err
		[ ! -s err ]
		jq -r '([.calls[].count, .ops[].count, (.transfers[] | .count + .retries)] | add), .matching.matched' \
			"$DATA/$name.json" >counts
		{
			grep -c '^ENTER ' text
			grep -c '^MPI_SEND ' text
		} | diff counts -
		[ "$(grep -c '^LEAVE ' text)" = "$(head -1 counts)" ]
		[ "$(grep -c '^MPI_RECV ' text)" = "$(tail -1 counts)" ]
	done
}

@test "otf2: a capture made with --count says that it has sums alone" {
	command -v otf2-print >/dev/null || skip "no otf2-print"
	"$UCXBPF" export -f otf2 -o archive "$DATA/send-count.ucxb"
	otf2-print -G archive/traces.otf2 |
		grep -q 'Name: "ucxbpf".*"captures made with --count: sums alone, there are no single events"'
}

@test "otf2: a directory in use, a place that is none" {
	mkdir used
	touch used/file
	run "$UCXBPF" export -f otf2 -o used "$DATA/send.ucxb"
	[ "$status" -eq 2 ]
	run "$UCXBPF" export -f otf2 "$DATA/send.ucxb"
	[ "$status" -eq 2 ]
	[ "$(ls)" = used ]
}
