#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzers, in short and always alike: every seed, every input that once was a fault, and some thousand
# inputs made of them.

load ../lib/ends.bash

setup() {
	ends_setup
	FUZZ=${BUILD:-$TOP/build}/fuzz
	[ -e "$FUZZ/seeds/made" ] || skip "no fuzzers: make fuzzers"
	options="-seed=1 -max_len=131072 -timeout=30 -entropic=0 -artifact_prefix=$BATS_TEST_TMPDIR/"
}

# short TARGET RUNS
short() {
	mkdir corpus
	ends 0 "$FUZZ/$1" $options -runs=0 "$FUZZ/seeds/$1" "$TOP/tests/fuzz/regressions/$1"
	find "$FUZZ/seeds/$1" "$TOP/tests/fuzz/regressions/$1" -type f -size -8k -exec cp -t corpus {} +
	ends 0 "$FUZZ/$1" $options -runs="$2" -max_len=8192 corpus
	grep -q "^Done $2 runs" err
}

@test "captures" {
	short replay 4000
}

@test "policies, plans, ledgers, inventories, evidence" {
	short site 4000
}

@test "answers of who reads foreign files" {
	short reader 4000
}

@test "files that readers parse" {
	short elf 4000
}
