# SPDX-License-Identifier: BSD-3-Clause
# What MPI-4.0 added, by tests/progs/mpi_four.c: MPICH 4.0.2 has all of it. Open MPI 4.1 exports neither sessions nor
# partitioned operations nor large counts, and persistent collectives by MPIX names alone. Open MPI 5: debian13.bats.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# both TRANSPORT: with MPI_Init and by a session, by both protocol versions; MPICH
both()
{
	local proto

	[ "$1" = tcp ] && nodes_up
	for proto in n y; do
		one_case 0 mpi_four mpich "$1" $proto "$PROGS/mpich/mpi_four"
		one_case 0 mpi_sessions mpich "$1" $proto "$PROGS/mpich/mpi_four" sessions
	done
}

@test "sessions, partitions, large counts, persistent collectives: mpich over shm" { both shm; }
@test "sessions, partitions, large counts, persistent collectives: mpich over sysv" { both sysv; }
@test "sessions, partitions, large counts, persistent collectives: mpich over tcp" { both tcp; }

# MPICH sends a message for all partitions, behind a header of 24 bytes, once a message of 32 bytes has told that the
# receive is started. Which call that is in goes by the other rank's time.
@test "partitions: each byte belongs to the calls that start and complete them" {
	local of='select(.function | test("^MPI_(Startall|Pready|Pready_range|Pready_list|Parrived|Waitall)$"))'

	trace mpi_four mpich shm n "$PROGS/mpich/mpi_four"
	[ "$status" = 0 ]
	report
	jq -e "[.messages[] | $of]"' | group_by(.src) | map(map(.count) | add) == [44, 44]' "$CASE/report.json"
	jq -e "[.transfers[] | select(.ucp_op == \"am_send\" and .kind == \"data\") | $of]"' | group_by(.process) |
		map(map(.bytes) | add) == [range(2) | 11 * 4 * (1009 + 200003) + 22 * (24 + 32)]' "$CASE/report.json"
	# the calls of a session stand for themselves, and there is no MPI_Init
	trace mpi_sessions mpich shm n "$PROGS/mpich/mpi_four" sessions
	[ "$status" = 0 ]
	report
	jq -e '[.calls[] | select(.function | test("Session|Init$|from_group")) | [.process, .function, .count]] == [
		[0, "MPI_Comm_create_from_group", 1], [0, "MPI_Session_finalize", 1], [0, "MPI_Session_init", 1],
		[1, "MPI_Comm_create_from_group", 1], [1, "MPI_Session_finalize", 1], [1, "MPI_Session_init", 1]]' "$CASE/report.json"
	jq -e '[.processes[] | [.rank, .size]] | sort == [[0, 2], [1, 2]]' "$CASE/report.json"
}

@test "persistent collectives of open mpi 4.1, by their MPIX names" {
	for proto in n y; do
		one_case 0 mpi_four openmpi shm $proto "$PROGS/openmpi/mpi_four"
		jq -e '[.calls[].function | select(startswith("MPIX_"))] | unique == ["MPIX_Allreduce_init",
			"MPIX_Barrier_init", "MPIX_Bcast_init", "MPIX_Reduce_init"]' "$CASE/report.json"
	done
	[ "$(nm -D "$(ldconfig -p | sed -n 's/.* //;/libmpi\.so\.40$/p')" |
		grep -cE ' PMPI_(Psend_init|Session_init|Send_c|Allreduce_init|Isendrecv)$')" = 0 ]
}
