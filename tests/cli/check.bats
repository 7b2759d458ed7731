#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf check and ucxbpf policy: what they print, how they end.

load ../lib/ends.bash

setup() {
	ends_setup
	cat >site.yaml <<-EOT
		spec: ucxbpf-policy-v1
		site: "here <&\"> there"
		expect:
		  - { loc: intra, tl: [posix, sysv, cma, tcp] }
		rules:
		  PATH-03: { severity: off }
	EOT
}

# How many rules there are.
rules() {
	"$UCXBPF" policy rules | grep -c '^### '
}

@test "a job within one node passes, one over tcp fails critically" {
	ends 0 "$UCXBPF" check "$DATA/sizes.ucxb"
	grep -q '^verdict PASS ' out
	ends 2 "$UCXBPF" check "$DATA/allreduce-ring.ucxb"
	grep -q '^FAIL C PATH-03 ' out
	grep -q '^verdict FAIL  critical 1 ' out
}

@test "the policy allows tcp" {
	ends 0 "$UCXBPF" check -P site.yaml "$DATA/allreduce-ring.ucxb"
	grep -q "policy sha256:$("$UCXBPF" policy check site.yaml 2>&1 >/dev/null | sed 's/.*sha256:\(.\{12\}\).*/\1/')" out
}

@test "warnings alone exit with 1, or 0 where that is asked for" {
	sed -i 's/PATH-03.*/PATH-03: { severity: warning }/' site.yaml
	ends 1 "$UCXBPF" check -P site.yaml "$DATA/allreduce-ring.ucxb"
	ends 0 "$UCXBPF" check --warn-ok -P site.yaml "$DATA/allreduce-ring.ucxb"
}

@test "a capture that is cut short proves nothing" {
	head -c 20000 "$DATA/allreduce-ring.ucxb" >cut.ucxb
	ends 3 "$UCXBPF" check -v -P site.yaml cut.ucxb
	grep -q '^UNKN   COV-01 .*: [0-9]* records are missing' out
	! grep -q '^pass' out || false
}

@test "an end cut off, or a capture that cannot be read: UNKNOWN, in the text as in the status" {
	head -c -100 "$DATA/sizes.ucxb" >cut.ucxb
	ends 3 "$UCXBPF" check cut.ucxb
	grep -q '^UNKN   COV-01 .* cut.ucxb: the end of the capture was cut off' out
	grep -q '^verdict UNKNOWN .* passed 0 ' out
	: >empty.ucxb
	ends 3 "$UCXBPF" check "$DATA/sizes.ucxb" empty.ucxb
	grep -q '^UNKN   COV-01   all captures  empty.ucxb: cannot be read$' out
	grep -q '^verdict UNKNOWN .* passed 0 ' out
	ends 3 "$UCXBPF" check "$DATA/sizes.ucxb" empty.ucxb none-{1..7}.ucxb
	grep -q '  empty.ucxb, none-1.ucxb, none-2.ucxb and 5 more: cannot be read$' out
}

@test "one node's capture that cannot be read: UNKNOWN of that node, what passes of others does" {
	ends 0 "$UCXBPF" check -P site.yaml "$DATA/allreduce-ring.ucxb"
	passed=$(sed -n 's/.* passed \([0-9]*\) .*/\1/p' out)
	mkdir -p nodes/n9 ledger
	: >nodes/n9/trace.ucxb
	ends 3 "$UCXBPF" check -f json -P site.yaml "$DATA/allreduce-ring.ucxb" nodes/n9/trace.ucxb
	jq -e '[.findings[] | select(.verdict == "unknown") | "\(.rule) \(.subject)"] ==
		["COV-01 n9", "COV-04 all captures", "WAIT-03 job"]' out
	jq -e '.findings[] | select(.rule == "COV-01" and .subject == "n9").why ==
		"nodes/n9/trace.ucxb: cannot be read"' out
	jq -e --argjson passed "$passed" '.summary.pass == $passed - 3 and .evidence.complete == false' out
	# a place that tells no node
	: >ledger/n9.ndjson
	ends 3 "$UCXBPF" check -f json -P site.yaml "$DATA/allreduce-ring.ucxb" ledger/n9.ndjson
	jq -e '.summary.pass == 0' out
}

