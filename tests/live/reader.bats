# SPDX-License-Identifier: BSD-3-Clause
# The processes that parse foreign files for a tracer: their rights, and traces in which they end.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	[ -z "${IDLE:-}" ] || kill -KILL "$IDLE" 2>/dev/null || true
	running_teardown
}

ucp() { ldconfig -p | awk '/libucp.so.0 / { print $NF; exit }'; }

# maps FILE...: sets IDLE to a process that maps them
maps()
{
	[ -x "$BUILD/tests/trust/mapped" ] || skip "mapped is not built"
	"$BUILD/tests/trust/mapped" -0 "$@" >"$WORK/mapped" 3>&- &
	IDLE=$!
	soon test -s "$WORK/mapped"
}

# faulty WHAT FILE: a library that does so to its reader
faulty() { { cat "$(ucp)" && printf %s "$1"; } >"$2"; }

# traced_beside SECONDS FILE...: a job is traced, within that time, beside a process that maps these; into err
traced_beside()
{
	local status=0

	start openmpi shm n
	maps "${@:2}"
	LD_PRELOAD=$PROGS/lib/lib_faulty_elf.so timeout -k 5 "$1" "$UCXBPF" attach -q -o "$WORK/a.ucxb" \
		-p "$IDLE,$PIDS" -d 0.3 2>"$WORK/err" || status=$?
	kill -KILL $IDLE
	finish
	cat "$WORK/err"
	[ "$status" = 0 ]
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_attach.py" --ledgers "$TRUTH" "$WORK/report.json"
}

# left_out WHAT WHY: a library that does so to its reader is left out by its name, the job beside it is traced
left_out()
{
	faulty "$1" "$WORK/libbad.so"
	traced_beside 90 "$WORK/libbad.so"
	grep -q "$WORK/libbad.so could not be read: $2" "$WORK/err"
	[ "$(grep -c libbad "$WORK/err")" = 1 ]
}

@test "a library that crashes its reader is left out, a job beside it is traced" {
	left_out crash "the reader ended by signal 11"
}

@test "a library that its reader never comes to an end with is left out, a job beside it is traced" {
	left_out hang "its reader took too long"
}

# Some files could hold the tracer up for seconds each, and a process may map thousands.
@test "an owner of many files that take too long is left out, a job beside it is traced" {
	local i

	for i in 0 1 2 3 4 5; do
		faulty hang "$WORK/lib$i.so"
		chown 12345 "$WORK/lib$i.so"
	done
	traced_beside 200 "$WORK"/lib{0,1,2,3,4,5}.so
	[ "$(grep -c 'its reader took too long' "$WORK/err")" = 4 ]
	[ "$(grep -c '4 files of the owner of .* took too long' "$WORK/err")" = 1 ]
}

# children NAME PID: with that name
children() { pgrep -P "$2" -x "$1"; }

ended() { [ ! -e "/proc/$1" ] || grep -q "^State:	Z" "/proc/$1/status"; }

# Killed from outside, as where memory is short: files are opened anew in another one.
@test "readers have no rights, another one takes over where one is killed, and none stays" {
	local tracer starter reader

	start openmpi shm n
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 60 --ready "$WORK/ready" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon test -e "$WORK/ready"
	starter=$(children ucxbpf-readers $tracer)
	reader=$(children ucxbpf-reader "$starter" | head -1)
	cat /proc/"$starter"/status /proc/"$reader"/status | grep -E '^(Name|Cap(Prm|Eff)|NoNewPrivs|Seccomp):' | tee "$WORK/rights"
	[ "$(grep -cE '^Cap(Prm|Eff):	0*$' "$WORK/rights")" = 4 ]
	[ "$(grep -cE '^NoNewPrivs:	1|^Seccomp:	2' "$WORK/rights")" = 4 ]
	# its socket is its only descriptor
	[ "$(ls "/proc/$reader/fd" | wc -l)" = 1 ]
	kill -KILL "$reader"
	timeout 30 "$UCXBPF" attach -q -o "$WORK/b.ucxb" -p "$PIDS" -d 0.3
	kill -INT $tracer
	wait $tracer
	cat "$WORK/err"
	[ ! -s "$WORK/err" ]
	soon ended "$starter"
	finish
	for capture in a b; do
		"$UCXBPF" replay --json "$WORK/$capture.ucxb" >"$WORK/report.json"
		/usr/bin/python3 "$TOP/tests/live/check_attach.py" --ledgers "$TRUTH" "$WORK/report.json"
	done
}

# readers_for FILE: how many readers an attach to the job and a process has that maps a file
readers_for()
{
	local tracer

	maps "$1"
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$IDLE,$PIDS" -d 60 --ready "$WORK/ready" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon test -e "$WORK/ready"
	children ucxbpf-reader "$(children ucxbpf-readers $tracer)" | wc -l
	kill -INT $tracer
	wait $tracer || true
	kill -KILL $IDLE
	rm -f "$WORK/ready" "$WORK/a.ucxb" "$WORK/mapped"
}

# A server can call its files root's.
@test "a file system with a server is not read by the reader of root's own files" {
	local server own served

	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	mkdir "$WORK/files" "$WORK/served"
	cp "$(ucp)" "$WORK/files/libucp.so.0"
	"$BUILD/tests/trust/faultfs" "$WORK/files" "$WORK/served" "$WORK/log" 2>/dev/null 3>&- &
	server=$!
	soon mountpoint -q "$WORK/served"
	start openmpi shm n
	own=$(readers_for "$WORK/files/libucp.so.0")
	served=$(readers_for "$WORK/served/libucp.so.0")
	umount -l "$WORK/served"
	kill -KILL $server || true
	finish
	echo "$own $served"
	[ "$own" = 1 ]
	[ "$served" = 2 ]
}

# The kernel puts a tracer's breakpoints into other mappings of the file, too.
@test "what is planned for a library is the same while probes are in it" {
	local tracer

	maps "$(ucp)"
	start openmpi shm n
	"$UCXBPF" doctor --json -p $IDLE | jq -S .processes >"$WORK/before"
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 60 --ready "$WORK/ready" 3>&- &
	tracer=$!
	soon test -e "$WORK/ready"
	"$UCXBPF" doctor --json -p $IDLE | jq -S .processes >"$WORK/meanwhile"
	kill -INT $tracer
	wait $tracer
	kill -KILL $IDLE
	finish
	[ "$(jq length "$WORK/before")" -gt 0 ]
	diff "$WORK/before" "$WORK/meanwhile"
}
