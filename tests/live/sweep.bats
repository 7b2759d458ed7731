#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ucxbpf sweep run` on two nodes: under Slurm and on a list of hosts, with both MPIs; what is missing, what
# is interrupted, and that nothing stays behind.

load ../lib/live.bash
load ../lib/sweep.bash

setup_file() { live_file_setup; }
teardown_file() { "$BATS_TEST_DIRNAME/../slurm" down; }

setup()
{
	live_setup
	for mpi in openmpi mpich; do
		[ -x "$BUILD/ucxbpf-traffic-$mpi" ] || skip "ucxbpf-traffic-$mpi is not built"
	done
	sweep_policy 'n[0-1]'
}

slurm_up()
{
	local status=0

	[ -e "/run/ucxbpf-slurm-$BED" ] || "$TOP/tests/slurm" up 2 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
}

@test "Slurm, Open MPI: nodes in order" {
	slurm_up
	sweep 0 slurm
	[ -z "$(sweep_findings)" ]
	[ "$(jq .summary.nodes "$WORK/sweep/report.json")" = 2 ]
	cmp "$WORK/sweep/policy.yaml" "$WORK/site.yaml"
	jq -e '[.findings[] | select(.rule == "PERF-01")] | length == 1 and .[0].verdict == "skip" and
		(.[0].why | startswith("n[0-1] are one machine"))' "$WORK/sweep/report.json"
	for form in txt json xml prom; do
		[ -s "$WORK/sweep/report.$form" ]
	done
	[ -z "$(sweep_left)" ]
	# the folder of a sweep is of that sweep alone
	! "$UCXBPF" sweep run -w n0 --launcher hosts -o "$WORK/sweep" 2>"$WORK/err" || false
	grep -q 'give another folder' "$WORK/err"
	# and judged again without any node
	"$UCXBPF" sweep report -f json "$WORK/sweep" | jq -e '.summary.nodes == 2'
}

@test "a list of hosts, MPICH: nodes in order" {
	slurm_up
	sweep 0 hosts --mpi mpich --ranks 1
	[ -z "$(sweep_findings)" ]
	[ "$(jq .summary.nodes "$WORK/sweep/report.json")" = 2 ]
	[ -z "$(sweep_left)" ]
}

@test "a node that cannot be reached is unknown, its partner is not to blame" {
	slurm_up
	sweep_policy 'n[0-2]'
	sweep 3 hosts --ranks 1
	grep -q 'n2: no inventory; .*/log/n2: ' "$WORK/err"
	! sweep_findings | grep -v '^unknown .* n2$' || false
	[ "$(jq .summary.nodes "$WORK/sweep/report.json")" -ge 2 ]
	sweep_left >"$WORK/left" || true
	[ ! -s "$WORK/left" ]
}

@test "where no rank comes up nothing is sent, nor waited for" {
	slurm_up
	printf '#!/bin/sh\nexec sleep 1000\n' >"$WORK/traffic"
	chmod +x "$WORK/traffic"
	sweep 5 hosts --ranks 1 --traffic "$WORK/traffic" --answer 5 --limit 600
	[ ! -e "$WORK/sweep/go" ]
	grep -q 'n1: no rank of the traffic started there' "$WORK/err"
	tail -n 1 "$WORK/err" | grep -qx 'ucxbpf: error: nothing was traced on any node: there is nothing to judge'
	! grep -q 'did not end within' "$WORK/err" || false
	[ -z "$(sweep_left)" ]
}

@test "interrupted: what was started ends, and what there is is judged" {
	slurm_up
	sweep_interrupted go --max-size 1K --max-count 100000
	jq -e '.summary.nodes == 2' "$WORK/sweep/report.json"
	[ -s "$WORK/sweep/nodes/n1/after.json" ]
	[ -z "$(sweep_left)" ]
}

# The process of a sweep, not salloc's or a node's.
sweep_pid()
{
	local process

	for process in /proc/[0-9]*; do
		[ "$process/exe" -ef "$UCXBPF" ] || continue
		! tr '\0' ' ' <"$process/cmdline" | grep -qF "sweep run -P $WORK/site.yaml" || echo "${process#/proc/}"
	done 2>/dev/null
}

@test "interrupted while the verdict is printed, in one's own allocation: it is all there, and the status says so" {
	local held drain job status=0

	slurm_up
	sweep_env
	# a pipe that is full: who prints waits
	mkfifo "$WORK/pipe"
	exec {held}<>"$WORK/pipe"
	dd if=/dev/zero bs=4096 count=16 status=none >&"$held"
	"$TOP/tests/slurm" enter n0 env "${SWEEP_ENV[@]}" salloc -q --nodelist='n[0-1]' --nodes=2 --exclusive "$UCXBPF" \
		sweep run -P "$WORK/site.yaml" -o "$WORK/sweep" --variant sample:1 --max-size 1K --max-count 3 --ranks 1 \
		--no-confirm </dev/null >"$WORK/pipe" 2>"$WORK/err" 3>&- {held}<&- &
	job=$!
	for _ in $(seq 600); do
		[ ! -e "$WORK/sweep/report.html" ] || break
		sleep 0.05
	done
	kill -TERM "$(sweep_pid)"
	exec {drain}<"$WORK/pipe" {held}<&-
	tr -d '\0' <&"$drain" >"$WORK/out"
	wait "$job" || status=$?
	[ "$status" = 143 ]
	tail -n 1 "$WORK/out" | grep -q '^verdict PASS '
}

@test "a dry run says what would be started, and starts and writes nothing" {
	"$UCXBPF" sweep run -w 'n[0-1],m7' --launcher hosts --rsh "ssh -q" --mpirun mpirun -o "$WORK/sweep" --dry-run \
		>"$WORK/out"
	[ "$(wc -l <"$WORK/out")" = 4 ]
	grep -qF "ssh -q m7 '$UCXBPF sweep node $WORK/sweep/nodes/m7'" "$WORK/out"
	grep -qF "mpirun --mca plm rsh" "$WORK/out"
	env -u SLURM_JOB_ID "$UCXBPF" sweep run -w 'n[0-1]' -o "$WORK/sweep" --dry-run >"$WORK/out"
	grep -q "^salloc .*--exclusive --nodes=2 --nodelist=n0,n1 .* sweep run" "$WORK/out"
	grep -q "^srun --overlap .*--nodelist=n1 " "$WORK/out"
	[ ! -e "$WORK/sweep" ]
}

@test "a dry run says that nodes may be looked at once more, where there are enough to tell" {
	sweep_policy 'n[0-3]'
	dry=("$UCXBPF" sweep run -P "$WORK/site.yaml" --launcher hosts --mpirun mpirun -o "$WORK/sweep" --dry-run)
	"${dry[@]}" | grep -q '^# if nodes or pairs are slow (PERF-01, PERF-02): .*/sweep/confirm; not with --no-confirm'
	[ "$("${dry[@]}" | wc -l)" = 6 ]
	[ "$("${dry[@]}" --no-confirm | wc -l)" = 5 ]
	# three nodes cannot tell
	[ "$("${dry[@]}" -w 'n[0-2]' | wc -l)" = 4 ]
}
