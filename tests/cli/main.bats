#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The program without a trace: help, version, what it does not know.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
}

@test "--help lists every command with a line of help, and examples" {
	run "$UCXBPF" --help
	[ "$status" -eq 0 ]
	for name in run attach replay export schema check policy doctor; do
		grep -qE "^  $name +[a-z]" <<<"$output" || {
			echo "no help line for $name"
			false
		}
		grep -q "ucxbpf $name" <<<"$output"
	done
}

@test "every command has --help with an example" {
	for name in run attach replay export schema check policy doctor; do
		run "$UCXBPF" $name --help
		[ "$status" -eq 0 ]
		grep -q "ucxbpf $name" <<<"$output"
	done
}

@test "--version" {
	run "$UCXBPF" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^ucxbpf\ [0-9]+\.[0-9]+\.[0-9]+ ]]
}

@test "no command, an unknown one, an unknown option: usage" {
	run "$UCXBPF"
	[ "$status" -eq 2 ]
	run "$UCXBPF" frobnicate
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	run "$UCXBPF" --frobnicate
	[ "$status" -eq 2 ]
	run "$UCXBPF" doctor --frobnicate
	[ "$status" -eq 2 ]
}

@test "--call-ends takes no value" {
	for command in "run --call-ends=yes -- true" "attach --call-ends=1 -p 1"; do
		run "$UCXBPF" $command
		[ "$status" -eq 2 ]
		[[ $output == *call-ends* ]]
	done
}

@test "--count takes no value, no exact ends, no windows" {
	for command in "run --count=yes -- true" "attach --count=1 -p 1" "run --count --call-ends -- true" \
		"attach --count --window 1s/5s -p 1"; do
		# shellcheck disable=SC2086
		run "$UCXBPF" $command
		[ "$status" -eq 2 ]
		[[ $output == *--count* ]]
	done
}
