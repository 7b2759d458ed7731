# SPDX-License-Identifier: BSD-3-Clause
# Joining a job in mid-run, leaving it, and leaving no mark on it.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	[ -z "${STOP:-}" ] || touch "$STOP"
	[ -z "${JOB_PID:-}" ] || wait "$JOB_PID" || true
}

# start MPI TRANSPORT PROTO: a ping-pong that runs until finish; sets PIDS and JOB_PID
start()
{
	STOP=$WORK/stop
	export TRUTH=$WORK/truth
	mkdir -p "$TRUTH"
	job_command "$1" 2 "$2" "$3" "$PROGS/$1/mpi_pingpong" "$STOP" "${PAUSE:-200}"
	timeout -k 5 "${LIMIT:-120}" "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	for _ in $(seq 100); do
		[ -s "$TRUTH/0.pid" ] && [ -s "$TRUTH/1.pid" ] && break
		sleep 0.1
	done
	PIDS=$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")
	sleep 0.5
	text >"$WORK/text"
	! grep -v libc.so "$WORK/text"
}

text()
{
	/usr/bin/python3 "$TOP/tests/live/check_text.py" ${PIDS//,/ }
}

finish()
{
	touch "$STOP"
	status=0
	wait "$JOB_PID" || status=$?
	JOB_PID=
	[ "$status" = 0 ]
}

# The result must be that of an untraced run of as many iterations.
same_result()
{
	local mpi=$1 iterations

	iterations=$(sed -n 's/^pingpong iterations \([0-9]*\) .*/\1/p' "$WORK/out")
	[ "$iterations" -gt 0 ]
	TRUTH= job 120 "$mpi" 2 shm n "$PROGS/$mpi/mpi_pingpong" "$iterations" | grep ^pingpong >"$WORK/alone"
	grep ^pingpong "$WORK/out" | diff - "$WORK/alone"
}

attached()
{
	local mpi=$1 transport=$2

	[ "$transport" = tcp ] && nodes_up
	start "$mpi" "$transport" "$3"
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 1 >"$WORK/summary"
	text | diff "$WORK/text" -
	finish
	same_result "$mpi"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_attach.py" "$WORK/report.json"
}

@test "attach to Open MPI over shm, protocol v1" { attached openmpi shm n; }

@test "attach to Open MPI over shm, protocol v2" { attached openmpi shm y; }

@test "attach to Open MPI over tcp" { attached openmpi tcp n; }

@test "attach to MPICH over shm" { attached mpich shm n; }

@test "attach to MPICH over sysv, protocol v2" { attached mpich sysv y; }

@test "100 attaches in a row: the result is bit-identical, the text is the file's" {
	PAUSE=100 LIMIT=250
	start openmpi shm n
	for ((i = 0; i < 100; i++)); do
		timeout 20 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.05 >/dev/null 2>"$WORK/err" ||
			{ echo "attach $i failed"; cat "$WORK/err"; false; }
	done
	text | diff "$WORK/text" -
	finish
	same_result openmpi
}

@test "Ctrl-C ends an attach cleanly, the job goes on" {
	start openmpi shm n
	# the shell has background commands ignore SIGINT, and what was ignored before stays so
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	sleep 2
	kill -INT $tracer
	wait $tracer
	finish
	same_result openmpi
	"$UCXBPF" replay "$WORK/a.ucxb"
}

@test "a killed tracer leaves a readable capture and an unharmed job" {
	start openmpi shm n
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	sleep 3
	kill -KILL $tracer
	wait $tracer || true
	text | diff "$WORK/text" -
	finish
	same_result openmpi
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	[ "$(jq '[.calls[].count] | add' "$WORK/report.json")" -gt 100 ]
}

@test "the job ends while it is traced" {
	start openmpi shm n
	timeout 60 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	sleep 2
	finish
	wait $tracer
	"$UCXBPF" replay "$WORK/a.ucxb"
}
