# SPDX-License-Identifier: BSD-3-Clause
# What scripts/gpu-check judges by.

TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}

@test "comparing a report with a GPU program's ledger finds what is wrong" { "$TOP/tests/gpu/selftest"; }
