# SPDX-License-Identifier: BSD-3-Clause
# Two copies of UCX in one process, the second bound to its own libraries, as Python wheels bring it: nothing of one
# is put down to the other.

load ../lib/live.bash
load ../lib/soon.bash

setup()
{
	live_setup
	command -v patchelf >/dev/null || skip "no patchelf"
	UCX=$WORK/ucx
	"$TOP/tests/renamed-ucx" "$UCX" "$PROGS/ucp/ucp_tag"
	CASE=$WORK/case
	STEPS=$WORK/steps
	PROGRAM=("$PROGS/dl/dl_two")
}

teardown()
{
	touch "$STEPS"/{loaded,connected,sent} || true
	[ -z "${PID:-}" ] || wait "$PID" || true
}

# steps PROTO STEP...: of the program, for all of which but these nobody waits; JOB is its command
steps()
{
	local proto=$1 step
	shift

	rm -rf "$CASE" "$STEPS"
	mkdir -p "$CASE/truth" "$STEPS"
	export TRUTH=$CASE/truth
	touch "$STEPS"/{loaded,connected,sent}
	for step; do
		rm "$STEPS/$step"
	done
	ucp_command shm "$proto" "${PROGRAM[@]}" "$UCX" "$STEPS"
}

# both_are STEP: the processes have come there
both_are()
{
	test -e "$TRUTH/0.$1" && test -e "$TRUTH/1.$1"
}

# [CALLER, SENDS, BYTES, BYTES BY THE COPY'S TRANSPORTS] of each process and copy, by the ledgers
wanted()
{
	jq -c '.copies | to_entries[] | ["\(.key)_sends", .value[], .value[1]]' "$TRUTH"/[01].json | sort
}

# the same by the report: the stock copy has posix and cma, the renamed one sysv
seen()
{
	jq -c 'def by($process; $transports): [.transfers[] | select(.process == $process and .kind == "data" and
			(.transport | IN($transports[]))) | if .op == "get_zcopy" then empty else .bytes end] +
			[.transfers[] | select(.peer == $process and .op == "get_zcopy" and
			(.transport | IN($transports[]))) | .bytes] | add;
		. as $report | .callers[] | select(.op == "tag_send") | .process as $process | [.symbol, .count, .bytes,
			(.symbol as $symbol | $report | by($process; if $symbol == "stock_sends" then ["posix", "cma"]
				else ["sysv"] end))]' "$CASE/report.json" | sort
}

# kept_apart: the report has both copies, and all of what each sent
kept_apart()
{
	jq -e 'all(.processes[]; [.ucx[].path | contains("311e600f")] | sort == [false, true])' "$CASE/report.json"
	diff <(wanted) <(seen)
	"$UCXBPF" export -f ndjson -o "$CASE/events" "$CASE/job.ucxb"
	jq -nr '[inputs] | (map(select(.event == "place") | {key: "\(.id)", value: .symbol}) | from_entries) as $symbols |
		[.[] | select(.event == "transfer" and .place) | "\($symbols["\(.place)"]) \(.transport)"] | unique[] |
		select(startswith("receive ") | not)' "$CASE/events" >"$CASE/mixed"
	printf '%s\n' 'renamed_sends sysv' 'stock_sends posix' | diff - "$CASE/mixed"
}

# what the capture has, once all is probed: both copies of both processes
BOTH='[.processes[].ucx | length] == [2, 2]'

@test "from the start, both known ahead" {
	export LD_LIBRARY_PATH=$UCX
	for proto in n y; do
		trace_once ucp shm $proto "$PROGS/dl/dl_two" "$UCX"
		report
		kept_apart
		! jq -r '.notes[]' "$CASE/report.json" | grep 'before it was probed' || false
	done
}

@test "from the start, the second one where nobody looked" {
	for proto in n y; do
		steps $proto loaded
		timeout -k 5 60 "$UCXBPF" run -q -o "$CASE/job.ucxb" -- timeout -k 2 50 "${JOB[@]}" >"$CASE/out" 2>&1 3>&- &
		PID=$!
		soon both_are loaded
		soon so_far "$CASE/job.ucxb" "$BOTH"
		touch "$STEPS/loaded"
		wait $PID
		PID=
		report
		kept_apart
	done
}

# attached PROTO: when they are connected, until all is sent. A receive that is done at once, before its callback has a
# probe, has no length: all else is as from the start.
attached()
{
	local tracer

	steps "$1" connected sent
	timeout -k 2 50 "${JOB[@]}" </dev/null >"$CASE/out" 2>&1 3>&- &
	PID=$!
	soon both_are connected
	env --default-signal=INT timeout 40 "$UCXBPF" attach -q -o "$CASE/job.ucxb" \
		-p "$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")" >"$CASE/summary" 2>&1 3>&- &
	tracer=$!
	soon so_far "$CASE/job.ucxb" "$BOTH"
	touch "$STEPS/connected"
	soon both_are sent
	kill -INT $tracer
	wait $tracer
	touch "$STEPS/sent"
	wait $PID
	PID=
	"$UCXBPF" replay --json "$CASE/job.ucxb" >"$CASE/report.json"
	in_form "$CASE/report.json"
	jq -e '.matching | .sends == 128 and .receives == 128 and .matched == 128' "$CASE/report.json"
	jq -e '.attribution.unexplained == 0 and ([.ops[] | select(.op == "tag_recv") | .count] | add) == 128' \
		"$CASE/report.json"
	kept_apart
}

@test "attached, when they are connected" {
	attached n
	attached y
}

# The stock copy is 1.18.1 there, the renamed one this machine's.
@test "attached, copies of two versions" {
	local root=$BUILD/debian13

	command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
	"$TOP/tests/lib/debian13" make "$root" >"$WORK/root.out" 2>&1 || skip "no Debian 13 root: $(tail -n 1 "$WORK/root.out")"
	cp "$PROGS/dl/dl_two" "$WORK"
	PROGRAM=("$TOP/tests/lib/debian13" enter "$root" "$WORK/dl_two")
	attached n
	jq -e 'all(.processes[]; [.ucx[].version] | unique | length == 2)' "$CASE/report.json"
	attached y
}
