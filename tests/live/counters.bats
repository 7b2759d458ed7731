#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# COV-02: what was traced, held against the ports' own counters, on two nodes of two rails each.

load ../lib/live.bash

setup_file()
{
	live_file_setup
	export RAILS=2
}

teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	nodes_up
	cat >"$WORK/site.yaml" <<-EOT
		spec: ucxbpf-policy-v1
		classes: { node: { nodes: "n[0-1]", nics: [eth0, eth1] } }
		expect: [ { loc: inter, tl: [tcp] } ]
		rules:
		  RAIL-02: { severity: off }
	EOT
}

snapshots()
{
	local node

	for node in n0 n1; do
		"$TOP/tests/nodes" enter $node "$UCXBPF" inventory -o "$WORK/$1.$node.json"
	done
}

# $1: the devices UCX may use; the rest: a program
traced_job()
{
	job_env_openmpi
	timeout -k 5 60 "$TOP/tests/nodes" enter n0 env "${JOB_ENV[@]}" UCX_NET_DEVICES="$1" UCX_TLS=tcp,self \
		mpirun.openmpi -n 2 -H n0:1,n1:1 --mca plm rsh --mca plm_rsh_agent "$TOP/tests/rsh" \
		--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 -x UCX_TLS -x UCX_NET_DEVICES \
		bash -c 'exec "$0" run -q -o "$1.$(hostname).ucxb" -- "${@:2}"' "$UCXBPF" "$WORK/job" "${@:2}" \
		</dev/null >"$WORK/out"
}

# What is not in order with these snapshots, of COV-02; $1: the status
counted()
{
	checked "$1" 'select(.rule == "COV-02" and .verdict != "pass") | "\(.verdict) \(.subject)"' "${@:2}" \
		"$WORK"/job.*.ucxb
}

# 8 MB from n0 to an address of n1
foreign()
{
	"$TOP/tests/nodes" enter n1 timeout 20 /usr/bin/python3 -c '
import socket
server = socket.create_server(("", 7777))
print("ready", flush=True)
connection = server.accept()[0]
while connection.recv(65536):
    pass' >"$WORK/ready" 3>&- &
	for _ in $(seq 100); do
		[ -s "$WORK/ready" ] && break
		sleep 0.05
	done
	"$TOP/tests/nodes" enter n0 timeout 20 bash -c 'head -c 8000000 /dev/zero >/dev/tcp/$1/7777' _ "$1"
	wait $!
}

@test "the job's own traffic adds up; that of another program is found on its ports" {
	snapshots a
	traced_job eth0 "$PROGS/openmpi/mpi_allreduce" 1000003 3
	snapshots b
	foreign 10.77.0.11
	snapshots c
	foreign 10.78.0.11
	snapshots d
	counted 0 "$WORK"/[ab].*.json
	[ "$(jq '[.findings[] | select(.rule == "COV-02" and .verdict == "pass")] | length' "$WORK/check.json")" = 6 ]
	# eth0, beside the job
	[ "$(counted 2 "$WORK"/[ac].*.json)" = $'fail n0:eth0\nfail n1:eth0' ]
	jq -e '.findings[] | select(.rule == "COV-02" and .subject == "n0:eth0") | .bytes > 7900000 and .bytes < 12000000' \
		"$WORK/check.json"
	# and eth1, which the job did not use
	[ "$(counted 2 "$WORK"/[ad].*.json)" = $'fail n0:eth0\nfail n0:eth1\nfail n1:eth0\nfail n1:eth1' ]
	# where that is known
	echo '  COV-02: { untraced: [eth1] }' >>"$WORK/site.yaml"
	[ "$(counted 2 "$WORK"/[ad].*.json)" = $'fail n0:eth0\nskip n0:eth1\nfail n1:eth0\nskip n1:eth1' ]
	# inventories of another time, and only one
	[ "$(counted 3 "$WORK"/[cd].*.json)" = $'unknown n0\nunknown n1' ]
	[ "$(counted 0 "$WORK"/a.*.json)" = "skip all captures" ]
}

# UCX takes the NIC for the way, the kernel takes lo: both addresses are its own.
@test "ranks of one node over tcp: what UCX calls eth0 leaves by lo, and adds up" {
	job_env_openmpi
	snapshots a
	timeout -k 5 60 "$TOP/tests/nodes" enter n0 env "${JOB_ENV[@]}" UCX_NET_DEVICES=lo,eth0 UCX_TLS=tcp,self \
		"$UCXBPF" run -q -o "$WORK/job.n0.ucxb" -- mpirun.openmpi -n 2 "$PROGS/openmpi/mpi_allreduce" 1000003 3 \
		</dev/null >"$WORK/out"
	snapshots b
	counted 2 "$WORK"/[ab].n0.json >"$WORK/said"
	jq -c '.findings[] | select(.rule == "COV-02")' "$WORK/check.json" # shown where the test fails
	[ ! -s "$WORK/said" ]
	# three sums of 8,000,024 B, to and fro
	jq -e '.findings[] | select(.rule == "COV-02" and .subject == "n0:lo") | .verdict == "pass"
		and (.seen | split(" ")[0] | gsub(","; "") | tonumber) >= 6 * 8000024 * 0.99' "$WORK/check.json"
	jq -e '.findings[] | select(.rule == "COV-02" and .subject == "n0:eth0") | .verdict == "pass"
		and (.seen | split(" ")[0] | gsub(","; "") | tonumber) < 10000' "$WORK/check.json"
}

# What is wrong with inventories alone; $1: the status
links()
{
	checked "$1" "$NOT_IN_ORDER"' | "\(.verdict) \(.rule) \(.subject) \(.seen)"' "${@:2}"
}

@test "a link that is down, and one that was" {
	snapshots a
	"$TOP/tests/nodes" enter n0 ip link set eth1 down
	snapshots b
	"$TOP/tests/nodes" enter n0 ip link set eth1 up
	snapshots c
	[ "$(links 0 "$WORK"/a.*.json)" = "" ]
	[[ "$(links 2 "$WORK"/b.*.json)" == "fail RAIL-05 n0:eth1 down"* ]]
	[ "$(links 1 "$WORK"/[ac].*.json)" = "fail FAB-04 n0:eth1 carrier_down_count +1" ]
}
