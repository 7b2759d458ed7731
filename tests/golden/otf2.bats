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

# told ARCHIVE: calls that are collective operations; and those that are not, with the reason.
told() {
	otf2-print -G "$1/traces.otf2" | sed -n 's/.*Name: "collectives: \([^"]*\)".*Value: \([0-9]*\)$/\2 \1/p'
}

@test "otf2: collective operations where it is certain which calls belong together, and a reason elsewhere" {
	needs_reader
	command -v otf2-print >/dev/null || skip "no otf2-print"
	for name in comms-openmpi allreduce-mpich-doubling attach-mpich hang; do
		"$UCXBPF" export -f otf2 -o "$name" "$DATA/$name".*ucxb
		"$UCXBPF" export -f ndjson -o "$name.events" "$DATA/$name".*ucxb
		"$TOP/tests/golden/check_otf2.py" "$name" "$name.events"
	done
	[ "$(told allreduce-mpich-doubling)" = "48 told" ]
	[ "$(otf2-print allreduce-mpich-doubling/traces.otf2 | grep -c '^MPI_COLLECTIVE_END.*"MPI_COMM_WORLD"')" = 48 ]
	[ "$(told comms-openmpi)" = "2 told" ]
	[ "$(told hang)" = "$(printf '%s\n' "0 told" "2 which communicator is MPI_COMM_WORLD is not known")" ]
	[[ $(told attach-mpich) == "0 told"*"1859 a rank was not traced from its start"* ]]
	sed '0,/"MPI_Allreduce"/s//"MPI_Scan"/' allreduce-mpich-doubling.events >changed
	run "$TOP/tests/golden/check_otf2.py" allreduce-mpich-doubling changed
	[ "$status" -eq 1 ]
	# a capture without its end
	head -c $(($(stat -c %s "$DATA/comms-openmpi.ucxb") - 7)) "$DATA/comms-openmpi.ucxb" >short.ucxb
	"$UCXBPF" export -f otf2 -o short short.ucxb || [ $? -eq 4 ]
	[[ $(told short) == "0 told"*" records were lost"* ]]
	"$UCXBPF" export -f otf2 --process rank:0 -o one "$DATA"/allreduce-mpich-doubling.n?.ucxb
	[ "$(told one)" = "$(printf '%s\n' "0 told" "12 a filter is set: calls may be left out")" ]
}

@test "otf2: hosts lie beside each other as their clocks say" {
	needs_reader
	compare "$DATA/send.ucxb" "$DATA/isend-tcp.ucxb"
}

@test "otf2: a host whose time of day is wrong is placed by messages, within an uncertainty that is stated" {
	needs_reader
	command -v otf2-print >/dev/null || skip "no otf2-print"
	"$(dirname "$UCXBPF")/tests/bench/recast" "$DATA/hosts.n0.ucxb" n0.ucxb drift=150
	compare n0.ucxb "$DATA/hosts.n1.ucxb"
	otf2-print -G archive/traces.otf2 >text
	grep -q '"node::n0".*"clock offset is".*"fitted to messages with other hosts"' text
	[ "$(grep -c '"clock offset is".*"what its CLOCK_REALTIME showed"' text)" = 1 ]
	"$UCXBPF" replay --json n0.ucxb "$DATA/hosts.n1.ucxb" >report
	grep -q "\"node::n0\".*\"clock uncertainty\".*Value: $(jq '.clocks[0].offset_uncertainty_ns' report)$" text
	# the check notices a message that comes too early
	sed '/"event":"message"/s/"arrival":[0-9]*/"arrival":1000/' events >changed
	run "$TOP/tests/golden/check_otf2.py" archive changed
	[ "$status" -eq 1 ]
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

# programs ARCHIVE: processes with a region of their program; and those without, with the reason.
programs() {
	otf2-print -G "$1/traces.otf2" | sed -n 's/.*Name: "programs: \([^"]*\)".*Value: \([0-9]*\)$/\2 \1/p'
}

@test "otf2: a program's region where all its calls are known, and a reason elsewhere" {
	command -v otf2-print >/dev/null || skip "no otf2-print"
	"$UCXBPF" export -f otf2 -o all "$DATA/coll.ucxb"
	[ "$(programs all)" = "4 told" ]
	"$UCXBPF" export -f otf2 -o sums "$DATA/send-count.ucxb"
	[ "$(programs sums)" = "$(printf '%s\n' "0 told" "2 calls are known by their sums alone")" ]
	"$UCXBPF" export -f otf2 --function MPI_Send -o some "$DATA/send.ucxb"
	[ "$(programs some)" = "$(printf '%s\n' "0 told" "2 a filter is set: calls may be left out")" ]
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
		'/"event":"message"/s/"arrival":\([0-9]*\)/"arrival":1\1/' 's/"real":1/"real":2/' 's/"rank":0/"rank":5/' \
		's/"comm":"mpi_send"/"comm":"mpi_sent"/' '/"event":"lifetime"/s/"until":/"until":9/' \
		'/"MPI_Init"/s/"until":7/"until":8/' '/"event":"message"/d' \
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
			grep '^ENTER ' text | grep -vc 'Region: "mpi_'
			grep -c '^MPI_SEND ' text
		} | diff counts -
		[ "$(grep '^LEAVE ' text | grep -vc 'Region: "mpi_')" = "$(head -1 counts)" ]
		for event in ENTER LEAVE; do
			[ "$(grep "^$event " text | grep -c 'Region: "mpi_')" = "$(jq '.processes | length' "$DATA/$name.json")" ]
		done
		[ "$(grep -c '^MPI_RECV ' text)" = "$(tail -1 counts)" ]
	done
}

@test "otf2: a capture made with --count says that it has sums alone" {
	command -v otf2-print >/dev/null || skip "no otf2-print"
	"$UCXBPF" export -f otf2 -o archive "$DATA/send-count.ucxb"
	otf2-print -G archive/traces.otf2 |
		grep -q 'Name: "ucxbpf".*"captures made with --count: sums only, no single events"'
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
