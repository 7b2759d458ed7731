# SPDX-License-Identifier: BSD-3-Clause
# --stacks: every frame of every call in mpi_paths is what glibc's backtrace() says there, and of every send in
# ucp_paths, which has no MPI.

load ../lib/live.bash
load ../lib/running.bash

LIBRARY=$PROGS/lib/lib_paths.so
PATHS=$TOP/tests/live/check_paths.py

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ "$(uname -m)" = x86_64 ] || skip "--stacks is for x86-64"
}

teardown()
{
	running_teardown
	rm -rf "${PLACE:-/nonexistent}"
}

# stacks MPI PROGRAM [CHECK'S OPTIONS...]: with time to read what is mapped late, every stack is whole.
stacks()
{
	local mpi=$1 program=$2
	shift 2

	TRACE_OPTIONS="--stacks ${MORE:-}" trace mpi_paths "$mpi" shm n "$program" "$LIBRARY" 20 2000
	[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && return 1; }
	report ${CHECK_OPTIONS:-}
	/usr/bin/python3 "$PATHS" "$CASE/report.json" "$CASE/truth" --stacks all "$@"
	[ -z "$("$UCXBPF" replay --json "$CASE/job.ucxb" | jq -r -f "$TOP/tests/golden/schema.jq")" ]
}

@test "all stacks are exact: both MPIs, recursion, callbacks, threads, a library without symbols" {
	for mpi in openmpi mpich; do
		stacks $mpi "$PROGS/$mpi/mpi_paths"
	done
}

@test "with exact ends of calls, and with one layer" {
	MORE="--call-ends" stacks openmpi "$PROGS/openmpi/mpi_paths"
	MORE="--level mpi" CHECK_OPTIONS=--calls stacks mpich "$PROGS/mpich/mpi_paths"
}

