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
