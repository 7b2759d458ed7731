# SPDX-License-Identifier: BSD-3-Clause
# Frameworks that use UCX by themselves, untouched, against their own counts and the kernel's (witness.py).

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/soon.bash
load source.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ -e /sys/kernel/tracing/uprobe_events ] || skip "no uprobe events of the kernel here"
}

# built NAME: its folder is $AT
built()
{
	AT=$(find "$FRAMEWORKS" -mindepth 1 -maxdepth 1 -type d -name "$1-*" 2>/dev/null | sort -V | tail -n 1)
	[ -n "$AT" ] || skip "$1 is not built: tests/frameworks/build-$1 SOURCE"
}

@test "a build script without a source, or without that version, says so" {
	export XDG_CACHE_HOME=$WORK/cache
	run "$BATS_TEST_DIRNAME/build-ucc" "$WORK/none"
	[ "$status" = 2 ]
	[ "$output" = "usage: build-ucc SOURCE [VERSION]: SOURCE is a source tree or git repository of ucc" ]
	git init -q "$WORK/empty"
	run "$BATS_TEST_DIRNAME/build-ucc" "$WORK/empty" 1.2.3
	[ "$status" = 2 ]
	[ "$output" = "build-ucc: $WORK/empty has no version 1.2.3: no tag v1.2.3" ]
	mkdir "$WORK/tree"
	run -127 "$BATS_TEST_DIRNAME/build-ucc" "$WORK/tree" 1.2.3
	[[ $output == *"ucc-1.2.3 was not built: $WORK/cache/ucxbpf-frameworks/ucc-1.2.3.log" ]]
}

# traced COMMAND...: into a.ucxb, out, report.json and witness.json of $WORK
traced()
{
	local library witness stop

	library=$(ldconfig -p | awk '$1 == "libucp.so.0" { print $NF; exit }')
	mkfifo "$WORK/stop"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/witness.py" "$library" "$WORK/witness.json" \
		<"$WORK/stop" >"$WORK/witness" 2>&1 3>&- &
	witness=$!
	exec {stop}>"$WORK/stop"
	soon grep -q ready "$WORK/witness"
	timeout -k 5 90 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- timeout -k 2 60 "$@" >"$WORK/out" 2>&1 </dev/null ||
		{ cat "$WORK/out" && false; }
	exec {stop}>&-
	wait $witness
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	[ -z "${KEEP:-}" ] || cp "$WORK/a.ucxb" "$KEEP/$BATS_TEST_NUMBER.ucxb"
}

# holds FILTER: of the report
holds()
{
	jq -e "$1" "$WORK/report.json" >/dev/null || { echo "not so: $1" && false; }
}

NONE_INVENTED='.matching | .sends == .matched + .ambiguous + ([.unmatched_sends[]] | add // 0)'

WITH_PEERS='all(.transfers[] | select(.kind == "data"); .peer != null)'

# matched: each byte to its operation, each send, and each receive that was not cancelled
matched()
{
	holds '.attribution.unexplained == 0 and .attribution.to_op == .attribution.data_bytes'
	holds '.matching | .sends > 0 and .matched == .sends'
	holds '.matching.unmatched_receives | keys - ["failed or cancelled"] == []'
}

# whole [unmatched]: nothing is lost or unknown, all messages are matched, all operations have a caller
whole()
{
	holds '([.loss.dropped[]] | add // 0) == 0'
	[ "${1:-}" = unmatched ] || matched
	holds 'all(.processes[]; .seen_from == "start")'
	holds '([.ops[] | select(.function == null) | .count] | add) == ([.callers[].count] | add)'
	holds '([.ops[] | select(.function == null) | .bytes] | add) == ([.callers[].bytes] | add)'
	holds '[.callers[] | select(.module == null)] | map(.bytes) | add // 0 | . == 0'
	holds 'all(.callers[]; .module == null or (.module | test("/libuc[pst][.-]") | not))'
}

