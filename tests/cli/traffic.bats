#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The traffic of a sweep without a tracer, on "nodes" of one machine: what it writes down, and who is named when a
# rank stops.

load ../lib/job.sh
load ../lib/soon

setup()
{
	cd "$BATS_TEST_TMPDIR"
	printf 'spec: ucxbpf-policy-v1\nclasses: { c: { nodes: "n[0-1]" } }\n' >site.yaml
	"$BUILD/ucxbpf" sweep plan -P site.yaml --variant all-pairs --max-size 64K --max-count 3 --collective \
		-o plan.json
	mkdir ledger
}

# traffic MPI OPTION...: two nodes of two ranks
traffic()
{
	local program=$BUILD/ucxbpf-traffic-$1 launcher=(mpirun.openmpi) options
	shift

	[ -x "$program" ] || skip "${program##*/} is not built"
	"job_env_${program##*-}"
	[ "${program##*-}" = openmpi ] || launcher=(mpiexec.hydra)
	options=("$program" --plan plan.json --ledger ledger "$@" --node)
	env "${JOB_ENV[@]}" UCX_TLS=posix,self,cma timeout -k 2 60 "${launcher[@]}" \
		-n 2 "${options[@]}" n0 : -n 2 "${options[@]}" n1 </dev/null 3>&-
}

# Lines of transfers that the plan wants: within each node, both ways; between them, by both
planned()
{
	jq '[.stages[] | .rounds as $rounds | .work[] |
		(if .op == "alltoall" or .op == "allreduce" then 4 else 2 end) * $rounds] as $all |
		([.stages[] | select(.pairing == "local") | .rounds * (.work | length) * 2] | add) as $second |
		($all | add) + $second' plan.json
}

whole()
{
	[ "$(cat ledger/*.ndjson | jq -s 'map(select(.is == "transfer")) | length')" = "$(planned)" ]
	[ "$(cat ledger/*.ndjson | jq -s 'map(select(.is == "transfer") | .errors) | add')" = 0 ]
	[ "$(cat ledger/*.ndjson | jq -s 'map(select(.is == "end")) | length')" = 4 ]
	[ "$(cat ledger/*.ndjson | jq -s 'all(.[] | select(.is == "transfer");
		.bytes == .size * .count and .ns.timed == .count - 1 and .ns.min <= .ns.p50 and .ns.p50 <= .ns.max)')" = true ]
	[ "$(ls pids | wc -l)" = 4 ]
	# all is there but the captures
	"$BUILD/ucxbpf" check -f json --plan plan.json ledger/*.ndjson >check.json || [ $? = 3 ]
	[ "$(jq -r '[.findings[] | select(.rule == "COV-03") | .why] | unique[]' check.json |
		grep -v '^no capture of this node was given')" = "" ]
}

@test "Open MPI: all that was planned, and as it was sent" {
	traffic openmpi
	whole
}

@test "MPICH: all that was planned, and as it was sent" {
	traffic mpich
	whole
}

# in_traffic LIMIT [FIRST]: a job of endless work, but for the first, which is of so many; sets job, rank_2
in_traffic()
{
	jq -c --argjson first "${2:-200000}" '(.stages[].work[] | select(.op == "p2p") | .count) = 200000 |
		.stages[0].work[0].count = $first' plan.json >longer.json
	mv longer.json plan.json
	traffic openmpi --go "$PWD/go" --limit "$1" >out 2>&1 &
	job=$!
	soon all_four 'ls pids | grep -v new'
	touch go
	soon all_four 'grep -h begin ledger/*.ndjson'
	rank_2=$(jq -r 'select(.rank == 2) | .pid' ledger/n1.2.ndjson)
}

all_four()
{
	[ "$(eval "$1" | wc -l)" = 4 ]
}

# names_it: the job has ended, and what is said of it
names_it()
{
	wait "$job" && return 1
	kill -KILL "$rank_2" 2>/dev/null || true
	"$BUILD/ucxbpf" check -f json --plan plan.json ledger/*.ndjson >check.json || [ $? = 2 ]
	jq -e '[.findings[] | select(.rule == "COV-03" and .verdict == "fail") |
			.subject == "n1" and (.seen | startswith("rank 2 of n1 hangs"))] == [true]' check.json
}

@test "a rank that stops is named, and those that wait for it are not to blame" {
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "no Open MPI"
	in_traffic 3
	kill -STOP "$rank_2"
	names_it
}

@test "so is one that goes on when it is ended, long before its time is over" {
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "no Open MPI"
	in_traffic 60
	kill -STOP "$rank_2"
	sleep 5 # longer than a rank that runs may be late
	kill -TERM "$rank_2"
	kill -CONT "$rank_2"
	names_it
	jq -es 'last | .late and .ended' ledger/n1.2.ndjson
}

# has_said COUNT: so often, where it was
has_said()
{
	[ "$(grep -c '"stuck"' ledger/n1.2.ndjson)" = "$1" ]
}

@test "what goes on after SIGCONT has said where it was, and carries on" {
	[ -x "$BUILD/ucxbpf-traffic-openmpi" ] || skip "no Open MPI"
	in_traffic 60 3
	for said in 1 2; do
		kill -CONT "$rank_2"
		soon has_said "$said"
	done
	kill -TERM "$rank_2"
	wait "$job" || true
	jq -es 'map(select(.is == "stuck") | .late) | length == 3 and (any | not)' ledger/n1.2.ndjson
	# what waited to be written came with the first of them, once
	jq -es 'map(select(.is == "transfer")) | length > 0 and . == unique_by(.size, .sub)' ledger/n1.2.ndjson
}

@test "no plan, another folder, a stage of no name: 2, and what is wrong" {
	traffic=$BUILD/ucxbpf-traffic-openmpi
	[ -x "$traffic" ] || skip "no Open MPI"
	! "$traffic" --plan missing.json --ledger ledger 2>err || false
	grep -q 'missing.json: no such file' err
	echo '{"schema":"ucxbpf.plan/2"}' >bad.json
	! "$traffic" --plan bad.json --ledger ledger 2>err || false
	grep -q 'bad.json: no plan: its schema is not ucxbpf.plan/1' err
	! "$traffic" --plan plan.json --ledger ledger --stage first 2>err || false
	grep -q 'stage first: not intra, path' err
	! "$traffic" --plan plan.json --ledger ledger --go never --wait 1 --node n0 2>err || false
	grep -q 'never: is not there after 1 s' err
}
