# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages, after `make deb`: what lintian says, and both installed, used and removed in fresh roots.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	DEBS=$BUILD/deb
	ls "$DEBS"/ucxbpf_*.deb >/dev/null 2>&1 || skip "no packages: make deb"
}

# in_root SUITE: in-root.sh in a fresh root
in_root()
{
	local given=$BATS_TEST_TMPDIR/given

	run "$TOP/tests/lib/fresh-root" make "$1" "$BUILD/roots"
	[ "$status" -ne 77 ] || skip "$output"
	[ "$status" -eq 0 ]
	mkdir "$given"
	cp "$DEBS"/ucxbpf_*.deb "$DEBS"/ucxbpf-tools_*.deb "$TOP"/tests/data/gromacs.{ucxb,json} "$BUILD/tests/progs/openmpi/cg" \
		"$TOP/tests/packages/in-root.sh" "$given"
	run "$TOP/tests/lib/fresh-root" in "$BUILD/roots/$1" "$given" sh /given/in-root.sh
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "lintian has nothing to say but what is explained" {
	command -v lintian >/dev/null || skip "no lintian"
	run lintian --allow-root --display-info --tag-display-limit 0 "$DEBS"/*.changes
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "nothing of the tracer is in the tools, and of libraries only the C library is needed" {
	local package=$BATS_TEST_TMPDIR/tools

	dpkg-deb -x "$DEBS"/ucxbpf-tools_*.deb "$package"
	[ "$(objdump -p "$package/usr/bin/ucxbpf" | awk '/NEEDED/ { print $2 }' | sort | xargs)" = "libc.so.6 libm.so.6" ]
	! grep -qaE 'libbpf: |BPF_PROG_LOAD' "$package/usr/bin/ucxbpf" || false
	[ ! -e "$package/usr/bin/ucxbpf-traffic-openmpi" ]
	# what a page is made of, and what is linked in, is listed
	zcat -f "$package"/usr/share/doc/ucxbpf-tools/sbom.spdx.json* | jq -r '.packages[].name' >"$BATS_TEST_TMPDIR/names"
	grep -qx libzstd-dev "$BATS_TEST_TMPDIR/names"
	! grep -q libbpf "$BATS_TEST_TMPDIR/names" || false
	dpkg-deb --fsys-tarfile "$DEBS"/ucxbpf_*.deb | tar -xO --wildcards '*/sbom.spdx.json*' | zcat -f | jq -r '.packages[].name' >"$BATS_TEST_TMPDIR/names"
	for name in libbpf-dev libzydis-dev libdw-dev libc6-dev preact; do
		grep -qx "$name" "$BATS_TEST_TMPDIR/names"
	done
}

@test "a fresh Debian 12: installed, used, removed" { in_root bookworm; }

@test "a fresh Debian 13: installed, used, removed" { in_root trixie; }
