#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How long placing all probes of a job takes, and taking them away: medians over the windows of one
# attach to a ping-pong of two ranks.
#
# usage: tests/bench/attach.sh [WINDOWS [openmpi|mpich]]    (root; 20, openmpi)
set -eu
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/lib/job.sh"
windows=${1:-20} mpi=${2:-openmpi}
work=$(mktemp -d)
export TRUTH=$work
trap 'touch "$work/stop"; wait; rm -rf "$work"' EXIT

job_command "$mpi" 2 shm n "$PROGS/$mpi/mpi_pingpong" "$work/stop" 200
timeout -k 5 120 "${JOB[@]}" </dev/null >"$work/out" 2>&1 &
until [ -s "$work/0.pid" ] && [ -s "$work/1.pid" ]; do
	sleep 0.1
done
sleep 0.5
pids=$(cat "$work/0.pid"),$(cat "$work/1.pid")
timeout 100 "$BUILD/ucxbpf" attach -q --debug -o "$work/a.ucxb" -p "$pids" --window 400ms/1s -d "$windows" \
	2>"$work/log" &
tracer=$!
/usr/bin/python3 "$TOP/tests/bench/textwatch.py" "$pids" "$windows" >"$work/text"
wait $tracer
"$BUILD/tests/bench/sides" "$work/a.ucxb" window >"$work/windows"
/usr/bin/python3 - "$work" <<-'EOT'
	import json, re, statistics, sys

	def row(what, values, unit="ms"):
	    if not values:
	        print(f"{what:58} none")
	        return
	    print(f"{what:58} {statistics.median(values):7.1f} {min(values):7.1f} {max(values):7.1f} {unit}"
	          f"  ({len(values)})")

	work = sys.argv[1]
	log = open(f"{work}/log").read()
	windows = [json.loads(line) for line in open(f"{work}/windows")]
	counts = [(int(time), int(sites)) for time, sites in
	          (line.split() for line in open(f"{work}/text"))]
	full = max(sites for _, sites in counts)
	idle = min(sites for _, sites in counts)
	cleared = []
	for window in windows:
	    after = [time for time, sites in counts if sites == idle and time > window.get("to", 1 << 62)]
	    if after and after[0] < window["to"] + 500_000_000:
	        cleared.append((after[0] - window["to"]) / 1e6)
	print(f"{full} probed instructions in both processes, {idle} of them between windows")
	print(f"{'':58} {'median':>7} {'min':>7} {'max':>7}")
	row("attach: until all sites are probed", [float(x) for x in re.findall(r"attached in ([\d.]+)", log)])
	row("detach: until the text of both processes is clean", cleared)
	row("detach: until the kernel has let go (nobody waits for it)",
	    [float(x) for x in re.findall(r"detached in ([\d.]+)", log)])
EOT
