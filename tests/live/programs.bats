# SPDX-License-Identifier: BSD-3-Clause
# Every program, MPI library, transport and protocol version: calls, messages and payload of the report are
# those of the program's ledger.

load ../lib/live.bash

# every mode of sending
P2P="mpi_send mpi_isend mpi_persistent mpi_self mpi_errors"
# collective operations, windows
COLLECTIVE="mpi_coll mpi_rma"
# sizes on both sides of every switch between protocols, non-contiguous data
SIZES="mpi_sizes mpi_types"
# order, wildcards, threads or communicators decide which receive takes a message
MATCHING="mpi_wild mpi_probe mpi_threads mpi_comms"
# bare UCP: tagged and active messages, streams, put, get, atomics, flush
UCP="ucp_tag ucp_am ucp_stream ucp_rma ucp_old"

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "point-to-point: openmpi over shm" { matrix openmpi shm $P2P; }
@test "point-to-point: openmpi over sysv" { matrix openmpi sysv $P2P; }
@test "point-to-point: openmpi over tcp" { matrix openmpi tcp $P2P; }
@test "point-to-point: mpich over shm" { matrix mpich shm $P2P; }
@test "point-to-point: mpich over sysv" { matrix mpich sysv $P2P; }
@test "point-to-point: mpich over tcp" { matrix mpich tcp $P2P; }

@test "collectives and one-sided: openmpi over shm" { matrix openmpi shm $COLLECTIVE; }
@test "collectives and one-sided: openmpi over sysv" { matrix openmpi sysv $COLLECTIVE; }
@test "collectives and one-sided: openmpi over tcp" { matrix openmpi tcp $COLLECTIVE; }
@test "collectives and one-sided: mpich over shm" { matrix mpich shm $COLLECTIVE; }
@test "collectives and one-sided: mpich over sysv" { matrix mpich sysv $COLLECTIVE; }
@test "collectives and one-sided: mpich over tcp" { matrix mpich tcp $COLLECTIVE; }

@test "sizes and datatypes: openmpi over shm" { matrix openmpi shm $SIZES; }
@test "sizes and datatypes: openmpi over sysv" { matrix openmpi sysv $SIZES; }
@test "sizes and datatypes: openmpi over tcp" { matrix openmpi tcp $SIZES; }
@test "sizes and datatypes: mpich over shm" { matrix mpich shm $SIZES; }
@test "sizes and datatypes: mpich over sysv" { matrix mpich sysv $SIZES; }
@test "sizes and datatypes: mpich over tcp" { matrix mpich tcp $SIZES; }

@test "matching: openmpi over shm" { matrix openmpi shm $MATCHING; }
@test "matching: openmpi over sysv" { matrix openmpi sysv $MATCHING; }
@test "matching: openmpi over tcp" { matrix openmpi tcp $MATCHING; }
@test "matching: mpich over shm" { matrix mpich shm $MATCHING; }
@test "matching: mpich over sysv" { matrix mpich sysv $MATCHING; }
@test "matching: mpich over tcp" { matrix mpich tcp $MATCHING; }

@test "bare UCP over shm" { matrix ucp shm $UCP; }
@test "bare UCP over sysv" { matrix ucp sysv $UCP; }
@test "bare UCP over tcp" { matrix ucp tcp $UCP; }

# MPICH sends them as lists of two parts, over tcp in the fragments of a longer one: their first one has no length.
@test "active messages of lists are as long as their operations" {
	JOB_EXTRA="UCX_TLS=tcp,self" trace lists mpich shm y "$PROGS/mpich/mpi_rma"
	[ "$status" -eq 0 ]
	"$UCXBPF" replay --json -o "$CASE/report" "$CASE/job.ucxb"
	jq -e '[.ops[] | select(.protocol == "am/egr/multi/zcopy") | .count] | add > 0' "$CASE/report"
	jq -e 'def bytes(of): [of | select(.function == "MPI_Fetch_and_op" or .function == "MPI_Accumulate") | .bytes] | add;
		bytes(.messages[]) == bytes(.ops[] | select(.op == "am_send")) and all(.messages[]; .bytes_unknown == 0)' "$CASE/report"
}

# A function without a root makes one operation per call, as mpi_coll uses MPI_COMM_WORLD alone.
@test "OTF2 has as many collective operations as the report has calls, with both MPIs" {
	/usr/bin/python3 -c 'import otf2' 2>/dev/null || skip "no python3-otf2"
	for mpi in openmpi mpich; do
		trace otf2 $mpi shm n "$PROGS/$mpi/mpi_coll"
		[ "$status" -eq 0 ]
		"$UCXBPF" replay --json -o "$CASE/report" "$CASE/job.ucxb"
		"$UCXBPF" export -f otf2 -o "$CASE/archive" "$CASE/job.ucxb"
		"$UCXBPF" export -f ndjson -o "$CASE/events" "$CASE/job.ucxb"
		PYTHONDONTWRITEBYTECODE=1 "$TOP/tests/golden/check_otf2.py" "$CASE/archive" "$CASE/events"
		otf2-print "$CASE/archive/traces.otf2" | sed -n 's/^MPI_COLLECTIVE_END.*Operation: \([A-Z_]*\),.*/MPI_\1/p' |
			grep -vxE 'MPI_(BCAST|GATHERV?|REDUCE|SCATTERV?)' | # those with a root: live/roots
			sort | uniq -c | awk '{ print $2, $1 }' >"$CASE/otf2"
		jq -r '[.calls[] | select(.function | test("^MPI_(Barrier|All|Reduce_|Scan|Exscan)"))] | group_by(.function)[] |
			"\(.[0].function | ascii_upcase) \(map(.count) | add)"' "$CASE/report" | sort | diff - "$CASE/otf2"
		[ "$(wc -l <"$CASE/otf2")" -eq 10 ]
	done
}
