#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Some rows of the list R1 to R30, in short: a few trials of each, other ones than `make trust` keeps.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	export KEPT=$WORK/kept O
	O=$(realpath --relative-to "$TOP" "$BUILD")
	[ -x "$BUILD/tests/trust/faultfs" ] || skip "tests/trust is not built"
}

# held ROW: its program ends with 0
held()
{
	local status=0

	"$BATS_TEST_DIRNAME/$1" || status=$?
	[ "$status" != 77 ] || skip "$1 cannot be tried here"
	[ "$status" = 0 ]
}

@test "R4: sends within each other and in signal handlers" { N=6 held R4; }

@test "R5: killed tracers" { N=2 held R5; }

@test "R6: calls that write output fail" { CASES='^(replay --json|attach)$' FAULTS=EIO held R6; }

@test "R7: power cuts, and disks that do not work" { CASES='^(short run|replay|a disk)' N=142 held R7; }

@test "R11: mutants of ELF files" { N=60 held R11; }

@test "R12: objects of UCX that are none" { N=400 held R12; }

@test "R14: a process id that is used again" { N=2 held R14; }

@test "R15: names that are meant to do harm" { N=4 held R15; }

@test "R23: another user over the same libraries" { N=1 held R23; }

@test "R27: reports at random, statuses of check" { N=36 held R27; }

@test "R28: shares of nodes that fail, and those that may be drained" { N=10 held R28; }
