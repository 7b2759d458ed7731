# SPDX-License-Identifier: BSD-3-Clause
# --count: the sums are exactly the programs' numbers, as with records.

load ../lib/live.bash
load ../lib/running.bash

export TRACE_OPTIONS=--count CHECK_OPTIONS=--count

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown() { running_teardown; }

P2P="mpi_send mpi_isend mpi_persistent mpi_sizes"

@test "openmpi over shm" { matrix openmpi shm $P2P; }

@test "openmpi over tcp" { matrix openmpi tcp $P2P; }

@test "mpich over shm" { matrix mpich shm $P2P; }

@test "mpich over tcp" { matrix mpich tcp $P2P; }

@test "bare UCP over shm" { matrix ucp shm ucp_tag ucp_am ucp_rma ucp_stream; }

traced_twice()
{
	local mpi=$1 transport=$2 proto=$3 program=$4
	shift 4

	rm -rf "$WORK/truth"
	mkdir "$WORK/truth"
	if [ "$mpi" = ucp ]; then
		TRUTH=$WORK/truth ucp_command "$transport" "$proto" "$PROGS/ucp/$program"
	else
		TRUTH=$WORK/truth job_command "$mpi" "${RANKS:-2}" "$transport" "$proto" "$PROGS/$mpi/$program" "$@"
	fi
	timeout -k 5 60 "$UCXBPF" run -q -o "$WORK/records.ucxb" -- \
		"$UCXBPF" run -q --count -o "$WORK/count.ucxb" -- \
		timeout -k 2 $JOB_SECONDS "${JOB[@]}" >"$WORK/out" 2>&1
}

# same MPI|ucp TRANSPORT PROTO PROGRAM ARGUMENTS...: a tracer that records around one that counts, on one run.
same()
{
	[ "$2" = tcp ] && nodes_up
	traced_twice "$@" </dev/null
	"$UCXBPF" replay --json "$WORK/records.ucxb" >"$WORK/records.json"
	"$UCXBPF" replay --json "$WORK/count.ucxb" >"$WORK/count.json"
	jq -r -f "$TOP/tests/golden/schema.jq" "$WORK/count.json" >"$WORK/breaches"
	[ ! -s "$WORK/breaches" ] || { cat "$WORK/breaches" && false; }
	/usr/bin/python3 "$TOP/tests/live/check_same.py" "$WORK/count.json" "$WORK/records.json"
}

@test "sums and records of one run agree: collectives" { RANKS=4 same openmpi shm n mpi_coll; }

@test "sums and records of one run agree: one-sided" { same openmpi shm n mpi_rma; }

# fetched_by MPI PROGRAM ARGUMENTS...: MPI functions and UCP operations that what was fetched is put down to, in fetched
fetched_by()
{
	local mpi=$1

	job_command "$mpi" "${RANKS:-2}" shm n "$PROGS/$mpi/${@:2}"
	timeout -k 5 60 "$UCXBPF" run -q --count -o "$WORK/a.ucxb" ${LINKS:-} -- "${JOB[@]}" </dev/null >"$WORK/out" 2>&1
	"$UCXBPF" replay --json "$WORK/a.ucxb" | jq -r '.transfers[] | select(.op == "get_zcopy") | "\(.function) \(.ucp_op)"' |
		sort -u >"$WORK/fetched"
	cat "$WORK/fetched"
	[ -s "$WORK/fetched" ]
}

@test "data that moves while another call waits for it is of no call that is over" {
	for LINKS in "" "--links multi"; do
		for mpi in openmpi mpich; do
			JOB_EXTRA=UCX_RNDV_THRESH=1024 fetched_by $mpi cg 200 1
			! grep -vxE 'null null|MPI_Irecv tag_recv' "$WORK/fetched" || false
			fetched_by $mpi mpi_isend
			! grep -vxE 'null null|MPI_I?[Rr]ecv tag_recv' "$WORK/fetched" || false
		done
	done
}

@test "data that moves inside a collective is of the receive that it is for, not of the collective's own" {
	for LINKS in "" "--links multi"; do
		for mpi in openmpi mpich; do
			RANKS=4 fetched_by $mpi mpi_late
			! grep -vxE 'null null|MPI_Irecv tag_recv' "$WORK/fetched" || false
		done
	done
}

# With another tracer's return probes, a return address that is left in the stack tells less.
@test "sums and records of one run agree: large messages that come late" {
	RANKS=4 same openmpi shm n mpi_late
	RANKS=4 same mpich shm n mpi_late
}

@test "sums and records of one run agree: threads" { same openmpi shm n mpi_threads; }

@test "sums and records of one run agree: communicators, MPICH" { same mpich shm y mpi_comms; }

@test "sums and records of one run agree: datatypes, MPICH" { same mpich tcp n mpi_types; }

@test "sums and records of one run agree: bare UCP" {
	same ucp shm n ucp_am
	same ucp shm y ucp_rma
}

# peers_known REPORT: transport, device and both ranks of every transfer of data.
peers_known()
{
	jq -e '[.transfers[] | select(.kind == "data")]
		| length > 0 and all(.[]; .transport != "unknown" and .device != "unknown" and .peer != null)' \
		"$1" >/dev/null || { jq -c '.transfers[]' "$1" && false; }
}

has_data() { so_far "$1" 'any(.transfers[]; .kind == "data")'; }

attached()
{
	start "$1" "$2" "$3"
	timeout 30 "$UCXBPF" attach -q --count ${4:-} -o "$WORK/a.ucxb" -p "$PIDS" -d 1 >"$WORK/summary"
	text | diff "$WORK/text" -
	finish
	same_result "$1"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	peers_known "$WORK/report.json"
	[ "$(jq .counted.captures "$WORK/report.json")" = 1 ]
}

@test "attach with --count to Open MPI over shm" { attached openmpi shm n; }

@test "attach with --count to MPICH over shm, protocol v2, links without sessions" {
	attached mpich shm y "--links multi"
}

@test "a killed tracer leaves sums, and what they are about" {
	start openmpi shm n
	"$UCXBPF" attach -q --count -o "$WORK/a.ucxb" -p "$PIDS" >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon has_data "$WORK/a.ucxb"
	kill -KILL $tracer
	wait $tracer || true
	finish
	same_result openmpi
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	peers_known "$WORK/report.json"
}

@test "a level leaves out what is below it" {
	TRACE_OPTIONS="--count --level mpi" trace level openmpi shm n "$PROGS/openmpi/mpi_send"
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$WORK/mpi.json"
	[ "$(jq '.ops + .transfers | length' "$WORK/mpi.json")" = 0 ]
	[ "$(jq '[.calls[] | select(.function == "MPI_Send") | .count] | add' "$WORK/mpi.json")" = 72 ]
	TRACE_OPTIONS="--count --level ucp" trace level openmpi shm n "$PROGS/openmpi/mpi_send"
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$WORK/ucp.json"
	[ "$(jq '.transfers | length' "$WORK/ucp.json")" = 0 ]
	[ "$(jq '[.ops[] | select(.function == "MPI_Send") | .count] | add' "$WORK/ucp.json")" = 72 ]
}
