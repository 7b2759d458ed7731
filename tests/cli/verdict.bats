#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The verdict of ucxbpf check in every form, read by each format's own reader, and every exit status.

load ../lib/ends.bash

setup() {
	ends_setup
}

# forms STATUS CHECK'S ARGUMENTS...: all forms of a verdict say the same
forms() {
	local status=$1 form got=0
	shift
	for form in json:json junit:xml openmetrics:om textfile:prom; do
		ends "$status" "$UCXBPF" check -f "${form%:*}" -o "r.${form#*:}" "$@"
	done
	xmllint --noout --schema "$TOP/docs/check.xsd" r.xml
	/usr/bin/python3 "$TOP/tests/cli/verdict.py" "$TOP/docs/check.schema.json" . >said || got=$?
	cat said
	[ "$got" != 77 ] || skip "$(cat said)"
	[ "$got" = 0 ]
}

@test "all forms: a run in order" {
	forms 0 "$DATA/sizes.ucxb"
}

@test "all forms: pairs of nodes that fail, NICs, a policy with a class" {
	cat >site.yaml <<-EOT
		spec: ucxbpf-policy-v1
		site: "a \"b\" <c> & \\\\ d"
		classes: { "c\"l\\\\ass": { nodes: "n[0-1]", nics: [eth0, "eth\"1"] } }
	EOT
	forms 2 -P site.yaml "$DATA"/hosts.n0.ucxb "$DATA"/hosts.n1.ucxb
	jq -e '[.nics[] | select(.device != "eth0") | .sent + .fetched] == [0, 0]' r.json
	jq -e '[.findings[] | select(.rule == "PATH-02" and .verdict == "fail") | .examples[] | .by.node != .with.node]
		== [true, true, true, true, true, true]' r.json
}

@test "of several jobs, how many wait is told in jobs" {
	printf 'spec: ucxbpf-policy-v1\nrules: { WAIT-03: { share: 0.01 } }\n' >site.yaml
	ends 0 "$UCXBPF" check -P site.yaml "$DATA/coll.ucxb" "$DATA/gromacs.ucxb"
	grep -q '^INFO   WAIT-03 .* of 2 jobs ' out
	grep -q '^verdict PASS .* nodes that fail 0 of ' out
}

@test "JSON steers no terminal: DEL, C1, the direction of writing" {
	printf 'spec: ucxbpf-policy-v1\nsite: "a\\x7f\\x9b2J\\u202e"\n' >site.yaml
	"$UCXBPF" check -f json -P site.yaml -o r.json "$DATA/sizes.ucxb"
	! LC_ALL=C grep -qaP '\x7f|\xc2[\x80-\x9f]|\xe2\x80\xae' r.json || false
	jq -e '.site == "a\u007f\u009b2J\u202e"' r.json
}

@test "all forms: incomplete evidence, and a waiver" {
	head -c -100 "$DATA/sizes.ucxb" >cut.ucxb
	forms 3 cut.ucxb
	jq -e '.evidence.complete == false and .summary.pass == 0' r.json
	cat >site.yaml <<-EOT
		spec: ucxbpf-policy-v1
		waive: [ { rule: PATH-03, subject: "*", until: 2099-01-01, reason: "one rank to a container" } ]
	EOT
	forms 0 -P site.yaml "$DATA/allreduce-ring.ucxb"
	jq -e '.summary.waived == 1' r.json
}

# A command that waits for its output's reader gets the signal.
interrupted() {
	local got=0

	rm -f pipe
	mkfifo pipe
	timeout --preserve-status -k 5 -s "$1" 0.3 "$UCXBPF" check -o pipe "$DATA/sizes.ucxb" || got=$?
	[ "$got" = "$2" ]
}

@test "every exit status" {
	local site=$DATA/site
	printf 'spec: ucxbpf-policy-v1\nexpect: [ { loc: inter, tl: [tcp] } ]\n' >site.yaml
	ends 0 "$UCXBPF" check -P site.yaml "$site"/sound.*.ucxb
	grep -q '^verdict PASS .* exit 0$' out
	ends 2 "$UCXBPF" check -P site.yaml "$site"/nocma.*.ucxb
	grep -q '^verdict FAIL .* exit 2$' out
	# what is critical counts, whatever else is unknown
	ends 2 "$UCXBPF" check -P site.yaml "$site"/nocma.n1.*.ucxb
	grep -q '^verdict FAIL  critical 1  warning 0  unknown [1-9]' out
	ends 3 "$UCXBPF" check -P site.yaml "$site"/sound.n0.*.ucxb
	grep -q '^verdict UNKNOWN .* exit 3$' out
	echo 'rules: { PATH-03: { severity: warning } }' >>site.yaml
	ends 1 "$UCXBPF" check -P site.yaml "$site"/nocma.*.ucxb
	grep -q '^verdict PASS, with warnings .* exit 1$' out
	ends 0 "$UCXBPF" check --warn-ok -P site.yaml "$site"/nocma.*.ucxb
	grep -q '^verdict PASS, with warnings .* exit 0$' out
	ends 0 "$UCXBPF" check --warn-ok -f json -P site.yaml "$site"/nocma.*.ucxb
	jq -e '.summary.exit_status == 0' out
	ends 4 "$UCXBPF" check -P missing.yaml "$site"/sound.*.ucxb
	ends 4 "$UCXBPF" check
	ends 5 "$UCXBPF" check missing.ucxb
	ends 5 "$UCXBPF" check -o /dev/full "$DATA/sizes.ucxb"
	interrupted INT 130
	interrupted TERM 143
}

@test "a file has the old verdict or the whole new one" {
	"$UCXBPF" check -f textfile -o node.prom "$DATA/sizes.ucxb"
	cp node.prom before
	ends 5 "$UCXBPF" check -f textfile -o node.prom missing.ucxb
	cmp node.prom before
	# no room for the new one: a limit on the size of files
	got=0
	(ulimit -f 0 && trap '' XFSZ && exec "$UCXBPF" check -f textfile -o node.prom "$DATA/sizes.ucxb" 2>/dev/null) || got=$?
	[ "$got" = 5 ]
	cmp node.prom before
	[ "$(ls node.prom*)" = node.prom ]
}
