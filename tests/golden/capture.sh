#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: capture.sh [NAME...]
# Makes the golden captures anew, as root: only when what a capture holds has changed on purpose.
# Old ones stay readable for good, so keep them beside the new ones where the format changed.
# Paths end up in captures: work in a clone at a place that says nothing, such as /tmp/ucxbpf.
# Then: run.sh --update, read the difference, git add tests/data.
# threads-parallel is not made here: mpi_threads over shm without v2 on 16 cores, where threads truly
# overlap, less the records that name that machine's GPU driver library.
# hosts is two captures, cg four: each rank's tracer runs on the rank's own node.
# gromacs is not made here: Open MPI, shm, 4 ranks, 400.tpr of tests/apps/prepare with -nsteps 10.
# environment: UCXBPF (build/ucxbpf), DATA (tests/data), BED (see tests/nodes)
. "$(dirname "${BASH_SOURCE[0]}")/../lib/job.sh"
ucxbpf=${UCXBPF:-$BUILD/ucxbpf}
data=${DATA:-$TOP/tests/data}
failed=0
export BED=${BED:-ug}

# name, MPI or ucp, ranks, transport, UCX_PROTO_ENABLE, [NAME=VALUE...] program and its arguments
table() {
	local tuned=OMPI_MCA_coll_tuned_use_dynamic_rules=1
	local openmpi=OMPI_MCA_coll_tuned_allreduce_algorithm
	local mpich=MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM

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
		self openmpi 2 shm n mpi_self
		types mpich 2 shm n mpi_types
		abort openmpi 2 shm n mpi_abort
		ucp-tag ucp 2 shm n ucp_tag
		ucp-am ucp 2 shm n ucp_am
		ucp-am-v2 ucp 2 shm y ucp_am
		ucp-stream ucp 2 shm n ucp_stream
		ucp-rma ucp 2 shm n ucp_rma
		send-count openmpi 2 shm n mpi_send
		ucp-am-count ucp 2 shm y ucp_am
		hang openmpi 2 shm n mpi_hang 7
		gpu-bcast openmpi 2 shm n mpi_gpu_coll $PROGS/lib/lib_cuda.so bcast
		gpu-allreduce openmpi 2 shm n mpi_gpu_coll $PROGS/lib/lib_cuda.so allreduce
		allreduce-doubling openmpi 4 tcp n $tuned $openmpi=3 mpi_allreduce 1009 11
		allreduce-ring openmpi 4 tcp n $tuned $openmpi=4 mpi_allreduce 50021 11
		allreduce-rabenseifner openmpi 4 tcp n $tuned $openmpi=6 mpi_allreduce 50021 11
		allreduce-doubling-mpich mpich 4 tcp n $mpich=recursive_doubling mpi_allreduce 1009 11
		allreduce-halving-mpich mpich 4 tcp n $mpich=reduce_scatter_allgather mpi_allreduce 50021 11
	EOT
}

capture() {
	local name=$1 mpi=$2 ranks=$3 transport=$4 proto=$5 program options=()
	shift 5

	JOB_EXTRA="" JOB_EXPORT=""
	while [[ $1 == *=* ]]; do
		JOB_EXTRA+=" $1" JOB_EXPORT+=" ${1%%=*}"
		shift
	done
	program=$1
	shift
	[[ $name != *-count ]] || options=(--count)
	case $mpi in
	ucp) ucp_command "$transport" "$proto" "$PROGS/ucp/$program" ;;
	*) job_command "$mpi" "$ranks" "$transport" "$proto" "$PROGS/$mpi/$program" "$@" ;;
	esac
	# An aborting job has a status of its own: what counts is that there is a capture.
	timeout -k 5 60 "$ucxbpf" run -q "${options[@]}" -o "$data/$name.ucxb" -- "${JOB[@]}" </dev/null >/dev/null
	if "$ucxbpf" replay --json "$data/$name.ucxb" | jq -e '.loss.dropped == {}' >/dev/null; then
		echo "$name: $(stat -c %s "$data/$name.ucxb") bytes"
	else
		echo "$name: no capture without loss" >&2
		failed=1
	fi
}

# Below Open MPI's launcher: on every node its own tracer.
capture_hosts() {
	local name=$1 ranks=$2 traced='exec "$0" run -q -o "$1.$(hostname).ucxb" -- "${@:2}"'
	shift 2

	job_command openmpi "$ranks" tcp n bash -c "$traced" "$ucxbpf" "$data/$name" "$PROGS/openmpi/$1" "${@:2}"
	timeout -k 5 60 "${JOB[@]}" </dev/null >/dev/null || failed=1
	echo "$name: $(stat -c %s "$data/$name".*.ucxb | xargs) bytes"
}

wanted() {
	[ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]
}

names=("$@")
mkdir -p "$data" || exit
"$TOP/tests/nodes" up 4 >/dev/null || echo "no nodes: nothing over tcp" >&2
trap '"$TOP/tests/nodes" down' EXIT
while read -r name rest; do
	wanted "$name" || continue
	# shellcheck disable=SC2086
	capture "$name" $rest
done < <(table)
! wanted hosts || capture_hosts hosts 2 mpi_sizes
! wanted cg || capture_hosts cg 4 cg 96
exit $failed
