#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# packaging/serve/slurm-*.sh, run by real slurmds around a job of two nodes, each with a service of its own.

load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }

setup()
{
	local status=0 name

	live_setup
	SERVICES=()
	# of the site are its settings, and who else looks at how the epilog ends
	for name in prolog epilog; do
		sed "s|^site=.*|site=$WORK/site|" "$TOP/packaging/serve/slurm-$name.sh" >"$WORK/$name"
	done
	cat >"$WORK/site" <<-EOT
		SUMMARIES=$WORK/lines.\$SLURMD_NODENAME
		INTERVAL=60
		LOG=(tee -a "$WORK/log.\$SLURMD_NODENAME")
	EOT
	cat >"$WORK/timed" <<-EOT
		#!/bin/bash
		SECONDS=0
		bash "$WORK/epilog"
		echo "ended \$? \$SECONDS" >>"$WORK/ended.\$SLURMD_NODENAME"
	EOT
	chmod +x "$WORK/prolog" "$WORK/timed"
	SLURM_MORE=$(printf 'Prolog=%s\nEpilog=%s' "$WORK/prolog" "$WORK/timed") "$TOP/tests/slurm" up 2 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
}

teardown()
{
	stop_services
	"$TOP/tests/slurm" down
}

slurm() { "$TOP/tests/slurm" enter n0 "$@"; }

# start_services: what slurmd starts belongs to its node
start_services()
{
	local node

	for node in n0 n1; do
		"$TOP/tests/slurm" enter $node "$UCXBPF" serve -p "$(cat "/run/ucxbpf-slurm-$BED/slurmd.$node.pid")" --interval 1s \
			--listen 127.0.0.1:9489 --summaries "$WORK/lines.$node" 2>>"$WORK/warnings" 3>&- &
		SERVICES+=($!)
	done
	for node in n0 n1; do
		soon "$TOP/tests/slurm" enter $node curl -sf http://127.0.0.1:9489/metrics
	done
}

stop_services()
{
	[ -z "${SERVICES[*]}" ] || kill -TERM "${SERVICES[@]}"
	[ -z "${SERVICES[*]}" ] || wait "${SERVICES[@]}"
	SERVICES=()
}

# job ID [COMMAND]: two steps on two nodes, with a command between them; their epilogs have ended. By their environment
# the ranks are of another job: they belong to the one whose step daemon started them.
job()
{
	local step="srun --mpi=pmi2 env SLURM_JOB_ID=77 SLURM_STEP_ID=9 $PROGS/mpich/mpi_send"

	job_env_mpich
	slurm env "${JOB_ENV[@]}" UCX_NET_DEVICES=eth0 UCX_TLS=tcp,self sbatch --wait --nodes=2 --ntasks-per-node=1 \
		--output="$WORK/out" --wrap "$step; ${2:-true}; $step"
	cat "$WORK/out"
	soon ended "$1"
	grep -H . "$WORK"/{log,ended,lines}.*
}

ended() { [ "$(cat "$WORK"/ended.n[01] | wc -l)" = $((2 * $1)) ]; }

@test "a job's lines are in each node's log; without the service the job runs all the same" {
	local node

	start_services
	# the first step's line is there long before the job's end, that of the second is waited for
	job 1 "for node in n0 n1; do until grep -q . $WORK/lines.\$node; do sleep 0.1; done; done"
	[ ! -s "$WORK/warnings" ]
	for node in n0 n1; do
		jq -es 'map(.step) == ["0", "1"] and all(.[]; .job == "1" and .ranks == 1 and .sends > 0 and .top == "tcp/eth0")' \
			"$WORK/log.$node"
	done
	stop_services
	job 2
	for node in n0 n1; do
		[ "$(wc -l <"$WORK/log.$node")" = 3 ]
		grep -q '^job 2 begins, and ucxbpf serve does not answer: curl: (7) ' "$WORK/log.$node"
		# neither has waited in vain
		! grep -vE '^ended 0 [1-4]?[0-9]$' "$WORK/ended.$node" || false
	done
	[ "$(slurm sinfo --noheader --states=idle --format=%D)" = 2 ]
}
