#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --window: what is no window is refused before anything is touched.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

# refused VALUE WORDS: by both commands, with the exit code of bad usage and a sentence that says why
refused() {
	local words=$2

	run "$UCXBPF" attach --window "$1" -p 1
	[ "$status" -eq 2 ]
	grep -qF -- "$words" <<<"$output"
	run "$UCXBPF" run --window "$1" -- touch "$BATS_TEST_TMPDIR/started"
	[ "$status" -eq 2 ]
	grep -qF -- "$words" <<<"$output"
	[ ! -e "$BATS_TEST_TMPDIR/started" ]
}

@test "what is no pair of durations" {
	for value in 1s 1s/ /30s words 1/30 1s/30 1s:30s 1s/30s/2 -1s/30s 1x/30s 1s/30parsec infs/nans 1e30s/2s \
		"1s /30s" ""; do
		refused "$value" "invalid window '$value', use LENGTH/PERIOD (1s/30s)" || {
			echo "--window '$value': $output"
			false
		}
	done
}

@test "a window of no length, and one that fills its period" {
	refused 0s/3s "invalid window '0s/3s', its length must not be 0"
	for value in 5s/1s 1s/1s 950ms/1s 60s/1min; do
		refused $value "'$value' leaves no time without probes"
	done
}

@test "perf links are too slow to come and go" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	run "$UCXBPF" run --window 1s/30s --links perf -o "$BATS_TEST_TMPDIR/x.ucxb" -- true
	case $status in
	5 | 6) skip "no tracing here" ;;
	esac
	[ "$status" -eq 2 ]
	grep -q "needs session or multi links" <<<"$output"
}

@test "--help has it, with the units of times" {
	for command in run attach export; do
		"$UCXBPF" $command --help | tr -s ' \n' ' ' >"$BATS_TEST_TMPDIR/help"
		grep -Eq -- "--window=(LENGTH/PERIOD|FROM:TO) [^-]*us, ms, s, min, h" "$BATS_TEST_TMPDIR/help"
	done
}
