#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf sweep run --chunk`: a job array of a real Slurm on four nodes, in chunks of two.

load ../lib/live.bash
load ../lib/sweep.bash

setup_file() { live_file_setup; }
teardown_file() { "$BATS_TEST_DIRNAME/../slurm" down; }

setup()
{
	local status=0

	live_setup
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "ucxbpf-traffic-openmpi is not built"
	[ -e "/run/ucxbpf-slurm-$BED" ] || "$TOP/tests/slurm" up 4 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
	sweep_policy 'n[0-3]'
}

slurm() { "$TOP/tests/slurm" enter n0 "$@"; }

halve()
{
	head -c $(($(stat -c %s "$1") / 2)) "$1" >"$WORK/half"
	mv "$WORK/half" "$1"
}

# The whole folder as one, gathered at once, with these options of check.
as_one()
{
	find "$WORK/sweep/parts/" -mindepth 2 \( -path '*/nodes/*.json' -o -name '*.ucxb' -o -name '*.ndjson' \) \
		-exec "$UCXBPF" check "$@" -P "$WORK/site.yaml" -f json "$WORK/sweep/plan.json" {} + || true
}

# Evidence has the number of files that are not whole, not their names.
without_files() { jq '(.findings[] | select(.rule == "COV-01")) |= del(.why)' "$1"; }

@test "chunks of two: a task each, on its nodes; evidence of parts says what all of it says" {
	sweep 0 slurm --chunk 2 --ranks 1
	[ -z "$(sweep_findings)" ]
	[ "$(jq '[.findings[] | select(.rule == "COV-03" and .verdict == "pass")] | length' \
		"$WORK/sweep/report.json")" = 4 ]
	[ "$(jq -r .evidence.captures "$WORK/sweep/report.json")" = 8 ]
	# each pair of a chunk, and one of each other chunk, met
	jq -r '.findings[] | select(.rule == "PATH-12") | .subject' "$WORK/sweep/report.json" >"$WORK/pairs"
	[ "$(wc -l <"$WORK/pairs")" = 4 ]
	grep -qx 'n0<>n1' "$WORK/pairs"
	grep -qx 'n2<>n3' "$WORK/pairs"
	as_one >"$WORK/one.json"
	cmp "$WORK/one.json" "$WORK/sweep/report.json"
	[ -z "$(sweep_left)" ]
	cp -r "$WORK/sweep" "$BATS_FILE_TMPDIR/sound"
	# a capture is cut short: unknown of its node and of that node's pairs
	halve "$WORK/sweep/parts/0/nodes/n1/trace.ucxb"
	"$UCXBPF" sweep merge -P "$WORK/site.yaml" -o "$WORK/sweep/parts/0.evidence" "$WORK/sweep/parts/0" || [ $? = 3 ]
	"$UCXBPF" sweep report --keep "$WORK/sweep" || [ $? = 3 ]
	[ "$(sweep_findings | grep COV-01)" = "unknown COV-01 n1" ]
	[ -z "$(sweep_findings | grep -v -e n1 -e '^unknown COV-04 all captures$')" ]
	as_one >"$WORK/one.json"
	cmp <(without_files "$WORK/one.json") <(without_files "$WORK/sweep/report.json")
	# all that a part has gathered: unknown of its nodes
	halve "$WORK/sweep/parts/0.evidence"
	"$UCXBPF" sweep report --keep "$WORK/sweep" || [ $? = 3 ]
	[ "$(sweep_findings)" = "$(printf 'unknown COV-03 %s\n' n0 n1)" ]
}

