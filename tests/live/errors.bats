# SPDX-License-Identifier: BSD-3-Clause
# Errors by status, where no program sees the results of operations: as many as the program itself has met.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

teardown()
{
	rm -f "$WORK/go"
	[ -z "${VIEW:-}" ] || kill -TERM "$VIEW" 2>/dev/null || true
	[ -z "${JOB_PID:-}" ] || kill -TERM "$JOB_PID" 2>/dev/null || true
}

TCP="UCX_TLS=tcp,self UCX_NET_DEVICES=lo"

# agree OPTION...: the file counted, with the program's ledger
agree()
{
	cat "$WORK/out" "$WORK/counted"
	/usr/bin/python3 "$TOP/tests/live/check_errors.py" "$WORK/out" "$WORK/counted" "$@"
}

# counted ENVIRONMENT...: by run --count
counted()
{
	env $TCP "$@" timeout -k 5 60 "$UCXBPF" run -q --count -o "$WORK/a.ucxb" -- "$PROGS/ucp/ucp_errors" >"$WORK/out"
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -r -f "$TOP/tests/golden/schema.jq" "$WORK/report.json" >"$WORK/breaches"
	[ ! -s "$WORK/breaches" ] || { cat "$WORK/breaches" && false; }
	jq -r '.errors[] | "\(.what) \(.status) \(.count)"' "$WORK/report.json" >"$WORK/counted"
}

session_links()
{
	"$UCXBPF" doctor | grep -q session || skip "this kernel lacks session links: returned errors are not seen"
}

@test "truncated, cancelled, and sends to a peer that was killed" {
	session_links
	for proto in n y; do
		counted UCX_PROTO_ENABLE=$proto UCX_RNDV_THRESH=inf
		agree
		counted UCX_PROTO_ENABLE=$proto UCX_RNDV_THRESH=8k LONG=1
		agree --rendezvous
	done
	"$UCXBPF" export -f sqlite -o "$WORK/a.db" "$WORK/a.ucxb"
	[ "$(sqlite3 "$WORK/a.db" "SELECT count FROM errors WHERE what = 'endpoint'")" = 1 ]
	"$UCXBPF" replay "$WORK/a.ucxb" | tr -s '\n ' ' ' | tee "$WORK/text"
	grep -q 'endpoint UCS_ERR_ENDPOINT_TIMEOUT 1, operation UCS_ERR_CANCELED 3,' "$WORK/text"
	grep -q 'other operations that failed: not known' "$WORK/text"
}

@test "a job that closes its endpoints in any order has no error" {
	for mpi in openmpi mpich; do
		JOB_EXTRA=$TCP job_command $mpi 4 shm n "$PROGS/$mpi/mpi_coll"
		timeout -k 5 60 "$UCXBPF" run -q --count -o "$WORK/a.ucxb" -- "${JOB[@]}" </dev/null >"$WORK/out" 2>&1
		"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
		jq -c '.errors, ([.ops[].count] | add)' "$WORK/report.json" >"$WORK/counted"
		cat "$WORK/counted"
		jq -e 'any(.transfers[]; .transport == "tcp")' "$WORK/report.json"
		jq -e '.errors == [] and ([.ops[].count] | add) > 100' "$WORK/report.json"
	done
}

# held: starts the program, which waits; its pid is in JOB_PID
held()
{
	env $TCP UCX_RNDV_THRESH=inf GO="$WORK/go" "$@" "$PROGS/ucp/ucp_errors" >"$WORK/out" 3>&- &
	JOB_PID=$!
}

printed() { grep -q endpoint "$WORK/out"; }

# last_fits FILE FILTER: the last line that was printed is whole, and fits; it is then in $WORK/last
last_fits()
{
	[ -s "$1" ] && tail -n 1 "$1" >"$WORK/last" && jq -e "$2" "$WORK/last"
}
in_view() { last_fits "$WORK/top" "$1"; }

@test "top has the program's errors" {
	session_links
	held
	"$UCXBPF" top --json --interval 500ms -p "$JOB_PID" >"$WORK/top" 3>&- &
	VIEW=$!
	soon in_view '.n >= 2 and .processes != [] and .watched_ns > 0'
	touch "$WORK/go"
	soon printed
	soon in_view '[.errors[] | select(.what == "endpoint") | .errors.total] | add == 1'
	soon in_view '[.errors[].errors.count] | add == 0'
	/usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$WORK/last" "$TOP/docs/top.schema.json"
	jq -r '.errors[] | "\(.what) \(.status) \(.errors.total)"' "$WORK/last" >"$WORK/counted"
	agree
	# the same fields, of one interval
	"$UCXBPF" top --once --json -p "$JOB_PID" | jq -e '.errors == []'
}

@test "serve has the program's errors, by the job" {
	session_links
	mkfifo "$WORK/commands"
	bash -c 'exec <>"$0"; while read -r line; do eval "$line" </dev/null; done' "$WORK/commands" >"$WORK/out" 3>&- &
	JOB_PID=$!
	"$UCXBPF" serve -p "$JOB_PID" --interval 1s --listen "unix:$WORK/socket" --budget none --json >"$WORK/json" 3>&- &
	VIEW=$!
	scraped() { curl -sf --unix-socket "$WORK/socket" http://localhost/metrics >"$WORK/metrics" && grep -q "$1" "$WORK/metrics"; }
	soon scraped ucxbpf_jobs
	echo "env $TCP UCX_RNDV_THRESH=inf PBS_JOBID=4711.here $PROGS/ucp/ucp_errors" >"$WORK/commands"
	soon scraped '^ucxbpf_processes_ended_total{jobid="4711.here",step="",status="0"} 1$'
	sed -nE 's/^ucxbpf_errors_total\{jobid="4711.here",step="",what="(endpoint|operation)",status="(\w+)",.*\} (.*)/\1 \2 \3/p' \
		"$WORK/metrics" >"$WORK/counted"
	agree
	! command -v promtool >/dev/null || promtool check metrics <"$WORK/metrics"
	soon last_fits "$WORK/json" 'any(.jobs[]; .jobid == "4711.here" and (.errors | length > 1))'
	/usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$WORK/last" "$TOP/docs/serve.schema.json"
	jq -r '.jobs[] | select(.jobid == "4711.here").errors[] | "\(.what) \(.status) \(.count)"' "$WORK/last" >"$WORK/counted"
	agree
}
