# SPDX-License-Identifier: BSD-3-Clause
# Joining a job in mid-run, leaving it, and leaving no mark on it.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	[ -z "${TRACER:-}" ] || kill -KILL "$TRACER" || true
	running_teardown
	[ -z "${MOUNTS:-}" ] || umount -l "${MOUNTS[@]}"
	[ -z "${at:-}" ] || rm -rf --one-file-system "$at"
}

attached()
{
	local mpi=$1 transport=$2

	[ "$transport" = tcp ] && nodes_up
	start "$mpi" "$transport" "$3"
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.5 >"$WORK/summary"
	text | diff "$WORK/text" -
	finish
	same_result "$mpi"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_attach.py" "$WORK/report.json"
}

# part_of_ledgers OPTIONS...: the capture holds a part of what the job's ranks did, as check_attach.py says
part_of_ledgers()
{
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_attach.py" --ledgers "$TRUTH" "$@" "$WORK/report.json"
}

@test "attach to Open MPI over shm, protocol v1" { attached openmpi shm n; }

@test "attach to Open MPI over shm, protocol v2" { attached openmpi shm y; }

@test "attach to Open MPI over tcp" { attached openmpi tcp n; }

@test "attach to MPICH over shm" { attached mpich shm n; }

@test "attach to MPICH over sysv, protocol v2" { attached mpich sysv y; }

# On a crowded machine a message lies there for milliseconds, and a link has a few of them only.
@test "links of few messages that wait long for their receivers" {
	export TRUTH=$WORK/truth
	mkdir "$TRUTH"
	STOP=$WORK/stop
	job_command openmpi 16 shm n "$PROGS/openmpi/mpi_alltoall" "$STOP" 150000 4000
	timeout -k 5 60 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon test -e "$TRUTH/15.running"
	for _ in 1 2 3 4; do
		timeout 30 "$UCXBPF" attach -q --exact -o "$WORK/a.ucxb" -p "$(cat "$TRUTH"/*.pid | paste -sd,)" -d 0.8 >"$WORK/summary"
		"$UCXBPF" replay --json "$WORK/a.ucxb" | jq -c .matching | tee "$WORK/matching"
		jq -e '.sends > 500 and (.unmatched_sends | has("before first anchor") | not)' "$WORK/matching"
	done
	finish
}

# Only two of the rings get records; that many rings and threads begin, wait and end all the same.
@test "attach with the rings and threads of a node with 192 CPUs" {
	UCXBPF_TEST_CPUS=192 attached openmpi shm n
	"$BUILD/tests/bench/sides" "$WORK/a.ucxb" consumer >"$WORK/consumer"
	cat "$WORK/consumer"
	jq -e '.rings == 192 and .threads >= 24' "$WORK/consumer"
}