# as_witnessed: each process's calls that send, put and get, and their bytes
as_witnessed()
{
	local ops='["tag_send", "tag_send_sync", "stream_send", "am_send", "put", "get"]'

	jq -c --argjson ops "$ops" '(.processes | map({ key: "\(.id)", value: .pid }) | from_entries) as $pid |
		[.ops[] | select(.op | IN($ops[])) | [$pid["\(.process)"], .op, .count, .bytes]] |
		group_by(.[0:2])[] | .[0][0:2] + [(map(.[2]) | add), (map(.[3]) | add)]' \
		"$WORK/report.json" >"$WORK/seen"
	jq -c --slurpfile report "$WORK/report.json" '[to_entries[] | (.key | tonumber) as $pid |
		select($pid | IN($report[0].processes[].pid)) | .value | to_entries[] | [$pid, .key] + .value] |
		sort_by(.[0:2])[]' "$WORK/witness.json" >"$WORK/true"
	[ -s "$WORK/true" ]
	diff "$WORK/true" "$WORK/seen"
}

# sent OP: its calls and bytes, as "CALLS BYTES"
sent()
{
	jq -r --arg op "$1" '[.ops[] | select(.op == $op)] | "\(map(.count) | add // 0) \(map(.bytes) | add // 0)"' \
		"$WORK/report.json"
}

# same WANTED GOT
same()
{
	[ "$1" = "$2" ] || { echo "not $1, but $2" && false; }
}

# called FILE FUNCTION OP: how often it was called from there
called()
{
	jq --arg file "$1" --arg symbol "$2" --arg op "$3" '[.callers[] | select(.op == $op and
		(.module // "" | contains($file)) and (.symbol // "" | startswith($symbol))) | .count] | add // 0' \
		"$WORK/report.json"
}

# joined COLLECTIVE...: so many operations of each on all four ranks as UCC has begun of the first, by its algorithm
joined()
{
	local begun each

	begun=$(grep -ci "coll_init: $1" "$WORK/out")
	for each in "${@:2}"; do
		same "$begun ${each#*@}" "$(jq -r --arg function "UCC ${each%@*}" '[.collectives[] | select(.function == $function)] |
			"\(map(select(.ranks == 4).count) | add) \(map(.algorithm) | unique | join(" "))"' "$WORK/report.json")"
	done
}

# ucc TRANSPORT COLLECTIVE[@ALGORITHM] COUNT MESSAGES BYTES: ucc_perftest's collectives of so many floats on four ranks,
# each of so many messages of so many bytes, as the size tells
ucc()
{
	local transport=$1 collective=${2%@*} all barriers tune

	[ "$2" = "$collective" ] || tune="UCC_TL_UCP_TUNE=$collective:@${2#*@}"
	job_command openmpi 4 "$transport" n env UCC_COLL_TRACE=info ${tune:-} "$AT/bin/ucc_perftest" \
		-c "$collective" -b "$3" -e "$3" -n 3 -w 1 -F
	traced "${JOB[@]}"
	whole
	as_witnessed
	# UCC names each collective as it begins; the benchmark's own reductions are of one number
	all=$(grep -ciE "coll_init: $collective.* ([0-9]{2,}), float32" "$WORK/out") || all=0
	barriers=$(grep -c 'coll_init: Barrier' "$WORK/out")
	[ "$barriers" -gt 3 ]
	same $((barriers * 12)) "$(called libucc_tl_ucp ucc_tl_ucp_barrier_knomial tag_recv)"
	joined barrier barrier@knomial
	[ "$collective" != barrier ] || return 0
	case $2 in
	*@sra_knomial) joined $collective reduce_scatter@knomial allgather@knomial ;;
	*) joined $collective "$2" ;;
	esac
	[ "$all" -gt 3 ]
	same "$((all * $4)) $((all * $4 * $5))" "$(jq -r --argjson size "$5" '.sizes[] |
		select(.from_bytes <= $size and .most_bytes >= $size) | "\(.messages) \(.bytes)"' "$WORK/report.json")"
}

@test "UCC: allreduce, recursive k-nomial" {
	built ucc
	ucc shm allreduce@knomial 200 12 800
}

