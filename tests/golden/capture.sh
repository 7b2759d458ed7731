#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: capture.sh [NAME...]
# Makes the golden captures anew, as root: only when what a capture holds has changed on purpose.
# Old ones stay readable for good, so keep them beside the new ones where the format changed.
# Paths end up in captures: work in a clone at a place that says nothing, such as /tmp/ucxbpf.
# Then: run.sh --update, read the difference, git add tests/data.
# threads-parallel is not made here: mpi_threads over shm without v2 on 16 cores, where threads truly
# overlap, less the records that name that machine's GPU driver library.
# Over tcp every rank has a node of its own, below one tracer, to which it is all one host. Over nodes it is tcp,
# too, but each node has its own tracer: NAME.n0.ucxb, NAME.n1.ucxb and so on.
# Of OpenSHMEM's the ledger is kept, too, in ledgers/, to compare with (shmem.bats).
# gromacs is not made here: Open MPI, shm, 4 ranks, 400.tpr of tests/apps/prepare with -nsteps 10.
# ucp-freed and ucp-freed-after are not made here: ucp_freed as tests/live/freed.bats runs it.
# environment: UCXBPF (build/ucxbpf), DATA (tests/data), BED (see tests/nodes)
. "$(dirname "${BASH_SOURCE[0]}")/../lib/job.sh"
ucxbpf=${UCXBPF:-$BUILD/ucxbpf}
data=${DATA:-$TOP/tests/data}
failed=0
export BED=${BED:-ug}

# name, MPI, ucp or shmem, ranks, transport, UCX_PROTO_ENABLE, [NAME=VALUE...] program and its arguments
table() {
	local tuned=OMPI_MCA_coll_tuned_use_dynamic_rules=1
	local openmpi=OMPI_MCA_coll_tuned_allreduce_algorithm
	local mpich=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM
	# 4.0.2 has no ring of its own for the blocking one
	local mpich_ring="$mpich=nb MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_ring"

	cat <<-EOT
		send openmpi 2 shm n mpi_send
		send-v2 openmpi 2 shm y mpi_send
		isend mpich 2 shm n mpi_isend
		isend-tcp openmpi 2 tcp n mpi_isend
		persistent openmpi 2 sysv n mpi_persistent
		wild mpich 3 shm n mpi_wild
		probe openmpi 2 shm n mpi_probe
		sizes openmpi 2 shm n mpi_sizes
		sizes-tcp mpich 2 tcp n mpi_sizes
		sizes-v2 mpich 2 shm y mpi_sizes
		coll openmpi 4 shm n mpi_coll
		rma openmpi 2 shm n mpi_rma
		threads openmpi 2 shm n mpi_threads
		comms mpich 2 shm n mpi_comms
		comms-openmpi openmpi 2 shm n mpi_comms
		self openmpi 2 shm n mpi_self
		types mpich 2 shm n mpi_types
		abort openmpi 2 shm n mpi_abort
		ucp-tag ucp 2 shm n ucp_tag
		ucp-am ucp 2 shm n ucp_am
		ucp-am-v2 ucp 2 shm y ucp_am
		ucp-stream ucp 2 shm n ucp_stream
		ucp-rma ucp 2 shm n ucp_rma
		ucp-stacks ucp 2 shm n ucp_paths $PROGS/lib/lib_paths.so 3 1000
		derived openmpi 2 shm n mpi_pingpong 100
		shmem shmem 2 shm n OMPI_MCA_spml=ucx shmem_calls 3 1
		send-count openmpi 2 shm n mpi_send
		send-ends openmpi 2 shm n mpi_send
		serial-thin openmpi 2 shm n mpi_serial 24 6000
		ucp-am-count ucp 2 shm y ucp_am
		hang openmpi 2 shm n mpi_hang 7
		gpu-bcast openmpi 2 shm n mpi_gpu_coll $PROGS/lib/lib_cuda.so bcast
		gpu-allreduce openmpi 2 shm n mpi_gpu_coll $PROGS/lib/lib_cuda.so allreduce
		allreduce-ring openmpi 4 tcp n $tuned $openmpi=4 mpi_allreduce 50021 11
		allreduce-openmpi-doubling openmpi 4 nodes n $tuned $openmpi=3 mpi_allreduce 1009 11
		allreduce-openmpi-halving openmpi 4 nodes n $tuned $openmpi=6 mpi_allreduce 50021 11
		allreduce-openmpi-ring openmpi 4 nodes n $tuned $openmpi=4 mpi_allreduce 50021 11
		allreduce-mpich-doubling mpich 4 nodes n $mpich=recursive_doubling mpi_allreduce 1009 11
		allreduce-mpich-halving mpich 4 nodes n $mpich=reduce_scatter_allgather mpi_allreduce 50021 11
		allreduce-mpich-ring mpich 4 nodes n $mpich_ring mpi_allreduce 50021 11
		hosts openmpi 2 nodes n mpi_sizes
		cg openmpi 4 nodes n cg 96
	EOT
}

