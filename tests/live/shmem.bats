# SPDX-License-Identifier: BSD-3-Clause
# OpenSHMEM: each function's calls, and its puts, gets and atomics, as many as the program's ledger has.

load ../lib/live.bash
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

# as_ledger: what the capture has of the functions that the ledgers name. Collectives and locks make operations that
# no ledger knows; every put, get and atomic is in some call.
as_ledger()
{
	local part

	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e '([.loss.dropped[]] | add // 0) == 0' "$WORK/report.json"
	jq -s 'map({ calls, messages })' "$TRUTH"/*.json >"$WORK/ledgers"
	jq -c '[.[].calls[]] | group_by(.name)[] | [.[0].name, (map(.count) | add)]' "$WORK/ledgers" >"$WORK/true.calls"
	jq -c --slurpfile true "$WORK/true.calls" '($true | map(.[0])) as $named |
		[.calls[] | select(.function != "shmem_finalize")] | group_by(.function)[] |
		[.[0].function, (map(.count) | add)]' "$WORK/report.json" >"$WORK/seen.calls"
	jq -c '[.[].messages[]] | group_by(.name)[] | [.[0].name, (map(.count) | add), (map(.bytes) | add)]' \
		"$WORK/ledgers" >"$WORK/true.ops"
	jq -c --slurpfile true "$WORK/true.ops" --slurpfile calls "$WORK/true.calls" \
		'(($calls | map(.[0])) - ($true | map(.[0]))) as $others |
		[.ops[] | select(.op | IN("put", "get", "atomic")) | select(.function | IN($others[]) | not)] |
		group_by(.function)[] | [.[0].function, (map(.count) | add), (map(.bytes) | add)]' \
		"$WORK/report.json" >"$WORK/seen.ops"
	for part in calls ops; do
		[ "$(wc -l <"$WORK/true.$part")" -gt 30 ]
		diff "$WORK/true.$part" "$WORK/seen.$part"
	done
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

@test "with stacks" { from_start shm 1 --stacks; }

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
