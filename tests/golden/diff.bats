#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Comparisons of captures in tests/data give the same bytes as before, by the schema that is documented.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

@test "golden captures compare as they did" {
	run "$TOP/tests/golden/diffs"
	echo "$output"
	[ "$status" -eq 0 ]
}

# Messages of 64 KiB between GPUs that one node has: with UCX 1.18.1 by cma and through the host, with 1.22.0 by cuda_ipc.
@test "two versions of UCX: what chose other operations is named, row by row" {
	local of=imported-peer
	cd "$TOP/tests/data/gpu"
	run "$UCXBPF" diff --json "$of-1.18.1-v2-ipc-static-start/job.ucxb" "$of-1.22.0-v2-ipc-static-start/job.ucxb"
	[ "$status" -eq 1 ]
	jq -r '.rows[] | select(.verdict == "changed" and (.section | IN("environment", "paths", "switch_points")))
		| [.table, (.key | to_entries[] | .value // "-"),
			(.before, .after | .text // if . then "\(.transfers // .operations | .median), \(.bytes.median) B" else "none" end)]
		| join(" ")' <<<"$output" >"$BATS_TEST_TMPDIR/rows"
	diff "$BATS_TEST_TMPDIR/rows" - <<-EOT
		system UCX 1.18.1 1.22.0
		system gpu2 NVIDIA H200 (none)
		system gpu3 NVIDIA H200 (none)
		system program /tmp/gpu-check/progs/static/gpu_imported /tmp/gpu/progs/static/gpu_imported
		paths cuda_copy cuda put_zcopy self copy 2, 2097152 B 5, 2293760 B
		paths cuda_ipc cuda put_zcopy node data 2, 2097152 B 5, 2293760 B
		paths cma memory put_zcopy node data 3, 196608 B none
		paths cuda_copy cuda get_zcopy self copy 3, 196608 B none
		protocols tag_send node rndv/put/zcopy 2, 2097152 B 5, 2293760 B
		protocols tag_send node rndv/am/bcopy 2, 2097152 B 7, 2117632 B
		protocols tag_send node rndv/put/mtype 3, 196608 B none
		protocols tag_send node egr/single/bcopy 17, 41016 B 12, 20536 B
		switch_points tag_send node gpu1 - to rndv/put/zcopy above 65,536 B, at most 1,048,576 B above 4,096 B, at most 65,536 B
		EOT
}

# Two H200s: both choose the same operations, and a copy of a few bytes to a GPU takes five times as long with 1.19.1.
@test "two versions of UCX: the same operations, slower copies to GPUs" {
	cd "$TOP/tests/data"
	run "$UCXBPF" diff --json gpu-ucx-118.ucxb gpu-ucx-119.ucxb
	[ "$status" -eq 1 ]
	jq -e '[.rows[] | select(.verdict == "changed" and (.section | IN("environment", "libraries") | not))]
		| length > 0 and all(.[]; .table == "transfer_times" and .key.transport == "cuda_copy"
			and .key.op == "put_short" and .after.time_ns.median >= 5 * .before.time_ns.median)' <<<"$output"
}

@test "each comparison follows docs/diff.schema.json, and adds up" {
	run /usr/bin/python3 "$TOP/tests/golden/check_diff.py" "$TOP/docs/diff.schema.json" "$TOP"/tests/data/diff/*.json
	echo "$output"
	[ "$status" != 77 ] || skip "$output"
	[ "$status" -eq 0 ]
}

@test "the check of the schema finds breaches" {
	jq '.rows[0].verdict = "other"' "$TOP/tests/data/diff/v1-v2.json" >"$BATS_TEST_TMPDIR/verdict.json"
	jq '.differences += 1' "$TOP/tests/data/diff/v1-v2.json" >"$BATS_TEST_TMPDIR/sum.json"
	for name in verdict sum; do
		run /usr/bin/python3 "$TOP/tests/golden/check_diff.py" "$TOP/docs/diff.schema.json" \
			"$BATS_TEST_TMPDIR/$name.json"
		[ "$status" != 77 ] || skip "$output"
		[ "$status" -eq 1 ]
	done
}
