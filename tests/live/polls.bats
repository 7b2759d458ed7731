# SPDX-License-Identifier: BSD-3-Clause
# Loops of MPI_Test, MPI_Iprobe and the like: each of 100,000 polls and more is counted, in few records.

load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

POLLS=2500 # in vain for each of 42 messages: 105,000

# polls MPI TRANSPORT PROTO [THREADS]: all is as in the ledger
polls()
{
	one_case 0 mpi_polls "$1" "$2" "$3" "$PROGS/$1/mpi_polls" $((POLLS / ${4:-1})) "${4:-1}"
	made >"$CASE/made"
	[ "$(cat "$CASE/made")" -gt 100000 ]
}

made() { jq -s '[.[].calls[] | select(.name | test("Test|probe|status")) | .count] | add' "$CASE"/truth/[01].json; }

# few DIVISOR: there is a record for so many polls at least
few() { [ $(($(jq .loss.stored "$CASE/report.json") * $1)) -lt "$(cat "$CASE/made")" ]; }

@test "by Open MPI" {
	polls openmpi shm n
	few 20
}

@test "by MPICH" {
	polls mpich shm y
	few 20
}

@test "with every probe in place" {
	for mpi in openmpi mpich; do
		TRACE_OPTIONS=--exact polls $mpi shm n
		few 20
	done
}

@test "with --count" {
	for mpi in openmpi mpich; do
		TRACE_OPTIONS=--count CHECK_OPTIONS=--count polls $mpi shm n
	done
}

@test "in several threads" {
	for mpi in openmpi mpich; do polls $mpi shm n 3; done
}

@test "over tcp" {
	nodes_up
	polls openmpi tcp n
	few 20
}

@test "with the ends of calls" {
	TRACE_OPTIONS=--call-ends polls openmpi shm n
	few 10
	jq -e 'all(.calls[] | select(.function | test("Test|probe|status")); .time.exact == .count and
		.time.exact_sum_ns == .time.sum_ns and .time_most_ns == .time.sum_ns)' "$CASE/report.json"
}

# The loops begin once the tracer is there.
@test "by jobs that are attached to" {
	for mpi in openmpi mpich; do
		CASE=$WORK/attached-$mpi
		export TRUTH=$CASE/truth GO=$CASE/go
		mkdir -p "$TRUTH"
		job_command "$mpi" 2 shm n "$PROGS/$mpi/mpi_polls" $POLLS
		timeout -k 5 60 "${JOB[@]}" </dev/null >"$CASE/out" 2>&1 3>&- &
		job=$!
		soon test -s "$TRUTH/0.pid" -a -s "$TRUTH/1.pid"
		timeout -k 5 60 "$UCXBPF" attach -q --ready "$GO" -o "$CASE/job.ucxb" \
			-p "$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")" >"$CASE/summary" 2>"$CASE/notes" 3>&- &
		tracer=$!
		wait $job
		wait $tracer
		"$UCXBPF" replay --json "$CASE/job.ucxb" >"$CASE/report.json"
		jq -c '.loss' "$CASE/report.json"
		jq -r '.calls[] | select(.function | test("Test|probe|status")) | "\(.process) \(.function) \(.count)"' \
			"$CASE/report.json" | sort >"$CASE/seen"
		jq -r '.rank as $rank | .calls[] | select(.name | test("Test|probe|status")) | "\($rank) \(.name) \(.count)"' \
			"$TRUTH"/[01].json | sort | diff - "$CASE/seen"
		made >"$CASE/made"
		few 20
	done
}

# Each loop is an event of so many calls, and the last call of each has one of its own.
@test "as events, on timelines and in archives" {
	polls openmpi shm n
	"$UCXBPF" export -f ndjson -o "$WORK/events" "$CASE/job.ucxb"
	jq -s '[.[] | select((.event == "call" or .event == "calls") and (.function | test("Test|probe|status"))) |
		.count // 1] | add' "$WORK/events" | diff - "$CASE/made"
	jq -es 'all(.[] | select(.event == "calls"); .count > 1 and .end > .start and .ops == 0)' "$WORK/events"
	"$UCXBPF" export -f sqlite -o "$WORK/db" "$CASE/job.ucxb"
	"$UCXBPF" export -f html -o "$WORK/page.html" "$CASE/job.ucxb"
}
