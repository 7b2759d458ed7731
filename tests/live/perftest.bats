# SPDX-License-Identifier: BSD-3-Clause
# UCX's own benchmark, a program that calls UCP without MPI: all its UCP tests, from the start; some of each kind also in
# mid-run. A preloaded library counts the operations, their bytes are those of the test's size; every message is matched,
# and every byte of a transfer has its operation. Puts, gets and atomics are emulated over tcp; over shm protocol v2 of UCX
# 1.13.1 emulates atomics (amo/post/sw, amo/fetch/sw). Puts into memory that shared memory cannot reach are emulated, those
# the other way are not.

load ../lib/live.bash
load ../lib/soon.bash

TESTS="tag_lat tag_bw tag_sync_lat tag_sync_bw stream_lat stream_bw ucp_am_lat ucp_am_bw ucp_put_lat ucp_put_bw ucp_get"
# the last one hangs over shm with protocol v2 of 1.13.1, traced or not
ATOMICS="ucp_add ucp_fadd ucp_cswap ucp_swap"

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	command -v ucx_perftest >/dev/null || skip "no ucx_perftest"
}

# Run under the tracer, all of them at once: a pair of processes for each test and size.
write_script()
{
	cat >"$WORK/script" <<-'EOT'
		port=$1 sizes=$2 tests=$3 atomics=$4
		pair()
		{
			port=$((port + 1))
			timeout 20 ucx_perftest -p $port >/dev/null 2>&1 &
			for attempt in $(seq 200); do
				ss -Hltn "sport = :$port" | grep -q . && break
				sleep 0.02
			done
			timeout 15 ucx_perftest -p $port -t $1 -s $2 -n 300 -w 20 127.0.0.1 >/dev/null 2>&1 || echo "failed: $1 $2"
			wait
		}
		for test in $tests; do
			for size in $sizes; do
				pair $test $size
			done
		done
		for test in $atomics; do
			pair $test 8
		done
	EOT
}

# perftests TRANSPORTS DEVICES PROTO PORT PATH-13 [ATOMICS]; PATH-13: the verdict on emulated operations
perftests()
{
	export WITNESS=$WORK/witness

	write_script
	mkdir -p "$WITNESS"
	UCX_TLS=$1 UCX_NET_DEVICES=$2 UCX_PROTO_ENABLE=$3 UCX_LOG_LEVEL=fatal timeout 250 \
		"$UCXBPF" run -q -o "$WORK/job.ucxb" -- env LD_PRELOAD="$BUILD/tests/progs/lib/lib_ucp_count.so" \
		bash "$WORK/script" "$4" "8 200 1000 8000 100000" "$TESTS" "${6:-$ATOMICS}" >"$WORK/out" 2>&1
	cat "$WORK/out"
	! grep failed "$WORK/out" || false
	as_witnessed "$WORK/job.ucxb" "$5"
}

# start_pair TEST SIZE: goes on until it is killed; $WORK/now has what each of its two processes has done so far. The
# receiver of ucp_am_bw first counts to its number of messages without progress, 5 ns each.
start_pair()
{
	local job=(timeout 60 env LD_PRELOAD="$BUILD/tests/progs/lib/lib_ucp_count.so" WITNESS="$WORK" WITNESS_NOW="$WORK/now"
		ucx_perftest -p $((++PORT)))

	rm -rf "$WORK/now"
	mkdir "$WORK/now"
	"${job[@]}" >"$WORK/server" 2>&1 3>&- &
	PAIR=($!)
	soon listens $PORT
	"${job[@]}" -t "$1" -s "$2" -n 20000000 127.0.0.1 >"$WORK/client" 2>&1 3>&- &
	PAIR+=($!)
	soon both_run
	PIDS=$(ls "$WORK/now" | paste -sd,)
}

listens() { ss -Hltn "sport = :$1" | grep .; }

teardown()
{
	[ -z "${PAIR:-}" ] || kill "${PAIR[@]}" 2>/dev/null || true
}

# counters: {"PID": {"OPERATION": COUNT}}
counters() { /usr/bin/python3 "$TOP/tests/live/check_perftest.py" --now "$WORK/now"; }

# Hundreds of operations are past
both_run() { counters | jq -e 'length == 2 and ([.[][]] | max > 500)'; }

# all_read CLIENT: what it has sent by sockets was read
all_read()
{
	ss -Htnp | awk -v client="pid=$1," '/ucx_perftest/ && (index($0, client) ? $3 : $2) { left = 1 } END { exit left }'
}