@test "JSON: the numbers of the text" {
	ends 2 "$UCXBPF" check -f json "$DATA/allreduce-ring.ucxb"
	jq -e '.schema == "ucxbpf.check/1" and .summary.critical == 1 and .summary.exit_status == 2
		and ([.findings[] | select(.verdict == "fail") | .rule] == ["PATH-03"])
		and ([.findings[].rule] | unique | length == '"$(rules)"')' out
	# the ring: 11 rounds of 6 steps, a quarter of 50,021 doubles each, of four ranks
	[ "$(jq '.findings[] | select(.rule == "PATH-03") | .bytes' out)" = $((11 * 6 * 50021 * 8)) ]
}

@test "JUnit: well-formed, and counted as the text counts" {
	ends 2 "$UCXBPF" check -f junit "$DATA/allreduce-ring.ucxb"
	/usr/bin/python3 - "$(rules)" <<-'EOT'
		import sys
		import xml.etree.ElementTree as tree
		suites = tree.parse("out").getroot()
		assert suites.tag == "testsuites" and len(suites) == int(sys.argv[1])
		cases = suites.findall("testsuite/testcase")
		assert len(cases) == sum(int(s.get("tests")) for s in suites)
		assert len(suites.findall("testsuite/testcase/failure")) == 1
		assert sum(int(s.get("failures")) for s in suites) == 1
		assert sum(int(s.get("skipped")) for s in suites) == len(suites.findall("testsuite/testcase/skipped"))
	EOT
}

@test "OpenMetrics: as the format's own parser reads it" {
	/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' || skip "no python3-prometheus-client"
	ends 2 "$UCXBPF" check -f openmetrics "$DATA/allreduce-ring.ucxb"
	/usr/bin/python3 - <<-'EOT'
		from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
		found = {f.name: f for f in read(open("out").read())}
		states = {s.labels["rule"]: s.value for s in found["ucxbpf_rule_state"].samples}
		assert states["PATH-03"] == 2 and states["COV-01"] == 0 and "PATH-04" not in states
		assert found["ucxbpf_events_lost"].samples[0].value == 0
		verdicts = {s.labels["verdict"]: s.value for s in found["ucxbpf_check_findings"].samples}
		assert verdicts["fail"] == 1
	EOT
}

@test "a wrong policy: every line of it, and nothing is judged" {
	printf 'spec: ucxbpf-policy-v1\nsight: x\nrules: { PATH-99: {} }\n' >bad.yaml
	ends 4 "$UCXBPF" check -P bad.yaml "$DATA/sizes.ucxb"
	[ ! -s out ]
	grep -q "bad.yaml:2: policy: no key 'sight'" err
	grep -q "bad.yaml:3: rules: there is no rule 'PATH-99'" err
	ends 4 "$UCXBPF" policy check bad.yaml
	ends 4 "$UCXBPF" check -P missing.yaml "$DATA/sizes.ucxb"
	grep -q 'missing.yaml: no such file$' err
}

@test "a named pipe as a file to read is refused, a shell's pipe is read" {
	local command

	mkfifo pipe
	printf 'spec: ucxbpf-policy-v1\ntopology: { file: pipe }\n' >topology.yaml
	for command in "policy check pipe" "check -P pipe $DATA/sizes.ucxb" "sweep plan --hosts pipe" \
		"sweep plan -P topology.yaml -w a,b"; do
		# shellcheck disable=SC2086
		ends 4 timeout 20 "$UCXBPF" $command
		grep -q 'pipe: is a named pipe, name a file$' err
	done
	ends 0 "$UCXBPF" policy check <(cat site.yaml)
	cat site.yaml | ends 0 "$UCXBPF" check -P /dev/stdin "$DATA/allreduce-ring.ucxb"
}

