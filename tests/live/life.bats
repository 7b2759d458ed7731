# SPDX-License-Identifier: BSD-3-Clause
# How processes begin and end: abort, fork, exec, an MPI loaded late.

bats_require_minimum_version 1.5.0
load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "a job that aborts keeps its exit status and all it did before" {
	for mpi in openmpi mpich; do
		one_case 7 mpi_abort $mpi shm n "$PROGS/$mpi/mpi_abort"
	done
}

@test "an abort between nodes" {
	nodes_up
	for mpi in openmpi mpich; do
		one_case 7 mpi_abort $mpi tcp n "$PROGS/$mpi/mpi_abort"
	done
}

@test "children that exit or run another program" {
	for mpi in openmpi mpich; do
		one_case 0 mpi_fork $mpi shm n "$PROGS/$mpi/mpi_fork"
	done
}

@test "an MPI loaded late by a program that is linked with none" {
	for mpi in openmpi mpich; do
		one_case 0 dl_mpi $mpi shm n "$PROGS/dl/dl_mpi" $mpi
	done
}

@test "a command that is not there, one that fails, one without UCX" {
	run -127 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- /nonexistent/command
	run "$UCXBPF" run -q -o "$WORK/b.ucxb" -- sh -c 'exit 9'
	[ "$status" = 9 ]
	run "$UCXBPF" run -q -o "$WORK/c.ucxb" -- true
	[ "$status" = 0 ]
	"$UCXBPF" replay "$WORK/c.ucxb"
}

# Over self a receive's callback runs inside the send, and may leave it: no end of it is ever seen.
@test "operations that are left by a longjmp" {
	for proto in n y; do
		UCX_TLS=self UCX_PROTO_ENABLE=$proto "$UCXBPF" run -q -o "$WORK/a.ucxb" -- "$PROGS/ucp/ucp_jump" >"$WORK/out"
		[ "$(cat "$WORK/out")" = "69 returned, 23 left" ]
		"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
		jq -e '([.ops[] | select(.op == "tag_send") | .count] | add) == 69
			and ([.ops[] | select(.op == "tag_recv") | .count] | add) == 92
			and .matching.matched == 69 and .attribution.to_op == 8 * 69
			and .loss.produced == .loss.stored' "$WORK/report.json"
	done
}
