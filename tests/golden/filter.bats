#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Filters by what transfers have: they select the operations, calls and messages that caused such transfers.

setup() {
	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	DATA=$TOP/tests/data
	cd "$BATS_TEST_TMPDIR" || return
}

# filtered FIELD=GLOB CAPTURE...
filtered() {
	local field=$1
	shift
	"$UCXBPF" export -f ndjson -o all "$@"
	"$UCXBPF" export -f ndjson -o selected "--$field" "$@"
	"$UCXBPF" replay --json -o report "--$field" "$@"
	python3 "$TOP/tests/golden/check_filter.py" all selected report "$field"
}

@test "of a real application, by each field of transfers" {
	for field in transport=cma transport=posix device=memory 'op=am_*' op=get_zcopy kind=data kind=control; do
		filtered "$field" "$DATA/gromacs.ucxb"
	done
}

@test "of MPI over tcp, of staged GPU memory, of two hosts" {
	filtered transport=tcp "$DATA/sizes-tcp.ucxb"
	filtered transport=cuda_copy "$DATA/gpu-allreduce.ucxb"
	filtered kind=copy "$DATA/gpu-allreduce.ucxb"
	filtered transport=tcp "$DATA"/hosts.*.ucxb
}

@test "operations by protocol, and the calls and messages that made them" {
	"$UCXBPF" replay --json --protocol 'rndv/*' "$DATA/gromacs.ucxb" >report
	jq -e '[.ops[].protocol] | unique | all(startswith("rndv/"))' report
	jq -e '([.ops[].function] | unique) - [.calls[].function] == []' report
	jq -e '.selected.messages.count == 267 and .selected.ops.count == 2 * 267' report
}

@test "sums of --count: calls and operations of which the causes are not known are not counted as selected" {
	"$UCXBPF" replay --json --transport posix "$DATA/send-count.ucxb" >report
	jq -e '.selected | .calls.count == 0 and .calls.unknown == .calls.of and .ops.unknown == .ops.of and .transfers.count > 0' report
	"$UCXBPF" replay --transport nosuch "$DATA/send-count.ucxb" >text
	grep -q '^        nothing passes; there is$' text
}

@test "a call site selects its messages" {
	"$UCXBPF" replay --json --call-site '*fft5d_execute*' "$DATA/gromacs.ucxb" >report
	jq -e '[.messages[].function] | unique == ["MPI_Alltoall"]' report
	jq -e '.selected.messages.count == ([.messages[].count] | add) and .selected.messages.count < .selected.messages.of' report
}

@test "what nothing passes is said, with what there is" {
	"$UCXBPF" replay --transport rc_mlx5 "$DATA/gromacs.ucxb" >text
	grep -A1 'nothing passes; there is' text | grep -q 'transport: cma, posix$'
	"$UCXBPF" replay --json --transport rc_mlx5 "$DATA/gromacs.ucxb" >report
	jq -e '.there_is == { transport: ["cma", "posix"] } and .calls == [] and .messages == []' report
	"$UCXBPF" replay --json --transport cma "$DATA/gromacs.ucxb" | jq -e 'has("there_is") | not'
	"$UCXBPF" replay --json --call-site nosuch "$DATA/gromacs.ucxb" >report
	"$UCXBPF" replay --json "$DATA/gromacs.ucxb" | jq -e --slurpfile none report \
		'($none[0].there_is["call-site"] | sort) == ([.call_sites[].label] | unique)'
	"$UCXBPF" replay --call-site nosuch "$DATA/gromacs.ucxb" >text
	grep -A1 'nothing passes; there is' text | grep -q 'call-site: .*+0x'
}

@test "no such process, no such host: those that there are, under their own names" {
	local names name

	"$UCXBPF" replay --process 7 --host foo "$DATA"/hosts.n?.ucxb >text
	grep -A2 'nothing passes; there is' text >names
	grep -q 'process: rank:0, rank:1$' names
	grep -q 'host: n0, n1$' names
	"$UCXBPF" replay --json --process rank:9 "$DATA/ucp-tag.ucxb" >report
	names=$(jq -r '.there_is.process[]' report)
	[ "$(jq -c '[.processes[].pid | "pid:\(.)"] | sort' report)" = "$(jq -c '.there_is.process | sort' report)" ]
	for name in $names; do
		"$UCXBPF" replay --json --process "$name" "$DATA/ucp-tag.ucxb" | jq -e '.selected.ops.count > 0'
	done
}

# Who waits for whom does not depend on what is shown.
@test "a filter leaves who is behind as it is" {
	local capture filter whole
	for capture in stuck-sends-mpich stuck-skip-openmpi stuck-stopped-mpich stuck-deadlock-openmpi; do
		whole=$("$UCXBPF" replay --json "$DATA/$capture.ucxb" | jq -c .behind)
		[ "$whole" != "[]" ]
		for filter in "--process 0" "--process 1" "--function MPI_Bcast"; do
			# shellcheck disable=SC2086
			[ "$("$UCXBPF" replay --json $filter "$DATA/$capture.ucxb" | jq -c .behind)" = "$whole" ]
		done
	done
}

@test "a library is chosen by its file's name or its path" {
	for site in 'libucxx*' libucxx.so '*/libucxx.so' '/opt/*'; do
		"$UCXBPF" replay --json --call-site "$site" "$DATA/ucxx-perftest.ucxb" >report
		jq -e '.selected.ops | .count == 30 and .of == 30' report
		jq -e '[.callers[].library] | unique == ["ucxx"]' report
	done
	"$UCXBPF" replay --json --call-site libucx "$DATA/ucxx-perftest.ucxb" | jq -e '.selected.ops | .count == 0 and .of == 30'
}
