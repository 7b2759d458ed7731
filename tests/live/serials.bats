# SPDX-License-Identifier: BSD-3-Clause
# Messages that all look alike, joined in mid-run, in windows, and with records lost: what is claimed
# is compared with the serial numbers that the program keeps in its messages.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }
teardown() { running_teardown; }

PROGRAM=mpi_serial

# claims LEAST [SETTLED]: what is claimed is right, so many percent of the sends are matched, and so many (0) of those
# behind the first hundred of their link
claims()
{
	UCXBPF=$UCXBPF /usr/bin/python3 "$TOP/tests/live/check_serials.py" --settled "${2:-0}" "$TRUTH" "$WORK/a.ucxb"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	jq -c .matching "$WORK/report.json"
	jq -e ".matching | .matched * 100 >= .sends * $1" "$WORK/report.json" >/dev/null
}

joined()
{
	[ "$2" = tcp ] && nodes_up
	start "$1" "$2" n
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.5 >"$WORK/summary"
	finish
	claims 90 99
}

@test "Open MPI over shm, joined in mid-run" { joined openmpi shm; }

@test "MPICH over sysv, joined in mid-run" { joined mpich sysv; }

@test "Open MPI over tcp, joined in mid-run" { joined openmpi tcp; }

@test "MPICH over tcp, joined in mid-run" { joined mpich tcp; }

@test "windows" {
	for mpi in openmpi mpich; do
		start $mpi shm n
		timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 1 --window 150ms/300ms \
			>"$WORK/summary"
		finish
		claims 80
		rm -f "$STOP" "$WORK/a.ucxb" "$TRUTH"/*
	done
}

# The tracer is stopped until its rings are full, and goes on.
lost()
{
	local tracer
	PAUSE=0

	start "$1" shm n
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" --ring-size 64 -d 3 >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon calls_in "$WORK/a.ucxb" 1
	for _ in 1 2 3; do
		kill -STOP $tracer
		sleep 0.4
		kill -CONT $tracer
		sleep 0.3
	done
	wait $tracer || [ $? = 4 ]
	finish
	claims 1
	jq -e '.loss.dropped != {}' "$WORK/report.json"
	# of the sends with detail at both ends
	jq -e '.matching | .matched >= 0.95 * (.matched + .ambiguous
		+ (.unmatched_sends | ."lost records" + ."before first anchor" + ."one of several senders"
			+ ."order not known" + 0))' "$WORK/report.json"
}

@test "records lost, Open MPI" { lost openmpi; }

@test "records lost, MPICH" { lost mpich; }
