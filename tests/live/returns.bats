# SPDX-License-Identifier: BSD-3-Clause
# A tracer that leaves returns of transfers out where the operation shows the outcome (session links), around one that
# awaits them all, on one run: they agree to the last transfer that found no room.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

traced_twice()
{
	local mpi=$1 transport=$2 proto=$3 program=$4

	rm -rf "$WORK/truth"
	mkdir "$WORK/truth"
	TRUTH=$WORK/truth job_command "$mpi" 2 "$transport" "$proto" "$PROGS/$mpi/$program"
	timeout -k 5 60 "$UCXBPF" run -q -o "$WORK/some.ucxb" -- "$UCXBPF" run -q --links multi -o "$WORK/all.ucxb" -- \
		timeout -k 2 $JOB_SECONDS "${JOB[@]}" >"$WORK/out" 2>&1
}

# sums FILE: of transfers by all that they are put down to
sums()
{
	"$UCXBPF" replay --json "$1" | jq -c '(.processes | map({(.id | tostring): .tgid}) | add) as $pids |
		.matching.matched, ([.transfers[] | [[$pids[.process | tostring], .function, .op, .transport, .kind,
		 .protocol], [.count, .bytes, .wire_bytes, .retries]]] | group_by(.[0])[] |
		[.[0][0], (map(.[1]) | transpose | map(add))])'
}

# copies FILE PRECISION: how many buffered sends there are whose end is that
copies()
{
	"$UCXBPF" export -f ndjson "$1" | jq -n --arg precision "$2" '[inputs | select(.event == "transfer" and
		.op == "am_bcopy" and .kind == "data" and .precision == $precision)] | length'
}

# agree MPI TRANSPORT PROTO PROGRAM...
agree()
{
	local program

	[ "$2" = tcp ] && nodes_up
	for program in "${@:4}"; do
		traced_twice "$1" "$2" "$3" "$program" </dev/null || { tail -n 5 "$WORK/out" && false; }
		sums "$WORK/all.ucxb" >"$WORK/all"
		sums "$WORK/some.ucxb" >"$WORK/some"
		diff "$WORK/all" "$WORK/some"
		[ "$(copies "$WORK/all.ucxb" upper_bound)" = 0 ]
		[ "$(copies "$WORK/some.ucxb" upper_bound)" -gt 50 ]
	done
}

# A FIFO that a message of 64 KiB fills: the rest of it goes out later.
full()
{
	export UCX_RNDV_THRESH=1m UCX_POSIX_FIFO_SIZE=4 UCX_SYSV_FIFO_SIZE=4
	agree "$1" "$2" "$3" mpi_isend mpi_sizes
	jq -se 'map(select(type == "array") | .[1][3]) | add > 50' "$WORK/some"
}

@test "Open MPI over posix, protocol v1" { full openmpi shm n; }

@test "Open MPI over posix, protocol v2" { full openmpi shm y; }

@test "MPICH over sysv, protocol v1" { full mpich sysv n; }

@test "MPICH over sysv, protocol v2" { full mpich sysv y; }

@test "Open MPI over tcp" {
	export UCX_RNDV_THRESH=1m UCX_ZCOPY_THRESH=inf
	agree openmpi tcp n mpi_isend
}
