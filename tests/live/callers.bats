# SPDX-License-Identifier: BSD-3-Clause
# Programs that use UCX without MPI: each operation has the code that called UCP.

load ../lib/live.bash

setup() { live_setup; }

# all_called REPORT: every operation outside MPI calls has a caller in a file. The sums agree.
all_called()
{
	jq -e '([.ops[] | select(.function == null) | .count] | add) as $ops |
		[.callers[] | .count] | add == $ops' "$1"
	jq -e 'all(.callers[]; .module != null)' "$1" ||
		{ jq -c '.callers[] | select(.module == null)' "$1" && false; }
}

# all_own REPORT PROGRAM: and the code is the program's own
all_own()
{
	local others

	others=$(jq -c --arg program "/$2" '.callers[] | select((.module // "" | endswith($program)) and .symbol != null
		and .role == "program" and .library == null | not)' "$1")
	[ -z "$others" ] || { echo "$others" && false; }
}

@test "a program that calls UCP itself: its own functions" {
	for proto in n y; do
		for program in ucp_tag ucp_am ucp_rma ucp_stream ucp_old; do
			one_case 0 "$program" ucp shm "$proto" "$PROGS/ucp/$program"
			all_called "$CASE/report.json"
			all_own "$CASE/report.json" "$program"
		done
	done
	"$UCXBPF" replay "$CASE/job.ucxb" >"$WORK/text"
	grep -q '^CALLERS OF UCP ' "$WORK/text"
}

# The tracer is stopped as long as it runs: only its records and the events of its mappings are left.
@test "a program that has ended before it is looked at" {
	TRUTH= ucp_command shm n "$PROGS/ucp/ucp_rma"
	timeout -k 5 60 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- bash -c '
		kill -STOP $PPID; "$@"; status=$?; kill -CONT $PPID; exit $status' - timeout -k 2 20 "${JOB[@]}" >"$WORK/out" 2>&1
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e '[.callers[].count] | add > 50' "$WORK/report.json"
	all_called "$WORK/report.json"
	all_own "$WORK/report.json" ucp_rma
	jq -e 'any(.processes[]; .exe | endswith("/ucp_rma"))' "$WORK/report.json"
}

# Its sends are not of the MPI call before, whose return address nothing has overwritten.
@test "a program that calls UCP beside MPI: what it sends is its own" {
	for mpi in openmpi mpich; do
		job_command $mpi 2 shm n "$PROGS/$mpi/mpi_beside"
		for mode in "" --exact --call-ends --stacks; do
			TRUTH= timeout -k 5 60 "$UCXBPF" run -q $mode -o "$WORK/$mpi$mode.ucxb" -- \
				timeout -k 2 20 "${JOB[@]}" >"$WORK/out" 2>&1
			"$UCXBPF" replay --json "$WORK/$mpi$mode.ucxb" >"$WORK/report.json"
			jq -e '[.callers[] | select(.role == "program" and (.module | endswith("/mpi_beside")) and .op == "tag_send") | .count]
				== [40, 40]' "$WORK/report.json"
			jq -e '[.ops[] | select(.op == "tag_send" and .function == "MPI_Irecv")] == []' "$WORK/report.json"
			[ "$mode" != --stacks ] || callers_stacked "$WORK/report.json"
		done
	done
}

@test "attached, and with MPI around: no operation of a call has a caller of its own" {
	job_command openmpi 2 shm n "$PROGS/openmpi/mpi_isend"
	TRUTH= timeout -k 5 60 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- timeout -k 2 20 "${JOB[@]}" >"$WORK/out" 2>&1
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e '([.ops[] | select(.function == null) | .count] | add // 0) as $outside |
		([.callers[]?.count] | add // 0) == $outside' "$WORK/report.json"
}
