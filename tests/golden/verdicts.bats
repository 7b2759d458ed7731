#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What real runs left in tests/data comes to the verdicts that are written down, all of them.

@test "captures, inventories and ledgers of real runs: every verdict but skips, on every subject" {
	"$BATS_TEST_DIRNAME/verdicts"
}
