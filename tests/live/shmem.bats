# SPDX-License-Identifier: BSD-3-Clause
# OpenSHMEM: each function's calls, and its puts, gets and atomics, as many as the program's ledger has.

load ../lib/live.bash
load ../lib/shmem.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	SHMEM=$PROGS/shmem/shmem_calls
	[ -x "$SHMEM" ] || skip "no OpenSHMEM here"
	export TRUTH=$WORK/truth JOB_EXTRA=OMPI_MCA_spml=ucx JOB_EXPORT=OMPI_MCA_spml
	mkdir "$TRUTH"
}

as_ledger()
{
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -s 'map({ calls, messages })' "$TRUTH"/*.json >"$WORK/ledgers"
	shmem_as_ledger "$WORK/report.json" "$WORK/ledgers" "$WORK"
}

# from_start TRANSPORT CONTEXTS OPTIONS...: the first calls come once the unwind rows of the libraries are read
from_start()
{
	job_command openmpi 2 "$1" n "$SHMEM" 30 "$2" "$WORK/go"
	(soon test -e "$TRUTH/0.ready" -a -e "$TRUTH/1.ready" && sleep 1 && touch "$WORK/go") 3>&- &
	timeout -k 5 60 "$UCXBPF" run -q "${@:3}" -o "$WORK/a.ucxb" -- timeout -k 2 20 "${JOB[@]}" >"$WORK/out" 2>&1 ||
		{ cat "$WORK/out" && false; }
	as_ledger
}

@test "over shm" { from_start shm 1; }

@test "over tcp" {
	nodes_up
	from_start tcp 0
}

# Where puts, gets and atomics are not derived, they have probes like the others.
@test "with all probes" { from_start shm 1 --exact; }

@test "with the ends of calls" { from_start shm 1 --call-ends; }

# The operations of its functions have the stacks of these.
@test "with stacks" {
	from_start shm 1 --stacks
	jq -e '[.stacks[] | select(.function | startswith("shmem_p")) | .end] | length > 2 and all(. == null)' "$WORK/report.json"
}

@test "attached" {
	job_command openmpi 2 shm n "$SHMEM" 300 1 "$WORK/go" late
	timeout -k 5 60 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	job=$!
	soon test -e "$TRUTH/0.ready" -a -e "$TRUTH/1.ready"
	timeout 30 "$UCXBPF" attach -q --ready "$WORK/ready" -o "$WORK/a.ucxb" \
		-p "$(cat "$TRUTH"/*.pid | paste -sd,)" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon test -s "$WORK/ready"
	touch "$WORK/go"
	wait $job
	wait $tracer
	as_ledger
}
