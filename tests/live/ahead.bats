# SPDX-License-Identifier: BSD-3-Clause
# Libraries that run probes before its job starts: folders whose names are patterns, and folders where nobody answers.

load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	[ -z "${SERVER:-}" ] || kill -KILL "$SERVER" 2>/dev/null || true
	umount -l "$WORK/dead" 2>/dev/null || true
}

# library FOLDER: has a libucp there
library()
{
	mkdir -p "$1"
	cp "$(ldconfig -p | awk '/libucp.so.0 / { print $NF; exit }')" "$1/libucp.so.0"
}

# probed FOLDER: the last run has probed its libucp
probed() { grep -qF "ucxbpf: $1/libucp.so.0: " "$WORK/err"; }

# The name of each folder as a pattern stands for another folder, and not for itself.
@test "a run path is the name of a folder, not a pattern" {
	local folder other i=0

	for folder in 'a[b]' 'a[!x]b' 'a\b'; do
		other=(ab ayb 'ab')
		mkdir "$WORK/$i"
		library "$WORK/$i/$folder"
		library "$WORK/$i/${other[$i]}"
		echo 'int main(void) { return 0; }' | cc -x c - -o "$WORK/$i/job" -Wl,-rpath,"$WORK/$i/$folder"
		"$UCXBPF" run --debug -o "$WORK/$i.ucxb" -- "$WORK/$i/job" 2>"$WORK/err" >"$WORK/out"
		grep -F "$WORK/$i" "$WORK/err"
		probed "$WORK/$i/$folder"
		! probed "$WORK/$i/${other[$i]}" || false
		i=$((i + 1))
	done
}

@test "a folder with a star and a question mark in its name stands for no other folder" {
	library "$WORK/a*"
	library "$WORK/ab"
	library "$WORK/c?"
	library "$WORK/cd"
	"$UCXBPF" run --debug -o "$WORK/a.ucxb" -L "$WORK/a*:$WORK/c?" -- true 2>"$WORK/err" >"$WORK/out"
	grep -F "$WORK" "$WORK/err"
	probed "$WORK/a*"
	probed "$WORK/c?"
	! probed "$WORK/ab" || false
	! probed "$WORK/cd" || false
}

# dead [ACTION]: a file system with a server at $WORK/dead
dead()
{
	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	library "$WORK/files/0"
	for i in 1 2 3 4 5; do
		cp -r "$WORK/files/0" "$WORK/files/$i"
	done
	mkdir "$WORK/dead"
	"$BUILD/tests/trust/faultfs" "$WORK/files" "$WORK/dead" "$WORK/log" "$@" 2>/dev/null 3>&- &
	SERVER=$!
	soon mountpoint -q "$WORK/dead"
}

# begins WARNINGS: a job starts all the same, after so many warnings, and other libraries are probed
begins()
{
	local began=$SECONDS

	timeout -k 5 60 "$UCXBPF" run --debug -o "$WORK/a.ucxb" -L "$(printf "$WORK/dead/%s:" 0 1 2 3 4 5)$WORK/files/0" -- \
		sh -c "echo began >'$WORK/began'" 2>"$WORK/err" >"$WORK/out"
	grep -v ' looked at ' "$WORK/err" | head -40
	[ -s "$WORK/began" ]
	[ "$(grep -c 'nobody answers, libraries there are not probed ahead of time' "$WORK/err")" = "$1" ]
	# two seconds for each, and a busy machine
	[ $((SECONDS - began)) -lt 40 ]
	! grep -q 'dead.*: [0-9]* probes' "$WORK/err" || false
}

@test "folders where nobody answers hold a start up for some seconds, however many there are" {
	dead
	kill -STOP "$SERVER"
	begins 3
	kill -CONT "$SERVER"
}

@test "files that are listed, but that nobody serves, hold a start up for some seconds" {
	dead hang
	begins 3
}
