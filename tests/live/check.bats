#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Faults of a site, made for real on two nodes of two ranks each: `ucxbpf check` names the rule and
# the node, and nothing else.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	nodes_up
	cat >"$WORK/site.yaml" <<-EOT
		spec: ucxbpf-policy-v1
		classes: { node: { nodes: "n[0-1]" } }
		expect: [ { loc: inter, tl: [tcp] } ]
	EOT
}

# Each rank has a tracer of its own; $1: what a shell sets up on each node before; $2: the ranks' nodes.
site_job()
{
	local hosts=${2:-n0:2,n1:2} count
	local ranks="$1"'; exec "$0" run -q -o "$1.$(hostname).$OMPI_COMM_WORLD_LOCAL_RANK.ucxb" -- "${@:2}"'

	count=$(($(tr -dc , <<<"$hosts" | wc -c) * 2 + 2))
	job_env_openmpi
	timeout -k 5 60 "$TOP/tests/nodes" enter n0 env "${JOB_ENV[@]}" UCX_NET_DEVICES=eth0 UCX_TLS=tcp,sysv,self,cma \
		mpirun.openmpi -n "$count" -H "$hosts" --mca plm rsh --mca plm_rsh_agent "$TOP/tests/rsh" \
		--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 -x UCX_TLS -x UCX_NET_DEVICES \
		bash -c "$ranks" "$UCXBPF" "$WORK/job" "$PROGS/openmpi/mpi_allreduce" 1000003 5 </dev/null >"$WORK/out"
}

@test "nodes in order" {
	site_job :
	[ -z "$(judged 0 "$WORK"/job.*.ucxb)" ]
	[ "$(jq '.summary.nodes' "$WORK/check.json")" = 2 ]
}

# Without cma UCX takes what can fetch by itself: the network.
@test "a node whose ranks may not copy from each other" {
	site_job '[ "$(hostname)" = n0 ] || export UCX_TLS=tcp,sysv,self'
	[ "$(judged 2 "$WORK"/job.*.ucxb)" = $'fail CFG-01 n1\nfail PATH-03 n1' ]
}

@test "a node with a misspelt variable" {
	site_job '[ "$(hostname)" = n1 ] || export UCX_NET_DEVICE=eth0'
	[ "$(judged 1 "$WORK"/job.*.ucxb)" = "fail CFG-01 n0" ]
	[ "$(jq -r '.findings[] | select(.verdict == "fail" and .severity != "info") | .expected' "$WORK/check.json")" = UCX_NET_DEVICES ]
}

@test "a node whose ranks may not copy from each other, and have no network either" {
	site_job 'export UCX_TLS=sysv,self' n1:2
	[ "$(judged 1 "$WORK"/job.*.ucxb)" = "fail PATH-05 n1" ]
}

@test "a node whose ranks talk to each other over the network" {
	site_job '[ "$(hostname)" = n0 ] || export UCX_TLS=tcp,self'
	[ "$(judged 2 "$WORK"/job.*.ucxb)" = $'fail CFG-01 n1\nfail PATH-03 n1' ]
}

@test "the network that is meant for management" {
	echo 'rules: { PATH-02: { management: [eth0] } }' >>"$WORK/site.yaml"
	site_job :
	[ "$(judged 2 "$WORK"/job.*.ucxb)" = $'fail PATH-02 n0>n1\nfail PATH-02 n1>n0' ]
}

@test "a node without its captures: the other one is not to blame" {
	site_job :
	judged 3 "$WORK"/job.n0.*.ucxb >"$WORK/said"
	! grep -q '^fail' "$WORK/said" || false
	grep -q '^unknown COV-04 n0' "$WORK/said"
}