@test "usage: 4, and what is wrong" {
	ends 4 "$UCXBPF" check
	ends 4 "$UCXBPF" check -f xml "$DATA/sizes.ucxb"
	grep -q 'not text, json, junit, openmetrics, textfile or html' err
	ends 4 "$UCXBPF" policy
	ends 4 "$UCXBPF" policy learn
	ends 4 "$UCXBPF" policy teach
	ends 4 "$UCXBPF" policy rules site.yaml
	ends 4 "$UCXBPF" check site.yaml "$DATA/sizes.ucxb"
	grep -q ' site.yaml: is this a policy? Give it with -P$' err
	ends 5 "$UCXBPF" check "$TOP/README.md"
	for plan in missing "$TOP/README.md" "$DATA/sizes.ucxb"; do
		ends 4 "$UCXBPF" check --plan "$plan" "$DATA/sizes.ucxb"
		[ ! -s out ]
		[ "$(wc -l <err)" = 1 ]
	done
	grep -q 'sizes.ucxb: is not a plan of ucxbpf sweep$' err
	ends 4 "$UCXBPF" check --plan missing "$DATA/sizes.ucxb"
	grep -q ' missing: no such file$' err
	cp "$DATA/sizes.ucxb" a.ucxb
	ends 4 "$UCXBPF" check -o a.ucxb a.ucxb
	ends 5 "$UCXBPF" check -o /dev/full a.ucxb
	grep -q '/dev/full: No space left' err
	cmp a.ucxb "$DATA/sizes.ucxb"
}

@test "the normal form is a policy of the same meaning" {
	"$UCXBPF" policy check site.yaml >one 2>hash
	grep -q 'sha256:[0-9a-f]\{64\}$' hash
	jq -e '.rules["PATH-03"].severity == "off" and .rules["PATH-04"].size == 65536' one
}

@test "docs/rules.md is the catalogue" {
	"$UCXBPF" policy rules | diff "$TOP/docs/rules.md" -
}

@test "two hosts, a capture of each: pairs, and both directions alike" {
	ends 2 "$UCXBPF" check -f json "$DATA"/hosts.n0.ucxb "$DATA"/hosts.n1.ucxb
	[ "$(jq -r '.findings[] | select(.verdict == "fail" and .severity != "info") | "\(.rule) \(.subject)"' out)" = \
		$'PATH-02 n0>n1\nPATH-02 n1>n0' ]
	sed -i 's/loc: intra, tl: .*/loc: inter, tl: [tcp] }/' site.yaml
	ends 0 "$UCXBPF" check -v -P site.yaml "$DATA"/hosts.n1.ucxb "$DATA"/hosts.n0.ucxb
	grep -q '^pass   PATH-01  n0>n1,n1>n0 ' out
	grep -q '^pass   PATH-12  n.<>n. ' out
	# one of them alone: the messages' other ends are missing
	ends 3 "$UCXBPF" check -P site.yaml "$DATA"/hosts.n0.ucxb
	grep -q '^UNKN   COV-04 ' out
}

@test "nodes that the policy does not name are told" {
	ends 0 "$UCXBPF" check -P site.yaml "$DATA/sizes.ucxb"
	! grep '^no class' out || false
	echo 'classes: { compute: { nodes: "cn[01-16]" } }' >>site.yaml
	ends 0 "$UCXBPF" check -P site.yaml "$DATA/sizes.ucxb"
	grep -Eqx "no class  [a-z0-9]+: in none of the policy's classes" out
	# and no rule about classes passes for them
	ends 0 "$UCXBPF" check -f json -P site.yaml "$DATA/sizes.ucxb"
	[ "$(jq -r '.findings[] | select(.rule == "CFG-01" and .subject == "vm") | "\(.verdict) \(.why)"' out)" = \
		"skip in none of the policy's classes" ]
	sed -i 's/cn.01-16./vm/' site.yaml
	ends 0 "$UCXBPF" check -f json -P site.yaml "$DATA/sizes.ucxb"
	jq -e '.findings[] | select(.rule == "CFG-01" and .subject == "vm").verdict == "pass"' out
}

