# SPDX-License-Identifier: BSD-3-Clause
# The static tarball, after `make dist-static`: in a root without a C library, with equal bytes when packed again.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	TARBALL=$(ls -t "$BUILD"/dist/ucxbpf-*.tar.gz 2>/dev/null | head -n 1)
	[ -n "$TARBALL" ] || skip "no tarball: make dist-static"
	tar -xzf "$TARBALL" -C "$BATS_TEST_TMPDIR"
	FOLDER=$(echo "$BATS_TEST_TMPDIR"/ucxbpf-*)
}

@test "its checksum, its list of parts, and a licence of each" {
	local package

	(cd "$(dirname "$TARBALL")" && sha256sum -c "$(basename "$TARBALL").sha256")
	cd "$FOLDER/share/doc/ucxbpf"
	jq -r '[.relationships[] | select(.relationshipType == "STATIC_LINK").relatedSpdxElement] as $inside |
		.packages[] | select(.SPDXID | IN($inside[])).name' sbom.spdx.json >"$BATS_TEST_TMPDIR/parts"
	for package in libc6-dev libbpf-dev libdw-dev libzydis-dev; do
		grep -qx $package "$BATS_TEST_TMPDIR/parts"
	done
	while read -r package; do
		[ -s "licences/$package" ]
	done <"$BATS_TEST_TMPDIR/parts"
	# npm packages of the pages are of the lock file
	[ "$(jq '[.packages[] | select(.externalRefs[0].referenceLocator // "" | startswith("pkg:npm/"))] | length' sbom.spdx.json)" = \
		"$(jq '[.packages | to_entries[] | select(.key != "" and (.value.link | not))] | length' "$TOP/user/show/viewer/package-lock.json")" ]
}

@test "both programs run where there is no C library, nor anything else" {
	local root=$BATS_TEST_TMPDIR/root program status

	[ "$(id -u)" = 0 ] || skip "not root, who may chroot"
	mkdir -p "$root/tmp"
	cp "$FOLDER"/bin/* "$TOP/tests/data/gromacs.ucxb" "$root"
	for program in ucxbpf ucxbpf-tools; do
		file "$root/$program" | grep -E 'static-pie linked|statically linked'
		[ -z "$(nm "$root/$program" 2>/dev/null)" ]
		chroot "$root" "/$program" replay --json /gromacs.ucxb >"$BATS_TEST_TMPDIR/report.json"
		cmp "$BATS_TEST_TMPDIR/report.json" "$TOP/tests/data/gromacs.json"
		for form in html sqlite otf2; do
			chroot "$root" "/$program" export -f $form -o /tmp/$program.$form /gromacs.ucxb
		done
		status=0
		chroot "$root" "/$program" check /gromacs.ucxb >/dev/null || status=$?
		[ "$status" -le 3 ]
	done
	# the tracer's own errors, without /proc and /sys
	run chroot "$root" /ucxbpf attach 1
	[ "$status" -ge 5 ]
	grep -q '^ucxbpf: error: ' <<<"$output"
}

@test "the static program traces" {
	local job

	[ "$(id -u)" = 0 ] || skip "not root"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=posix,self,cma
	export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any
	run "$FOLDER/bin/ucxbpf" run -q -o "$BATS_TEST_TMPDIR/job.ucxb" -- mpirun.openmpi -n 2 --oversubscribe \
		"$BUILD/tests/progs/openmpi/cg" 200 1
	echo "$output"
	[ "$status" -eq 0 ]
	job=$("$FOLDER/bin/ucxbpf-tools" replay --json "$BATS_TEST_TMPDIR/job.ucxb")
	jq -e '.processes | length == 2' <<<"$job"
	jq -e 'any(.transfers[]; .transport == "posix")' <<<"$job"
}

@test "packed again it has the same bytes" {
	"$TOP/packaging/dist-static" "$(realpath --relative-to="$TOP" "$BUILD")/package" "$BATS_TEST_TMPDIR/again"
	cmp "$TARBALL" "$BATS_TEST_TMPDIR/again/$(basename "$TARBALL")"
}
