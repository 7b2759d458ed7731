#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Epilog of Slurm: takes the lines that `ucxbpf serve` has written of the job that ends on this node, one a step, to the
# node's log or into Slurm's accounting. Needs curl. It ends with 0, whatever happens: else Slurm would drain the node.
#
# Settings, with their defaults. A site's own are in /etc/default/ucxbpf-serve, for slurm-prolog.sh, too, in the same form.
SERVICE=(http://127.0.0.1:9489/metrics)    # or (--unix-socket PATH http://localhost/metrics), by the service's --listen
ANSWER=1                                   # seconds that it has for an answer
SUMMARIES=/var/lib/ucxbpf-serve/jobs.jsonl # the service's --summaries
INTERVAL=10                                # its --interval, in seconds: the epilog waits no longer for lines
TO=log                                     # log: to LOG, on each node; comment: AdminComment, by sacctmgr, of the first node
LOG=(logger -t ucxbpf)                     # a command that takes lines from its standard input
site=/etc/default/ucxbpf-serve
# shellcheck source=/dev/null
[ ! -r "$site" ] || . "$site"

trap 'exit 0' EXIT
since=$(date +%s.%N)

metrics() { curl -q -sf --noproxy '*' -m "$ANSWER" "${SERVICE[@]}"; }

# The service has looked after the job's end, and has found none of its processes: no line comes any more.
over() {
	awk -v since="$since" -v processes="ucxbpf_processes{jobid=\"$SLURM_JOB_ID\"," '
		$1 == "ucxbpf_read_timestamp_seconds" { looked = $2 > since }
		index($0, processes) == 1 && $NF > 0 { alive = 1 }
		END { exit !looked || alive }'
}

is_first() { [ "$(timeout 2 scontrol show hostnames "$SLURM_NODELIST" | head -n 1)" = "$SLURMD_NODENAME" ]; }

while sums=$(metrics) && ! over <<<"$sums" && [ "$SECONDS" -lt "$INTERVAL" ]; do
	sleep 0.5
done
sleep 0.2 # lines are written right after the metrics

lines=$(grep -sF "\"job\":\"$SLURM_JOB_ID\"," "$SUMMARIES") || exit
case $TO in
log) timeout 2 "${LOG[@]}" <<<"$lines" ;;
comment) # of 64 KiB at most
	is_first && timeout 5 sacctmgr -i modify job where "jobid=$SLURM_JOB_ID" set \
		"AdminComment=$(tail -n 300 <<<"$lines" | paste -sd,)"
	;;
esac
