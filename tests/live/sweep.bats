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
	for form in txt json xml prom; do
		[ -s "$WORK/sweep/report.$form" ]
	done
	[ -z "$(sweep_left)" ]
	# the folder of a sweep is of that sweep alone
	! "$UCXBPF" sweep run -w n0 --launcher hosts -o "$WORK/sweep" 2>"$WORK/err"
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
	! sweep_findings | grep -v '^unknown .* n2$'
	[ "$(jq .summary.nodes "$WORK/sweep/report.json")" -ge 2 ]
	sweep_left >"$WORK/left" || true
	[ ! -s "$WORK/left" ]
}

@test "interrupted: what was started ends, and what there is is judged" {
	slurm_up
	sweep_interrupted go --max-size 1K --max-count 100000
	jq -e '.summary.nodes == 2' "$WORK/sweep/report.json"
	[ -s "$WORK/sweep/nodes/n1/after.json" ]
	[ -z "$(sweep_left)" ]
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
