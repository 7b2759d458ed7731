#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of top are refused while they are parsed, before the kernel is touched: as any user, status 2 and one line.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

@test "bad values and options that exclude each other" {
	local line options
	while IFS='|' read -r options line; do
		run "$UCXBPF" top -p 1 $options </dev/null
		echo "$options: $status $output"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
		[ "$output" = "ucxbpf top: $line" ]
	done <<-'END'
		--json --interval 1|invalid interval '1', use a time with its unit (500ms, 2s)
		--json --interval x|invalid interval 'x', use a time with its unit (500ms, 2s)
		--json --interval 1s2|invalid interval '1s2', use a time with its unit (500ms, 2s)
		--json --interval -1s|invalid interval '-1s', use a time with its unit (500ms, 2s)
		--json --interval 99ms|interval '99ms' is out of range, use 100ms to 1h
		--json --interval 2h|interval '2h' is out of range, use 100ms to 1h
		--json --budget x|--budget: invalid share 'x', use one of each thread's time (3%), or none
		--json --budget 0|--budget: '0' is out of range, use 0.01% to 99%, or none
		--once|--once needs --json: a screen shows one interval after the other
		|standard input and output are no terminal: use --json
	END
}

@test "a bad budget of the site is refused as well" {
	UCXBPF_BUDGET=many run "$UCXBPF" top --json -p 1
	[ "$status" = 2 ]
	[ "$output" = "ucxbpf top: UCXBPF_BUDGET: invalid share 'many', use one of each thread's time (3%), or none" ]
}

@test "processes are chosen in one way" {
	for options in "" "--all --job 1" "-p 1 --all" "-p x" "word"; do
		run "$UCXBPF" top --json $options
		[ "$status" = 2 ]
	done
}