@test "nodes whose times no rule judges are told" {
	local sweep=$DATA/node-sweep/none-rails why='n[0-2] are one machine: their times show nothing about a network'

	ends 0 "$UCXBPF" check -P "$sweep/policy.yaml" "$sweep/evidence"
	grep -Fx "no times  $why: 6 rules skip them" out
	ends 0 "$UCXBPF" check -f json -P "$sweep/policy.yaml" "$sweep/evidence"
	[ "$(jq --arg why "$why" '[.findings[] | select(.why == $why) | .rule] | unique | length' out)" = 6 ]
	# told to judge them all the same
	sed '/^rules:/s/{/{ PERF-03: { one_machine: true },/' "$sweep/policy.yaml" >all.yaml
	"$UCXBPF" check -P all.yaml "$sweep/evidence" >out || true
	grep -F "$why: 5 rules skip them" out
}

@test "an inventory of another boot is no inventory of the traced node" {
	boot=$("$UCXBPF" replay --json "$DATA/hosts.n0.ucxb" | jq -r '.hosts[0].boot_id')
	"$UCXBPF" inventory -o this.json
	jq --arg boot "$boot" '.host = "n0" | .boot_id = $boot' this.json >n0.json
	jq '.host = "n0" | .boot_id = "another"' this.json >before.json
	"$UCXBPF" check "$DATA"/hosts.n?.ucxb before.json >out || true
	grep -Eq '^UNKN +RAIL-05 +n0 +its inventory is of another boot than its capture$' out
	grep -Eq '^UNKN +RAIL-05 +n1 +no inventory of this node was given$' out
	# counters begin anew with each boot
	"$UCXBPF" check -v "$DATA"/hosts.n?.ucxb before.json n0.json >out || true
	grep -Eq '^skip +FAB-04 +all captures +needs an inventory from before and one from after the job, of one boot$' out
	"$UCXBPF" check -v "$DATA"/hosts.n?.ucxb n0.json >out || true
	grep -Eq '^skip +FAB-04 +all captures +needs an inventory from before and one from after the job$' out
}

@test "what was learnt from a run, that run passes" {
	ends 0 "$UCXBPF" policy learn "$DATA/sizes.ucxb"
	# 1 MiB and 8 MiB, eight times each: tests/progs/mpi_sizes.c
	grep -q '^  - { loc: intra, mem: host-host, size: .1M, inf., tl: .cma., min_share: 0.99 } # learnt from 16 transfers, 75497472 B' out
	ends 0 "$UCXBPF" policy learn -o learnt.yaml --from "$DATA/sizes.ucxb" "$DATA/coll.ucxb"
	ends 0 "$UCXBPF" check -v -P learnt.yaml "$DATA/sizes.ucxb" "$DATA/coll.ucxb"
	grep -q '^pass   PATH-01 ' out
	! grep -q '^FAIL' out || false
}

@test "a fault that is everywhere is not learnt" {
	ends 0 "$UCXBPF" policy learn "$DATA/hosts.n0.ucxb" "$DATA/hosts.n1.ucxb"
	cp out learnt.yaml
	grep -q '^  # not learnt, PATH-02 refuses it: inter, host-host, .1M, inf. over tcp' learnt.yaml
	ends 2 "$UCXBPF" check -P learnt.yaml "$DATA/hosts.n0.ucxb" "$DATA/hosts.n1.ucxb"
	ends 0 "$UCXBPF" policy learn "$DATA/allreduce-ring.ucxb"
	grep -q '^  # not learnt, PATH-03 refuses it: intra' out
}

@test "nothing is learnt from half a capture" {
	head -c 20000 "$DATA/allreduce-ring.ucxb" >cut.ucxb
	echo before >kept.yaml
	ends 3 "$UCXBPF" policy learn -o kept.yaml cut.ucxb
	grep -q 'nothing is learnt where a capture is incomplete' err
	[ "$(cat kept.yaml)" = before ]
	ends 3 "$UCXBPF" policy learn cut.ucxb
	[ ! -s out ]
}