@test "attach to a launcher: what runs below it is traced, and named" {
	for mpi in openmpi mpich; do
		start $mpi shm n
		timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$JOB_PID" -d 0.3 2>"$WORK/err"
		grep -q "process $JOB_PID (timeout) uses neither UCX nor MPI itself: tracing its 2 descendants" "$WORK/err"
		for pid in ${PIDS//,/ }; do
			grep -q ": .*\<$pid\>" "$WORK/err"
		done
		finish
		"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
		[ "$(jq -c '[.processes[].pid] | sort' "$WORK/report.json")" = \
			"$(jq -nc "[$PIDS] | sort")" ]
		rm -f "$STOP" "$TRUTH"/*
	done
}

@test "attach to a launcher of one process" {
	local child

	bash -c 'ucx_perftest -p 13998 >/dev/null 2>&1 & echo $! >"$1"; wait' _ "$WORK/pid" 3>&- &
	JOB_PID=$!
	soon test -s "$WORK/pid"
	child=$(cat "$WORK/pid")
	soon grep -q libucp "/proc/$child/maps"
	run timeout 20 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p $JOB_PID -d 0.2
	kill "$child"
	echo "$output"
	[[ $output == *": tracing its only descendant that does: $child" ]]
}

@test "attach to a process with nothing below it is refused" {
	sleep 30 3>&- &
	idle=$!
	cp "$TOP/tests/data/send.ucxb" "$WORK/a.ucxb"
	run timeout 20 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p $idle -d 1
	kill $idle
	[ "$status" = 8 ]
	[[ $output == *"none of the processes maps UCX or MPI now; 'ucxbpf doctor' lists those that do, also in containers, "* ]]
	# the capture that is there stays, and nothing else is said of it
	[[ $output != *"is kept as"* ]]
	[ ! -e "$WORK/a.ucxb.old" ]
	cmp "$WORK/a.ucxb" "$TOP/tests/data/send.ucxb"
}

@test "a listed process that uses neither UCX nor MPI is named, and the status is 4" {
	start openmpi shm n
	sleep 60 3>&- &
	idle=$!
	for command in "attach -q -o $WORK/a.ucxb" pending "top --json"; do
		# shellcheck disable=SC2086
		status=0
		timeout 20 "$UCXBPF" $command -p "$PIDS,$idle" -d 0.5 >"$WORK/summary" 2>"$WORK/err" || status=$?
		echo "$command: $status $(cat "$WORK/err")"
		[ "$status" = 4 ]
		[ "$(grep -F "$idle" "$WORK/err")" = "ucxbpf: warning: process $idle (sleep) and its descendants use neither UCX nor MPI so far: not traced" ]
	done
	kill $idle
	# below the launcher are the ranks that were listed before it
	run timeout 20 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS,$JOB_PID" -d 0.5
	echo "$output"
	[ "$status" = 0 ]
	finish
}

# ATTACHES: how many (25; `make faults` has 100)
@test "many attaches in a row: the result is bit-identical, the text is the file's" {
	PAUSE=100 LIMIT=250
	start openmpi shm n
	for ((i = 0; i < ${ATTACHES:-25}; i++)); do
		timeout 20 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.05 >/dev/null 2>"$WORK/err" ||
			{ echo "attach $i failed"; cat "$WORK/err"; false; }
	done
	text | diff "$WORK/text" -
	finish
	same_result openmpi
}

@test "Ctrl-C ends an attach cleanly, the job goes on" {
	start openmpi shm n
	# the shell has background commands ignore SIGINT, and what was ignored before stays so
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon calls_in "$WORK/a.ucxb" 1
	kill -INT $tracer
	wait $tracer
	finish
	same_result openmpi
	part_of_ledgers
}

# asks and insists: a tracer that is sent SIGTERM again has ended
insisted() {
	! kill -TERM "$1" || false
}

@test "a second signal ends a tracer that cannot finish: nobody reads its report" {
	local held status=0

	start openmpi shm n
	# a pipe that is full: who prints waits
	mkfifo "$WORK/pipe"
	exec {held}<>"$WORK/pipe"
	dd if=/dev/zero bs=4096 count=16 status=none >&"$held"
	"$UCXBPF" attach -o "$WORK/a.ucxb" -p "$PIDS" -d 0.2 >"$WORK/pipe" 2>"$WORK/err" 3>&- {held}<&- &
	tracer=$!
	soon "$UCXBPF" replay "$WORK/a.ucxb"
	soon insisted $tracer
	wait $tracer || status=$?
	exec {held}<&-
	[ "$status" = 143 ]
	text | diff "$WORK/text" -
	finish
	same_result openmpi
}

@test "a killed tracer leaves a readable capture and an unharmed job" {
	start openmpi shm n
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon calls_in "$WORK/a.ucxb" 100
	kill -KILL $tracer
	wait $tracer || true
	text | diff "$WORK/text" -
	finish
	same_result openmpi
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	[ "$(jq '[.calls[].count] | add' "$WORK/report.json")" -ge 100 ]
}

# attach_unserved: to PIDS, which ends; sets status, and lived
attach_unserved()
{
	status=0 lived=0
	timeout -s KILL 30 "$UCXBPF" attach -o "$WORK/a.ucxb" -p "$PIDS" -d 0.2 >"$WORK/summary" 2>"$WORK/err" 3>&- || status=$?
	kill -0 "$PIDS" || lived=$?
	kill -KILL "$PIDS" || true
}

# left_alone: that attach has ended in order, and left the process alone whose memory it could not read
left_alone()
{
	cat "$WORK/err"
	[ "$lived" = 0 ]
	[ "$status" = 0 ]
	[ "$(grep -c "process $PIDS: a read of its memory takes more than" "$WORK/err")" = 1 ]
	grep -q "unknown *$PIDS *dl_unserved" "$WORK/summary"
}

@test "a process whose pages nobody serves does not hold up an attach" {
	"$PROGS/dl/dl_unserved" >"$WORK/unserved" 3>&- &
	PIDS=$!
	soon test -s "$WORK/unserved"
	grep -q ready "$WORK/unserved" || { kill "$PIDS" && skip "userfaultfd: $(cat "$WORK/unserved")"; }
	attach_unserved
	left_alone
}

@test "a process whose memory lies in a file whose server has stopped to answer does not hold up an attach" {
	local server

	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	mkdir "$WORK/files" "$WORK/served"
	truncate -s 8M "$WORK/files/memory"
	"$BUILD/tests/trust/faultfs" "$WORK/files" "$WORK/served" "$WORK/log" hang-read 2>/dev/null 3>&- &
	server=$!
	soon mountpoint -q "$WORK/served"
	"$PROGS/dl/dl_unserved" "$WORK/served/memory" >"$WORK/unserved" 3>&- &
	PIDS=$!
	soon test -s "$WORK/unserved"
	touch "$WORK/log.hang"
	attach_unserved
	kill -KILL "$server"
	umount -l "$WORK/served"
	cat "$WORK/unserved"
	grep -q ready "$WORK/unserved"
	left_alone
}

# A tracer that waits for a reader of its --ready pipe has begun, and writes nothing more: there are no calls.
@test "a capture can be read as soon as records begin" {
	local begun

	start openmpi shm n
	kill -STOP ${PIDS//,/ }
	mkfifo "$WORK/ready"
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" --ready "$WORK/ready" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	begun=0
	soon so_far "$WORK/a.ucxb" '.processes | length == 2' || begun=$?
	kill -KILL $tracer
	wait $tracer || true
	kill -CONT ${PIDS//,/ }
	finish
	[ "$begun" = 0 ]
	# what does not begin leaves it as it is
	cp "$WORK/a.ucxb" "$WORK/before"
	run "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p $$ --ready "$WORK/nowhere/ready"
	[ "$status" = 1 ]
	[[ $output == "ucxbpf: error: $WORK/nowhere/ready: No such file or directory" ]]
	cmp "$WORK/a.ucxb" "$WORK/before"
}

@test "the job ends while it is traced" {
	start openmpi shm n
	timeout 60 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon calls_in "$WORK/a.ucxb" 1
	finish
	wait $tracer
	same_result openmpi
	part_of_ledgers --to-end
}

@test "children that come and go while a trace ends: no record is lost" {
	local shell i

	STOP=$WORK/stop
	LD_PRELOAD=libucp.so.0 bash -c "while [ ! -e $STOP ]; do /bin/true & /bin/true; done" 3>&- &
	shell=$!
	soon grep -q libucp "/proc/$shell/maps"
	for i in 1 2 3 4 5; do
		"$UCXBPF" attach -q -d 300ms -o "$WORK/$i.ucxb" -p $shell >"$WORK/out" 2>&1
		"$UCXBPF" replay --json "$WORK/$i.ucxb" | jq -c .loss | tee "$WORK/loss"
		jq -e '.produced > 10 and .stored == .produced' "$WORK/loss"
	done
	touch "$STOP"
	wait $shell
}

@test "a report that standard output has no room for ends with 9, and the capture is whole" {
	[ -w /dev/full ] || skip "no /dev/full"
	start openmpi shm n
	status=0
	"$UCXBPF" attach -o "$WORK/full.ucxb" -p "$PIDS" -d 1 >/dev/full 2>"$WORK/full.err" 3>&- || status=$?
	cat "$WORK/full.err"
	[ "$status" = 9 ]
	[ "$(grep -c 'standard output: No space left on device' "$WORK/full.err")" = 1 ]
	"$UCXBPF" replay "$WORK/full.ucxb" >"$WORK/full.txt"
}

# silent CALL: a file system that does not answer that call from ask_nobody on, as one of FUSE or NFS whose server is gone
silent()
{
	local at=$WORK/$1

	mkdir "$at" "$at/files" "$at/dead"
	cp "$(ldconfig -p | awk '/libucp.so.0 / { print $NF; exit }')" "$at/files/libucp.so.0"
	cp "$BUILD/tests/trust/mapped" "$at/files"
	"$BUILD/tests/trust/faultfs" "$at/files" "$at/dead" "$at/log" "hang-$1" 2>/dev/null 3>&- &
	SERVERS+=($!)
	soon mountpoint -q "$at/dead"
}

# mapped CALL PROGRAM: a process that maps the libraries of that file system; sets IDLE
mapped()
{
	"$2" -0 "$WORK/$1"/dead/libucp.so* >"$WORK/$1/mapped" 3>&- &
	IDLE=$!
	soon test -s "$WORK/$1/mapped"
}

@test "processes whose library or program lies on a file system that does not answer are skipped, a job beside them is traced" {
	local call idle=() ended=0 SERVERS=() begin IDLE

	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	start openmpi shm n
	for call in read statfs getattr; do
		silent $call
		# all of them together take little more than one
		[ $call != read ] || for ((i = 1; i < 12; i++)); do
			cp "$WORK/read/files/libucp.so.0" "$WORK/read/files/libucp.so.0.$i"
		done
		mapped $call "$BUILD/tests/trust/mapped"
		idle+=("$IDLE")
	done
	silent open
	mapped open "$WORK/open/dead/mapped"
	touch "$WORK"/{read,statfs,getattr,open}/log.hang
	begin=$SECONDS
	timeout -k 5 40 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "${idle[0]},${idle[1]},${idle[2]},$IDLE,$PIDS" -d 0.3 \
		2>"$WORK/err" || ended=$?
	echo "took $((SECONDS - begin)) s, ended with $ended"
	kill -KILL "${idle[@]}" "$IDLE" "${SERVERS[@]}"
	for call in read statfs getattr open; do
		umount -l "$WORK/$call/dead"
	done
	finish
	cat "$WORK/err"
	# the program could not be read, the others are traced without that library
	[ "$ended" = 4 ]
	[ "$(grep -c "^ucxbpf: error: cannot trace process $IDLE: nobody answers" "$WORK/err")" = 1 ]
	for call in read statfs getattr; do
		grep -q "cannot read $WORK/$call/dead/libucp.so.0, mapped by process [0-9]*: nobody answers" "$WORK/err"
	done
	part_of_ledgers
}

# user_mounts KIND: a process of a user maps a library and a large one, which lie on a FUSE (fuse), on an overlay over one (over-fuse), or on an
# overlay over a disk (over-disk), each of them mounted by that user; sets IDLE
user_mounts()
{
	local at=$WORK/$1 apart=()

	mkdir "$at" "$at/files" "$at/other" "$at/fuse" "$at/overlay"
	cp "$(ldconfig -p | awk '/libucp.so.0 / { print $NF; exit }')" "$at/files/libucp.so.0"
	cp "$at/files/libucp.so.0" "$at/files/large"
	truncate -s 65M "$at/files/large"
	[ "$1" = fuse ] || apart=(unshare --user --map-root-user --mount)
	"${apart[@]}" bash -s "$1" "$at" "$BUILD/tests/trust" >"$at/mapped" 3>&- <<-'END' &
		lower=$2/files
		if [ "$1" != over-disk ]; then
			setpriv --ruid "$([ "$1" = fuse ] && echo 65534 || echo 0)" "$3/faultfs" "$2/files" "$2/fuse" "$2/log" &
			until mountpoint -q "$2/fuse"; do sleep 0.05; done
			lower=$2/fuse
		fi
		[ "$1" = fuse ] || mount -t overlay overlay -o "lowerdir=$lower:$2/other" "$2/overlay" || exit 1
		[ "$1" = fuse ] || lower=$2/overlay
		exec "$3/mapped" "$lower/libucp.so.0" "$lower/large"
	END
	IDLE=$!
	soon grep -q mapped "$at/mapped"
}

# Without its server's answer the kernel could not place a probe, and meanwhile no process of the node could fork.
@test "a library on a file system that a user has mounted gets probes where its process is chosen, not with --all, and never a large one" {
	local kind idle=()

	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	for kind in fuse over-fuse over-disk; do
		user_mounts $kind
		idle+=("$IDLE")
	done
	timeout -k 5 40 "$UCXBPF" attach -q --all -o "$WORK/all.ucxb" -d 0.3 2>"$WORK/all.err" || touch "$WORK/failed"
	timeout -k 5 40 "$UCXBPF" attach -q -p "${idle[0]},${idle[1]}" -o "$WORK/chosen.ucxb" -d 0.3 2>"$WORK/chosen.err" || touch "$WORK/failed"
	umount -l "$WORK/fuse/fuse"
	kill -KILL "${idle[@]}"
	cat "$WORK/all.err" "$WORK/chosen.err"
	[ ! -e "$WORK/failed" ]
	[ "$(grep -c "$WORK/.*/libucp.so.0, mapped by process [0-9]*, is not probed: a user has mounted its file system" "$WORK/all.err")" = 2 ]
	grep -q "$WORK/fuse/fuse/libucp.so.0, mapped by process ${idle[0]}, .* name its processes with -p, or its job with --job" "$WORK/all.err"
	grep -q "$WORK/over-fuse/overlay/libucp.so.0, mapped by process ${idle[1]}," "$WORK/all.err"
	for kind in fuse/fuse over-fuse/overlay; do
		grep -q "cannot read $WORK/$kind/large, mapped by process [0-9]*: larger than 64 MiB, on a file system that a user has mounted" \
			"$WORK/chosen.err"
	done
	[ "$(wc -l <"$WORK/chosen.err")" = 2 ]
	[ "$(grep -c "over-disk" "$WORK/all.err")" = 0 ]
}

