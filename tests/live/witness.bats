# SPDX-License-Identifier: BSD-3-Clause
# Second opinions: a PMPI counter inside the job, and the network interfaces' byte counters.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# sent: "BYTES AGAIN" of each node so far, as `nodes bytes` has them
sent()
{
	local node

	for node in n0 n1; do
		"$TOP/tests/nodes" bytes "$node" | cut -d ' ' -f 2-3
	done
}

# since BEFORE: what was sent since then, as check.py wants it
since()
{
	paste -d ' ' - <(sent) <<<"$1" | awk '{ printf "%s%d:%d", NR > 1 ? "," : "", $3 - $1, $4 - $2 }'
}

counted()
{
	local mpi=$1 program=$2

	export JOB_EXTRA="LD_PRELOAD=$BUILD/tests/witness/$mpi/pmpi_count.so"
	trace "$program" "$mpi" shm n "$PROGS/$mpi/$program"
	unset JOB_EXTRA
	[ "$status" = 0 ]
	[ "$(ls "$CASE/witness" | wc -l)" = 2 ]
	NO_UCX=$3 report --witness "$CASE/witness"
}

@test "calls agree with the PMPI counter, Open MPI" {
	for program in mpi_isend mpi_coll mpi_rma mpi_comms; do
		counted openmpi $program 1 # mpirun is preloaded, too, and so has MPI
	done
}

@test "calls agree with the PMPI counter, MPICH" {
	for program in mpi_isend mpi_coll mpi_rma mpi_comms; do
		counted mpich $program 0
	done
}

@test "payload over tcp agrees with the interfaces' counters" {
	before_attempt() { before=$(sent); }

	nodes_up
	for mpi in openmpi mpich; do
		trace mpi_sizes $mpi tcp n "$PROGS/$mpi/mpi_sizes"
		[ "$status" = 0 ]
		report --net "$(since "$before")"
	done
}

# picks MPI TRANSPORT LANES: between two processes UCX itself says it uses just these for tags
picks()
{
	local seen

	seen=$(JOB_LOG=info TRUTH= job 30 "$1" 2 "$2" n "$PROGS/$1/mpi_send" 2>&1 |
		grep -o 'tag([^)]*)' | grep -v self | sort -u)
	[ "$seen" = "tag($3)" ] || {
		echo "$1 over $2 uses $seen"
		return 1
	}
}

@test "UCX itself says that it uses the transports these tests ask for" {
	nodes_up
	for mpi in openmpi mpich; do
		picks $mpi shm "posix/memory cma/memory"
		picks $mpi sysv "sysv/memory"
		picks $mpi tcp "tcp/eth0"
	done
}
