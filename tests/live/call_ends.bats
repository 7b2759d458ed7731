# SPDX-License-Identifier: BSD-3-Clause
# --call-ends: every MPI call with its exact end, and never where a return probe would do harm.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	TRACE_OPTIONS=--call-ends
}

teardown() { running_teardown; }

# counts FILE: "CALLS ENDS INEXACT": records of either kind, outermost calls without an exact end
counts()
{
	"$BUILD/tests/bench/callends" "$1" | sed -n '1s/[^0-9]*\([0-9]*\)/\1 /gp'
}

# all_exact FILE: as many ends as calls, and no call with less than an exact time
all_exact()
{
	local calls ends inexact

	read -r calls ends inexact <<<"$(counts "$1")"
	echo "$1: $calls calls, $ends ends, $inexact inexact"
	[ "$calls" -gt 0 ] && [ "$calls" = "$ends" ] && [ "$inexact" = 0 ] &&
		"$UCXBPF" replay --json "$1" |
		jq -e 'all(.calls[]; .time.known == .count and .time.precision == "exact")' >/dev/null
}

# exact MPI PROGRAM...: the ledger holds, and every call has its end
exact()
{
	local mpi=$1 program
	shift

	for program in "$@"; do
		one_case 0 "$program" "$mpi" shm n "$PROGS/$mpi/$program" || return 1
		all_exact "$CASE/job.ucxb" || return 1
	done
}

@test "Open MPI: every call has an exact end, threads and calls inside calls included" {
	exact openmpi mpi_send mpi_threads mpi_coll mpi_rma mpi_comms mpi_errors mpi_self
}

@test "MPICH: every call has an exact end, threads and calls inside calls included" {
	exact mpich mpi_send mpi_threads mpi_coll mpi_rma mpi_comms mpi_errors mpi_self
}

@test "a tracer without exact ends beside one that has them: its calls keep their operations" {
	mkdir -p "$WORK/truth"
	TRUTH=$WORK/truth job_command openmpi 2 shm n "$PROGS/openmpi/mpi_threads"
	timeout -k 5 60 "$UCXBPF" run -q -o "$WORK/beside.ucxb" -- "$UCXBPF" run -q --call-ends -o "$WORK/ends.ucxb" -- \
		"${JOB[@]}" </dev/null >"$WORK/out" 2>&1
	all_exact "$WORK/ends.ucxb"
	for capture in beside ends; do
		"$UCXBPF" replay --json "$WORK/$capture.ucxb" >"$WORK/$capture.json"
		/usr/bin/python3 "$CHECK" "$WORK/$capture.json" "$WORK/truth"
	done
}

@test "one that counts beside one that has exact ends: its operations keep their calls" {
	mkdir -p "$WORK/truth"
	TRUTH=$WORK/truth job_command openmpi 2 shm n "$PROGS/openmpi/mpi_send"
	timeout -k 5 60 "$UCXBPF" run -q --count -o "$WORK/beside.ucxb" -- "$UCXBPF" run -q --call-ends -o "$WORK/ends.ucxb" -- \
		"${JOB[@]}" </dev/null >"$WORK/out" 2>&1
	all_exact "$WORK/ends.ucxb"
	"$UCXBPF" replay --json "$WORK/beside.ucxb" >"$WORK/beside.json"
	/usr/bin/python3 "$CHECK" "$WORK/beside.json" "$WORK/truth" --count
}

@test "with entry and return apart, as older kernels need it" {
	TRACE_OPTIONS="--call-ends --links multi"
	exact openmpi mpi_send mpi_threads
	exact mpich mpi_send mpi_threads
}

@test "the time of calls without UCP and UCT" {
	TRACE_OPTIONS="--call-ends --level mpi"
	trace mpi_send openmpi shm n "$PROGS/openmpi/mpi_send"
	[ "$status" = 0 ]
	all_exact "$CASE/job.ucxb"
}

@test "level mpi has exact ends by default, and none with --no-call-ends" {
	TRACE_OPTIONS="--level mpi"
	trace mpi_send openmpi shm n "$PROGS/openmpi/mpi_send"
	[ "$status" = 0 ]
	all_exact "$CASE/job.ucxb"
	TRACE_OPTIONS="--level mpi --no-call-ends"
	trace mpi_send openmpi shm n "$PROGS/openmpi/mpi_send"
	[ "$status" = 0 ]
	"$UCXBPF" replay --json "$CASE/job.ucxb" | jq -e '[.calls[].time | .exact? // 0] | add == 0'
}

