# SPDX-License-Identifier: BSD-3-Clause
# Records that are not stored, for want of room or on purpose: sums are the programs' numbers all the
# same, reports and exports state the share with detail, and each match is right.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }
teardown() { running_teardown; }

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

# exported CAPTURE: all formats have the report's totals, with the share that has detail
exported()
{
	local golden=$TOP/tests/golden format
	export PYTHONDONTWRITEBYTECODE=1

	cd "$WORK"
	"$UCXBPF" replay --json --allow-loss "$1" >report.json
	in_form report.json
	for format in json ndjson csv sqlite html perfetto otf2; do
		"$UCXBPF" export -f $format --allow-loss -o "made.$format" "$1"
	done
	"$UCXBPF" schema >schema
	cmp made.json report.json
	/usr/bin/python3 "$golden/check_events.py" made.ndjson report.json schema
	/usr/bin/python3 "$golden/check_csv.py" made.csv report.json
	/usr/bin/python3 "$golden/check_sqlite.py" made.sqlite report.json
	/usr/bin/python3 "$golden/check_html.py" made.html report.json
	/usr/bin/python3 "$golden/check_perfetto.py" made.perfetto made.ndjson
	if /usr/bin/python3 -c 'import otf2'; then
		/usr/bin/python3 "$golden/check_otf2.py" made.otf2 made.ndjson
	fi
}

@test "a stopped tracer, small rings: every export has the report's sums, and the share with detail" {
	local tracer

	PAUSE=5000 start openmpi shm n
	env --default-signal=INT "$UCXBPF" attach -q --ring-size 64 -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon calls_in "$WORK/a.ucxb" 100
	kill -STOP $tracer
	sleep 2
	kill -CONT $tracer
	sleep 0.5
	kill -INT $tracer
	wait $tracer || [ $? = 4 ]
	finish
	exported "$WORK/a.ucxb"
	jq -c '.loss, .detail, .matching' report.json
	jq -e '.loss.dropped["ring full"] > 0 and .matching.matched > 0 and
		(.detail | .calls.recorded < .calls.of and .unsummed == 0)' report.json
}
