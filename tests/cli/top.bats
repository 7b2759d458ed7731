#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Options of top are refused while they are parsed, before the kernel is touched: as any user, status 2 and one line.

load ../lib/soon.bash

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

# ---- the screen of all nodes ----

teardown()
{
	[ -z "${TERMINAL:-}" ] || $TERMINAL kill-server 2>/dev/null || true
}

# interval NODE N RANK BYTES: an object, with a rank in MPI_Recv and one path
interval()
{
	local sums="\"count\":2,\"bytes\":$4,\"unsized\":0,\"retries\":0"

	printf '%s' "{\"schema\":\"ucxbpf.top/1\",\"n\":$2,\"real_ns\":1000,\"from_ns\":$2000000000,\"to_ns\":$(($2 + 1))000000000," \
		"\"watched_ns\":500000000,\"tracer\":{\"cpu\":0.1,\"hits\":10,\"paid\":0.01,\"budget\":0.03,\"away\":true,\"lost\":0,\"missed\":0}," \
		"\"processes\":[{\"id\":1,\"pid\":$((100 + $3)),\"tgid\":7,\"host\":\"$1\",\"rank\":$3,\"size\":8,\"ended\":false,\"receives\":{\"count\":0}}]," \
		"\"functions\":[{\"process\":1,\"function\":\"MPI_Send\",\"calls\":{\"count\":2},\"sends\":{$sums}}]," \
		"\"paths\":[{\"process\":1,\"kind\":\"data\",\"transport\":\"tcp\",\"device\":\"eth0\",\"fetches\":false,\"transfers\":{$sums}}]," \
		"\"threads\":[{\"process\":1,\"tid\":7,\"state\":\"running\",\"function\":\"MPI_Recv\",\"looked_ns\":$(($2 + 1))000000000,\"at_least_ns\":0}]," \
		'"nics":[],"notes":{}}'
	echo
}

# screen WIDTH HEIGHT [OPTION...]: the views of good0 and good1, which go on, ends2, which ends, dies3, which dies, and
# lacks4, which has no program
screen()
{
	declare -f interval >"$BATS_TEST_TMPDIR/interval"
	rsh_that '. "$(dirname "$0")/interval"
		case $1 in lacks*) echo "bash: ucxbpf: not found" >&2; exit 127 ;; esac
		for ((n = 1; ; n++)); do
			interval $1 $n ${1: -1} $((1024 * (1 + ${1: -1})))
			case $1 in ends*) exit 0 ;; esac
			[ $1-$n != dies3-3 ] || { echo "closed by remote host" >&2; exit 255; }
			read -t 0.2 && continue || [ $? -gt 128 ] || exit 0
		done'
	ALL=(top --job 1 --all-nodes --interval 200ms --answer 3s --launcher hosts -w 'good[0-1],ends2,dies3,lacks4' --rsh "$BATS_TEST_TMPDIR/rsh")
	TERMINAL="tmux -L ucxbpf-$$-$BATS_TEST_NUMBER -f /dev/null"
	$TERMINAL new-session -d -s top -x "$1" -y "$2" \
		"cd '$BATS_TEST_TMPDIR'; export TMPDIR=.; ${3:-} '$UCXBPF' ${ALL[*]@Q}; echo \"status \$?\"; stty -a | grep -o -- '-\?\<echo\>'; exec sleep 60" 3>&-
}

on_screen()
{
	$TERMINAL capture-pane -p -t top >"$BATS_TEST_TMPDIR/screen" && grep -qE -- "$1" "$BATS_TEST_TMPDIR/screen"
}

quit()
{
	$TERMINAL send-keys -t top q
	soon on_screen '^status 4'
	soon on_screen '^echo'
	grep -q '^ucxbpf: warning: dies3: its view has ended: closed by remote host' "$BATS_TEST_TMPDIR/screen"
	grep -q '^ucxbpf: warning: lacks4: not watched: bash: ucxbpf: not found' "$BATS_TEST_TMPDIR/screen"
	[ -z "$(ls -d "$BATS_TEST_TMPDIR"/ucxbpf-* 2>/dev/null)" ]
}

@test "all nodes: a screen of 80 columns and 24 lines names each node, and why one is not there" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 80 24 NO_COLOR=1
	soon on_screen '^dies3 +failed: its view has ended: closed by remote host'
	soon on_screen '2 failed  1 ended'
	cat "$BATS_TEST_TMPDIR/screen"
	# rates of the watched half of each node's interval, and sums without a node, are lower bounds
	grep -E '^ucxbpf top  2 of 5 nodes  .*  >=2 processes' "$BATS_TEST_TMPDIR/screen"
	grep -F 'sent >=6.00 KiB/s, >=8 sends/s  tracer on 2 nodes costs <=1.0% of 3%' "$BATS_TEST_TMPDIR/screen"
	grep -E '^good0 +0 +100% +0% +>=2.00 KiB +>=0 B +>=4 .*MPI_Recv' "$BATS_TEST_TMPDIR/screen"
	grep -E '^good1 +1 +100% +0% +>=4.00 KiB' "$BATS_TEST_TMPDIR/screen"
	grep -E '^ends2 +ended$' "$BATS_TEST_TMPDIR/screen"
	grep -E '^lacks4 +failed: not watched: bash: ucxbpf: not found' "$BATS_TEST_TMPDIR/screen"
	[ "$(wc -L <"$BATS_TEST_TMPDIR/screen")" -le 80 ]
	! $TERMINAL capture-pane -e -p -t top | grep -q $'\e\[[0-9;]*3[0-7]m' || false
	$TERMINAL send-keys -t top 2
	soon on_screen '^good1 +tcp +eth0 .* >=4.00 KiB'
	$TERMINAL send-keys -t top / g o o d 0 Enter
	soon on_screen 'paths \(1\)  filter: good0'
	$TERMINAL send-keys -t top 0
	soon on_screen '^dies3 +failed +[0-9]+ s +- +- its view has ended: closed by rem'
	$TERMINAL send-keys -t top Space
	soon on_screen '^FROZEN'
	quit
}

@test "all nodes: a screen of 200 columns and 50 lines, and w where no capture can be written" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 200 50
	soon on_screen 'failed: dies3 lacks4  ended: ends2'
	soon on_screen '^NODE +RANK +PID'
	on_screen '^  paths \(2\)'
	$TERMINAL send-keys -t top w
	soon on_screen '^writing 10 s of 2 nodes to top\.'
	soon on_screen '^top\.[0-9T]* is not written: no node was traced'
	$TERMINAL resize-window -t top -x 80 -y 24
	soon on_screen '^NODE +RANK +MPI'
	quit
}
