# SPDX-License-Identifier: BSD-3-Clause
# Files for other package managers and for sites, as far as Debian has what reads them.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	PACKAGING=$TOP/packaging
}

tarball()
{
	TARBALL=$(ls -t "$BUILD"/dist/ucxbpf-*.tar.gz 2>/dev/null | head -n 1)
	[ -n "$TARBALL" ] || skip "no tarball: make dist-static"
}

@test "RPM: built of the static tarball, installed in a root of its own, used and removed" {
	local made=$BATS_TEST_TMPDIR/made root=$BATS_TEST_TMPDIR/root name

	command -v rpmbuild >/dev/null || skip "no rpmbuild"
	[ "$(id -u)" = 0 ] || skip "not root, who may chroot"
	tarball
	rpmbuild -bb --define "_topdir $made" --define "tarball $TARBALL" "$PACKAGING/rpm/ucxbpf.spec" >"$BATS_TEST_TMPDIR/log" 2>&1
	[ -z "$(rpm -qp --requires "$made"/RPMS/x86_64/*.rpm | grep -vE '^(rpmlib\(|/bin/sh$)')" ]
	mkdir -p "$root/tmp"
	rpm --root "$root" --initdb
	rpm --root "$root" -i "$made"/RPMS/x86_64/*.rpm
	cp "$TOP/tests/data/gromacs.ucxb" "$root/tmp"
	for name in ucxbpf ucxbpf-tools; do
		chroot "$root" "/usr/bin/$name" replay --json /tmp/gromacs.ucxb >"$BATS_TEST_TMPDIR/report.json"
		cmp "$BATS_TEST_TMPDIR/report.json" "$TOP/tests/data/gromacs.json"
	done
	[ -e "$root/usr/share/man/man1/ucxbpf-attach.1.gz" ] || [ -e "$root/usr/share/man/man1/ucxbpf-attach.1" ]
	grep -q '^ExecStart=/usr/bin/ucxbpf serve ' "$root/usr/lib/systemd/system/ucxbpf-serve.service"
	rpm --root "$root" -e ucxbpf ucxbpf-tools
	[ -z "$(find "$root" -name '*ucxbpf*')" ]
}

@test "RPM: a version between releases is older than the release" {
	local version

	command -v rpmspec >/dev/null || skip "no rpmspec"
	for version in 0.2.0-abcdef 0.2.0-abcdef-dirty 0.2.0; do
		rpmspec -q --srpm --qf '%{version}\n' --define "tarball /none/ucxbpf-$version-x86_64.tar.gz" "$PACKAGING/rpm/ucxbpf.spec"
	done >"$BATS_TEST_TMPDIR/versions"
	diff "$BATS_TEST_TMPDIR/versions" <(printf '%s\n' '0.2.0~abcdef' '0.2.0~abcdef.dirty' 0.2.0)
}

@test "Lmod: the modulefile of the tarball, loaded and unloaded" {
	local lmod=/usr/share/lmod/lmod/init/bash

	tarball
	tar -xzf "$TARBALL" -C "$BATS_TEST_TMPDIR"
	if command -v luac5.4 >/dev/null; then luac5.4 -p "$PACKAGING/modulefile.lua"; fi
	[ -e "$lmod" ] || skip "no Lmod"
	FOLDER=$(echo "$BATS_TEST_TMPDIR"/ucxbpf-*) LMOD=$lmod bash -c '
		set -e
		. $LMOD
		module use "$FOLDER/share/modulefiles"
		module load ucxbpf
		[ "$(command -v ucxbpf)" = "$FOLDER/bin/ucxbpf" ]
		case $MANPATH in *$FOLDER/share/man*) ;; *) exit 1 ;; esac
		module unload ucxbpf
		case $PATH in *$FOLDER*) exit 1 ;; esac'
}

@test "Spack: Python accepts the recipe, and it is of this version" {
	python3 - "$PACKAGING/spack/packages/ucxbpf/package.py" "$(cat "$TOP/VERSION")" <<-'END'
		import ast, sys
		tree = ast.parse(open(sys.argv[1]).read())
		recipe = next(node for node in tree.body if isinstance(node, ast.ClassDef))
		assert recipe.name == "Ucxbpf" and recipe.bases[0].id == "MakefilePackage"
		calls = [node.value for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
		assert [call.args[0].value for call in calls if call.func.id == "version"] == [sys.argv[2]]
		assert {call.func.id for call in calls} == {"license", "version", "depends_on"}
	END
	# it names the libraries that the program is linked with
	for name in libbpf elfutils libevent zstd jansson xxhash protobuf-c sqlite libyaml nettle otf2 ncurses zlib-api zydis; do
		grep -q "depends_on(\"$name[\"@]" "$PACKAGING/spack/packages/ucxbpf/package.py"
	done
}

@test "quadlet: sections and keys that podman documents, and options that the program has" {
	local unit=$PACKAGING/quadlet/ucxbpf.container words word

	[ "$(grep -oE '^\[.*\]' "$unit" | xargs)" = "[Unit] [Container] [Service] [Install]" ]
	sed -n '/^\[Container\]/,/^\[Service\]/p' "$unit" | sed -n 's/^\([A-Za-z]*\)=.*/\1/p' | sort -u >"$BATS_TEST_TMPDIR/keys"
	[ -z "$(grep -vxE 'Image|Exec|PodmanArgs|Network|DropCapability|AddCapability|Volume|ReadOnly' "$BATS_TEST_TMPDIR/keys")" ]
	words=$(sed -n 's/^Exec=//p' "$unit")
	[[ $words == attach\ * ]]
	for word in $words; do
		case $word in
		--*) "${UCXBPF:-$BUILD/ucxbpf}" attach --help | grep -qE -- "$word(=| |$)" ;;
		-?) "${UCXBPF:-$BUILD/ucxbpf}" attach --help | grep -q -- " $word, " ;;
		esac
	done
}
