#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How long an attach to all ranks of a large node takes, and its end: medians of several attaches. The ranks
# sleep, and each has an endpoint to each other one.
#
# usage: tests/bench/attach-many.sh [RANKS [TIMES]]    (root; 128, 7)
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/lib/job.sh"
ranks=${1:-128} times=${2:-7}
work=$(mktemp -d)

end()
{
	exec 3>&-
	for ((rank = 0; rank < ranks; rank++)); do
		timeout 1 sh -c 'echo quit >"$0"' "$work/in.$rank" || true
	done
	wait
	rm -rf "$work"
}

for ((rank = 0; rank < ranks; rank++)); do
	mkfifo "$work/in.$rank"
done
mkfifo "$work/out"
job_command openmpi "$ranks" shm n "$BUILD/tests/bench/job/node" "$work"
timeout -k 5 600 "${JOB[@]}" </dev/null >"$work/log" 2>&1 &
trap end EXIT
exec 3<>"$work/out"
# a reader opens its pipe once there is a writer
for ((rank = 0; rank < ranks; rank++)); do
	exec {pipe}<>"$work/in.$rank"
done
read -r -t 120 -u 3 word pids
[ "$word" = pids ]
for ((rank = 0; rank < ranks; rank++)); do
	echo "run alltoall 1 1" >"$work/in.$rank"
done
read -r -t 120 -u 3 _

for ((i = 0; i < times; i++)); do
	"$BUILD/ucxbpf" attach -q --debug --level uct -o "$work/capture.ucxb" -d 0.3 -p "${pids// /,}" 2>>"$work/times"
done
/usr/bin/python3 - "$work/times" "$ranks" <<-'EOT'
	import re, statistics, sys

	text = open(sys.argv[1]).read()
	print(f"{sys.argv[2]} ranks; ms: median, least, most")
	for what, pattern in (("attach: until all ranks are recorded", r"processes begin after ([\d.]+) ms"),
	                      ("detach: until no probe is left", r"no probe is left after ([\d.]+) ms")):
	    values = [float(word) for word in re.findall(pattern, text)]
	    print(f"{what:40} {statistics.median(values):7.0f} {min(values):7.0f} {max(values):7.0f}  ({len(values)})")
EOT
