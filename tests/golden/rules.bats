#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rules on captures that fail them and on captures that pass: those of tests/data, and what tests/bench/reshape
# makes of them where no such hardware is here.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	UCXBPF=${UCXBPF:-$BUILD/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR"
	printf 'spec: ucxbpf-policy-v1\n' >site.yaml
}

# judged RULE CAPTURE...: "VERDICT SUBJECT" of each finding
judged() {
	"$UCXBPF" check -P site.yaml -f json "${@:2}" >check.json || true
	jq -r --arg rule "$1" '.findings[] | select(.rule == $rule) | "\(.verdict) \(.subject)"' check.json
}

# seen RULE: what the failures of the last check have
seen() {
	jq -r --arg rule "$1" '.findings[] | select(.rule == $rule and .verdict == "fail") | .seen' check.json
}

# reshaped NAME FILTER HOW...: of the captures of two hosts, NAME.n0.ucxb and NAME.n1.ucxb; FILTER by jq
reshaped() {
	local node

	[ -x "$BUILD/tests/bench/reshape" ] || skip "no $BUILD/tests/bench/reshape: make tests"
	for node in n0 n1; do
		"$BUILD/tests/bench/sides" "$DATA/hosts.$node.ucxb" | jq -c --arg node $node "$2" |
			"$BUILD/tests/bench/reshape" "$DATA/hosts.$node.ucxb" "$1.$node.ucxb" "${@:3}"
	done
}

