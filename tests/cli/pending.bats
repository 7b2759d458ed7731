#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf pending: where its temporary folder may be.

load ../lib/ends.bash

setup() {
	ends_setup
	mkdir place
}

# refuses FOLDER WORDS: nothing is made there
refuses() {
	TMPDIR=$1 ends 1 "$UCXBPF" pending -p $$
	grep -qF -- "$2" err
	[ ! -d "$1" ] || [ -z "$(ls -A "$1")" ]
}

@test "the -v that a cut table names" {
	ends 2 "$UCXBPF" pending -vv -d 0 $$
	grep -qxF "ucxbpf pending: '0' is not a duration such as 5s, 500ms or 2m" err
}

@test "a temporary folder that is not there" {
	refuses no/place "No such file or directory; TMPDIR names another place"
}

@test "a temporary folder, or one above it, in which others may replace files" {
	mkdir place/below
	chmod 777 place
	refuses place/below "other users may replace it there; TMPDIR names another place"
	ln -s place/below link
	refuses link "other users may replace it there"
	rmdir place/below
	refuses place "other users may replace it there"
	chmod 770 place
	refuses place "other users may replace it there"
}

@test "a temporary folder of another user" {
	[ "$(id -u)" = 0 ] || skip "needs root, to give it away"
	mkdir place/below
	chown nobody place
	refuses place/below "other users may replace it there"
	# sticky: they may not, but its owner may
	chmod 1777 place
	refuses place/below "other users may replace it there"
}
