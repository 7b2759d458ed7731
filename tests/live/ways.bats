# SPDX-License-Identifier: BSD-3-Clause
# The ways of messages from memory to memory, where processes have a GPU library (a stand-in): exactly those
# that mpi_ways sent, none of them copied on its way.

load ../lib/live.bash

LIBRARY=$PROGS/lib/lib_cuda.so

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ "$(uname -m)" = x86_64 ] || skip "probes on GPU libraries are for x86-64"
}

# Four sizes each: 13 + 4099 + 65551 + 1048583 bytes.
wanted()
{
	jq -nc '["host", "pinned", "managed"] as $sorts |
		[[2, 3, 5], [7, 11, 13], [17, 19, 23]] as $times |
		[range(3) as $from | range(3) as $to |
			[$sorts[$from], $sorts[$to], [$sorts[$from], $sorts[$to]],
			 4 * $times[$from][$to], 1118246 * $times[$from][$to], 0]] | sort'
}

# compare PROTO
compare()
{
	"$UCXBPF" replay --json --function MPI_Send "$CASE/job.ucxb" >"$WORK/report.json"
	"$UCXBPF" replay --json "$CASE/job.ucxb" | jq -r -f "$TOP/tests/golden/schema.jq" >"$WORK/breaches"
	[ ! -s "$WORK/breaches" ]
	jq -c '[.messages | group_by([.src_mem, .dst_mem, .chain])[] |
		[.[0].src_mem, .[0].dst_mem, .[0].chain, (map(.count) | add), (map(.bytes) | add),
		 (map(.copies) | add)]] | sort' "$WORK/report.json" >"$WORK/seen"
	diff <(wanted) "$WORK/seen"
	# none by both; protocol v1 fetches the largest
	jq -e '[.messages[].via] | unique | . - [["cma"], ["posix"]] == []' "$WORK/report.json"
	[ "$1" = y ] || jq -e '([.messages[] | select(.via == ["cma"]) | .count] | add) * 4 >=
		([.messages[].count] | add)' "$WORK/report.json"
	jq -e '[.transfers[] | select(.kind == "copy")] == []' "$WORK/report.json"
	"$UCXBPF" replay "$CASE/job.ucxb" | grep -q '^MEMORY WAYS  '
}

@test "host, pinned and managed memory, both MPIs, both protocols" {
	for mpi in openmpi mpich; do
		for proto in n y; do
			trace mpi_ways $mpi shm $proto "$PROGS/$mpi/mpi_ways" "$LIBRARY"
			[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && false; }
			compare $proto
		done
	done
}

@test "filters by memory" {
	trace mpi_ways openmpi shm n "$PROGS/openmpi/mpi_ways" "$LIBRARY"
	[ "$status" = 0 ]
	"$UCXBPF" replay --json --memory managed --function MPI_Send "$CASE/job.ucxb" >"$WORK/report.json"
	jq -e '([.messages[].count] | add) == 4 * (5 + 13 + 17 + 19 + 23)' "$WORK/report.json"
	jq -e '([.ops[] | select(.op == "tag_send") | .count] | add) == 4 * (17 + 19 + 23)' "$WORK/report.json"
	"$UCXBPF" replay --json --memory 'gpu*' "$CASE/job.ucxb" | jq -e '.ops == [] and .messages == []'
}
