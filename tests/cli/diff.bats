#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf diff: its arguments, its exit statuses, files that are no captures, and damaged captures.

load ../lib/ends.bash

setup() {
	ends_setup
}

# says STATUS WORDS ARGUMENTS...: one line of error that has the words
says() {
	local status=$1 words=$2
	shift 2
	ends "$status" "$UCXBPF" diff "$@"
	grep -qF -- "$words" err || {
		echo "no '$words' in:"
		cat err
		return 1
	}
}

@test "what is no comparison" {
	says 4 "which runs?"
	says 4 "which runs?" "$DATA/send.ucxb"
	says 4 "a third run" "$DATA/send.ucxb" "$DATA/isend.ucxb" "$DATA/coll.ucxb"
	says 4 "which runs?" --before "$DATA/send.ucxb" "$DATA/isend.ucxb"
	says 4 "behind --before and --after" "$DATA/send.ucxb" --after "$DATA/isend.ucxb"
	says 4 "ask for one of them" --json --html "$DATA/send.ucxb" "$DATA/isend.ucxb"
	says 4 "unrecognized option" --nonsense "$DATA/send.ucxb" "$DATA/isend.ucxb"
	says 4 "names no capture" , "$DATA/isend.ucxb"
	says 4 "names no capture" "" "$DATA/isend.ucxb"
	mkdir empty
	says 4 "a directory without captures" empty "$DATA/isend.ucxb"
}

@test "captures that cannot be read: nothing is compared" {
	says 5 "no.ucxb: no such file" no.ucxb "$DATA/send.ucxb"
	[ ! -s out ]
	says 5 "no.ucxb: no such file" "$DATA/send.ucxb" "$DATA/hosts.n0.ucxb,no.ucxb"
	[ ! -s out ]
	echo text >text.ucxb
	says 5 "text.ucxb: not a ucxbpf capture" "$DATA/send.ucxb" text.ucxb
	[ ! -s out ]
}

@test "the same capture: twice on a side is refused, once on each is no difference" {
	says 4 "is in two runs of one side" --before "$DATA/send.ucxb" "$DATA/send.ucxb" --after "$DATA/isend.ucxb"
	says 4 "are the same capture" "$DATA/send.ucxb,$DATA/send.ucxb" "$DATA/isend.ucxb"
	ends 0 "$UCXBPF" diff "$DATA/send.ucxb" "$DATA/send.ucxb"
	grep -q "^no difference found in environment, libraries, paths and protocols" out
}

@test "another library calls UCP: who does on each side" {
	ends 1 "$UCXBPF" diff --json "$DATA/ucxx-perftest.ucxb" "$DATA/ucxpy-tag.ucxb"
	jq -e '[.rows[] | select(.table == "callers" and .verdict == "changed") | [.key.caller, .before == null]] | unique
		== [["UCX-Py", true], ["ucxx", false]]' out
	ends 0 "$UCXBPF" diff --json "$DATA/ucxx-perftest.ucxb" "$DATA/ucxx-perftest.ucxb"
	jq -e '[.rows[] | select(.table == "callers") | .verdict] | length == 3 and unique == ["same"]' out
}

@test "differences: the verdict comes first" {
	ends 1 "$UCXBPF" diff "$DATA/sizes.ucxb" "$DATA/sizes-v2.ucxb"
	head -n 1 out | grep -qE "^[0-9]+ differences: environment [0-9]+, libraries [0-9]+, paths and protocols [0-9]+, switch points"
	[ ! -s err ]
}

@test "a run of two hosts: files with commas, a directory, and a comma in a name" {
	mkdir run
	cp "$DATA"/hosts.n0.ucxb "$DATA"/hosts.n1.ucxb run
	ends 0 "$UCXBPF" diff "$DATA/hosts.n0.ucxb,$DATA/hosts.n1.ucxb" run
	grep -q "2 processes, 2 hosts" out
	cp "$DATA/send.ucxb" "a,b.ucxb"
	ends 0 "$UCXBPF" diff a,b.ucxb "$DATA/send.ucxb"
	# one host alone has one process
	ends 1 "$UCXBPF" diff "$DATA/hosts.n0.ucxb" run
	grep -qE "^  hosts +1 +2 +changed" out
}

@test "sets: options may come between, and arguments stay with their side" {
	ends 1 "$UCXBPF" diff --before "$DATA/send.ucxb" "$DATA/isend.ucxb" --json --after "$DATA/coll.ucxb" -o set.json
	jq -e '(.before | length == 2) and (.after | length == 1)' set.json
	ends 0 "$UCXBPF" diff --after "$DATA/send.ucxb" --before "$DATA/send.ucxb"
}

@test "a capture that was cut short: no count is a difference, and no status is 0" {
	head -c $(($(stat -c %s "$DATA/send.ucxb") * 3 / 4)) "$DATA/send.ucxb" >cut.ucxb
	ends 3 "$UCXBPF" diff "$DATA/send.ucxb" cut.ucxb
	grep -q "^note: *the run after is damaged, cut short or lacks records: counts, bytes and waits are not compared$" out
	grep -q "^no difference found" out
	# what differs for certain does so there, too
	ends 1 "$UCXBPF" diff "$DATA/sizes-v2.ucxb" cut.ucxb
}

@test "outputs: a page without scripts, JSON, a file; captures are not overwritten" {
	ends 1 "$UCXBPF" diff --html -o page.html "$DATA/sizes.ucxb" "$DATA/sizes-tcp.ucxb"
	grep -q "<h2>switch points</h2>" page.html
	! grep -qi "<script\|http://\|https://" page.html || false
	xmllint --noout page.html
	ends 1 "$UCXBPF" diff --json "$DATA/sizes.ucxb" "$DATA/sizes-tcp.ucxb"
	jq -e '.schema == "ucxbpf.diff/1"' out
	cp "$DATA/send.ucxb" mine.ucxb
	says 4 "is a capture, not overwritten" -o mine.ucxb "$DATA/sizes.ucxb" "$DATA/sizes-tcp.ucxb"
	cmp mine.ucxb "$DATA/send.ucxb"
	says 5 "its directory does not exist" -o no/where "$DATA/sizes.ucxb" "$DATA/sizes-tcp.ucxb"
}

@test "rows: bounded without -v, nothing cut, each with its reason with -v" {
	ends 1 "$UCXBPF" diff "$DATA/cg.n0.ucxb" "$DATA/coll.ucxb"
	grep -qE "^  \.\.\. [0-9]+ more \(-v\)$" out
	ends 1 "$UCXBPF" diff -v "$DATA/cg.n0.ucxb" "$DATA/coll.ucxb"
	! grep -q "more (-v)" out || false
	COLUMNS=60 ends 1 "$UCXBPF" diff "$DATA/sizes.ucxb" "$DATA/sizes-v2.ucxb"
	grep -q "^    after   /usr/lib/x86_64-linux-gnu/libmpich.so" out
	[ "$(wc -L <out)" -lt 160 ]
}

@test "--help has examples and the statuses" {
	ends 0 "$UCXBPF" diff --help
	grep -q "ucxbpf diff --before" out
	grep -q "Exit status: 0 no difference, 1 differences" out
}
