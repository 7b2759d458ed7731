# SPDX-License-Identifier: BSD-3-Clause
# A job that runs until it is told to stop, to be attached to. Needs live.bash.

. "$(dirname "${BASH_SOURCE[0]}")/soon.bash"

running_teardown()
{
	[ -z "${STOP:-}" ] || touch "$STOP"
	[ -z "${JOB_PID:-}" ] || wait "$JOB_PID" || true
}

# start MPI TRANSPORT PROTO: a ping-pong, or PROGRAM, of two ranks that runs until finish; sets PIDS
# and JOB_PID
start()
{
	STOP=$WORK/stop
	export TRUTH=$WORK/truth
	mkdir -p "$TRUTH"
	job_command "$1" 2 "$2" "$3" "$PROGS/$1/${PROGRAM:-mpi_pingpong}" "$STOP" "${PAUSE:-200}"
	timeout -k 5 "${LIMIT:-120}" "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon running
	PIDS=$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")
	text >"$WORK/text"
	! grep -v libc.so "$WORK/text"
}

# Both ranks are in their first exchanges, or past them.
running()
{
	[ -s "$TRUTH/0.running" ] && [ -s "$TRUTH/1.running" ]
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
