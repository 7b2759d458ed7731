#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A capture of OpenSHMEM, replayed: each put, get and atomic is under its shmem_ function, as many as the program's own
# ledger has, which was kept with the capture.

load ../lib/shmem.bash

@test "puts, gets and atomics of openshmem are those of the ledger" {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	"${UCXBPF:-$TOP/build/ucxbpf}" replay --json "$TOP/tests/data/shmem.ucxb" >"$BATS_TEST_TMPDIR/report"
	shmem_as_ledger "$BATS_TEST_TMPDIR/report" "$TOP/tests/data/ledgers/shmem.json" "$BATS_TEST_TMPDIR"
	# none is left without a function, and all have a peer
	jq -e '[.ops[] | select(.op | IN("put", "get", "atomic")) | .function] | all(. != null and startswith("shmem_"))' \
		"$BATS_TEST_TMPDIR/report"
	jq -e '.attribution | .data_bytes > 0 and .to_op == .data_bytes and .to_call == .data_bytes' "$BATS_TEST_TMPDIR/report"
	jq -e '[.transfers[] | select(.kind == "data") | .peer] | all(. != null)' "$BATS_TEST_TMPDIR/report"
}