# Mappings have one device for all subvolumes, and the first file of each has the same inode number.
@test "libraries of two subvolumes of btrfs that have one inode number are both probed" {
	local library own=$WORK/btrfs PATH=$PATH:/usr/sbin

	command -v mkfs.btrfs >/dev/null || skip "mkfs.btrfs is not installed"
	truncate -s 128M "$WORK/image"
	mkfs.btrfs -q "$WORK/image" >/dev/null
	mkdir "$own"
	mount -o loop "$WORK/image" "$own" || skip "no btrfs here"
	for library in libc.so.6 libuct.so.0 libucp.so.0; do
		btrfs subvolume create "$own/$library.d" >/dev/null
		cp "$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')" "$own/$library.d/$library"
	done
	stat -c '%n %d %i' "$own"/*/*
	"$BUILD/tests/trust/mapped" "$own"/lib{c.so.6,uct.so.0,ucp.so.0}.d/lib* >"$WORK/mapped" 3>&- &
	IDLE=$!
	soon test -s "$WORK/mapped"
	timeout -k 5 40 "$UCXBPF" attach -q --debug -p $IDLE -o "$WORK/a.ucxb" -d 0.3 2>"$WORK/err" || touch "$WORK/failed"
	kill -KILL $IDLE
	wait $IDLE || true
	umount "$own"
	grep "$own" "$WORK/err"
	[ ! -e "$WORK/failed" ]
	for library in libuct libucp; do
		grep -q "$own/$library.so.0.d/$library.so.0: [1-9][0-9]* probes, 0 missing" "$WORK/err"
	done
}

# own_copies FOLDER: UCX and Open MPI in FOLDER, with an environment to use them as by_copies says
own_copies()
{
	local system=/usr/lib/x86_64-linux-gnu name

	[ -e $system/openmpi/lib/openmpi3 ] || skip "Open MPI lies elsewhere"
	mkdir -p "$1"
	for name in libmpi.so.40 libucp.so.0 libuct.so.0 libucs.so.0 libucm.so.0 libmca_common_ucx.so.40; do
		cp "$system/$name" "$1"
	done
	cp -a $system/ucx $system/openmpi/lib/openmpi3 "$1"
}

by_copies()
{
	echo "LD_LIBRARY_PATH=$1 UCX_MODULE_DIR=$1/ucx OMPI_MCA_mca_base_component_path=$1/openmpi3"
}

# over_overlays LOW0 LOW1: attaches to two ranks, each of which has its libraries from an overlay of a folder
over_overlays()
{
	local i

	mkdir "$WORK"/{upper,work,at}{0,1}
	for i in 0 1; do
		mount -t overlay none -o "lowerdir=${*:i+1:1},upperdir=$WORK/upper$i,workdir=$WORK/work$i" "$WORK/at$i" ||
			skip "no overlay here"
		MOUNTS=("$WORK/at$i" "${MOUNTS[@]}")
	done
	export TRUTH=$WORK/truth
	mkdir "$TRUTH"
	STOP=$WORK/stop
	job_command openmpi 1 shm n env $(by_copies "$WORK/at0") "$PROGS/openmpi/mpi_pingpong" "$STOP" 200 : \
		-n 1 env $(by_copies "$WORK/at1") "$PROGS/openmpi/mpi_pingpong" "$STOP" 200
	timeout -k 5 120 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon running
	PIDS=$(cat "$TRUTH"/*.pid | paste -sd,)
	text >"$WORK/text"
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.5 >"$WORK/summary"
	text | diff "$WORK/text" -
	finish
	part_of_ledgers
}

# As two containers of one folder: each overlay has its own numbers for the files below, on which the probes lie.
@test "ranks that map the same libraries through two overlays are recorded once" {
	own_copies "$WORK/low"
	over_overlays "$WORK/low" "$WORK/low"
}

# As two containers that each mount one image: files with equal numbers, handles and times, but two of each.
@test "ranks that map their libraries through overlays of two mounts of an image are both recorded" {
	local i

	own_copies "$WORK/low"
	truncate -s 128M "$WORK/image"
	PATH=$PATH:/usr/sbin mkfs.ext4 -q -d "$WORK/low" "$WORK/image"
	mkdir "$WORK"/low{0,1}
	for i in 0 1; do
		cp --sparse=always "$WORK/image" "$WORK/image$i"
		PATH=$PATH:/usr/sbin mount -o ro,loop "$WORK/image$i" "$WORK/low$i" || skip "no loop device here"
		MOUNTS+=("$WORK/low$i")
	done
	over_overlays "$WORK/low0" "$WORK/low1"
}

# As rootless Podman mounts a container's root: nobody else may read it, not even root.
@test "ranks whose libraries lie on a FUSE file system of another user namespace" {
	[ -x "$BUILD/tests/trust/faultfs" ] || skip "faultfs is not built"
	at=$(mktemp -d /tmp/ucxbpf-served.XXXXXX) # where another user may go
	own_copies "$at/files"
	mkdir "$at/served" "$at/truth"
	mknod -m 666 "$at/fuse" c 10 229
	touch "$at/log"
	chmod -R a+rwX "$at"
	export TRUTH=$at/truth
	STOP=$at/stop
	JOB_EXTRA="$(by_copies "$at/served") OMPI_MCA_orte_tmpdir_base=$at" job_command openmpi 2 shm n "$PROGS/openmpi/mpi_pingpong" "$STOP" 200
	unshare --mount --propagation private bash -c '
		mount --bind "$1/fuse" /dev/fuse || exit
		exec setpriv --reuid=54321 --regid=54321 --clear-groups unshare --user --map-root-user --mount bash -c "$2" _ "$1" "${@:3}"' \
		_ "$at" '
			cd "$1" || exit
			"$2" "$1/files" "$1/served" "$1/log" &
			until mountpoint -q served; do kill -0 $! && sleep 0.02 || exit; done
			"${@:3}"
			code=$?
			kill %1
			exit $code' "$BUILD/tests/trust/faultfs" timeout -k 5 120 env HOME="$at" TMPDIR="$at" "${JOB[@]}" \
		</dev/null >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon running
	PIDS=$(cat "$TRUTH"/*.pid | paste -sd,)
	! cat "/proc/${PIDS%,*}/root$at/served/libucp.so.0" >/dev/null || false
	timeout 30 "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" -d 0.5 >"$WORK/summary" 2>"$WORK/err"
	cat "$WORK/err"
	! grep "cannot read" "$WORK/err" || false
	finish
	part_of_ledgers
	jq -e --arg at "$at/served/" 'all(.processes[].ucx[]; .path | startswith($at))' "$WORK/report.json"
}

# opened PID FILE: the process has it open
opened()
{
	find "/proc/$1/fd" -lname "$2" | grep -q .
}

# The tracer has looked at one process, and waits for the memory of another, when the first one ends and its number is
# given to somebody else, who uses UCX as well.
@test "who gets the number of a process that ends before its records begin is not traced" {
	local victim successor tracer

	[ -x "$BUILD/tests/trust/successor" ] || skip "successor is not built"
	"$PROGS/dl/dl_unserved" >"$WORK/unserved" 3>&- &
	PIDS=$!
	soon test -s "$WORK/unserved"
	grep -q ready "$WORK/unserved" || { kill "$PIDS" && skip "userfaultfd: $(cat "$WORK/unserved")"; }
	cp "$(ldconfig -p | awk '/libucp.so.0 / { print $NF; exit }')" "$WORK/libucp.so.0"
	"$BUILD/tests/trust/mapped" "$WORK/libucp.so.0" >"$WORK/mapped" 3>&- &
	victim=$!
	soon test -s "$WORK/mapped"
	"$UCXBPF" attach -o "$WORK/a.ucxb" -p "$victim,$PIDS" >"$WORK/summary" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon opened $tracer "$WORK/libucp.so.0"
	"$BUILD/tests/trust/successor" $victim bash -c 'until [ -e "$1" ]; do UCX_TLS=posix,self "$0"; echo >>"$2"; done' \
		"$PROGS/ucp/ucp_rma" "$WORK/stop" "$WORK/rounds" >/dev/null 2>&1 3>&- &
	successor=$!
	kill -KILL $victim
	wait $victim || true
	soon grep -q "ucp_rma\|bash" /proc/$victim/comm
	soon test -s "$WORK/a.ucxb"
	soon more_rounds_than "$(rounds)"
	kill $PIDS
	soon ended_by_itself $tracer
	touch "$WORK/stop"
	wait $successor || true
	wait $tracer || true
	cat "$WORK/err"
	grep -q "process $victim has ended before its records began" "$WORK/err"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e '.calls == [] and .ops == [] and .transfers == []' "$WORK/report.json"
}

rounds()
{
	cat "$WORK/rounds" 2>/dev/null | wc -l
}

# Two: one of them began after this was asked for.
more_rounds_than()
{
	[ "$(rounds)" -ge $(($1 + 2)) ]
}

ended_by_itself()
{
	! kill -0 "$1" || false
}

# Its calls before the probes are in no record: the capture says from when to when.
@test "a library that a process maps after the attach: since when it is covered" {
	local own=$WORK/own UCX=/usr/lib/x86_64-linux-gnu

	[ -e $UCX/libucp.so.0 ] || skip "UCX lies elsewhere"
	mkdir "$own"
	cp $UCX/libucp.so.0 "$own"
	/usr/bin/python3 - "$own/libucp.so.0" "$WORK/go" >"$WORK/maps" 3>&- <<-'END' &
		import ctypes, os, sys, time
		ctypes.CDLL("libucp.so.0")
		print("ready", flush=True)
		while not os.path.exists(sys.argv[2]):
		    time.sleep(0.01)
		ctypes.CDLL(sys.argv[1])
		print("mapped", flush=True)
		time.sleep(600)
	END
	PIDS=$!
	soon grep -q ready "$WORK/maps"
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" 3>&- &
	tracer=$!
	soon so_far "$WORK/a.ucxb" '.processes | length == 1'
	so_far "$WORK/a.ucxb" '[.notes | keys[] | select(test("libucp"))] == []'
	touch "$WORK/go"
	soon grep -q mapped "$WORK/maps"
	soon so_far "$WORK/a.ucxb" '[.notes | keys[] | select(test("libucp.so.0 was mapped before it was probed"))] | length == 1'
	kill -INT $tracer
	wait $tracer
	kill "$PIDS"
}

# libraries_of FILE: build ids of the libraries in a capture so far that have probes
libraries_of()
{
	"$BUILD/tests/bench/sides" "$1" library | jq -r 'select(.probes > 0 and (.path | contains("/own/"))) | .build_id'
}

has_probed()
{
	libraries_of "$WORK/a.ucxb" | grep -qx "$1"
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# The kernel keeps a probe at its offset: in the other build that is the middle of an instruction.
@test "a library rewritten in place loses its probes and gets new ones" {
	local source=$TOP/tests/progs/lib_shifted.c own=$WORK/own/libucp.so.0 sum idle

	[ "$(uname -m)" = x86_64 ] || skip "the library is of x86-64"
	mkdir "$WORK/own"
	cc -shared -fPIC "$source" -o "$WORK/first.so"
	cc -shared -fPIC -DSHIFT=3 "$source" -o "$WORK/second.so"
	cc -DPROGRAM "$source" -o "$WORK/program" -ldl
	cp "$WORK/first.so" "$own"
	sum=$("$WORK/program" "$own")
	"$UCXBPF" attach -q --all -o "$WORK/a.ucxb" 2>"$WORK/err" 3>&- &
	TRACER=$!
	soon test -s "$WORK/a.ucxb"
	for build in first second; do
		cp "$WORK/$build.so" "$own"
		[ $build = first ] || soon grep -q "own/libucp.so.0 was rewritten in place: its probes are removed" "$WORK/err"
		[ "$("$WORK/program" "$own")" = "$sum" ]
		"$BUILD/tests/trust/mapped" "$own" >"$WORK/mapped" 3>&- &
		idle=$!
		soon has_probed "$(build_id "$WORK/$build.so")"
		kill -KILL $idle
		[ "$("$WORK/program" "$own")" = "$sum" ]
	done
	kill -INT $TRACER
	wait $TRACER || true
	TRACER=
	cat "$WORK/err"
	"$UCXBPF" replay --json "$WORK/a.ucxb" | jq -e '[.notes | keys[] | select(test("own/libucp.so.0 was rewritten in place"))] | length == 1'
}
