# SPDX-License-Identifier: BSD-3-Clause
# Messages that all look alike, joined in mid-run, in windows, and with records lost: each match is
# compared with the serial numbers that the program keeps in its messages.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }
teardown() { running_teardown; }

PROGRAM=mpi_serial

# claims LEAST: no match is wrong, and so many percent are matched, beginning with the first message of each link behind
# the event
claims()
{
	UCXBPF=$UCXBPF /usr/bin/python3 "$TOP/tests/live/check_serials.py" --least "$1" "$TRUTH" "$WORK/a.ucxb"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	jq -c .matching "$WORK/report.json"
	# of the sends with detail at both ends
	jq -e '.matching | .matched >= 0.99 * (.matched + .ambiguous
		+ (.unmatched_sends | ."lost records" + ."before first anchor" + ."one of several senders"
			+ ."order not known" + 0))' "$WORK/report.json"
}

# joined MPI TRANSPORT [SECONDS]
joined()
{
	[ "$2" = tcp ] && nodes_up 4
	start "$1" "$2" n
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d "${3:-0.5}" >"$WORK/summary"
	finish
	claims 99
}

@test "Open MPI over shm, joined in mid-run: twelve links" { RANKS=4 PAUSE=2000 joined openmpi shm; }

@test "Open MPI over sysv, joined in mid-run" { joined openmpi sysv; }

@test "MPICH over shm, joined in mid-run" { joined mpich shm; }

@test "MPICH over sysv, joined in mid-run" { joined mpich sysv; }

@test "Open MPI over tcp, joined in mid-run: twelve links" { RANKS=4 joined openmpi tcp 1; }

@test "MPICH over tcp, joined in mid-run" { joined mpich tcp 1; }

# Three messages of 1 KiB a second from each of eight ranks to the next one: matched to the last one, from the first one on
quiet()
{
	RANKS=8 PAUSE=333000 ARGUMENTS=1024 joined "$1" "$2" 3
	jq -e '.matching.unmatched_sends | keys - ["in flight at end", "receive operation not seen"] == []' "$WORK/report.json"
}

@test "a quiet job, Open MPI over shm" { quiet openmpi shm; }

@test "a quiet job, MPICH over sysv" { quiet mpich sysv; }

@test "windows" {
	for mpi in openmpi mpich; do
		start $mpi shm n
		timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 1 --window 150ms/300ms \
			>"$WORK/summary"
		finish
		claims 99
		rm -f "$STOP" "$WORK/a.ucxb" "$TRUTH"/*
	done
}

# lost MPI TRANSPORT: the tracer is stopped until its rings are full, and goes on
lost()
{
	local tracer

	[ "$2" = tcp ] && nodes_up 4
	PAUSE=3000 start "$1" "$2" n
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
	# an arrival may be lost where no call is
	claims 97
	jq -e '.loss.dropped != {}' "$WORK/report.json"
}

@test "records lost, Open MPI over shm" { lost openmpi shm; }

@test "records lost, MPICH over sysv" { lost mpich sysv; }

@test "records lost, Open MPI over tcp" { lost openmpi tcp; }