@test "MPI_Abort has no end, and its job the exit status it had" {
	local calls ends inexact

	for mpi in openmpi mpich; do
		one_case 7 mpi_abort $mpi shm n "$PROGS/$mpi/mpi_abort"
		read -r calls ends inexact <<<"$(counts "$CASE/job.ucxb")"
		echo "$mpi: $calls $ends $inexact"
		[ "$ends" -gt 0 ]
		[ "$inexact" -ge 1 ]
		[ "$calls" -gt "$ends" ]
	done
}

@test "without the option no end is exact" {
	local calls ends inexact

	TRACE_OPTIONS=
	trace mpi_send openmpi shm n "$PROGS/openmpi/mpi_send"
	"$UCXBPF" replay --json "$CASE/job.ucxb" |
		jq -e 'all(.calls[]; .time.precision == "lower_bound")'
}

# pingpong MPI: runs until STOP is there; sets PIDS
pingpong()
{
	STOP=$WORK/stop
	export TRUTH=$WORK/truth
	mkdir -p "$TRUTH"
	rm -f "$TRUTH"/*
	job_command "$1" 2 shm n "$PROGS/$1/mpi_pingpong" "$STOP" 200
	timeout -k 5 60 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon running
	PIDS=$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")
}

@test "a late attach: only the calls that were open at its end lack theirs" {
	local calls ends inexact

	for mpi in openmpi mpich; do
		pingpong $mpi
		timeout 40 "$UCXBPF" attach -q --call-ends -d 1 -o "$WORK/$mpi.ucxb" -p "$PIDS"
		touch "$STOP"
		wait "$JOB_PID"
		JOB_PID=
		rm -f "$STOP"
		read -r calls ends inexact <<<"$(counts "$WORK/$mpi.ucxb")"
		echo "$mpi: $calls $ends $inexact"
		[ "$ends" -gt 0 ]
		[ "$inexact" -le 2 ]
		[ $((calls - ends)) -le 2 ]
	done
}

# user_threads RUNTIME NEEDED DEFINE...: a runtime's library, an MPI library linked with NEEDED (the
# same or nothing), and a program on both
user_threads()
{
	local source=$TOP/tests/progs/ult_job.c dir=$WORK/ult runtime=$1 needed=${2:+$WORK/ult/$2}
	shift 2

	mkdir -p "$dir"
	cc -O2 -shared -fPIC "$@" -DRUNTIME -Wl,-soname,"$runtime" "$source" -o "$dir/$runtime"
	cc -O2 -shared -fPIC "$@" -DLIBRARY -Wl,-soname,libmpi.so.1 "$source" -o "$dir/libmpi.so.1" \
		$needed
	cc -O2 "$@" -DPROGRAM "$source" -o "$dir/job" "$dir/libmpi.so.1" "$dir/$runtime" \
		-Wl,-rpath,"$dir"
	"$dir/job"
}

# refused OPTIONS...: the job lives, no end was taken, and the reason is told twice
refused()
{
	timeout 40 "$UCXBPF" run -q --call-ends -o "$WORK/ult.ucxb" "$@" -- "$WORK/ult/job" \
		>"$WORK/ult.out" 2>&1 || { cat "$WORK/ult.out"; return 1; }
	grep -q 'no exact ends of MPI calls in .*: it uses Argobots' "$WORK/ult.out" || return 1
	"$UCXBPF" replay --json "$WORK/ult.ucxb" >"$WORK/ult.json"
	jq -e '[.notes | keys[] | select(test("it uses Argobots"))] | length > 0' "$WORK/ult.json"
	jq -e '[.calls[].count] | add == 3' "$WORK/ult.json"
	jq -e 'all(.calls[]; .time.precision == "lower_bound")' "$WORK/ult.json"
}

@test "an MPI library that needs a runtime of user-level threads" {
	user_threads libabt.so.1 libabt.so.1
	for links in session multi; do
		"$UCXBPF" run -q --links $links -o "$WORK/x.ucxb" -- true || continue
		refused --links $links -L "$WORK/ult"
	done
}

@test "a process that maps such a runtime, whatever its MPI library says" {
	user_threads libabt.so.1 ""
	for links in session multi; do
		"$UCXBPF" run -q --links $links -o "$WORK/x.ucxb" -- true || continue
		refused --links $links -L "$WORK/ult"
	done
}

# The reason for all this. A kernel that survives it makes the refusal needless, not wrong.
@test "a return probe across such a switch of stacks ends the program" {
	user_threads libother.so.1 libother.so.1 -DABT_init=other_init
	run timeout 40 "$UCXBPF" run -q --call-ends -o "$WORK/x.ucxb" -- "$WORK/ult/job"
	[ "$status" = 132 ] || skip "this kernel's return probes survive it: exit status $status"
	timeout 40 "$UCXBPF" run -q -o "$WORK/x.ucxb" -- "$WORK/ult/job"
}
