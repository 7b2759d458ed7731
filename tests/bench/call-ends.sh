#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How close the ends of MPI calls come without return probes: runs programs with --call-ends, and
# compares each call's exact time with the lower bound that the same capture gives without its ends.
# Prints the tables of docs/call-ends.md, functions of less than one per mille of the time left out.
#
#   call-ends.sh [PROGRAM...]   pingpong cg (of either MPI), petsc gromacs lammps (Open MPI)
cd "$(dirname "$0")/../.." || exit
. tests/lib/job.sh
. tests/apps/app.bash

work=$(mktemp -d /tmp/ucxbpf.XXXXXX)
trap 'rm -rf "$work"' EXIT
# What is compared is what a call does, not how a program begins and ends.
skip='^MPI_(Init|Init_thread|Finalize)$'

# one TITLE MPI COMMAND...
one()
{
	local title=$1 mpi=$2
	shift 2

	job_command "$mpi" 2 shm n "$@"
	(cd "$work" && timeout -k 5 120 "$BUILD/ucxbpf" run -q --call-ends -o job.ucxb -- "${JOB[@]}") \
		</dev/null >"$work/out" 2>&1 || { tail -n 3 "$work/out"; return 1; }
	echo "$title"
	echo
	"$BUILD/tests/bench/callends" "$work/job.ucxb" "$skip" | tail -n +3
	echo
}

app()
{
	local missing

	missing=$(app_missing "$1") && { echo "$1: $missing"; return; }
	app_command "$1" short
	one "$1" openmpi "${APP[@]}"
}

[ "$(id -u)" = 0 ] || { echo "call-ends: needs root"; exit; }
[ $# -gt 0 ] || set -- pingpong cg petsc gromacs lammps
[ -e "$APPS/2500.tpr" ] || tests/apps/prepare "$APPS" >"$work/prepare" 2>&1 || tail -n 1 "$work/prepare"
for program in "$@"; do
	case $program in
	pingpong)
		for mpi in openmpi mpich; do
			one "ping-pong, $mpi" $mpi "$PROGS/$mpi/mpi_pingpong" 3000
		done
		;;
	cg)
		for mpi in openmpi mpich; do
			one "cg, $mpi" $mpi "$PROGS/$mpi/cg" 400
		done
		;;
	*) app "$program" ;;
	esac
done
