# SPDX-License-Identifier: BSD-3-Clause
# Algorithms of collectives, which the environment tells the MPI library to use: they are recognised, or unknown.
# The numbers are those of Open MPI 4.1 (ompi/mca/coll/tuned/coll_tuned_*_decision.c), the names those of MPICH 4.0
# (src/mpi/coll/cvars.txt).

bats_require_minimum_version 1.5.0
load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# algorithms MPI RANKS "NAME=VALUE..." FUNCTION=ALGORITHM...
algorithms()
{
	local mpi=$1 ranks=$2
	export JOB_EXTRA=$3
	shift 3

	RANKS=$ranks one_case 0 "algorithms-$ranks" "$mpi" shm n "$PROGS/$mpi/mpi_algorithms" 1009 2 || return 1
	/usr/bin/python3 "$TOP/tests/live/check_algorithms.py" "$CASE/report.json" "$ranks" "$@"
}

# openmpi RANKS "COLLECTIVE=NUMBER..." FUNCTION=ALGORITHM...
openmpi()
{
	local ranks=$1 forced=OMPI_MCA_coll_tuned_use_dynamic_rules=1 word
	for word in $2; do
		[[ $word == *algorithm* ]] || word=${word/=/_algorithm=}
		forced+=" OMPI_MCA_coll_tuned_$word"
	done
	shift 2
	algorithms openmpi "$ranks" "$forced" "$@"
}

# mpich RANKS "COLLECTIVE=NAME..." FUNCTION=ALGORITHM...
mpich()
{
	local ranks=$1 forced=MPIR_CVAR_DEVICE_COLLECTIVES=none word
	for word in $2; do
		forced+=" MPIR_CVAR_${word%=*}_INTRA_ALGORITHM=${word#*=}"
	done
	shift 2
	algorithms mpich "$ranks" "$forced" "$@"
}

all="allreduce bcast allgather alltoall barrier reduce reduce_scatter gather scatter"

# numbered NUMBER COLLECTIVE...: the same number for all of them
numbered()
{
	local number=$1
	shift
	printf "%s=$number " "$@"
}

# Open MPI's chains are four, its k-nomial tree has radix 4: with five ranks both are one level deep.
@test "Open MPI: linear" {
	for ranks in 4 5 8; do
		star=$([ $ranks -gt 5 ] || echo "?")
		openmpi $ranks "$(numbered 1 $all)" MPI_Allreduce=linear MPI_Bcast=linear$star MPI_Allgather=linear \
			MPI_Alltoall=linear MPI_Barrier=linear MPI_Reduce=linear$star MPI_Gather=linear MPI_Scatter=linear \
			"MPI_Reduce_scatter=?"
	done
}

# Its nonoverlapping allreduce is a reduce and a broadcast, of the library's choice.
@test "Open MPI: chains, pairs, Bruck, a double ring" {
	for ranks in 4 5 8; do
		star=$([ $ranks -gt 5 ] || echo "?")
		openmpi $ranks "$(numbered 2 allgather alltoall barrier bcast gather reduce reduce_scatter scatter)" \
			MPI_Bcast=chain$star MPI_Allgather=Bruck MPI_Alltoall=pairwise MPI_Barrier=double_ring \
			MPI_Reduce=chain$star MPI_Gather=binomial_tree MPI_Scatter=binomial_tree \
			MPI_Reduce_scatter=recursive_halving
	done
}

# The third allgather turns to Bruck's where the ranks are no power of two.
@test "Open MPI: recursive doubling, pipelines" {
	for ranks in 4 5 8; do
		case $ranks in
		4) gather=recursive_doubling? ;;
		5) gather=Bruck ;;
		8) gather=recursive_doubling ;;
		esac
		openmpi $ranks "$(numbered 3 $all)" MPI_Allreduce=recursive_doubling MPI_Bcast=chain \
			MPI_Allgather=$gather MPI_Alltoall=Bruck MPI_Barrier=recursive_doubling MPI_Reduce=chain \
			MPI_Gather=linear MPI_Scatter=linear MPI_Reduce_scatter=ring
	done
}

