# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf diff on runs of this machine: it names the change between two runs, and finds none between equal runs.
#
#   DIFF_TRIES  how many pairs of the same run are compared, for each program (2)

bats_require_minimum_version 1.5.0
load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# record NAME MPI TRANSPORT PROTO PROGRAM ARGUMENTS...: the capture is $WORK/NAME.ucxb
record()
{
	local status
	trace "$@"
	[ "$status" = 0 ] || {
		echo "$1: exit status $status"
		tail -n 5 "$CASE/out"
		return 1
	}
	mv "$CASE/job.ucxb" "$WORK/$1.ucxb"
	[ -z "${KEEP:-}" ] || cp "$WORK/$1.ucxb" "$KEEP/"
}

# differs STATUS DIFF'S ARGUMENTS...: into $WORK/diff.json and $WORK/diff.txt
differs()
{
	local wanted=$1 got=0
	shift
	"$UCXBPF" diff --json -o "$WORK/diff.json" "$@" || got=$?
	"$UCXBPF" diff -v "$@" >"$WORK/diff.txt" || true
	[ "$got" = "$wanted" ] || {
		echo "exit status $got instead of $wanted"
		cat "$WORK/diff.txt"
		return 1
	}
}

# changed: "SECTION KEY... BEFORE AFTER" of each difference; texts alone have a before and after
changed()
{
	jq -r '.rows[] | select(.verdict == "changed")
		| [.section, (.key | to_entries[] | .value // "-"), (.before.text // empty), (.after.text // empty)]
		| join(" ")' "$WORK/diff.json"
}

# sections: those with differences
sections()
{
	jq -r '[.sections | to_entries[] | select(.value > 0) | .key] | join(" ")' "$WORK/diff.json"
}

# twice TRIES RANKS MPI PROTO PROGRAM...: that many pairs, none of which differs
twice()
{
	local tries=$1 ranks=$2 mpi=$3 proto=$4 try failed=0
	shift 4

	for ((try = 1; try <= tries; try++)); do
		RANKS=$ranks record one "$mpi" shm "$proto" "$PROGS/$mpi/$1" "${@:2}"
		RANKS=$ranks record two "$mpi" shm "$proto" "$PROGS/$mpi/$1" "${@:2}"
		differs 0 "$WORK/one.ucxb" "$WORK/two.ucxb" || {
			echo "$mpi $1, try $try"
			failed=$((failed + 1))
			[ -z "${KEEP:-}" ] || cp "$WORK/one.ucxb" "$KEEP/$mpi-$1-$try-one.ucxb"
			[ -z "${KEEP:-}" ] || cp "$WORK/two.ucxb" "$KEEP/$mpi-$1-$try-two.ucxb"
		}
	done
	echo "$mpi $1: $((tries - failed)) of $tries pairs do not differ"
	[ "$failed" = 0 ]
}

@test "the same run twice: a solver" {
	twice "${DIFF_TRIES:-2}" 2 openmpi n cg
}

@test "the same run twice: sizes around the switch points" {
	twice "${DIFF_TRIES:-2}" 2 openmpi y mpi_sizes
}

@test "the same run twice: polls and requests completed in any order" {
	twice "${DIFF_TRIES:-2}" 2 mpich n mpi_isend
}

@test "the same run twice: collectives of more ranks than cores" {
	twice "${DIFF_TRIES:-2}" 4 openmpi n mpi_coll
}

@test "the same run twice: callers of UCP without MPI" {
	twice "${DIFF_TRIES:-2}" 0 ucp n ucp_tag
	jq -e '[.rows[] | select(.table == "callers" and .key.caller == "program" and .key.op == "tag_send") | .verdict]
		| length > 0 and unique == ["same"]' "$WORK/diff.json"
}

@test "protocol v1 against v2" {
	record v1 openmpi shm n "$PROGS/openmpi/mpi_sizes"
	record v2 openmpi shm y "$PROGS/openmpi/mpi_sizes"
	differs 1 "$WORK/v1.ucxb" "$WORK/v2.ucxb"
	[ "$(changed | grep ^environment)" = "environment UCX_PROTO_ENABLE n y" ]
	changed | grep -q "^paths tag_send node eager/bcopy"
	changed | grep -q "^paths tag_send node egr/single/bcopy"
	changed | grep -q "^switch_points tag_send node host .* eager/bcopy egr/single/bcopy$"
	! changed | grep -E "^(libraries|counts) " || false
}

@test "posix and cma against tcp" {
	record shm openmpi shm n "$PROGS/openmpi/mpi_sizes"
	JOB_EXTRA="UCX_TLS=tcp,self" record tcp openmpi shm n "$PROGS/openmpi/mpi_sizes"
	differs 1 "$WORK/shm.ucxb" "$WORK/tcp.ucxb"
	changed | grep -q "^environment UCX_TLS posix,self,cma tcp,self$"
	changed | grep -q "^environment interfaces cma/memory posix/memory"
	jq -e '[.rows[] | select(.table == "paths" and .verdict == "changed") | .key.transport] | unique
		== ["cma", "posix", "tcp"]' "$WORK/diff.json"
	jq -e '[.rows[] | select(.table == "paths" and .key.transport == "tcp") | .before] | unique == [null]' \
		"$WORK/diff.json"
	[ "$(changed | grep ^environment | cut -d " " -f 2 | sort | tr '\n' ' ')" = "UCX_TLS interfaces " ]
	! changed | grep -E "^(libraries|counts) " || false
}

@test "another threshold: the switch point has moved" {
	record before openmpi shm n "$PROGS/openmpi/mpi_sizes"
	JOB_EXTRA="UCX_RNDV_THRESH=300000" record after openmpi shm n "$PROGS/openmpi/mpi_sizes"
	differs 1 "$WORK/before.ucxb" "$WORK/after.ucxb"
	[ "$(changed | grep ^environment)" = "environment UCX_RNDV_THRESH (not set) 300000" ]
	changed | grep -q "^switch_points tag_send node host MPI_Send to rndv/get above 100,000 B, at most 262,144 B above"
	changed | grep -q "^switch_points tag_send node host MPI_Isend to rndv/get above .* above 262,144 B, at most"
	! changed | grep -E "^(libraries|counts) " || false
}

# MCA variables are in the environment, so they differ, too
@test "another algorithm of a collective" {
	local forced="OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm"
	RANKS=4 JOB_EXTRA="${forced}=3" record doubling openmpi shm n "$PROGS/openmpi/mpi_coll"
	RANKS=4 JOB_EXTRA="${forced}=4" record ring openmpi shm n "$PROGS/openmpi/mpi_coll"
	differs 1 "$WORK/doubling.ucxb" "$WORK/ring.ucxb"
	changed | grep -q "^paths MPI_Allreduce 4 ranks .* recursive doubling$"
	changed | grep -q "^paths MPI_Allreduce 4 ranks .* ring$"
	! changed | grep "^paths MPI_[B-Z]\|^paths MPI_All[a-qs-z]" || false
}

# They live for long enough that all their mappings are read.
@test "another MPI library" {
	record openmpi openmpi shm n "$PROGS/openmpi/mpi_waits" none 200
	record mpich mpich shm n "$PROGS/mpich/mpi_waits" none 200
	differs 1 "$WORK/openmpi.ucxb" "$WORK/mpich.ucxb"
	changed | grep -qE "^environment MPI Open MPI [0-9.]+ MPICH [0-9.]+$"
	changed | grep -q "^libraries mpi build id "
	changed | grep -q "^libraries mca_pml_ucx path /.* (not mapped)$"
	! changed | grep "^libraries ucp " || false
}

@test "five runs a side: their waits are compared" {
	for try in 1 2 3 4 5; do
		record "none$try" openmpi shm n "$PROGS/openmpi/mpi_waits" none
		record "late$try" openmpi shm n "$PROGS/openmpi/mpi_waits" late_sender
	done
	differs 1 --before "$WORK"/none?.ucxb --after "$WORK"/late?.ucxb
	jq -e '.rows[] | select(.section == "waits" and .verdict == "changed" and .key.kind == "late_sender"
		and .key.function == "MPI_Recv")' "$WORK/diff.json"
	differs 0 "$WORK/none1.ucxb" "$WORK/late1.ucxb"
	jq -e '[.rows[] | select(.section == "waits") | .verdict] | unique == ["not_compared"]' "$WORK/diff.json"
}

@test "other layers: what both captures have is compared" {
	record uct openmpi shm n "$PROGS/openmpi/mpi_send"
	TRACE_OPTIONS="--level mpi" record mpi openmpi shm n "$PROGS/openmpi/mpi_send"
	TRACE_OPTIONS=--count record count openmpi shm n "$PROGS/openmpi/mpi_send"
	differs 0 "$WORK/uct.ucxb" "$WORK/mpi.ucxb"
	jq -e '[.rows[].table] | unique - ["call_times"] == ["calls", "libraries", "system", "variables"]' "$WORK/diff.json"
	jq -e '.notes | any(startswith("some runs were recorded at level mpi"))' "$WORK/diff.json"
	differs 0 "$WORK/uct.ucxb" "$WORK/count.ucxb"
	jq -e '[.rows[] | select(.verdict == "same") | .table] | unique | contains(["calls", "operations", "paths"])' \
		"$WORK/diff.json"
}
