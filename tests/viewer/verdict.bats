#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The page of a verdict in a real browser shows what its JSON says; nothing is complained of or fetched.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	[ -x /usr/bin/chromium ] || skip "no chromium"
	command -v node >/dev/null || skip "no node"
	[ -d "$TOP/user/show/viewer/node_modules/playwright-core" ] || skip "no playwright-core: make"
	cd "$BATS_TEST_TMPDIR"
	cat >site.yaml <<-'EOT'
		spec: ucxbpf-policy-v1
		site: "</script><script>alert(1)</script>"
		classes: { c: { nodes: "n[0-1]", nics: [eth0, "<b>eth1"] } }
		expect: [ { loc: inter, tl: [tcp] } ]
		act: { max_drain: { nodes: 1, share: 0.5 } }
	EOT
}

# verdict NAME CAPTURE...: the page and the JSON of one verdict
verdict() {
	"$UCXBPF" check -P site.yaml -f json -o "$1.json" "${@:2}" || true
	"$UCXBPF" check -P site.yaml -f html -o "$1.html" "${@:2}" || true
}

@test "numbers, filters, evidence by key, nodes and rules, NICs, proposals" {
	verdict fails "$DATA"/site/nocma.*.ucxb
	[ "$(jq '.actions.drain | length' fails.json)" = 2 ]
	echo 'waive: [ { rule: PATH-03, subject: n1, until: 2099-01-01, reason: "known" } ]' >>site.yaml
	verdict halved "$DATA"/site/nocma.n1.*.ucxb
	jq -e '.summary.waived == 1 and .summary.unknown > 0' halved.json
	HOME=$BATS_TEST_TMPDIR timeout --kill-after=5 60 node "$BATS_TEST_DIRNAME/verdict.mjs" check fails.html halved.html
}

@test "axe finds nothing against it, light or dark; on paper there are no filters" {
	verdict fails "$DATA"/site/nocma.*.ucxb
	HOME=$BATS_TEST_TMPDIR timeout --kill-after=5 60 node "$BATS_TEST_DIRNAME/check.mjs" verdict fails.html
}