# The fifth allgather turns to a ring where the ranks are odd.
@test "Open MPI: rings, binary trees" {
	for ranks in 4 5 8; do
		binary=$([ $ranks -gt 4 ] || echo "?")
		case $ranks in
		4) gather=neighbour_exchange? ;;
		5) gather=ring ;;
		8) gather=neighbour_exchange ;;
		esac
		openmpi $ranks "allreduce=4 bcast=5 allgather=4 alltoall=4 barrier=4 reduce=4 reduce_scatter=4" \
			MPI_Allreduce=ring MPI_Bcast=binary_tree$binary MPI_Allgather=ring MPI_Alltoall=linear \
			MPI_Barrier=Bruck MPI_Reduce=binary_tree$binary "MPI_Reduce_scatter=?"
		openmpi $ranks "allreduce=5 allreduce_algorithm_segmentsize=1024 bcast=4 allgather=5 reduce=6" \
			MPI_Allreduce=ring "MPI_Bcast=?" MPI_Allgather=$gather \
			MPI_Reduce=binary_tree?
	done
}

@test "Open MPI: Rabenseifner, binomial trees, scatter and allgather" {
	for ranks in 4 5 8; do
		binary=$([ $ranks -gt 4 ] || echo "?")
		power=$([ $ranks != 5 ] || echo "?")
		openmpi $ranks "allreduce=6 bcast=6 barrier=6 reduce=5" MPI_Allreduce=Rabenseifner \
			MPI_Bcast=binomial_tree$binary MPI_Barrier=binomial_tree$binary MPI_Reduce=binomial_tree$binary
		openmpi $ranks "bcast=7 reduce=7" "MPI_Bcast=k-nomial_tree$([ $ranks -gt 5 ] || echo "?")" \
			MPI_Reduce=Rabenseifner$power
		openmpi $ranks "bcast=8" MPI_Bcast=scatter_and_recursive_doubling$power
		openmpi $ranks "bcast=9" MPI_Bcast=scatter_and_ring
	done
}

@test "MPICH" {
	for ranks in 4 5 8; do
		binary=$([ $ranks -gt 4 ] || echo "?")
		power=$([ $ranks != 5 ] || echo "?")
		mpich $ranks "ALLREDUCE=recursive_doubling BCAST=binomial ALLGATHER=brucks ALLTOALL=brucks
			BARRIER=dissemination REDUCE=binomial REDUCE_SCATTER=recursive_halving" \
			MPI_Allreduce=recursive_doubling MPI_Bcast=binomial_tree$binary MPI_Allgather=Bruck \
			MPI_Alltoall=Bruck MPI_Barrier=Bruck MPI_Reduce=binomial_tree$binary \
			MPI_Reduce_scatter=recursive_halving
		mpich $ranks "ALLREDUCE=reduce_scatter_allgather BCAST=scatter_recursive_doubling_allgather
			ALLGATHER=ring ALLTOALL=pairwise REDUCE=reduce_scatter_gather REDUCE_SCATTER=pairwise" \
			MPI_Allreduce=Rabenseifner MPI_Bcast=scatter_and_recursive_doubling$power MPI_Allgather=ring \
			MPI_Alltoall=pairwise MPI_Reduce=Rabenseifner$power MPI_Reduce_scatter=pairwise
		mpich $ranks "ALLREDUCE=nb IALLREDUCE=tsp_ring BCAST=scatter_ring_allgather ALLTOALL=scattered" \
			MPI_Allreduce=ring MPI_Bcast=scatter_and_ring MPI_Alltoall=linear
	done
}

# Reduced within each node first, and among nodes then: no pattern of all ranks.
@test "MPICH's hierarchical algorithms are unknown" {
	for ranks in 4 5; do
		algorithms mpich $ranks MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp "MPI_Allreduce=?" "MPI_Barrier=?"
	done
}

@test "collectives have the numbers that their program counts, on each communicator" {
	local mpi joins

	for mpi in openmpi mpich; do
		RANKS=4 one_case 0 numbers "$mpi" shm n "$PROGS/$mpi/mpi_numbers"
		"$UCXBPF" export -f ndjson -o "$CASE/events" "$CASE/job.ucxb"
		/usr/bin/python3 "$TOP/tests/live/check_numbers.py" "$CASE/events" "$CASE/truth"
		joins=$(jq -c .collective_joins "$CASE/report.json")
		echo "$mpi: $joins"
		jq -e '.proved > 20 and .contradicted == 0 and (.unproved | length) == 1' <<<"$joins"
	done
}
