# SPDX-License-Identifier: BSD-3-Clause
# UCX under other file names, as Python wheels have it: the same numbers, from the first call on.

load ../lib/live.bash
load ../lib/soon.bash

setup()
{
	live_setup
	command -v patchelf >/dev/null || skip "no patchelf"
	UCX=$WORK/ucx
	"$TOP/tests/renamed-ucx" "$UCX" "$PROGS"/ucp/ucp_{tag,rma,am} "$(command -v ucx_perftest)"
}

# renamed and stock alike, but for the names of files and what the clock decides
sums()
{
	jq -S '[.transfers[] | {op, transport, device, kind, count, bytes}] | sort' "$1"
}

@test "from the start: every ledger, and the report of the stock library" {
	for program in ucp_tag ucp_rma ucp_am; do
		for proto in n y; do
			one_case 0 "$program" ucp shm "$proto" "$UCX/$program"
			jq -e 'all(.processes[].ucx[]; .path | contains("311e600f")) and .processes[0].ucx != []' "$CASE/report.json"
			! jq -r '.notes[]' "$CASE/report.json" | grep 'before it was probed' || false
		done
	done
	one_case 0 stock ucp shm n "$PROGS/ucp/ucp_rma"
	diff <(sums "$CASE/report.json") <(sums "$WORK/ucp_rma-ucp-shm-n/report.json")
}

# ended: by their ids
ended()
{
	kill -KILL "$SERVER" "$CLIENT" 2>/dev/null || true
	wait "$SERVER" "$CLIENT" || true
}

@test "attached to a program that runs: all is matched" {
	export UCX_TLS=posix,self,cma
	"$UCX/ucx_perftest" -p 14501 </dev/null >"$WORK/server" 2>&1 3>&- &
	SERVER=$!
	soon bash -c 'ss -Hltn "sport = :14501" | grep -q .'
	"$UCX/ucx_perftest" -p 14501 -t tag_lat -s 8 -n 1000000000 127.0.0.1 </dev/null >"$WORK/client" 2>&1 3>&- &
	CLIENT=$!
	soon grep -q tag "$WORK/client"
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$SERVER" -p "$CLIENT" -d 1 >"$WORK/out" 2>&1 || { cat "$WORK/out" && ended && false; }
	ended
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	# a message that is under way at an end of the trace has one side
	jq -e '.matching | .matched > 50 and .sends - .matched <= 2 and .receives - .matched <= 2' "$WORK/report.json" ||
		{ jq '.matching' "$WORK/report.json" && false; }
	jq -e '[.transfers[] | select(.kind == "data") | .transport] | unique == ["posix"]' "$WORK/report.json"
}

@test "the inventory finds the copy and its modules" {
	LD_LIBRARY_PATH=$UCX "$UCXBPF" inventory -f json >"$WORK/renamed.json"
	"$UCXBPF" inventory -f json >"$WORK/stock.json"
	jq -e '.ucx[0] | .found_by == "LD_LIBRARY_PATH" and (.path | contains("311e600f"))' "$WORK/renamed.json"
	for file in renamed stock; do
		jq -r '.ucx[0] | .version, (.modules[] | "\(.path | split("/")[-1] | split(".")[0]) \(.missing)")' \
			"$WORK/$file.json" >"$WORK/$file"
	done
	diff "$WORK/stock" "$WORK/renamed"
}
