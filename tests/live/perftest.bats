# SPDX-License-Identifier: BSD-3-Clause
# UCX's own benchmark, a program that calls UCP without MPI: all its UCP tests, from the start. Operations are those
# that a preloaded library counts, their bytes those of the test's size; every message is matched, and every byte
# of a transfer has its operation. Puts, gets and atomics are emulated over tcp; over shm protocol v2 of UCX 1.13.1
# emulates atomics (amo/post/sw, amo/fetch/sw).

load ../lib/live.bash

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
	"$UCXBPF" replay --json "$WORK/job.ucxb" >"$WORK/report.json"
	in_form "$WORK/report.json"
	/usr/bin/python3 "$TOP/tests/live/check_perftest.py" "$WORK/report.json" "$WITNESS"
	"$UCXBPF" check -f json "$WORK/job.ucxb" >"$WORK/verdict" || [ $? -le 2 ]
	[ "$(jq -r '.findings[] | select(.rule == "PATH-13") | .verdict' "$WORK/verdict")" = "$5" ]
}

@test "over shm, protocol v1" { perftests posix,self,cma all n 14100 pass; }
@test "over shm, protocol v2" { perftests posix,self,cma all y 14200 fail "${ATOMICS% *}"; }
@test "over tcp, protocol v1" { perftests tcp,self lo n 14300 fail; }
@test "over tcp, protocol v2" { perftests tcp,self lo y 14400 fail; }