# Two H200 of one node, each way that UCX may take between them: tests/data/gpu
@test "staging and dst_copy: through which memory messages went" {
	gpu=$DATA/gpu
	printf '%s\n' 'spec: ucxbpf-policy-v1' 'expect:' \
		'  - { loc: intra, mem: cuda-cuda, size: [64K, inf], staging: none }' \
		'  - { loc: intra, mem: cuda-cuda, size: [0, 64K], dst_copy: cuda_copy }' >direct.yaml
	for version in 1.13.1-v1 1.18.1-v2; do
		ends 2 "$UCXBPF" check -f json -P direct.yaml "$gpu/pairs-plain-peer-$version-staged-static-start/job.ucxb"
		[ "$(jq -r '.findings[] | select(.rule == "PATH-01") | .verdict + " " + (.expected | .[-8:])' out)" = \
			$'pass (line 4)\nfail (line 3)' ]
		jq -e '.findings[] | select(.rule == "PATH-01" and .verdict == "fail") |
			.seen == "gpu0,pinned,gpu1 over cuda_copy,cuda_copy"' out
	done
	for run in 1.13.1-v1-ipc-dynamic 1.18.1-v2-ipc-static; do
		"$UCXBPF" check -f json -P direct.yaml "$gpu/pairs-plain-peer-$run-start/job.ucxb" >out || true
		[ "$(jq -r '.findings[] | select(.rule == "PATH-01") | .verdict' out)" = $'pass\npass' ]
	done
	sed -e 's/staging: none/staging: host/' -e 's/dst_copy: cuda_copy/dst_copy: gdr_copy/' direct.yaml >other.yaml
	"$UCXBPF" check -f json -P other.yaml "$gpu/pairs-plain-peer-1.13.1-v1-ipc-dynamic-start/job.ucxb" >out || true
	[ "$(jq -r '.findings[] | select(.rule == "PATH-01") | .verdict' out)" = $'fail\nfail' ]
}

# rule_of RULE CAPTURE...: verdict and what was seen
rule_of()
{
	local rule=$1

	shift
	"$UCXBPF" check -f json "$@" >out || true
	jq -r --arg rule "$rule" '.findings[] | select(.rule == $rule) | "\(.verdict) \(.subject) \(.seen // .why // "")"' out
}

@test "PATH-04, PATH-06: GPU messages by the way they took, of H200s" {
	gpu=$DATA/gpu
	[ "$(rule_of PATH-04 "$gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb")" = "pass vm " ]
	[ "$(rule_of PATH-06 "$gpu/halo-ring-1.18.1-v2-ipc-static-start/job.ucxb")" = "pass vm " ]
	[ "$(rule_of PATH-04 "$gpu/pairs-plain-peer-1.13.1-v1-ipc-dynamic-start/job.ucxb")" = "pass vm " ]
	# the same programs without cuda_ipc: through the host's memory
	[ "$(rule_of PATH-04 "$gpu/halo-ring-1.18.1-v2-staged-static-start/job.ucxb")" = \
		"fail vm gpu0,pinned,gpu1 over cuda_copy,cuda_copy" ]
	[ "$(rule_of PATH-04 "$gpu/pairs-plain-peer-1.13.1-v1-staged-static-start/job.ucxb")" = \
		"fail vm gpu0,pinned,gpu1 over cuda_copy,cuda_copy" ]
	# no GDRCopy on that machine
	[ "$(rule_of PATH-06 "$gpu/pairs-plain-peer-1.18.1-v2-ipc-static-start/job.ucxb")" = \
		"fail vm gpu0,host,host,gpu1 over cuda_copy,posix,cuda_copy" ]
	[ "$(rule_of PATH-04 "$gpu/pairs-pool-peer-1.18.1-v2-ipc-dynamic-start/job.ucxb")" = "pass vm " ]
}

# Two nodes made of namespaces on a machine with two H200, a GPU each, over TCP
@test "PATH-07: GPU messages between nodes go through the host's memory" {
	for version in 1.13.1-v1 1.18.1-v2; do
		run rule_of PATH-07 "$DATA/gpu-nodes/$version.n0.ucxb" "$DATA/gpu-nodes/$version.n1.ucxb"
		[ "${#lines[@]}" = 2 ]
		[ "${lines[0]}" = "fail n0>n1 gpu0,pinned,pinned,gpu1 over cuda_copy,tcp,cuda_copy" ]
		[[ ${lines[1]} = "fail n1>n0 gpu1,pinned,"* ]]
	done
}

