#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Files of evidence: judged as the captures they were made from, the same however they are merged.

load ../lib/ends.bash

setup() {
	ends_setup
}

# judged CAPTURE...: the same findings from evidence, byte for byte
judged() {
	local direct=0 merged=0
	"$UCXBPF" sweep merge -o evidence "$@" || [ $? = 3 ]
	"$UCXBPF" check -f json "$@" >direct.json 2>/dev/null || direct=$?
	"$UCXBPF" check -f json evidence >merged.json || merged=$?
	cmp direct.json merged.json
	[ "$direct" = "$merged" ]
}

@test "hosts, cg, gpu and all others: the findings of evidence are those of the captures" {
	judged "$DATA"/hosts.n?.ucxb
	jq -e '[.findings[] | select(.rule == "PATH-02" and .verdict == "fail") | .subject, .bytes]
		== ["n0>n1", 40371536, "n1>n0", 40371536]' merged.json
	judged "$DATA"/cg.n?.ucxb
	judged "$DATA"/cg.n2.ucxb
	local capture
	for capture in "$DATA"/gpu/*/*.ucxb "$DATA"/*.ucxb; do
		judged "$capture"
	done
}

@test "any order, any grouping: the same file" {
	local i n=0
	for i in allreduce-ring coll isend rma send send-v2 sizes threads types; do
		"$UCXBPF" sweep merge -o "part$((n++))" "$DATA/$i.ucxb"
	done
	"$UCXBPF" sweep merge -o all part*
	[ "$(zstdcat all | grep -c '^capture')" = 9 ]
	zstdcat all | LC_ALL=C sort -c
	"$UCXBPF" sweep merge -o a part7 part2
	"$UCXBPF" sweep merge -o b part8 a part0
	"$UCXBPF" sweep merge -o c part1 part3 part4
	"$UCXBPF" sweep merge -o d part6 part5 c b
	cmp all d
	# one alone is itself
	"$UCXBPF" sweep merge -o again all
	cmp all again
	# each folder by itself, which is what the parts are
	for i in allreduce-ring coll isend rma send send-v2 sizes threads types; do
		mkdir "f-$i"
		cp "$DATA/$i.ucxb" "f-$i"
		echo log >"f-$i/log"
	done
	"$UCXBPF" sweep merge -o folders f-*
	cmp all folders
	"$UCXBPF" sweep merge --shard 0/2 -o s%.evidence f-*
	OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "$UCXBPF" sweep merge --shard auto -o s%.evidence f-*
	"$UCXBPF" sweep merge -o sharded s?.evidence
	cmp all sharded
	"$UCXBPF" sweep merge --shard 9/10 -o idle f-*
	"$UCXBPF" sweep merge -o sharded s?.evidence idle
	cmp all sharded
	SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=2 \
		"$UCXBPF" sweep merge --shard auto -o slurm f-*
	cmp slurm s1.evidence
}

@test "a folder that cannot be read whole makes no evidence" {
	[ "$(id -u)" = 0 ] || skip 'needs root, to become somebody else'
	mkdir -p f/closed f/blind
	cp "$DATA/send.ucxb" f
	cp "$DATA/isend.ucxb" f/blind
	chmod 777 .
	merge_as_nobody() {
		ends 5 setpriv --reuid 65534 --regid 65534 --clear-groups "$UCXBPF" sweep merge -o evidence "$@"
		[ ! -e evidence ]
	}
	chmod 0 f/closed
	merge_as_nobody f
	[ "$(cat err)" = 'ucxbpf: error: f/closed: Permission denied' ]
	merge_as_nobody f/closed
	[ "$(cat err)" = 'ucxbpf: error: f/closed: Permission denied' ]
	# its names can be read, but not what they are
	chmod 755 f/closed
	chmod 444 f/blind
	merge_as_nobody f
	[ "$(cat err)" = 'ucxbpf: error: f/blind/isend.ucxb: Permission denied' ]
}

@test "inventories: the first and the last of each node, judged as they are" {
	"$UCXBPF" inventory -o before.json
	"$UCXBPF" inventory -o after.json
	jq '.host = "n0" | .boot_id = "90e4ab1a-02e2-48c2-815d-f575b95f4f6a"' before.json >n0.json
	judged before.json after.json
	judged "$DATA"/hosts.n?.ucxb after.json n0.json before.json
	[ "$(zstdcat evidence | grep -c '^inventory')" = 3 ]
	mkdir apart together
	cp before.json "$DATA/hosts.n0.ucxb" "$DATA/hosts.n1.ucxb" apart
	cp after.json n0.json together
	"$UCXBPF" sweep merge -o merged together apart
	cmp merged evidence
}

@test "the same capture twice is refused by name, whole or in part, in captures or evidence" {
	cp "$DATA/sizes.ucxb" twin.ucxb
	ends 4 "$UCXBPF" check "$DATA/sizes.ucxb" twin.ucxb
	[ "$(cat err)" = "ucxbpf: error: $DATA/sizes.ucxb and twin.ucxb are the same capture, or parts of it: give it once" ]
	head -c 20000 "$DATA/cg.n0.ucxb" >cut.ucxb
	"$UCXBPF" sweep merge -o whole "$DATA/cg.n0.ucxb"
	ends 3 "$UCXBPF" sweep merge -o part cut.ucxb
	ends 4 "$UCXBPF" sweep merge -o both whole part
	grep -q 'capture.n0.*counts it twice' err
	[ ! -e both ]
	ends 4 "$UCXBPF" check whole "$DATA/cg.n0.ucxb"
}

@test "gathered apart, what one node sent and the other received stays unmatched, and is counted" {
	"$UCXBPF" sweep merge -o n0 "$DATA/hosts.n0.ucxb"
	"$UCXBPF" sweep merge -o n1 "$DATA/hosts.n1.ucxb"
	"$UCXBPF" sweep merge -o together "$DATA"/hosts.n?.ucxb
	"$UCXBPF" sweep merge -o apart n0 n1
	count() {
		zstdcat "$1" | awk -F'\t' -v list="$2" '$1 == "reason" && $2 == list { n += $4 } END { print n + 0 }'
	}
	total() {
		zstdcat "$1" | awk -F'\t' -v name="$2" '$1 == "total" && $2 == name { n += $3 } END { print n + 0 }'
	}
	[ "$(total together sends)" = "$(total apart sends)" ]
	[ "$(total together matched)" -gt 0 ]
	[ "$(total apart matched)" = 0 ]
	[ "$(count apart unmatched_sends)" = $(($(count n0 unmatched_sends) + $(count n1 unmatched_sends))) ]
	[ "$(count apart unmatched_sends)" = "$(total apart sends)" ]
	ends 3 "$UCXBPF" check -f json apart
	jq -e '[.findings[] | select(.rule == "COV-04" and .verdict == "unknown") | .subject]
		== ["all captures", "n0", "n1"]' out
}

@test "a policy that cuts sums apart is refused, unless they were gathered with it" {
	cat >site.yaml <<-EOT
		spec: ucxbpf-policy-v1
		expect:
		  - { loc: inter, size: [0, 5000], tl: [tcp] }
	EOT
	"$UCXBPF" sweep merge -o plain "$DATA"/hosts.n?.ucxb
	ends 5 "$UCXBPF" check -P site.yaml plain
	grep -q 'draws a line within a sum of messages' err
	"$UCXBPF" sweep merge -P site.yaml -o own "$DATA"/hosts.n?.ucxb
	ends 2 "$UCXBPF" check -P site.yaml -f json own
	mv out own.json
	ends 2 "$UCXBPF" check -P site.yaml -f json "$DATA"/hosts.n?.ucxb
	cmp out own.json
	"$UCXBPF" sweep merge -o other "$DATA/cg.n0.ucxb"
	ends 4 "$UCXBPF" sweep merge -o both own other
	grep -q 'other sizes' err
}

@test "policies are learnt from evidence as from captures" {
	"$UCXBPF" sweep merge -o evidence "$DATA/sizes.ucxb"
	"$UCXBPF" policy learn evidence >merged.yaml
	"$UCXBPF" policy learn "$DATA/sizes.ucxb" >direct.yaml
	cmp direct.yaml merged.yaml
}

@test "damaged, cut, foreign: said, and nothing is written" {
	"$UCXBPF" sweep merge -o good "$DATA"/hosts.n?.ucxb
	head -c 1000 good >cut
	ends 5 "$UCXBPF" check cut
	grep -Eq 'cut short|damaged' err
	{ head -c 500 good; printf x; tail -c +502 good; } >damaged
	ends 5 "$UCXBPF" sweep merge -o new damaged
	grep -q damaged err
	[ ! -e new ]
	{ zstdcat good; printf 'what\tis\tthis\n'; } | zstd -q >unknown
	ends 5 "$UCXBPF" check unknown
	grep -q 'does not know: what' err
	{ zstdcat good; printf 'cell\ta\n'; } | zstd -q >disorder
	ends 5 "$UCXBPF" check disorder
	ends 4 "$UCXBPF" sweep merge -o "$DATA/send.ucxb" good
	ends 4 "$UCXBPF" sweep merge -o new
	ends 4 "$UCXBPF" sweep merge --shard 2/2 -o new good
	ends 4 "$UCXBPF" sweep mirge
	mkdir empty
	ends 3 "$UCXBPF" sweep merge -o new good empty
	ends 2 "$UCXBPF" check -f json new
	jq -e '.summary.pass == 0' out
}

@test "a pipe or a device is written to, not replaced" {
	"$UCXBPF" sweep merge -o plain "$DATA/coll.ucxb"
	mkfifo pipe
	timeout 20 cat pipe >got &
	"$UCXBPF" sweep merge -o pipe "$DATA/coll.ucxb"
	[ -p pipe ]
	wait $!
	cmp got plain
}
