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
	program "$1" "$2" mpi_memory "$LIBRARY" $3
}

# program MPI OPTIONS PROGRAM ARGUMENTS...
program()
{
	local mpi=$1 options=$2 name=$3
	shift 3

	TRACE_OPTIONS=$options trace "$name" "$mpi" shm n "$PROGS/$mpi/$name" "$@"
	[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && false; }
	"$BUILD/tests/bench/memory" "$CASE/job.ucxb" >"$CASE/records"
}

exact()
{
	traced "$@"
	same
}

same()
{
	/usr/bin/python3 "$TOP/tests/live/check_memory.py" "$CASE/records" "$CASE/truth"
	"$UCXBPF" replay --json "$CASE/job.ucxb" | jq -e '.loss | .produced == .stored and .dropped == {}'
}

@test "every call, both MPIs" {
	exact openmpi ""
	exact mpich ""
}

# Kind, sort, device, function, allocations and bytes of what rank 0 had.
rows()
{
	"$UCXBPF" replay --json "$CASE/job.ucxb" | tee "$CASE/report.json" |
		jq -r 'first(.processes[] | select(.rank == 0).id) as $id | .memory[] | select(.process == $id)
			| "\(.kind) \(.sort) \(.device) \(.function) \(.allocations) \(.bytes)"'
}

@test "other libraries, a runtime above the driver, eight threads on two devices, a double free, a child" {
	program openmpi "" mpi_gpus "$PROGS/lib"
	same
	rows | diff - <(
		echo "unknown pool null cudaMallocFromPoolAsync 17 34136"
		echo "unknown pool null hsa_amd_memory_pool_allocate 17 17136"
		echo "gpu plain null cuMemAlloc 3 3003"
		echo "gpu plain null cudaMalloc 31 62465"
		echo "gpu plain 0 cuMemAlloc 92 376832"
		echo "gpu plain 0 zeMemAllocDevice 10 10090"
		echo "gpu plain 1 cuMemAlloc 93 380928"
		echo "gpu plain 1 hipExtMallocWithFlags 7 7021"
		echo "gpu plain 1 hipMalloc 31 31465"
		echo "gpu plain 1 zeMemAllocDevice 9 9081"
		echo "gpu pool null cudaMallocAsync 13 26078"
		echo "gpu pool 1 hipMallocAsync 13 13078"
		echo "gpu pool 3 hipMallocFromPoolAsync 3 3003"
		echo "managed plain null cudaMallocManaged 7 14021"
		echo "managed plain null hipMallocManaged 5 5010"
		echo "managed plain null zeMemAllocShared 5 5010"
		echo "pinned plain null cudaHostAlloc 5 10010"
		echo "pinned plain null cudaMallocHost 11 22055"
		echo "pinned plain null hipHostMalloc 11 11055"
		echo "pinned plain null hipMallocHost 2 2001"
		echo "pinned plain null zeMemAllocHost 7 7021"
	)
	jq -e '.notes["memory freed that was not seen allocated"] == 2' "$CASE/report.json"
	# of each rank's child
	jq -e '[.memory[] | select(.allocations == 5 and .function == "cuMemAlloc") |
		[.kind, .device, .bytes, .live_peak, .reason]] |
		. == [range(2) | ["gpu", null, 5010, 1004, "the thread\u0027s current context was not seen"]]' "$CASE/report.json"
	jq -r -f "$TOP/tests/golden/schema.jq" "$CASE/report.json" >"$CASE/breaches"
	[ ! -s "$CASE/breaches" ]
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