@test "without MPI: operations by UCP's newer and older functions, and a blocking flush" {
	CHECK_OPTIONS="--transports posix,cma,self" stacks ucp "$PROGS/ucp/ucp_paths" --op tag_send
	callers_stacked "$CASE/report.json"
	jq -e '[.stacks[] | select(.function == "worker_flush" and .frames[0].symbol == "main" and .count == 1)] | length == 2' \
		"$CASE/report.json"
	"$UCXBPF" replay --folded "$CASE/job.ucxb" >"$WORK/folded"
	grep -q '^_start;.*;main;round_of_sends;right;send_here;tag_send 20$' "$WORK/folded"
	[ "$(awk '{ n += $NF } END { print n }' "$WORK/folded")" = "$(jq '[.callers[].count] | add' "$CASE/report.json")" ]
	[ "$("$UCXBPF" export -f ndjson "$CASE/job.ucxb" | jq -s '(map(select(.event == "stack" and .end == null).id)) as $whole |
		map(select(.event == "op" and .op == "tag_send" and (.stack | IN($whole[])))) | length')" = 240 ]
}

@test "a frame-pointer build, and one without symbols" {
	mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -g "$TOP/tests/progs/mpi_paths.c" -o "$WORK/fp"
	stacks openmpi "$WORK/fp"
	strip -o "$WORK/stripped" "$PROGS/openmpi/mpi_paths"
	TRACE_OPTIONS=--stacks trace mpi_paths openmpi shm n "$WORK/stripped" "$LIBRARY" 20 2000
	report
	# without lines, paths are still told apart, and none ends early
	jq -e '[.stacks[] | select(.function == "MPI_Send") | .end] | length == 12 and all(. == null)' "$CASE/report.json"
}

@test "late attach, and a library loaded after it" {
	export TRUTH=$WORK
	job_command openmpi 2 shm n "$PROGS/openmpi/mpi_paths" "$LIBRARY" 1000 2000 "$WORK/go"
	timeout -k 5 60 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon test -s "$WORK/0.pid"
	soon test -s "$WORK/1.pid"
	timeout 60 "$UCXBPF" attach -q --stacks -o "$WORK/a.ucxb" -p "$(cat "$WORK/0.pid"),$(cat "$WORK/1.pid")" 3>&- &
	tracer=$!
	soon test -s "$WORK/a.ucxb"
	touch "$WORK/go"
	wait "$JOB_PID"
	JOB_PID=
	wait $tracer
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	/usr/bin/python3 "$PATHS" "$WORK/report.json" "$WORK" --stacks some
}

# Code made at run time is of no file, and a library may have no .eh_frame at all: there it ends.
@test "a stack ends with a reason where nothing says how to go on" {
	gcc -O2 -shared -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables "$TOP/tests/progs/lib_paths.c" \
		-o "$WORK/bare.so"
	TRACE_OPTIONS=--stacks trace mpi_paths openmpi shm n "$PROGS/openmpi/mpi_paths" "$WORK/bare.so" 20 2000
	[ "$status" = 0 ]
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$WORK/report.json"
	jq -e '[.stacks[] | select(.function == "MPI_Send" and .end != null)]
		| length == 1 and .[0].end == "code without unwind information" and .[0].count == 20
		and (.[0].frames | length == 2) and (.[0].frames[1].module | endswith("bare.so"))' "$WORK/report.json"
}

# a_job NAME USER [VARIABLE]: a line of shell for a user's job that loads a library of its own once $PLACE/go is there
a_job()
{
	local user=(setpriv "--reuid=$2" --regid=65534 --clear-groups env "${@:3}")

	mkdir -m 777 "$PLACE/$1"
	cp "$PLACE/lib.so" "$PLACE/$1.so"
	TRUTH=$PLACE/$1 ucp_command shm n "${user[@]}" "$PLACE/ucp_paths" "$PLACE/$1.so" 20 2000 "$PLACE/go"
	printf '%q ' "${JOB[@]}"
	echo '&'
}

# ended NAME FILTER: so do the stacks of that job's sends through its library, of which there are 20
ended()
{
	jq -e --argjson pid "$(cat "$PLACE/$1/0.pid")" --arg library "$PLACE/$1.so" '
		(.processes[] | select(.pid == $pid).id) as $process |
		[.stacks[] | select(.process == $process and any(.frames[]; .module == $library))] |
		([.[].count] | add) == 20 and all(.[]; '"$2"')' "$WORK/report.json"
}

@test "a user of very many rows leaves room for those of others, and its own stacks name the reason" {
	local preload="" i tracer

	PLACE=$(mktemp -d /var/tmp/ucxbpf-stacks-XXXXXX) # where somebody else may go
	chmod 755 "$PLACE"
	cp "$PROGS/ucp/ucp_paths" "$PLACE/"
	gcc -shared -Wa,--defsym,ROWS=500000 "$TOP/tests/progs/lib_rows.s" -o "$PLACE/1.so"
	gcc -O2 -shared -fPIC -Wa,--defsym,ROWS=500000 "$TOP/tests/progs/lib_rows.s" "$TOP/tests/progs/lib_paths.c" \
		-o "$PLACE/lib.so"
	for i in {1..9}; do
		[ -e "$PLACE/$i.so" ] || cp "$PLACE/1.so" "$PLACE/$i.so"
		preload+=$PLACE/$i.so:
	done
	{
		a_job hog 65533 "LD_PRELOAD=$preload"
		a_job other 65534
		echo wait
	} >"$WORK/jobs"
	timeout -k 5 120 env --default-signal=INT "$UCXBPF" attach --all --stacks --budget none -q \
		-o "$WORK/a.ucxb" >"$WORK/out" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon test -s "$WORK/a.ucxb"
	timeout -k 5 100 sh "$WORK/jobs" >"$WORK/job" 2>&1 3>&- &
	JOB_PID=$!
	soon grep 'unwinding rows' "$WORK/err"
	touch "$PLACE/go"
	wait "$JOB_PID"
	JOB_PID=
	kill -INT $tracer
	wait $tracer
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	ended other '.end == null'
	ended hog '.end == "code whose unwind information found no room" and .frames[-1].module == $library'
	jq -e '.notes | keys | any(test("^unwinding rows of [0-9]+ files found no room"))' "$WORK/report.json"
}

@test "folded stacks for a flame graph" {
	TRACE_OPTIONS=--stacks trace mpi_paths openmpi shm n "$PROGS/openmpi/mpi_paths" "$LIBRARY" 20 2000
	"$UCXBPF" replay --folded "$CASE/job.ucxb" >"$WORK/folded"
	grep -q '^_start;.*;main;round_of_sends;right;send_here;MPI_Send 20$' "$WORK/folded"
	[ "$(grep -o 'recurse' "$WORK/folded" | wc -l)" = 21 ]
	[ "$(awk '{ n += $NF } END { print n }' "$WORK/folded")" = "$("$UCXBPF" replay --json "$CASE/job.ucxb" | jq '[.calls[].count] | add')" ]
	[ "$("$UCXBPF" replay --folded=bytes --process rank:0 "$CASE/job.ucxb" | awk '/MPI_Send/ { n += $NF } END { print n }')" = $((12 * 20 * 64)) ]
	[ "$("$UCXBPF" replay --folded=time "$CASE/job.ucxb" | wc -l)" -gt 5 ]
}
