# SPDX-License-Identifier: BSD-3-Clause
# Records that are not stored, for want of room or on purpose: sums are the programs' numbers all the
# same, the share with detail is told, and what is matched is right.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# thinned OPTIONS MPI TRANSPORT PROGRAM...: the programs' ledgers, found again.
thinned()
{
	TRACE_OPTIONS=$1 CHECK_OPTIONS=--thinned matrix "${@:2}"
}

@test "detail in one slice of eight, Open MPI" { thinned "--thin 1/8" openmpi shm mpi_send mpi_isend; }

@test "detail in one slice of eight, MPICH" { thinned "--thin 1/8" mpich shm mpi_send mpi_sizes; }

@test "detail in one slice of eight, bare UCP" { thinned "--thin 1/8" ucp shm ucp_tag ucp_am; }

@test "detail in five slices of eight, over tcp" { thinned "--thin 5/8" openmpi tcp mpi_send; }

# The tracer stops for two seconds, in which rings of 64 KiB fill up.
stopped()
{
	local mpi=$1

	CASE=$WORK/$mpi
	mkdir -p "$CASE/truth"
	TRUTH=$CASE/truth job_command "$mpi" 2 shm n "$PROGS/$mpi/cg" 400 4
	timeout -k 5 60 "$UCXBPF" run -q --ring-size 64 -o "$CASE/job.ucxb" -- \
		timeout -k 2 50 "${JOB[@]}" </dev/null >"$CASE/out" 2>&1 3>&- &
	launched=$!
	sleep 2
	tracer=$(cat "/proc/$launched/task/$launched/children")
	kill -STOP $tracer
	sleep 2
	kill -CONT $tracer
	wait $launched
	REPLAY_OPTIONS=--allow-loss report --thinned || { cat "$CASE/report.json" && false; }
	jq -e '.loss.dropped["ring full"] > 0 and .detail.calls.recorded < .detail.calls.of' "$CASE/report.json"
	status=0
	"$UCXBPF" replay "$CASE/job.ucxb" >/dev/null 2>"$WORK/err" || status=$?
	[ "$status" = 4 ]
	grep -q 'records are not in the captures, [0-9]* of them lost; --allow-loss for status 0' "$WORK/err"
	"$UCXBPF" export -f json --allow-loss "$CASE/job.ucxb" >/dev/null
}

@test "a stopped tracer, small rings: Open MPI" { stopped openmpi; }

@test "a stopped tracer, small rings: MPICH" { stopped mpich; }

@test "the text says which share has detail" {
	TRACE_OPTIONS="--thin 1/16" trace text openmpi shm n "$PROGS/openmpi/mpi_send"
	"$UCXBPF" replay "$CASE/job.ucxb" >"$WORK/text"
	grep -E '^  detail +[0-9.]+ % of calls \(' "$WORK/text"
	grep -E '^  lost +none for want of room' "$WORK/text"
}
