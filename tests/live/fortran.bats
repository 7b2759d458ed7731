# SPDX-License-Identifier: BSD-3-Clause
# A Fortran program by mpi_f08, with both MPIs: calls, messages and payload are those of its ledger, and with
# --stacks each call is at its line of the program, behind the binding that it goes through.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "fortran: openmpi over shm" { matrix openmpi shm mpi_f08; }
@test "fortran: openmpi over tcp" { matrix openmpi tcp mpi_f08; }
@test "fortran: mpich over shm" { matrix mpich shm mpi_f08; }
@test "fortran: mpich over tcp" { matrix mpich tcp mpi_f08; }

# sites FILE...: "RANK COUNT FUNCTION SUBROUTINE LINE" of the calls in mpi_f08.f90. MPI_Init comes before the rows of
# the binding are read.
sites()
{
	jq -r '(.processes | map({ key: "\(.id)", value: .rank }) | from_entries) as $rank | .call_sites[] |
		select(.function != "MPI_Init") | if (.file // "" | endswith("mpi_f08.f90")) then
		"\($rank["\(.process)"]) \(.count) \(.function) \(.symbol | ltrimstr("__f08_MOD_")) \(.line)"
		else "elsewhere: \(.)" end' "$1" | sort
}

@test "with stacks, calls have file, line and subroutine of the program" {
	[ "$(uname -m)" = x86_64 ] || skip "--stacks is for x86-64"
	for mpi in openmpi mpich; do
		TRACE_OPTIONS=--stacks trace mpi_f08 $mpi shm n "$PROGS/$mpi/mpi_f08" 1
		[ "$status" = 0 ]
		report
		for rank in 0 1; do
			grep -v MPI_Init "$CASE/truth/$rank.sites" | sed "s/^/$rank /"
		done | sort >"$CASE/true"
		sites "$CASE/report.json" | diff - "$CASE/true"
		"$UCXBPF" replay -v "$CASE/job.ucxb" | grep -A 20 '^CALL SITES' | grep -q 'mpi_f08.f90:.*blocking .*MPI_Ssend'
		jq -e '[.call_sites[] | select(.function == "MPI_Ssend")] | length == 1 and .[0].ops == 51' "$CASE/report.json"
		[ "$("$UCXBPF" replay --json --call-site 'mpi_f08.f90:*' "$CASE/job.ucxb" | jq '[.calls[] | select(.function != "MPI_Init").count] | add')" = \
			"$(awk '{ sum += $2 } END { print sum }' "$CASE/true")" ]
	done
}

@test "without stacks, a call's place is the binding" {
	for mpi in openmpi:libmpi_mpifh mpich:libmpichfort; do
		trace mpi_f08 ${mpi%:*} shm n "$PROGS/${mpi%:*}/mpi_f08"
		[ "$status" = 0 ]
		report
		jq -e '[.call_sites[].module | split("/")[-1] | split(".")[0]] | unique == ["'${mpi#*:}'"]' "$CASE/report.json"
	done
}
