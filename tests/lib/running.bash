# SPDX-License-Identifier: BSD-3-Clause
# A job that runs until it is told to stop, to be attached to. Needs live.bash.

. "$(dirname "${BASH_SOURCE[0]}")/soon.bash"

running_teardown()
{
	[ -z "${STOP:-}" ] || touch "$STOP"
	[ -z "${JOB_PID:-}" ] || wait "$JOB_PID" || true
}

# start MPI TRANSPORT PROTO: a ping-pong, or PROGRAM with ARGUMENTS, of two ranks, or RANKS, that runs until finish; sets
# PIDS and JOB_PID
start()
{
	STOP=$WORK/stop
	export TRUTH=$WORK/truth
	mkdir -p "$TRUTH"
	job_command "$1" "${RANKS:-2}" "$2" "$3" "$PROGS/$1/${PROGRAM:-mpi_pingpong}" "$STOP" "${PAUSE:-200}" ${ARGUMENTS:-}
	timeout -k 5 "${LIMIT:-120}" "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon running
	PIDS=$(cat "$TRUTH"/*.pid | paste -sd,)
	text >"$WORK/text"
	! grep -v libc.so "$WORK/text"
}

# All ranks are in their first exchanges, or past them.
running()
{
	local rank

	for ((rank = 0; rank < ${RANKS:-2}; rank++)); do
		[ -s "$TRUTH/$rank.running" ] || return 1
	done
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

# attached MPI PROTO OPTIONS...: a job as start makes it, attached to into $WORK/a.ucxb until the capture has what a
# function wanted() wants; its text and its result are then those of a job that was never traced.
attached()
{
	local mpi=$1 proto=$2 tracer
	shift 2

	start "$mpi" shm "$proto"
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" "$@" >"$WORK/summary" 2>"$WORK/warnings" 3>&- &
	tracer=$!
	soon wanted
	kill -INT $tracer
	wait $tracer
	text | diff "$WORK/text" -
	finish
	same_result "$mpi"
}

# windows_hold OPTIONS... FILE: a capture of the ping-pong holds by check_windows.py, with these options
windows_hold()
{
	"$UCXBPF" replay --json "${@: -1}" >"$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_windows.py" "${@:1:$#-1}" "$WORK/report.json"
	[ "$(jq .matching.matched "$WORK/report.json")" != 0 ] || return 0
	"$BUILD/tests/bench/strict" $(jq -r 'select(.windows) | "-w"' "$WORK/report.json") "${@: -1}"
}
