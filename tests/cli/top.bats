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

@test "all nodes: what goes with it" {
	local options wanted line
	while IFS='|' read -r options wanted line; do
		run "$UCXBPF" top $options </dev/null
		echo "$options: $status $output"
		[ "$status" = "$wanted" ]
		[[ "$output" = $line ]]
	done <<-'END'
		--all-nodes --job 1|2|ucxbpf top: standard input and output are no terminal: use --json
		--json --all-nodes -p 1|2|ucxbpf top: --all-nodes goes with --job ID, or with --all and --hosts
		--json --job 1 -w n0|2|ucxbpf top: --nodelist goes with --all-nodes
		--json --job 1 --all-nodes -w n0 --hosts x|2|ucxbpf top: give one of --nodelist and --hosts
		--json --job 1 --all-nodes --answer 0|2|ucxbpf top: '0' is not a duration such as 30s, 500ms or 2m
		--json --all --all-nodes|2|ucxbpf: error: on which nodes? Name them by -w or --hosts, or type this in the job
		--json --job 1 --all-nodes|7|ucxbpf: error: Slurm does not know job 1 (*); without Slurm: --launcher hosts
	END
}

@test "all nodes: none can be reached" {
	TMPDIR=$BATS_TEST_TMPDIR run "$UCXBPF" top --json --job 1 --all-nodes -w 'n[0-1]' --rsh /nowhere/ssh
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 2 ]
	for node in n0 n1; do
		grep -qxF "ucxbpf: warning: $node: not watched: cannot run '/nowhere/ssh': No such file or directory" <<<"$output"
	done
	[ -z "$(ls "$BATS_TEST_TMPDIR")" ]
}

# rsh_that SCRIPT: in place of ssh; the node's name is its first word
rsh_that()
{
	printf '#!/bin/bash\n%s\n' "$1" >"$BATS_TEST_TMPDIR/rsh"
	chmod +x "$BATS_TEST_TMPDIR/rsh"
	ALL=(top --json --job 1 --all-nodes -w 'n[0-1]' --rsh "$BATS_TEST_TMPDIR/rsh")
}

OBJECT='{"schema":"ucxbpf.top/1","interval":1}'

@test "all nodes: a reader that stops early is no failure" {
	rsh_that "echo '$OBJECT'; echo '$OBJECT'"
	run bash -c '"$@" 2>"$0" | head -n 1; echo "${PIPESTATUS[0]}"' "$BATS_TEST_TMPDIR/err" "$UCXBPF" "${ALL[@]}"
	[ "${lines[1]}" = 0 ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "all nodes: what a node sent in part, or is no object, is said" {
	rsh_that "echo hello; echo '$OBJECT'; if [ \$1 = n0 ]; then echo '{\"schema\":'; else printf '%s' '$OBJECT'; fi"
	run bash -c '"$@" 2>"$0"' "$BATS_TEST_TMPDIR/err" "$UCXBPF" "${ALL[@]}"
	[ "$status" = 4 ]
	[ "${#lines[@]}" = 2 ]
	grep -q "n0: sent an object that cannot be read" "$BATS_TEST_TMPDIR/err"
	grep -q "n1: the last object that it sent was cut short" "$BATS_TEST_TMPDIR/err"
}

# The pipe to the reader is full.
@test "all nodes: a signal ends it where nobody reads" {
	local top

	rsh_that "while echo '$OBJECT' 2>/dev/null; do :; done"
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	exec 5<>"$BATS_TEST_TMPDIR/fifo"
	"$UCXBPF" "${ALL[@]}" >&5 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	top=$!
	sleep 0.5
	kill "$top"
	timeout 15 tail --pid="$top" -f /dev/null
	run wait "$top"
	[ "$status" = 4 ]
}

@test "all nodes: a reader that pauses costs no node its time" {
	rsh_that "for i in 1 2 3 4; do echo '$OBJECT'; sleep 0.5; done; yes '$OBJECT' | head -n 3000"
	run bash -c '"$@" --answer 1s 2>"$0" | { sleep 4; wc -l; }; echo "${PIPESTATUS[0]}"' "$BATS_TEST_TMPDIR/err" "$UCXBPF" "${ALL[@]}"
	cat "$BATS_TEST_TMPDIR/err"
	[ "${lines[0]}" = 6008 ]
	[ "${lines[1]}" = 0 ]
}