@test "COV-04: a rank that waited for 7 s when the job was aborted" {
	[ "$(judged COV-04 "$DATA/hang.ucxb")" = $'unknown all captures\nfail vm:rank0\nfail vm:rank1' ]
	[ "$(seen COV-04)" = "tag_recv in MPI_Recv: open for 7.0 s, nothing else for the last 7.0 s
rank 1 is behind: it is not known where; 1 rank waits for it, in MPI_Recv for 7.0 s" ]
	echo 'rules: { COV-04: { open: 8, share: 1 } }' >>site.yaml
	[ "$(judged COV-04 "$DATA/hang.ucxb")" = "pass all captures" ]
	[ "$(judged COV-04 "$DATA/send.ucxb")" = "pass all captures" ]
}

# behind: "VERDICT SUBJECT: TEXT" of each finding of the last check that says who is behind
behind() {
	jq -r '.findings[] | select(.rule == "COV-04") | "\(.verdict) \(.subject): \(.why // .seen)"' check.json |
		grep -E "behind|not entered|each other"
}

@test "COV-04: who is behind in a job that hung before the attach, as the text names it" {
	local capture

	echo 'rules: { COV-04: { open: 1 } }' >>site.yaml
	for capture in stuck-skip-openmpi stuck-sends-mpich stuck-stopped-mpich stuck-deadlock-openmpi; do
		judged COV-04 "$DATA/$capture.ucxb" >/dev/null
		behind >"$capture"
		COLUMNS=300 "$UCXBPF" replay "$DATA/$capture.ucxb" | grep -E "behind|not entered|each other" >text
		grep -qF ": $(cat text), in MPI_" "$capture"
	done
	[ "$(cat stuck-skip-openmpi)" = "fail vm:rank3: rank 3 has not entered MPI_Barrier: it is sleeping, outside of MPI;\
 3 ranks wait for it, in MPI_Barrier for 2.0 s and more, since before the trace" ]
	[ "$(cat stuck-sends-mpich)" = "unknown vm:rank0: rank 0 and rank 1 perhaps wait for each other,\
 in MPI_Send for 2.0 s and more, since before the trace" ]
	[ "$(cat stuck-stopped-mpich)" = "unknown vm:rank1: rank 1 is perhaps behind: it is stopped, in MPI_Recv, at\
 mpi_stuck.c:25; 1 rank waits for it, in MPI_Recv for 2.0 s and more, since before the trace" ]
	[ "$(cat stuck-deadlock-openmpi)" = "fail vm:rank0: rank 0 and rank 1 wait for each other,\
 in MPI_Recv for 2.1 s and more, since before the trace" ]
	# seen for less than the rule allows
	printf 'spec: ucxbpf-policy-v1\n' >site.yaml
	judged COV-04 "$DATA/stuck-skip-openmpi.ucxb" >/dev/null
	behind | grep -qxE "unknown vm:rank3: rank 3 has not entered MPI_Barrier: .*: attach for at least 5 s"
	# as evidence, too
	cp check.json captures.json
	"$UCXBPF" sweep merge -o job.evidence "$DATA/stuck-skip-openmpi.ucxb"
	judged COV-04 job.evidence >/dev/null
	cmp check.json captures.json
}

@test "PATH-10: a UCX without support of GPUs; one with it, on H200s" {
	local folder passed=0

	[ "$(judged PATH-10 "$DATA/gpu-bcast.ucxb")" = "fail vm" ]
	[ "$(seen PATH-10)" = "gpu (by allocation) treated as host, tag_send in MPI_Bcast" ]
	for folder in "$DATA"/gpu/*/; do
		case $(judged PATH-10 "$folder/job.ucxb") in
		'pass vm') passed=$((passed + 1)) ;;
		'skip all captures') ;; # nothing was asked of UCX before it was over
		*) echo "$folder" && false ;;
		esac
	done
	[ "$passed" -ge 8 ]
}

@test "PROTO-03: a reduction by the host's memory, a broadcast of the buffers themselves" {
	[ "$(judged PROTO-03 "$DATA/gpu-bcast.ucxb")" = "pass vm" ]
	[ "$(judged PROTO-03 "$DATA/gpu-allreduce.ucxb")" = "fail vm" ]
	# a ring of two, four times: each sends half of its MiB twice and receives half twice, once into memory of MPI
	[ "$(seen PROTO-03)" = "$((4 * 2 << 19)) B of host memory beside $((4 * 2 * 3 << 19)) B of GPU memory, in MPI_Allreduce" ]
	[ "$(judged PROTO-03 "$DATA/coll.ucxb")" = "skip all captures" ]
}

@test "RAIL-03: fragments over two rails, as many on each, or all but the first on one" {
	echo 'rules: { RAIL-03: { max_over_mean: 1.2 } }' >>site.yaml
	reshaped even . halves eth0
	[ "$(judged RAIL-03 even.*.ucxb)" = $'pass n0\npass n1' ]
	reshaped uneven . rest eth0
	[ "$(judged RAIL-03 uneven.*.ucxb)" = $'fail n0\nfail n1' ]
	[ "$(seen RAIL-03 | sed 's/:.*//' | uniq)" = "max/mean 1.63" ]
	[ "$(judged RAIL-03 "$DATA"/hosts.*.ucxb)" = "skip all captures" ]
}

@test "FAB-01: UCX_IB_SL on both nodes, on one, or not told" {
	local level='if .t == "process" then .environment = {UCX_IB_SL: (if $node == "n0" then "1" else $other end)} else . end'

	echo 'expect: [ { loc: inter, sl: 1 } ]' >>site.yaml
	reshaped same "${level/'$other'/'"1"'}" rc_mlx5 eth0
	[ "$(judged FAB-01 same.*.ucxb)" = $'pass n0\npass n1' ]
	reshaped other "${level/'$other'/'"0"'}" rc_mlx5 eth0
	[ "$(judged FAB-01 other.*.ucxb)" = $'pass n0\nfail n1' ]
	[ "$(seen FAB-01)" = "service level 0 for rc_mlx5" ]
	reshaped old . rc_mlx5 eth0
	[ "$(judged FAB-01 old.*.ucxb)" = $'unknown n0\nunknown n1' ]
	[ "$(judged FAB-01 "$DATA"/hosts.*.ucxb)" = "skip all captures" ]
}

@test "CFG-01: a variable of one node alone, one that is misspelt, and none" {
	local with='if .t == "process" then .environment = {UCX_TLS: "tcp"} + (if $node == "n1" then $more else {} end) else . end'

	reshaped same "${with/'$more'/'{}'}"
	[ "$(judged CFG-01 same.*.ucxb | sort | uniq -c | tr -s ' ')" = $' 1 pass n0\n 1 pass n1' ]
	reshaped other "${with/'$more'/'{UCX_MAX_RNDV_RAILS: "1"}'}"
	[ "$(judged CFG-01 other.*.ucxb | grep -v pass)" = "fail n1" ]
	[ "$(seen CFG-01)" = "UCX_MAX_RNDV_RAILS=1" ]
	reshaped misspelt "${with/'$more'/'{UCX_MAX_RNDV_RAIL: "1"}'}"
	[ "$(judged CFG-01 misspelt.*.ucxb | grep -v pass)" = "fail n1" ]
	[ "$(seen CFG-01)" = "UCX_MAX_RNDV_RAIL: UCX 1.13.1 has no such variable" ]
}

@test "PATH-13: the lanes that there were, also from a file of evidence" {
	local lanes="am_bcopy over posix/memory, amo/am, host to host; lanes: some of cma/memory, posix/memory, self/memory0; \
posix/memory, if it is one, has atomics in host memory that UCX allocates"

	"$UCXBPF" sweep merge -o all.evidence "$DATA/shmem.ucxb"
	for from in "$DATA/shmem.ucxb" all.evidence; do
		[ "$(judged PATH-13 "$from")" = "fail vm" ]
		[ "$(seen PATH-13)" = "$lanes" ]
	done
}