# command_of NAME MPI RANKS TRANSPORT PROTO PROGRAM...: fills JOB, tracers included.
command_of() {
	local name=$1 mpi=$2 ranks=$3 transport=$4 proto=$5 program=$6 options=() tracer=("$ucxbpf")
	local node='exec "$0" run -q -o "$1.$(hostname).ucxb" -- "${@:2}"'
	shift 6

	[[ $name != *-count ]] || options=(--count)
	# if its report has no derived calls, make it again
	[ "$name" != derived ] || tracer=(env UCXBPF_DERIVE_FORCE=2 "$ucxbpf")
	[[ $name != *-ends ]] || options=(--call-ends)
	[[ $name != *-thin ]] || options=(--thin 1/4)
	[[ $name != *-stacks ]] || options=(--stacks)
	case $mpi:$transport in
	*:nodes)
		job_command "$mpi" "$ranks" tcp "$proto" bash -c "$node" "$ucxbpf" "$data/$name" "$PROGS/$mpi/$program" "$@"
		return
		;;
	shmem:*) job_command openmpi "$ranks" "$transport" "$proto" "$PROGS/shmem/$program" "$@" ;;
	ucp:*) ucp_command "$transport" "$proto" "$PROGS/ucp/$program" "$@" ;;
	*) job_command "$mpi" "$ranks" "$transport" "$proto" "$PROGS/$mpi/$program" "$@" ;;
	esac
	JOB=("${tracer[@]}" run -q "${options[@]}" -o "$data/$name.ucxb" -- "${JOB[@]}")
}

# capture NAME MPI RANKS TRANSPORT PROTO [NAME=VALUE...] PROGRAM...
capture() {
	local name=$1 where=("${@:1:5}") files status
	shift 5

	JOB_EXTRA="" JOB_EXPORT=""
	while [[ $1 == *=* ]]; do
		JOB_EXTRA+=" $1" JOB_EXPORT+=" ${1%%=*}"
		shift
	done
	command_of "${where[@]}" "$@"
	# An aborting job has a status of its own: what counts is that there is a capture. One that did not end
	# is made again: MPICH's MPI_Finalize over tcp (tests/lib/live.bash).
	for _ in {1..5}; do
		rm -f "$data/$name".*ucxb "$TRUTH"/*
		timeout -k 5 20 "${JOB[@]}" </dev/null >/dev/null
		status=$?
		[ $status = 124 ] || break
	done
	files=("$data/$name".*ucxb)
	if [ $status != 124 ] && "$ucxbpf" replay --json "${files[@]}" | jq -e '.loss.dropped | del(."detail thinned") == {}' >/dev/null; then
		echo "$name: $(stat -c %s "${files[@]}" | xargs) bytes"
		[ "${where[1]}" != shmem ] || jq -cs 'map({ calls, messages })' "$TRUTH"/*.json >"$data/ledgers/$name.json"
	else
		echo "$name: no capture of all of it" >&2
		failed=1
	fi
}

wanted() {
	[ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]
}

names=("$@")
mkdir -p "$data/ledgers" || exit
TRUTH=$(mktemp -d) || exit
"$TOP/tests/nodes" up 4 >/dev/null || echo "no nodes: nothing over tcp" >&2
trap '"$TOP/tests/nodes" down; rm -rf "$TRUTH"' EXIT
while read -r name rest; do
	wanted "$name" || continue
	# shellcheck disable=SC2086
	capture "$name" $rest
done < <(table)
exit $failed