# judged STATUS NAME [OPTION...]: a sweep of four H200
judged()
{
	local folder=$DATA/gpu-sweep/$2 ledgers=()

	[ ! -d "$folder/ledger" ] || ledgers=(--plan "$folder/plan.json" "$folder"/ledger/*)
	ends "$1" "$UCXBPF" check "${@:3}" -P "$folder/policy.yaml" "$folder/evidence" "${ledgers[@]}"
}

# swept STATUS NAME: what is not in order in it
swept()
{
	judged "$1" "$2" -f json
	jq -r '.findings[] | select(.verdict != "pass" and .verdict != "skip") |
		"\(.verdict) \(.rule) \(.subject) \(.seen)"' out
}

@test "sweeps of four H200: sound, without cuda_ipc, all ranks on one GPU" {
	[ -z "$(swept 0 sound)" ]
	[ "$(swept 2 no-cuda-ipc)" = "fail PATH-04 vm gpu0,pinned,gpu1 over cuda_copy,cuda_copy" ]
	swept 2 one-gpu-for-all | grep -qx "fail COV-03 vm 4 ranks used 1 of the node's 4 GPUs"
}

# ways STATUS NAME: verdicts of PERF-05 on the ways of the sound sweep, with that one as the baseline
ways()
{
	local sound=$DATA/gpu-sweep/sound

	ends "$1" "$UCXBPF" check -f json -P "$sound/policy.yaml" --baseline "$DATA/gpu-sweep/$2/evidence" \
		"$sound/evidence" --plan "$sound/plan.json" "$sound"/ledger/*
	jq -r '.findings[] | select(.rule == "PERF-05") | "\(.verdict) \(.subject) \(.seen)"' out
}

@test "PERF-05: ways of an earlier sweep: the same, and before cuda_ipc was there" {
	ways 0 sound >said
	[ "$(grep -c '^pass way of intra.cuda-cuda.[0-9]* null$' said)" = 6 ]
	! grep '^fail' said || false
	ways 1 no-cuda-ipc >said
	grep -q '^fail way of intra.host-host.1024 posix/memory egr/single/bcopy$' said
	grep -q '^fail way of intra.host-host.4194304 cma/memory rndv/get/zcopy$' said
}

# libuct_cuda needs libcudart, which the loader did not find: a rank died when it was sent the first byte for a GPU
@test "a module of UCX that does not load is the cause: four H200, UCX 1.13.1" {
	swept 2 no-cuda-runtime | sort | cut -d " " -f 1-3 >said
	printf '%s\n' "fail COV-03 vm" "fail PATH-10 vm" "unknown COV-04 all" | diff - said
	[ "$(jq -r '.findings[] | select(.rule == "PATH-10") | .cause' out)" = \
		"libuct_cuda.so.0 of UCX 1.13.1 does not load on vm: libcudart.so.12 is not found" ]
	[ "$(jq '[.findings[] | select(.cause)] | length' out)" = 1 ]
	# what was found leaves nothing to be guessed
	jq -e '.findings[] | select(.rule == "PATH-10") | .causes == [.cause]' out
	jq -e '.findings[] | select(.rule == "COV-03") | .cause == null and (.causes | length) > 1' out
	judged 2 no-cuda-runtime -v
	sed -n '/^FAIL C PATH-10/,/do:/p' out >found
	grep -q 'libuct_cuda.so.0 of UCX 1.13.1 does not load on vm' found
	! grep -Eq 'likely:|stale entry' found || false
	grep -Eq '^ +likely: +a rank was not started$' out
	judged 2 no-cuda-runtime -f junit
	grep -q 'libuct_cuda.so.0 of UCX 1.13.1 does not load on vm' out
	! grep -q 'stale entry' out || false
	# there it loads
	swept 0 sound
	[ "$(jq '[.findings[] | select(.cause)] | length' out)" = 0 ]
}