@test "UCC: allreduce, scatter-reduce and allgather" {
	built ucc
	ucc shm allreduce@sra_knomial 1024 8 1024
	[ "$(called libucc_tl_ucp ucc_tl_ucp_reduce_scatter_knomial tag_recv)" -gt 0 ]
}

@test "UCC: alltoall, bcast, allgather, barrier" {
	local case

	built ucc
	for case in "alltoall@pairwise 200 16 800" "bcast@knomial 1024 3 4096" "allgather@ring 200 12 800" "barrier 1 0 0"; do
		ucc shm $case || { echo "$case" && false; }
		rm -f "$WORK/stop"
	done
}

@test "UCC: alltoall by rendezvous" {
	built ucc
	ucc shm alltoall@pairwise 65536 16 262144
	holds 'any(.ops[]; .op == "tag_send" and (.protocol | startswith("rndv")))'
}

@test "UCC: four nodes over tcp, and its hierarchy" {
	built ucc
	NODES=4 "$TOP/tests/nodes" up 4 || skip "no network namespaces here"
	JOB_EXTRA=UCC_CLS=all JOB_EXPORT=UCC_CLS ucc tcp allreduce@knomial 200 12 800
}

@test "UCC: its MPI test, several teams" {
	built ucc
	job_command openmpi 4 shm n "$AT/bin/ucc_test_mpi" -c allreduce,alltoall,bcast,barrier -t world,reverse,odd_even \
		-d int32 -o sum -m 64:4096:64 -I 0 -P 0 -r single:1 -O 0 --triggered 0 -i 1
	traced "${JOB[@]}"
	whole
	as_witnessed
	grep -Eq '^failed: +0$' "$WORK/out"
	[ "$(called libucc_tl_ucp ucc_tl_ucp_alltoall_pairwise tag_send)" -gt 0 ]
}

# pscom PORT ARGUMENTS...: pscom_pp says how often it sent each size, both ways, after two messages of 2 bytes
pscom()
{
	local port=$1 each

	shift
	built pscom
	traced env PSP_SHM=0 PSP_TCP=0 PSP_UCP=2 UCX_TLS=posix,self,cma sh -c '
		"$0" -1 -l "$1" &
		server=$!
		port=$1
		shift
		until "$0" -c "$@" "localhost:$port"; do sleep 0.1; done
		wait $server' "$AT/bin/pscom_pp" "$port" "$@"
	whole
	as_witnessed
	# a header of 8 bytes, one of the program of 12 (2 in the first two); each side ends with a header
	each=$(awk '$1 ~ /^[0-9]+$/ && NF == 4 { bytes += $2 * ($1 + 20) + 2 * 12 } END { print bytes + 8 }' "$WORK/out")
	[ "$each" -gt 8 ]
	same $((2 * each)) "$(sent tag_send | cut -d' ' -f2)"
	same "$(sent tag_send | cut -d' ' -f1)" "$(called libpscom4ucp '' tag_send)"
}

@test "pscom: ping-pong, small messages" { pscom 7131 -n 5 --maxsize=64; }

@test "pscom: ping-pong, to rendezvous" { pscom 7132 -n 2 --minsize=1000 --maxsize=600000; }

# ucx_py COMMAND...: UCX-Py's log has each transfer
ucx_py()
{
	traced env PYTHONPATH="$AT" UCXPY_LOG_LEVEL=DEBUG UCX_TLS=tcp,posix,self,cma /usr/bin/python3 "$@"
	whole ${MATCHED:-}
	as_witnessed
	holds "$NONE_INVENTED"
	holds "$WITH_PEERS"
}

# logged "WHAT": transfers in the log, as "COUNT BYTES"; one that tells the peer to close has 16
logged()
{
	grep -oE "\[($1).*" "$WORK/out" | awk '/nbytes/ { sub(/.*nbytes: /, ""); bytes += $1 + 0 } /shutdown/ { bytes += 16 }
		END { print NR, bytes + 0 }'
}

