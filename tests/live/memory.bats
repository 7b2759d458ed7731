# SPDX-License-Identifier: BSD-3-Clause
# GPU memory: a record per call into a driver library (a stand-in), with exactly what mpi_memory wrote down.

load ../lib/live.bash

LIBRARY=$PROGS/lib/lib_cuda.so

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ "$(uname -m)" = x86_64 ] || skip "probes on GPU libraries are for x86-64"
}

# traced MPI OPTIONS [patch]: sets CASE
traced()
{
	TRACE_OPTIONS=$2 trace mpi_memory "$1" shm n "$PROGS/$1/mpi_memory" "$LIBRARY" $3
	[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && false; }
	"$BUILD/tests/bench/memory" "$CASE/job.ucxb" >"$CASE/records"
}

exact()
{
	traced "$@"
	/usr/bin/python3 "$TOP/tests/live/check_memory.py" "$CASE/records" "$CASE/truth"
	"$UCXBPF" replay --json "$CASE/job.ucxb" | jq -e '.loss | .produced == .stored and .dropped == {}'
}

@test "every call, both MPIs" {
	exact openmpi ""
	exact mpich ""
}

# Perf links make no difference (each end is a plain probe), but take 0.1 s each to detach.
@test "links without sessions" { exact openmpi "--links multi"; }

@test "functions whose beginnings are patched, as UCX does" { exact openmpi "" patch; }

@test "between windows as well" { exact openmpi "--window 100ms/250ms"; }

@test "not at level mpi, nor with --count" {
	traced openmpi "--level mpi"
	[ ! -s "$CASE/records" ]
	traced openmpi "--count"
	[ ! -s "$CASE/records" ]
	exact openmpi "--level ucp"
}
