#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What rows of the list R1 to R30 print is what they measured, and what of it gets into the page.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	export KEPT=$BATS_TEST_TMPDIR/kept PAGE=$BATS_TEST_TMPDIR/page.md O
	O=$(realpath --relative-to "$TOP" "$BUILD")
	mkdir "$KEPT"
}

@test "no program of a row has a result written into it" {
	"$BATS_TEST_DIRNAME/literals"
}

# published STATUS TRIALS TRIALS-OF-THE-PAGE FIGURES-OF-THE-PAGE [ROW]: the figures of R5 in the page afterwards
published()
{
	printf '{"row": "R5", "status": %d, "figures": "new", "command": "%s", "date": "d", "commit": "c", "open": "-"}' \
		"$1" "make trust ROW=R5$2" >"$KEPT/R5.json"
	printf '| R5 | what | %s | `make trust ROW=R5%s` | - | - | - |\n' "$4" "$3" >"$PAGE"
	"$BATS_TEST_DIRNAME/publish" "${@:5}" >"$BATS_TEST_TMPDIR/said"
	cut -d'|' -f4 "$PAGE"
}

@test "figures of fewer trials do not replace those of more, but where the row failed or is named" {
	[ "$(published 0 " N=2" " N=120" old)" = " old " ]
	grep -q '^publish: R5 keeps its figures' "$BATS_TEST_TMPDIR/said"
	[ "$(published 0 " N=2" "" old)" = " old " ]
	[ "$(published 0 " N=120" " N=120" old)" = " new " ]
	[ "$(published 0 "" " N=120" old)" = " new " ]
	[ "$(published 1 " N=2" " N=120" old)" = " **does not hold** new " ]
	[ "$(published 0 " N=2" " N=120" "**does not hold** old")" = " new " ]
	[ "$(published 0 " N=2" " N=120" old R5)" = " new " ]
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
