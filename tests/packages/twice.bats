# SPDX-License-Identifier: BSD-3-Clause
# Packages and tarball, built a second time at another path. Minutes: only with TWICE=1.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	[ -n "${TWICE-}" ] || skip "minutes: TWICE=1 asks for it"
	git -C "$TOP" diff --quiet HEAD || skip "there are changes that are not committed"
	ls "$BUILD"/deb/*.deb "$BUILD"/dist/*.tar.gz >/dev/null || skip "nothing to compare with: make deb dist-static"
}

# same_bytes FOLDER: a build there gives the same packages as in $BUILD
same_bytes()
{
	local file

	cd "$1"
	make -s -j2 deb dist-static
	for file in build/deb/*.deb build/dist/*.tar.gz; do
		cmp "$file" "$BUILD/${file#build/}"
	done
}

@test "with TWICE=1: a clone at another path gives the same bytes" {
	git clone -q "$TOP" "$BATS_TEST_TMPDIR/a/longer/path/to/it"
	same_bytes "$BATS_TEST_TMPDIR/a/longer/path/to/it"
}

@test "with TWICE=1: a source tarball gives the same bytes" {
	mkdir "$BATS_TEST_TMPDIR/it"
	git -C "$TOP" archive HEAD | tar -x -C "$BATS_TEST_TMPDIR/it"
	same_bytes "$BATS_TEST_TMPDIR/it"
}