@test "a part that is cancelled is unknown of its nodes, whatever else runs waits" {
	local blocker array

	[ -e "$BATS_FILE_TMPDIR/sound" ] || skip "the sweep before failed, which is the baseline"
	blocker=$(slurm sbatch --parsable --exclusive --nodelist=n3 --output=/dev/null --wrap 'sleep 300')
	# what sbatch makes of a % is none of the folder's name
	sweep 0 slurm --chunk 2 --ranks 1 --no-wait --baseline "$BATS_FILE_TMPDIR/sound" -o "$WORK/50%a"
	ln -s "$WORK/50%a" "$WORK/sweep"
	array=$(awk '$1 == "parts" { print $2 }' "$WORK/out")
	slurm scancel "${array}_1"
	slurm scancel "$blocker"
	for _ in $(seq 300); do
		[ -n "$(slurm squeue --noheader)" ] || break
		sleep 0.1
	done
	[ "$(sweep_findings)" = "$(printf 'unknown COV-03 %s\n' n2 n3)" ]
	[ ! -e "$WORK/sweep/parts/1" ]
	[ -s "$WORK/50%a/parts/0.evidence" ]
	[ -e "$WORK/50%a/log/part.0" ]
	# the job that judges has compared with the baseline
	jq -e '[.findings[] | select(.rule == "PERF-05") | .verdict] | index("pass")' "$WORK/sweep/report.json"
	as_one --baseline "$BATS_FILE_TMPDIR/sound" >"$WORK/one.json"
	cmp "$WORK/one.json" "$WORK/sweep/report.json"
}

@test "a heterogeneous allocation: one job over both components, a class each" {
	sed -i 's/classes:.*/classes: { a: { nodes: "n[0-1]" }, b: { nodes: "n[2-3]" } }/' "$WORK/site.yaml"
	sweep_env
	slurm env "${SWEEP_ENV[@]}" salloc -q --nodelist='n[0-1]' --nodes=2 --exclusive : --nodelist='n[2-3]' \
		--nodes=2 --exclusive "$UCXBPF" sweep run -P "$WORK/site.yaml" -o "$WORK/sweep" --variant sample:3 \
		--ranks 1 --max-size 64K --max-count 3 --no-confirm
	[ -z "$(sweep_findings)" ]
	[ "$(head -qn 1 "$WORK"/sweep/ledger/* | jq -c '[.node, .rank, .size]' | sort | tr -d '\n')" = \
		'["n0",0,4]["n1",1,4]["n2",2,4]["n3",3,4]' ]
	[ "$(jq -r '.findings[] | select(.rule == "COV-03" and .verdict == "pass") | .subject' \
		"$WORK/sweep/report.json" | tr '\n' ' ')" = "n0 n1 n2 n3 " ]
	[ -z "$(sweep_left)" ]
}

@test "a node with somebody else's job is left alone, unless it is said" {
	local other

	other=$(slurm sbatch --parsable --ntasks=1 --nodelist=n1 --output=/dev/null --wrap 'sleep 300')
	sweep_env
	run slurm salloc -q --nodelist='n[0-1]' --nodes=2 --ntasks=2 "$UCXBPF" sweep run -P "$WORK/site.yaml" \
		-o "$WORK/sweep"
	slurm scancel "$other"
	[ "$status" = 4 ]
	[[ $output == *"job $other of root runs on n1 as well"* ]]
	[ ! -e "$WORK/sweep" ]
}

@test "a dry run prints what is submitted; a node that Slurm cannot give is in no task" {
	slurm scontrol update NodeName=n1 State=DRAIN Reason=test
	sweep 0 slurm --chunk '2%3' --dry-run
	slurm scontrol update NodeName=n1 State=RESUME
	grep -q 'Slurm cannot give n1: drained' "$WORK/err"
	grep -q '^sbatch --parsable --hold .*--array=0-3%3 --exclusive' "$WORK/out"
	grep -qx 'scontrol update JobId=ARRAY_0 ReqNodeList=n0' "$WORK/out"
	grep -qx 'scontrol update JobId=ARRAY_1 ReqNodeList=n2,n3' "$WORK/out"
	grep -q '^sbatch .*--dependency=afterany:ARRAY .*--step=judge' "$WORK/out"
	[ "$(tail -n 1 "$WORK/out")" = 'scontrol release ARRAY' ]
	[ ! -e "$WORK/sweep" ]
}
