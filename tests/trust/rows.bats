#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What rows of the list R1 to R30 print is what they measured.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	export KEPT=$BATS_TEST_TMPDIR/kept O
	O=$(realpath --relative-to "$TOP" "$BUILD")
	mkdir "$KEPT"
}

@test "no program of a row has a result written into it" {
	"$BATS_TEST_DIRNAME/literals"
}

@test "R30: a source file that an analyser cannot read is a finding" {
	command -v clang-tidy >/dev/null || skip "no clang-tidy"
	[ -x "$BUILD/ucxbpf" ] || skip "ucxbpf is not built"
	echo 'int x = ;' >"$BATS_TEST_TMPDIR/broken.c"
	FILES=$BATS_TEST_TMPDIR/broken.c BUILDS= run "$BATS_TEST_DIRNAME/R30"
	[ "$status" = 1 ]
	[[ $output == *"clang-tidy | $BATS_TEST_TMPDIR/broken.c | not analysed"* ]]
	[[ $output == *"gcc -fanalyzer | $BATS_TEST_TMPDIR/broken.c | not analysed"* ]]
}

@test "R30: BPF programs built at two paths have the same bytes" {
	[ -x "$BUILD/ucxbpf" ] || skip "ucxbpf is not built"
	git -C "$TOP" rev-parse -q --verify HEAD >/dev/null || skip "no git repository"
	FILES= BUILDS=bpf run "$BATS_TEST_DIRNAME/R30"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"make bpf, "*" files, 0 differ"* ]]
}
