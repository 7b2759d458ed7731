# SPDX-License-Identifier: BSD-3-Clause
# What scripts in guests have in common (verbs, places): jobs traced on both nodes, with inventories from before and
# after. Of each case $OUT/NAME has a capture and two inventories of each node, and the programs' ledgers.
. tests/lib/job.sh
rsh=$TOP/tests/guest/rsh

settings=() # NAME=VALUE: UCX's variables in all ranks
bound=      # a command before each rank: "taskset -c 0"
ranks=1     # of each node
failed=

# inventories WHEN
inventories()
{
	local i

	for ((i = 0; i < NODES; i++)); do
		"$rsh" "n$i" "build/ucxbpf inventory -o $CASE/n$i.$1.json"
	done
}

# job TLS OTHER PROGRAM...: MPI ranks on each node, each with a tracer of its own; OTHER: a command before those of n1,
# such as "env UCX_TLS=tcp,self"
job()
{
	local exports=(-x UCX_TLS -x TRUTH) setting
	local each='own=${OMPI_COMM_WORLD_LOCAL_RANK#0}; [ "$(hostname)" != n0 ] || set -- "$1" "" "${@:3}"
		exec $1 $2 build/ucxbpf run -q -o "$0/$(hostname)${own:+.$own}.ucxb" -- "${@:3}"'

	for setting in "${settings[@]}"; do
		exports+=(-x "${setting%%=*}")
	done
	job_env_openmpi
	env "${JOB_ENV[@]}" "${settings[@]}" UCX_TLS="$1" timeout -k 5 200 mpirun.openmpi -n $((2 * ranks)) \
		-H "n0:$ranks,n1:$ranks" --mca plm rsh --mca plm_rsh_agent "$rsh" --mca plm_rsh_no_tree_spawn 1 \
		--wdir "$TOP" "${exports[@]}" bash -c "$each" "$CASE" "$bound" "${@:2}"
}

# one NAME COMMAND...
one()
{
	CASE=$OUT/$1
	export TRUTH=$CASE/truth
	mkdir -p "$TRUTH"
	inventories before
	"${@:2}" || failed+=" $1"
	inventories after
	echo "$1: $(cut -d' ' -f1 /proc/uptime) s after the start"
}

# The script's last words.
all_done()
{
	[ -z "$failed" ] || echo "failed:$failed"
	[ -z "$failed" ]
}
