#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# An OTF2 archive has the collective operations of a job, with the roots that its program gave.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	export PYTHONDONTWRITEBYTECODE=1
	command -v otf2-print >/dev/null || skip "no otf2-print"
	/usr/bin/python3 -c 'import otf2' 2>/dev/null || skip "no python3-otf2"
}

# ends OPERATION: how many calls of it ended, and their roots
ends()
{
	sed -n "s/^MPI_COLLECTIVE_END.*Operation: $1,.*Root: \([^ ,]*\).*/\1/p" "$WORK/text" | sort | uniq -c | xargs
}

@test "Open MPI: the root of every broadcast, reduction, gather and scatter of mpi_coll is 0" {
	RANKS=4 one_case 0 mpi_coll openmpi shm n "$PROGS/openmpi/mpi_coll"
	"$UCXBPF" export -f otf2 -o "$WORK/archive" "$CASE/job.ucxb"
	"$UCXBPF" export -f ndjson -o "$WORK/events" "$CASE/job.ucxb"
	"$TOP/tests/golden/check_otf2.py" "$WORK/archive" "$WORK/events"
	otf2-print "$WORK/archive/traces.otf2" >"$WORK/text"
	for operation in BCAST REDUCE GATHER SCATTER; do
		echo "$operation: $(ends $operation)"
		[ "$(ends $operation)" = "48 0" ]
	done
	[ "$(ends GATHERV)" = "44 0" ]
	[ "$(ends SCATTERV)" = "44 0" ]
	[ "$(ends ALLREDUCE)" = "48 NONE" ]
}
