# SPDX-License-Identifier: BSD-3-Clause
# The version, and whether a tree is the release that it says.

setup()
{
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	BUILD=${BUILD:-$TOP/build}
	git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip "not a git repository"
	TREE=$BATS_TEST_TMPDIR/tree
	git clone -q --shared "$TOP" "$TREE"
	cd "$TREE"
	git config user.email nobody@example.org
	git config user.name nobody
	# as the files are here, committed or not
	(cd "$TOP" && git ls-files -z --cached --others --exclude-standard -- VERSION CHANGELOG.md scripts docs packaging README.md .gitattributes |
		xargs -0 tar -c --ignore-failed-read 2>/dev/null) | tar -x
	mkdir -p build/completion
	cp "$BUILD/completion/options.txt" build/completion/
	unset BUILD
	echo 7.1.0 >VERSION
	sed -i '0,/^## .*/s//## 7.1.0 (2031-02-03)\n\n- A change.\n\n&/' CHANGELOG.md
	git grep -lz 'follows VERSION' -- packaging docs | xargs -0 -r sed -i "/follows VERSION/s/$(cat "$TOP/VERSION")/7.1.0/"
	commit
}

commit() { git add -A && git commit -q -m "a release" --allow-empty; }

# refused WORDS: release-check says so
refused()
{
	run scripts/release-check --quick
	echo "$output"
	[ "$status" -eq 1 ]
	grep -qF "$1" <<<"$output"
}

@test "a release is ready, and its tag makes the version plain" {
	run scripts/release-check --quick
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "release-check: 7.1.0 is ready" ]
	[ "$(scripts/version)" = "7.1.0-$(git rev-parse HEAD | cut -c1-8)" ]
	git tag v7.1.0
	[ "$(scripts/version)" = 7.1.0 ]
	scripts/version-header | grep -qx '#define UCXBPF_VERSION "7.1.0"'
	scripts/release-check --quick
	echo >>README.md
	[[ "$(scripts/version)" == 7.1.0-*-dirty ]]
}

@test "what is no release is refused, and why" {
	git tag v7.1.0
	sed -i 's/^## 7.1.0 (.*/## 7.1.0 (unreleased)/' CHANGELOG.md
	refused "not '## 7.1.0 (YEAR-MONTH-DAY)'"
	refused "uncommitted: CHANGELOG.md"
	commit
	refused "v7.1.0 is another commit"
	git checkout -q v7.1.0
	sed -i '/A change/d' CHANGELOG.md
	refused "nothing is listed for 7.1.0"
	git checkout -q .
	sed -i 's/^## 7.1.0/## 0.0.9/' CHANGELOG.md
	echo 0.0.9 >VERSION
	refused "versions are not in order"
	git checkout -q .
	echo 7.1 >VERSION
	refused "is no MAJOR.MINOR.PATCH"
	git checkout -q .
	sed -i 's/^\*\*-\\-html/**-\\-page/' docs/ucxbpf-replay.1.md
	refused "docs/ucxbpf-replay.1.md: does not name --html"
	refused "docs/ucxbpf-replay.1.md: names an option that is not there: --page"
}

@test "a source tarball knows its commit, whatever repository it lies in" {
	local made=$TREE/build/made

	mkdir -p "$made" "$TREE/build/copy/scripts"
	git archive HEAD | tar -x -C "$made"
	[ "$("$made/scripts/version")" = "7.1.0-$(git rev-parse HEAD | cut -c1-8)" ]
	[ "$("$made/scripts/version" --commit)" = "$(git log -1 --format='%H %cI')" ]
	git tag v7.1.0
	git archive HEAD | tar -x -C "$made"
	[ "$("$made/scripts/version")" = 7.1.0 ]
	# and a copy of files does not
	cp VERSION build/copy
	cp scripts/version build/copy/scripts
	[ "$(build/copy/scripts/version)" = 7.1.0-unknown ]
	[[ "$(build/copy/scripts/version --commit)" == "unknown "20* ]]
}
