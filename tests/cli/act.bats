#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Nodes proposed to be drained, and drained. But for the last test scontrol is a stand-in in PATH that
# records its arguments, and sinfo one that knows of no reason; the last one asks a real slurmctld.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	SITE=$TOP/tests/data/site
	cd "$BATS_TEST_TMPDIR"
	mkdir bin
	cat >bin/scontrol <<-'EOT'
		#!/bin/sh
		printf '%s\n' "$#" "$@" >>called
		exit "${SCONTROL_STATUS:-0}"
	EOT
	printf '#!/bin/sh\necho "n1|idle|none"\n' >bin/sinfo
	chmod +x bin/scontrol bin/sinfo
	policy 'max_drain: { nodes: 1, share: 0.5 }'
}

policy() {
	cat >site.yaml <<-EOT
		spec: ucxbpf-policy-v1
		classes: { c: { nodes: "n[0-1]" } }
		expect: [ { loc: inter, tl: [tcp] } ]
		act: { $1, reason_prefix: "[node_problem] it's \$(touch here) \"x\"" }
	EOT
}

# check STATUS ARGUMENTS...: with the stand-in
check() {
	local want=$1 got=0
	shift
	PATH=$PWD/bin:$PATH "$UCXBPF" check -P site.yaml "$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got, not $want: $*"
		cat out err
		return 1
	}
}

REASON='[node_problem] it_s _(touch here) _x_ PATH-03'

@test "a node that fails by itself is proposed; nothing is done" {
	check 2 "$SITE"/nocma.*.ucxb
	grep -Fx "propose   scontrol update NodeName=n1 State=DRAIN Reason=\"$REASON\"" out
	[ ! -e called ]
	check 2 -f json "$SITE"/nocma.*.ucxb
	jq -e --arg reason "$REASON" '.actions == {drain: [{nodes: "n1", count: 1, reason: $reason, command:
		["scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=" + $reason]}],
		refused: [], nodes: 1, most: 1, allowed: true}' out
}

@test "--apply: those words and no shell" {
	check 2 --apply "$SITE"/nocma.*.ucxb
	diff called - <<-EOT
		4
		update
		NodeName=n1
		State=DRAIN
		Reason=$REASON
	EOT
	[ ! -e here ]
	grep -q 'drained n1' err
}

@test "--apply where all is well, or only warned of" {
	check 0 --apply "$SITE"/sound.*.ucxb
	echo 'rules: { PATH-03: { severity: warning } }' >>site.yaml
	check 1 --apply "$SITE"/nocma.*.ucxb
	[ ! -e called ]
}

@test "too many nodes, by number or by share: nothing is done, and the status tells" {
	policy 'max_drain: { nodes: 0, share: 1 }'
	check 5 --apply "$SITE"/nocma.*.ucxb
	grep -q 'nothing is drained: 1 nodes are more than the 0' err
	grep -q '^too many ' out
	grep -q '^FAIL C PATH-03  n1 ' out
	policy 'max_drain: { nodes: 10, share: 0.49 }'
	check 5 --apply "$SITE"/nocma.*.ucxb
	check 2 "$SITE"/nocma.*.ucxb
	[ ! -e called ]
}

@test "never, by the policy; no policy, no drain" {
	policy 'drain: never, max_drain: { nodes: 10, share: 1 }'
	check 2 --apply "$SITE"/nocma.*.ucxb
	! grep -q scontrol out || false
	PATH=$PWD/bin:$PATH "$UCXBPF" check --apply "$SITE"/nocma.*.ucxb >out || [ $? = 2 ]
	! grep -q scontrol out || false
	sed -i 's/n\[0-1\]/n0/; s/drain: never, //' site.yaml
	check 2 --apply "$SITE"/nocma.*.ucxb
	grep -q "^no drain  n1: in none of the policy's classes" out
	[ ! -e called ]
}

@test "incomplete evidence drains nobody" {
	head -c -100 "$SITE/nocma.n0.1.ucxb" >cut.ucxb
	check 2 --apply "$SITE"/nocma.n1.*.ucxb "$SITE/nocma.n0.0.ucxb" cut.ucxb
	grep -q '^no drain  n1: the evidence is incomplete' out
	# a rank's capture is missing
	check 2 --apply "$SITE"/nocma.n1.*.ucxb "$SITE/nocma.n0.0.ucxb"
	grep -q '^no drain  n1: its evidence is incomplete' out
	[ ! -e called ]
}

@test "scontrol that fails, or is not there" {
	export SCONTROL_STATUS=3
	check 5 --apply "$SITE"/nocma.*.ucxb
	grep -q 'scontrol update NodeName=n1: failed' err

	printf '#!/bin/sh\nexit 1\n' >bin/sinfo
	SCONTROL_STATUS=0 check 5 --apply "$SITE"/nocma.*.ucxb
	grep -q '^ucxbpf: error: sinfo --noheader --Node: failed' err
	printf '#!/bin/sh\necho "n1|idle|none"\n' >bin/sinfo
	rm bin/scontrol
	got=0
	PATH=$PWD/bin "$UCXBPF" check -P site.yaml --apply "$SITE"/nocma.*.ucxb >out 2>err || got=$?
	[ "$got" = 5 ]
	grep -q 'scontrol: No such file or directory: is it in PATH' err
}

@test "what sinfo prints besides is no node: a warning, another node, ALL; one that it does not name stays" {
	printf '#!/bin/sh\nprintf "%%s\\n" "sinfo: a warning" ALL "ALL|idle|none" "n0|idle|none" n1 "n1|idle|none" "n1|idle|none"\n' >bin/sinfo
	check 2 --apply "$SITE"/nocma.*.ucxb
	[ "$(grep NodeName called)" = NodeName=n1 ]
	rm called
	printf '#!/bin/sh\necho ALL\n' >bin/sinfo
	check 5 --apply "$SITE"/nocma.*.ucxb
	grep -q '^ucxbpf: error: sinfo does not have the state of n1: it is not drained$' err
	[ ! -e called ]
}

@test "a real slurmctld drains that node for that reason, unless it has one already" {
	export BED=d$((BASHPID % 100000))
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$TOP/tests/slurm" up 2 >up.log 2>&1 || { [ $? = 77 ] && skip "$(tail -n 1 up.log)"; }
	got=0
	"$TOP/tests/slurm" enter n0 scontrol update NodeName=n1 State=DRAIN Reason='disk is full'
	"$TOP/tests/slurm" enter n0 "$UCXBPF" check -P "$PWD/site.yaml" --apply "$SITE"/nocma.*.ucxb 2>before || true
	"$TOP/tests/slurm" enter n0 scontrol show node -o n1 >kept
	"$TOP/tests/slurm" enter n0 scontrol update NodeName=n1 State=RESUME
	"$TOP/tests/slurm" enter n0 "$UCXBPF" check -P "$PWD/site.yaml" --apply "$SITE"/nocma.*.ucxb >out 2>err || got=$?
	"$TOP/tests/slurm" enter n0 scontrol show node -o n0 >n0
	"$TOP/tests/slurm" enter n0 scontrol show node -o n1 >n1
	"$TOP/tests/slurm" down
	grep -q 'n1 is already drained, and stays unchanged: disk is full' before
	grep -Fq 'Reason=disk is full [' kept
	[ "$got" = 2 ]
	grep -q 'State=[A-Z+]*DRAIN' n1
	grep -Fq "Reason=$REASON [" n1
	! grep -q 'State=[A-Z+]*DRAIN' n0 || false
}