@test "UCX-Py: its benchmark, by tags" {
	built ucx-py
	ucx_py -m ucp.benchmarks.send_recv --backend ucp-async --n-iter 3 --n-warmup-iter 1 --n-bytes 10000 \
		--no-detailed-report
	same "$(logged 'Send #|Send shutdown')" "$(sent tag_send)"
	same "$(sent tag_send | cut -d' ' -f1)" "$(called ucx_api '' tag_send)"
}

@test "UCX-Py: its benchmark, by active messages" {
	built ucx-py
	ucx_py -m ucp.benchmarks.send_recv --backend ucp-async --enable-am --n-iter 3 --n-warmup-iter 1 --n-bytes 10000 \
		--no-detailed-report
	same "$(logged 'AM Send #')" "$(sent am_send)"
	same "$(logged 'Send shutdown')" "$(sent tag_send)"
}

# ucxx COMMANDS: of a shell; a port is busy for a minute after its use
ucxx()
{
	traced env UCX_TLS=tcp,posix,self,cma PORT=$((20000 + RANDOM % 10000)) sh -c "$1"
	whole
	as_witnessed
	holds "$WITH_PEERS"
	same "$(sent tag_send | cut -d' ' -f1)" "$(called libucxx _ZN4ucxx tag_send)"
}

@test "ucxx: its example, both ends in one process" {
	built ucxx
	ucxx "$AT/bin/ucxx_basic -m polling -p \$PORT"
	same "4 $((12 + 20 + 2000 + 200000))" "$(sent tag_send)"
}

@test "ucxx: its benchmark, two processes" {
	built ucxx
	ucxx "$AT/bin/ucxx_perftest -p \$PORT -s 1000 -n 5 -w 1 & sleep 2
		$AT/bin/ucxx_perftest -p \$PORT -s 1000 -n 5 -w 1 127.0.0.1; wait"
	holds '[.ops[].process] | unique | length == 2'
}

# The first 24 bytes on an endpoint that was made from a socket's address had no operation in one run of six, and the messages
# of that endpoint no other end, as the report said; in none of the last 14.
@test "Dask over UCX-Py: a scheduler and two workers" {
	built ucx-py
	/usr/bin/python3 -c 'import distributed' || skip "no Dask here: python3-distributed"
	MATCHED=unmatched ucx_py "$BATS_TEST_DIRNAME/dask_sum.py" 4 100000
	holds '.matching | .matched > 0.9 * .sends'
	holds '.attribution | .unexplained < 0.01 * .data_bytes'
	same "$(logged 'Send #|Send shutdown')" "$(sent tag_send)"
	holds '[.ops[].process] | unique | length == 3'
}

# charm RANKS PROGRAM ARGUMENTS...: as the kernel has counted
charm()
{
	local ranks=$1

	built charm
	traced env UCX_TLS=posix,self,cma mpiexec.hydra -n "$ranks" "$AT/bin/$2" "${@:3}"
	as_witnessed
	whole ${MATCHED:-}
	grep -q 'End of program' "$WORK/out"
	holds "[.processes[].rank] | sort == [range($ranks)]"
}

# Its receives take a message of any sender. Where several arrive at a time, it is not always known which one was whose:
# of about 3,060 sends 4 to 28 here, as the report says.
@test "Charm++: a stencil on four processes" {
	MATCHED=unmatched charm 4 jacobi2d 20 5
	holds '.matching | .sends > 3000 and .matched > 0.95 * .sends'
	holds "$NONE_INVENTED"
}

@test "Charm++: a zero-copy get" {
	charm 2 simple_get 100000
	grep -q 'Get Validated!' "$WORK/out"
	[ "$(called simple_get '' get)" = 3 ]
}

# Seven sizes, of each two messages, each way. The program is mapped before it has probes: first calls may be missing.
@test "AMPI: ping-pong" {
	charm 2 ampi_pingpong 16 1024 2 1 0 +vp2
	holds '[.calls[] | select(.function == "MPI_Send") | .count] | add | . > 0 and . <= 28'
}
