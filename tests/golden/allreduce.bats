#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Who sends how much to whom in an MPI_Allreduce of four ranks on four nodes is what its algorithm says: n doubles,
# 11 rounds (tests/golden/capture.sh). Thakur, Rabenseifner, Gropp: "Optimization of collective
# communication operations in MPICH" (2005), section 4. The numbers are those of docs/gallery.md.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

# reduced NAME: the reductions alone
reduced() {
	"$UCXBPF" replay --json --function MPI_Allreduce "$TOP/tests/data/allreduce-$1".n?.ucxb
}

# pairs NAME: "0>1 messages bytes" per directed pair, in order
pairs() {
	reduced "$1" | jq -r '.processes as $p | .messages[] | select(.bytes > 0) |
		"\($p[.src].rank)>\($p[.dst].rank) \(.count) \(.bytes)"' | sort
}

# transfers NAME: "protocol operation count bytes" of data
transfers() {
	reduced "$1" | jq -r '[.transfers[] | select(.bytes > 0)] | group_by(.protocol, .op)[] |
		"\(.[0].transport) \(.[0].protocol) \(.[0].op) \(map(.count) | add) \(map(.bytes) | add)"'
}

# matched NAME SENDS: a tracer on each node, and every send of the job has found its receive on another
matched() {
	"$UCXBPF" replay --json "$TOP/tests/data/allreduce-$1".n?.ucxb | jq -e --argjson sends "$2" '
		([.hosts[].name] | sort) == ["n0", "n1", "n2", "n3"] and ([.processes[].host] | sort) == [0, 1, 2, 3]
		and .matching == {sends: $sends, receives: $sends, matched: $sends, ambiguous: 0,
			unmatched_sends: {}, unmatched_receives: {}}
		and .loss.dropped == {} and .notes == {}'
}

# Each rank with the one at distance 1, then 2, always all of it.
doubling() {
	for pair in 0\>1 0\>2 1\>0 1\>3 2\>0 2\>3 3\>1 3\>2; do
		echo "$pair 11 $((11 * 1009 * 8))"
	done
}

@test "every send of six jobs has found its receive on another node" {
	matched openmpi-doubling 94
	matched openmpi-halving 182
	matched openmpi-ring 270
	matched mpich-doubling 96
	matched mpich-halving 184
	matched mpich-ring 272
}

@test "recursive doubling" {
	for mpi in openmpi mpich; do
		diff <(doubling) <(pairs $mpi-doubling)
		[ "$(transfers $mpi-doubling)" = "tcp eager/short am_short 88 710336" ]
	done
}

# Six steps, each sends a quarter to the right neighbour: 50,021 is three of 12,505 and one of 12,506.
@test "ring" {
	for mpi in openmpi mpich; do
		pairs $mpi-ring >"$BATS_TEST_TMPDIR/ring"
		[ "$(cut -d ' ' -f 1,2 "$BATS_TEST_TMPDIR/ring")" = $'0>1 66\n1>2 66\n2>3 66\n3>0 66' ]
		[ "$(awk '{ sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/ring")" = $((11 * 6 * 50021 * 8)) ]
		[ "$(awk '{ printf "%.2f\n", $3 / 1048576 }' "$BATS_TEST_TMPDIR/ring" | uniq)" = 6.30 ]
	done
	[ "$(transfers openmpi-ring)" = "tcp eager/multi/bcopy am_bcopy 3432 26411088" ]
	[ "$(transfers mpich-ring)" = "tcp rndv/put put_zcopy 264 26411088" ]
}

# Halves, then quarters, and the same way back: 3/2 of all per rank, half as much per distance doubled.
@test "reduce-scatter and allgather" {
	for mpi in openmpi mpich; do
		pairs $mpi-halving >"$BATS_TEST_TMPDIR/halving"
		[ "$(cut -d ' ' -f 1,2 "$BATS_TEST_TMPDIR/halving")" = \
			$'0>1 22\n0>2 22\n1>0 22\n1>3 22\n2>0 22\n2>3 22\n3>1 22\n3>2 22' ]
		[ "$(awk '/0>1|1>0|2>3|3>2/ { print $3 }' "$BATS_TEST_TMPDIR/halving" | uniq)" = $((11 * 50021 * 8)) ]
		[ "$(awk '/0>2|2>0|1>3|3>1/ { print $3 }' "$BATS_TEST_TMPDIR/halving" | sort -u)" = $'2200880\n2200968' ]
		[ "$(awk '{ sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/halving")" = $((11 * 6 * 50021 * 8)) ]
	done
	[ "$(transfers openmpi-halving)" = "tcp eager/multi/bcopy am_bcopy 3344 26411088" ]
	[ "$(transfers mpich-halving)" = "tcp rndv/put put_zcopy 176 26411088" ]
}
