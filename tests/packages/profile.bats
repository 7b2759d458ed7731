# SPDX-License-Identifier: BSD-3-Clause
# The profile that packages are compiled with, and packages without one.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
}

@test "programs are built with the profile, and their lists say so" {
	local program

	ls "$BUILD"/package/*/ucxbpf.spdx.json >/dev/null 2>&1 || skip "nothing is built: make deb"
	grep -qxE 'with the profile [0-9a-f]{64}' "$BUILD/profile/trained"
	for program in "$BUILD"/package/{package,static}/ucxbpf{,-tools}; do
		[ ! -e "$program" ] || [ "$(jq -r '.packages[0].comment' "$program.spdx.json")" = "built $(cat "$BUILD/profile/trained")" ]
	done
}

@test "where no addresses are fixed nothing is trained, and that is said" {
	local build=$BATS_TEST_TMPDIR/build

	mkdir -p "$BATS_TEST_TMPDIR/bin" "$build/obj"
	touch "$build/obj/old.gcda"
	printf '#!/bin/sh\necho "setarch: failed to set personality to x86_64: Operation not permitted" >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/setarch"
	chmod +x "$BATS_TEST_TMPDIR/bin/setarch"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$TOP/packaging/train" "$build"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "warning: packages are built without a profile: setarch -R: Operation not permitted" ]
	[ "$(cat "$build/trained")" = "without a profile: setarch -R: Operation not permitted" ]
	[ ! -e "$build/obj/old.gcda" ]
}
