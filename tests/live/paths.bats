# SPDX-License-Identifier: BSD-3-Clause
# Where calls come from: every MPI_Send of mpi_paths is at a known place.

load ../lib/live.bash

LIBRARY=$PROGS/lib/lib_paths.so
PATHS=$TOP/tests/live/check_paths.py

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# paths MPI PROGRAM [CHECK'S OPTIONS...]: traces it, compares its places.
paths()
{
	local mpi=$1 program=$2
	shift 2

	trace mpi_paths "$mpi" shm n "$program" "$LIBRARY"
	[ "$status" = 0 ] || tail -n 5 "$CASE/out"
	[ "$status" = 0 ] && report && /usr/bin/python3 "$PATHS" "$CASE/report.json" "$CASE/truth" "$@"
}

@test "function, file and line of every call" {
	for mpi in openmpi mpich; do
		paths $mpi "$PROGS/$mpi/mpi_paths"
	done
}

@test "a stripped program: module and offset" {
	strip -o "$WORK/stripped" "$PROGS/openmpi/mpi_paths"
	paths openmpi "$WORK/stripped" --stripped
}

@test "names from a separate debug file, found by its link" {
	local debug=$WORK/.debug

	mkdir "$debug"
	objcopy --only-keep-debug "$PROGS/openmpi/mpi_paths" "$debug/linked.debug"
	strip -o "$WORK/linked" "$PROGS/openmpi/mpi_paths"
	objcopy --add-gnu-debuglink="$debug/linked.debug" "$WORK/linked"
	paths openmpi "$WORK/linked"
}

@test "a program that was deleted while it ran" {
	cp "$PROGS/openmpi/mpi_paths" "$WORK/deleted"
	before_attempt()
	{
		(
			for _ in $(seq 100); do
				[ -s "$TRUTH/0.pid" ] && [ -s "$TRUTH/1.pid" ] && break
				sleep 0.1
			done
			rm -f "$WORK/deleted"
		) 3>&- &
	}
	cat >"$WORK/slow" <<-END
		#!/bin/sh
		exec "$WORK/deleted" "$LIBRARY" 20 2000
	END
	chmod +x "$WORK/slow"
	paths openmpi "$WORK/slow"
}

@test "the text report and the filter" {
	trace mpi_paths openmpi shm n "$PROGS/openmpi/mpi_paths" "$LIBRARY"
	"$UCXBPF" replay -v "$CASE/job.ucxb" | grep -A 20 '^CALL SITES' | grep -q 'paths.h:.*compare .*MPI_Send'
	[ "$("$UCXBPF" replay --json --call-site 'send_h*' "$CASE/job.ucxb" | jq '[.calls[].count] | add')" = 50 ]
	[ "$("$UCXBPF" replay --json --call-site none "$CASE/job.ucxb" | jq '.calls | length')" = 0 ]
	! "$UCXBPF" replay "$CASE/job.ucxb" | grep -q '^CALL SITES' || false
}
