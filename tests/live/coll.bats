# SPDX-License-Identifier: BSD-3-Clause
# Collectives and one-sided communication.

load ../lib/live.bash

PROGRAMS="mpi_coll mpi_rma"

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "openmpi over shm" { matrix openmpi shm $PROGRAMS; }

@test "openmpi over sysv" { matrix openmpi sysv $PROGRAMS; }

@test "openmpi over tcp" { matrix openmpi tcp $PROGRAMS; }

@test "mpich over shm" { matrix mpich shm $PROGRAMS; }

@test "mpich over sysv" { matrix mpich sysv $PROGRAMS; }

@test "mpich over tcp" { matrix mpich tcp $PROGRAMS; }

# Each call of a function without a root is one: mpi_coll makes them on MPI_COMM_WORLD alone.
@test "collective operations of both MPIs in OTF2, as many as the report has calls" {
	/usr/bin/python3 -c 'import otf2' 2>/dev/null || skip "no python3-otf2"
	for mpi in openmpi mpich; do
		trace otf2 $mpi shm n "$PROGS/$mpi/mpi_coll"
		[ "$status" -eq 0 ]
		"$UCXBPF" replay --json -o "$CASE/report" "$CASE/job.ucxb"
		"$UCXBPF" export -f otf2 -o "$CASE/archive" "$CASE/job.ucxb"
		"$UCXBPF" export -f ndjson -o "$CASE/events" "$CASE/job.ucxb"
		PYTHONDONTWRITEBYTECODE=1 "$TOP/tests/golden/check_otf2.py" "$CASE/archive" "$CASE/events"
		otf2-print "$CASE/archive/traces.otf2" | sed -n 's/^MPI_COLLECTIVE_END.*Operation: \([A-Z_]*\),.*/MPI_\1/p' |
			sort | uniq -c | awk '{ print $2, $1 }' >"$CASE/told"
		jq -r '[.calls[] | select(.function | test("^MPI_(Barrier|All|Reduce_|Scan|Exscan)"))] | group_by(.function)[] |
			"\(.[0].function | ascii_upcase) \(map(.count) | add)"' "$CASE/report" | sort | diff - "$CASE/told"
		[ "$(wc -l <"$CASE/told")" -eq 10 ]
	done
}
