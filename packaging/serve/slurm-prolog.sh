#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prolog of Slurm: says in the node's log where `ucxbpf serve` does not answer before a job. Needs curl.
#
# Settings, with their defaults. A site's own are in /etc/default/ucxbpf-serve, for slurm-epilog.sh, too, in the same form.
SERVICE=(http://127.0.0.1:9489/metrics) # or (--unix-socket PATH http://localhost/metrics), by the service's --listen
ANSWER=1                                # seconds that it has for an answer: the prolog takes no longer
REQUIRED=no                             # yes: the prolog fails without an answer: Slurm drains the node, queues the job again
LOG=(logger -t ucxbpf)                  # a command that takes lines from its standard input
site=/etc/default/ucxbpf-serve
# shellcheck source=/dev/null
[ ! -r "$site" ] || . "$site"

why=$(curl -q -sSf --noproxy '*' -m "$ANSWER" -o /dev/null "${SERVICE[@]}" 2>&1) && exit 0
timeout 1 "${LOG[@]}" <<<"job $SLURM_JOB_ID begins, and ucxbpf serve does not answer: $why"
[ "$REQUIRED" != yes ]
