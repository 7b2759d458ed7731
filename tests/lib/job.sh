# SPDX-License-Identifier: BSD-3-Clause
# Starts MPI and UCP jobs on a given transport. Sourced by bats files and by scripts.
#
# Where: TOP (repository), BUILD (its build folder), both set by tests/run or by default.
# job_command fills the array JOB with a complete command line, so that it can be run as it is or
# behind `ucxbpf run --`. No environment of the caller is changed: all goes through env(1).

TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD=${BUILD:-$TOP/build}
PROGS=$BUILD/tests/progs

# Transport name -> UCX_TLS.
declare -gA JOB_TLS=([shm]=posix,self,cma [sysv]=sysv,self [tcp]=tcp,self)

# Debian's Open MPI has UCX switched off and its device lists know InfiniBand only.
job_env_openmpi()
{
	JOB_ENV=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ucx
		OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any OMPI_MCA_osc=ucx
		OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
		OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_tmpdir_base=/tmp)
}

job_env_mpich()
{
	JOB_ENV=(MPIR_CVAR_ENABLE_GPU=0)
}

# job_hosts COUNT: n0,n1,...
job_hosts()
{
	local i hosts=n0

	for ((i = 1; i < $1; i++)); do
		hosts+=,n$i
	done
	echo "$hosts"
}

# Over tcp every rank has a node of its own: `tests/nodes up COUNT` comes first.
job_launcher_openmpi()
{
	local names=(UCX_TLS UCX_PROTO_ENABLE UCX_LOG_LEVEL TRUTH) name

	JOB_LAUNCHER=(mpirun.openmpi -n "$1")
	[ "$2" = tcp ] || return 0
	JOB_LAUNCHER+=(-H "$(job_hosts "$1")" --mca plm rsh --mca plm_rsh_agent "$TOP/tests/rsh"
		--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0)
	for name in "${names[@]}" ${JOB_EXPORT:-}; do
		JOB_LAUNCHER+=(-x "$name")
	done
	JOB_LAUNCHER+=(-x UCX_NET_DEVICES=eth0)
}

job_launcher_mpich()
{
	JOB_LAUNCHER=(mpiexec.hydra -n "$1")
	[ "$2" = tcp ] || return 0
	JOB_LAUNCHER+=(-hosts "$(job_hosts "$1")" -ppn 1 -launcher rsh
		-launcher-exec "$TOP/tests/rsh" -iface eth0)
	JOB_ENV+=(UCX_NET_DEVICES=eth0)
}

# job_command openmpi|mpich RANKS shm|sysv|tcp n|y COMMAND...
#   JOB_EXTRA  more NAME=VALUE for the job; JOB_EXPORT their names, for remote Open MPI ranks
job_command()
{
	local mpi=$1 ranks=$2 transport=$3 proto=$4
	shift 4

	"job_env_$mpi"
	JOB_ENV+=("UCX_TLS=${JOB_TLS[$transport]}" "UCX_PROTO_ENABLE=$proto"
		"UCX_LOG_LEVEL=${JOB_LOG:-warn}" "TRUTH=${TRUTH:-}" ${JOB_EXTRA:-})
	"job_launcher_$mpi" "$ranks" "$transport"
	JOB=(env "${JOB_ENV[@]}" "${JOB_LAUNCHER[@]}" "$@")
	[ "$transport" = tcp ] && JOB=("$TOP/tests/nodes" enter n0 "${JOB[@]}")
	return 0
}

# ucp_command shm|sysv|tcp n|y PROGRAM [ARGUMENTS...]: both sides of a bare-UCP program; over tcp it has no arguments.
ucp_command()
{
	local transport=$1 proto=$2 program=$3

	JOB=(env "UCX_TLS=${JOB_TLS[$transport]}" "UCX_PROTO_ENABLE=$proto"
		"UCX_LOG_LEVEL=${JOB_LOG:-warn}" "TRUTH=${TRUTH:-}")
	if [ "$transport" = tcp ]; then
		JOB+=(UCX_NET_DEVICES=eth0 "$TOP/tests/lib/two-nodes" "$program")
	else
		JOB+=("${@:3}")
	fi
}

# job SECONDS ARGUMENTS OF job_command: runs it.
job()
{
	local seconds=$1
	shift

	job_command "$@"
	timeout -k 5 "$seconds" "${JOB[@]}" </dev/null
}
