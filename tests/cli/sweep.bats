#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ucxbpf sweep, as far as it starts nothing: dry runs, reports of sweeps that were recorded.

load ../lib/ends.bash

setup() {
	ends_setup
	unset "${!SLURM_@}"
}

@test "no Slurm: a dry run says so once and goes on, a sweep does not begin" {
	for more in "" "--chunk 2"; do
		ends 0 env PATH=/none "$UCXBPF" sweep run -w 'n[0-3]' -o sweep --dry-run $more
		[ "$(wc -l <err)" -ge 1 ]
		! grep -v '^ucxbpf: warning: Slurm does not answer here (.*): .*; without Slurm: --launcher hosts$' err || false
		ends 5 env PATH=/none "$UCXBPF" sweep run -w 'n[0-3]' -o sweep $more
		[ "$(wc -l <err)" = 1 ]
		grep -q '^ucxbpf: error: Slurm does not answer here (.*); without Slurm: --launcher hosts$' err
	done
	[ ! -e sweep ]
}

@test "Slurm: what sinfo warns of is no node" {
	mkdir bin
	printf '#!/bin/sh\necho "sinfo: error: Ignoring obsolete FastSchedule=1" >&2\nprintf "n0 idle\\nn1 down*\\nn2 mixed\\n"\n' >bin/sinfo
	chmod +x bin/sinfo
	ends 0 env PATH="$PWD/bin:$PATH" "$UCXBPF" sweep run -w 'n[0-2]' -o sweep --dry-run
	[ "$(<err)" = 'ucxbpf: warning: Slurm cannot give n1: down*' ]
	grep -q -- ' --nodes=2 --nodelist=n0,n2 ' out
}

@test "in parts: what is submitted, a % in the folder's name included" {
	ends 0 env PATH=/none "$UCXBPF" sweep run -w 'n[0-3]' -o 'half%a' --chunk 2 --dry-run
	grep -q -- " --output=$PWD/half%%a/log/part.%a --wrap .* --output=$PWD/half%a --part=" out
	grep -q -- " --output=$PWD/half%%a/log/judge --wrap .* --step=judge'" out
	grep -q '^# and that job, if nodes or pairs are slow (PERF-01, PERF-02): sbatch .* --nodelist=NODES ' out
	grep -q -- " --output=$PWD/half%%a/log/confirm --wrap .* --step=confirm'" out
	ends 0 env PATH=/none "$UCXBPF" sweep run -w 'n[0-3]' -o half --chunk 2 --dry-run --no-confirm
	! grep -q '^#' out || false
	# pairs by place or by class would be in no part
	for variant in topo cross-class custom:pairs; do
		ends 4 "$UCXBPF" sweep run -w 'n[0-3]' -o half --chunk 2 --dry-run --variant "$variant"
		grep -q "^ucxbpf: error: no plan: variant '$variant': in parts, .*: leave --chunk, and name fewer nodes by -w$" err
	done
	[ ! -e half ]
}

@test "a report of a folder whose name has letters of patterns is of that folder alone" {
	for folder in plain 'a[b]*?' 'back\slash' abxy; do
		mkdir -p "$folder/parts"
		cp -r "$DATA"/gpu-sweep/sound/{policy.yaml,plan.json,ledger} "$folder/"
		cp "$DATA/gpu-sweep/sound/evidence" "$folder/parts/0.evidence"
	done
	rm -r abxy/parts
	ends 0 "$UCXBPF" sweep report -f json plain
	mv out plain.json
	for folder in 'a[b]*?' 'back\slash'; do
		ends 0 "$UCXBPF" sweep report -f json "$folder"
		cmp plain.json out
	done
}

@test "a damaged part is missing, from wherever it is named" {
	mkdir parts
	cp "$DATA"/gpu-sweep/sound/{policy.yaml,plan.json} .
	head -c 2000 "$DATA/gpu-sweep/sound/evidence" >parts/0.evidence
	for folder in '' "$PWD/" ./; do
		ends 3 "$UCXBPF" check -P policy.yaml "${folder}plan.json" "${folder}parts/0.evidence"
		grep -qF "warning: ${folder}parts/0.evidence: " err
		grep -q '^UNKN.* COV-03 ' out
	done
}

@test "a damaged file of several is named, by check and by merge" {
	mkdir several
	cp "$DATA/gpu-sweep/sound/evidence" several/a
	cp "$DATA/gpu-sweep/no-cuda-ipc/evidence" several/c
	head -c 500 "$DATA/gpu-sweep/none-bcast/evidence" >several/b
	ends 5 "$UCXBPF" check several/[abc]
	[ "$(<err)" = "ucxbpf: error: several/b: cut short" ]
	ends 5 "$UCXBPF" sweep merge -o whole several/[abc]
	[ "$(<err)" = "ucxbpf: error: several/b: cut short" ]
	[ ! -e whole ]
}

@test "a baseline: as check has it; one that is not there is said before anything begins" {
	mkdir -p now/parts
	cp -r "$DATA"/gpu-sweep/sound/{policy.yaml,plan.json,ledger} now/
	cp "$DATA/gpu-sweep/sound/evidence" now/parts/0.evidence
	then=$DATA/gpu-sweep/no-cuda-ipc/evidence
	ends 1 "$UCXBPF" check -f json -P now/policy.yaml --baseline "$then" now/plan.json now/ledger/* now/parts/0.evidence
	mv out check.json
	ends 1 "$UCXBPF" sweep report -f json --baseline "$then" now
	mv out report.json
	jq -e '[.findings[] | select(.rule == "PERF-05" and .verdict == "fail")] | length > 0' report.json
	cmp check.json report.json
	ends 4 "$UCXBPF" sweep run -w n0 --launcher hosts -o sweep --baseline nowhere
	grep -qx 'ucxbpf: error: --baseline=nowhere: no such file' err
	[ ! -e sweep ]
	# a part compares nothing: it may be where nobody sees that
	ends 4 "$UCXBPF" sweep run -w n0 -o now --baseline nowhere --part=0
	! grep baseline err || false
	ends 4 "$UCXBPF" sweep report --baseline nowhere now
}
