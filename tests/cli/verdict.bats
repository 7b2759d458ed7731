#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The verdict of ucxbpf check in every form, read by each format's own reader, and every exit status.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR"
}

# ends STATUS COMMAND...
ends() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ "$got" = "$want" ] || {
		echo "status $got, not $want: $*"
		cat out err
		return 1
	}
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