# late TEST SIZE: attaches to a pair in mid-run. The pair is stopped before the tracer leaves, so that what it has done by
# then is known; when recording began is known to be between two looks.
late()
{
	local tracer client

	rm -f "$WORK/late.ucxb"
	start_pair "$@"
	counters >"$WORK/before"
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/late.ucxb" -p "$PIDS" 2>"$WORK/warnings" 3>&- &
	tracer=$!
	soon so_far "$WORK/late.ucxb" true
	counters >"$WORK/begun"
	soon so_far "$WORK/late.ucxb" '[.ops[].count] | add > 2000'
	client=$(pgrep -P "${PAIR[1]}")
	kill -STOP "$client"
	soon all_read "$client"
	kill -STOP ${PIDS//,/ }
	counters >"$WORK/stopped"
	kill -INT $tracer
	wait $tracer
	kill -KILL ${PIDS//,/ }
	wait "${PAIR[@]}" || true
	PAIR=()
	"$UCXBPF" replay --json "$WORK/late.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_perftest.py" --late "$2" "$WORK/report.json" "$WORK/before" "$WORK/begun" "$WORK/stopped"
}

# attached TRANSPORTS DEVICES PROTO PORT TEST:SIZE...
attached()
{
	local PORT=$4 test

	export UCX_TLS=$1 UCX_NET_DEVICES=$2 UCX_PROTO_ENABLE=$3 UCX_LOG_LEVEL=fatal
	for test in "${@:5}"; do
		echo "$test"
		late "${test%:*}" "${test#*:}"
	done
}

# one_way PROTO PORT: each puts into the other's memory. The server's is of the heap, which posix alone cannot reach.
one_way()
{
	export WITNESS=$WORK/witness

	mkdir -p "$WITNESS"
	cat >"$WORK/script" <<-'EOT'
		UCX_ALLOC_PRIO=heap timeout 40 ucx_perftest -p $1 >/dev/null 2>&1 &
		for attempt in $(seq 200); do
			ss -Hltn "sport = :$1" | grep -q . && break
			sleep 0.02
		done
		timeout 35 ucx_perftest -p $1 -t ucp_put_lat -s 1000 -n 300 -w 20 127.0.0.1 >/dev/null 2>&1 || echo failed
		wait
	EOT
	UCX_TLS=posix,self UCX_NET_DEVICES=all UCX_PROTO_ENABLE=$1 UCX_LOG_LEVEL=fatal timeout 90 \
		"$UCXBPF" run -q -o "$WORK/job.ucxb" -- env LD_PRELOAD="$BUILD/tests/progs/lib/lib_ucp_count.so" \
		bash "$WORK/script" "$2" >"$WORK/out" 2>&1
	cat "$WORK/out"
	! grep failed "$WORK/out" || false
	"$UCXBPF" replay --json "$WORK/job.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_perftest.py" "$WORK/report.json" "$WITNESS"
	# each process's puts go one way: which is known by where they go, and counted by the witness
	jq -r '.processes as $processes | .transfers[] | select(.kind == "data")
		| "\($processes[.process].pid) \(.op) \(.initiator) \(.data_path) \(.count)"' "$WORK/report.json" >"$WORK/paths"
	cat "$WORK/paths"
	[ "$(cut -d' ' -f2-4 "$WORK/paths" | sort)" = "$(printf '%s\n' "am_bcopy origin emulated" "put_short origin buffered")" ]
	while read -r pid _ _ _ count; do
		grep -qx "put $count" "$WITNESS/$pid"
	done <"$WORK/paths"
	# all lanes are known of a worker that was read: its library may be mapped before it is probed
	"$UCXBPF" check -f json "$WORK/job.ucxb" >"$WORK/verdict" || [ $? -le 2 ]
	jq -c '.findings[] | select(.rule == "PATH-13")' "$WORK/verdict"
	jq -e --argjson paths "$(jq -R 'split(" ")' "$WORK/paths" | jq -s .)" '
		($paths[] | select(.[3] == "emulated")) as $emulated
		| .findings[] | select(.rule == "PATH-13") | .verdict == "fail" and .share == 0.5
		and (.seen | test("; lanes: posix/memory(, self/memory0)?; posix/memory puts and gets host memory that UCX allocates$"
			+ "|; lanes: some of posix/memory, self/memory0; posix/memory, if it is one, puts and gets host memory that UCX allocates$"))
		and .count == ($emulated[4] | tonumber) and all(.examples[]; .by.pid == ($emulated[0] | tonumber))' "$WORK/verdict"
}

@test "over shm, protocol v1" { perftests posix,self,cma all n 14100 pass; }
@test "over shm, protocol v2" { perftests posix,self,cma all y 14200 fail "${ATOMICS% *}"; }
@test "over tcp, protocol v1" { perftests tcp,self lo n 14300 fail; }
@test "over tcp, protocol v2" { perftests tcp,self lo y 14400 fail; }

@test "attached over shm, protocol v1" {
	attached posix,self,cma all n 14500 tag_lat:8 ucp_am_bw:1000 stream_bw:1000 ucp_get:100000
}
@test "attached over shm, protocol v2" { attached posix,self,cma all y 14600 tag_bw:100000 ucp_am_lat:8 ucp_put_bw:100000; }
@test "attached over tcp, protocol v1" { attached tcp,self lo n 14700 tag_bw:100000 ucp_am_lat:8 ucp_put_bw:100000; }
@test "attached over tcp, protocol v2" { attached tcp,self lo y 14800 tag_lat:8 ucp_am_bw:1000 ucp_get:100000; }

@test "emulated one way alone, protocol v1" { one_way n 14900; }
@test "emulated one way alone, protocol v2" { one_way y 14950; }
