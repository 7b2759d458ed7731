#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Two nodes in two networks: bytes of each NIC agree with the interfaces' own counters, and `check` says
# which node has a rail too few or uses one too much.

load ../lib/live.bash

setup_file()
{
	export RAILS=2
	live_file_setup
}
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	nodes_up
	cat >"$WORK/site.yaml" <<-EOT
		spec: ucxbpf-policy-v1
		classes: { node: { nodes: "n[0-1]", nics: [eth0, eth1], rails: 2 } }
		expect: [ { loc: inter, tl: [tcp] } ]
		rules: { CFG-01: { severity: off } }
	EOT
}

counters()
{
	local node nic

	for node in n0 n1; do
		for nic in eth0 eth1; do
			echo "$node $nic $("$TOP/tests/nodes" bytes "$node" "$nic")"
		done
	done
}

# $1: what a shell sets up on each node before; 16 messages of 1 MiB and of 8 MiB each, one way or the other
job()
{
	local ranks="$1"'; exec "$0" run -q -o "$1.$(hostname).ucxb" -- "${@:2}"'

	rm -f "$WORK"/job.*
	job_env_openmpi
	counters >"$WORK/before"
	timeout -k 5 60 "$TOP/tests/nodes" enter n0 env "${JOB_ENV[@]}" UCX_TLS=tcp,self \
		mpirun.openmpi -n 2 -H n0:1,n1:1 --mca plm rsh --mca plm_rsh_agent "$TOP/tests/rsh" \
		--mca oob_tcp_if_include eth0 -x UCX_TLS \
		bash -c "$ranks" "$UCXBPF" "$WORK/job" "$PROGS/openmpi/mpi_sizes" </dev/null >"$WORK/out"
	counters >"$WORK/after"
	"$UCXBPF" replay --json "$WORK"/job.*.ucxb >"$WORK/report.json"
}

@test "each NIC carries what its own counter says, both of them the same" {
	job :
	/usr/bin/python3 "$TOP/tests/live/check_rails.py" "$WORK"
	judged 0 "$WORK"/job.*.ucxb >"$WORK/said" || { jq -c ".findings[] | select(.verdict == \"fail\") | del(.examples, .causes)" "$WORK/check.json"; false; }
	[ ! -s "$WORK/said" ]
	"$UCXBPF" replay "$WORK"/job.*.ucxb >"$WORK/text"
	grep -Eq '^  n0 eth0 +19\.[0-9] MiB +0 B +51\.[0-9] % +1\.03$' "$WORK/text"
	grep -Eq '^  n0 eth1 +18\.[0-9] MiB +0 B +48\.[0-9] % +1\.03$' "$WORK/text"
	grep -q '^  n0 host -> eth0 -> unknown -> n1 host ' "$WORK/text"
}

@test "a node that is told to use one rail" {
	job '[ "$(hostname)" = n0 ] || export UCX_NET_DEVICES=eth0'
	/usr/bin/python3 "$TOP/tests/live/check_rails.py" "$WORK"
	[ "$(judged 2 "$WORK"/job.*.ucxb)" = $'fail RAIL-01 n0\nfail RAIL-01 n1\nfail RAIL-02 n0\nfail RAIL-02 n1' ]
	# n1 can be reached by one, n0 by either
	[ "$(jq -r '(.hosts[] | select(.name == "n1").id) as $n1 | .routes[] | "\(.dst_host == $n1) \(.dst_nic)"' \
		"$WORK/report.json" | sort -u)" = $'false unknown\ntrue eth0' ]
}
