# SPDX-License-Identifier: BSD-3-Clause
# The unit of the packages under a real systemd, in an emulated guest with Debian's kernel: minutes.

@test "systemd starts the service with all its restrictions, and it answers" {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	[ "$(id -u)" = 0 ] || skip "not root"
	command -v qemu-system-x86_64 >/dev/null || skip "no QEMU: scripts/setup --guest"
	run "$TOP/tests/guest/run" --systemd --seconds 280 tests/guest/unit "$BATS_TEST_TMPDIR"
	cat "$BATS_TEST_TMPDIR/log" "$BATS_TEST_TMPDIR"/out/journal
	[ "$status" = 0 ]
}
