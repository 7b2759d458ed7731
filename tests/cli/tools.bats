# SPDX-License-Identifier: BSD-3-Clause
# The program of the package ucxbpf-tools: it reports, and has nothing of the tracer.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	TOOLS=$BUILD/ucxbpf-tools
}

@test "tools: links no libbpf, no Zydis, no libdw" {
	! objdump -p "$TOOLS" | grep -E 'NEEDED.*(bpf|Zydis|libdw|ncurses|event)' || false
}

@test "tools: the same reports as the whole program's" {
	local capture=$TOP/tests/data/gromacs.ucxb

	cmp <("$TOOLS" replay --json "$capture") <("${UCXBPF:-$BUILD/ucxbpf}" replay --json "$capture")
	cmp <("$TOOLS" export -f ndjson "$capture") <("${UCXBPF:-$BUILD/ucxbpf}" export -f ndjson "$capture")
	cmp <("$TOOLS" check "$capture") <("${UCXBPF:-$BUILD/ucxbpf}" check "$capture")
	cmp <("$TOOLS" policy rules) <("${UCXBPF:-$BUILD/ucxbpf}" policy rules)
	cmp <("$TOOLS" sweep plan -w 'n[0-3]') <("${UCXBPF:-$BUILD/ucxbpf}" sweep plan -w 'n[0-3]')
}

@test "tools: what it lacks says where it is, and is not completed" {
	local name lacks

	lacks=$(sed -n 's/^ELSEWHERE(\(.*\))/\1/p' "$TOP/user/tools.c")
	[ "$(wc -l <<<"$lacks")" -ge 6 ]
	for name in $lacks; do
		run "$TOOLS" "$name" 1
		[ "$status" -eq 8 ]
		[ "$output" = "ucxbpf: error: '$name' is not in ucxbpf-tools: install the package ucxbpf, which replaces it" ]
		! grep -qw "_ucxbpf_$name" "$BUILD/completion/tools/ucxbpf.bash" || false
	done
	grep -qw _ucxbpf_replay "$BUILD/completion/tools/ucxbpf.bash"
}
