#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Who sends how much to whom in an MPI_Allreduce of four ranks is what its algorithm says: n doubles,
# 11 rounds (tests/golden/capture.sh). Thakur, Rabenseifner, Gropp: "Optimization of collective
# communication operations in MPICH" (2005), section 4.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

# pairs CAPTURE: "0>1 messages bytes" per directed pair, in order
pairs() {
	"$UCXBPF" replay --json --function MPI_Allreduce "$TOP/tests/data/$1.ucxb" |
		jq -r '.processes as $p | .messages[] | select(.bytes > 0) |
			"\($p[.src].rank)>\($p[.dst].rank) \(.count) \(.bytes)"' | sort
}

# Each rank with the one at distance 1, then 2, always all of it.
doubling() {
	for pair in 0\>1 0\>2 1\>0 1\>3 2\>0 2\>3 3\>1 3\>2; do
		echo "$pair 11 $((11 * 1009 * 8))"
	done
}

@test "recursive doubling of Open MPI" {
	diff <(doubling) <(pairs allreduce-doubling)
}

@test "recursive doubling of MPICH" {
	diff <(doubling) <(pairs allreduce-doubling-mpich)
}

# Six steps, each sends a quarter to the right neighbour: 50,021 is three of 12,505 and one of 12,506.
@test "ring of Open MPI" {
	pairs allreduce-ring >"$BATS_TEST_TMPDIR/ring"
	[ "$(cut -d ' ' -f 1,2 "$BATS_TEST_TMPDIR/ring")" = $'0>1 66\n1>2 66\n2>3 66\n3>0 66' ]
	[ "$(awk '{ sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/ring")" = $((11 * 6 * 50021 * 8)) ]
}

# Halves, then quarters, and the same way back: 3/2 of all per rank, half as much per distance doubled.
halving() {
	pairs "$1" >"$BATS_TEST_TMPDIR/halving"
	[ "$(cut -d ' ' -f 1,2 "$BATS_TEST_TMPDIR/halving")" = \
		$'0>1 22\n0>2 22\n1>0 22\n1>3 22\n2>0 22\n2>3 22\n3>1 22\n3>2 22' ]
	[ "$(awk '{ sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/halving")" = $((11 * 6 * 50021 * 8)) ]
	near=$(awk '/0>1|1>0|2>3|3>2/ { sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/halving")
	[ "$near" = $((11 * 4 * 50021 * 8)) ]
}

@test "Rabenseifner's of Open MPI" {
	halving allreduce-rabenseifner
}

@test "reduce-scatter and allgather of MPICH" {
	halving allreduce-halving-mpich
}
