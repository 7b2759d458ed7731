#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: site.sh [NODES [ROUNDS [SHARDS [LAUNCHER]]]]
# A site of so many nodes (64), each of which meets another one in each of so many rounds (3): its plan,
# its captures (made from those of two recorded nodes), their evidence, gathered by so many processes
# at a time (2), merged, judged. Prints what each step took. 4096 nodes and 15 rounds take half an
# hour of CPU time; captures are thrown away as soon as they are gathered.
# LAUNCHER: `plain` processes, the ranks of an `mpirun`, the tasks of a `slurm` array, on two nodes of its own.
set -e
nodes=${1:-64} rounds=${2:-3} shards=${3:-2} launcher=${4:-plain}
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
ucxbpf=$build/ucxbpf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$launcher" = slurm ]; then
	export BED=st
	trap '"$top/tests/slurm" down; rm -rf "$work"' EXIT
	"$top/tests/slurm" up 2
fi
chunk=1024
names="n[$(printf "%0${#nodes}d" 1)-$nodes]"

step() {
	local name=$1
	shift
	/usr/bin/time -f "$name: %U + %S s of CPU, %e s, %M KiB" "$@"
}

# by_LAUNCHER COMMAND...: runs it once for each shard
by_plain() {
	local shard
	for ((shard = 0; shard < shards; shard++)); do
		"$@" --shard "$shard/$shards" &
	done
	wait
}

by_mpirun() {
	mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$shards" "$@" --shard auto
}

# `sbatch --wait` looks every few seconds, so the tasks say themselves when they ran.
by_slurm() {
	"$top/tests/slurm" enter n0 sbatch --wait -Q -n 1 -o "$work/slurm.%a" --array="0-$((shards - 1))" \
		--wrap "date +%s.%N; $* --shard auto; date +%s.%N"
	sort -n "$work"/slurm.* | sed -n '1p;$p' | paste -sd ' ' | awk '{ printf "tasks, from the first to the last: %.3f s\n", $2 - $1 }'
}

gather() {
	local TIMEFORMAT="evidence of pairs $1.., $launcher, $shards shards: %U + %S s of CPU, %R s"
	time "by_$launcher" "$ucxbpf" sweep merge -P "$work/site.yaml" -o "$work/parts/$1.%" "$work"/pairs/*
}

cat >"$work/site.yaml" <<-EOT
	spec: ucxbpf-policy-v1
	classes:
	  all: { nodes: "$names", nics: [eth0], rails: 1 }
	expect:
	  - { loc: inter, tl: [tcp] }
EOT
mkdir "$work/parts"
step plan "$ucxbpf" sweep plan -P "$work/site.yaml" --variant "sample:$rounds" -o "$work/plan.json"
for ((pair = 0; pair < nodes / 2 * rounds; pair += chunk)); do
	mkdir "$work/pairs"
	"$build/tests/bench/mksite" "$work/plan.json" "$top"/tests/data/hosts.n{0,1}.ucxb "$work/pairs" \
		"$rounds" "$pair" $((pair + chunk))
	gather "$pair"
	rm -r "$work/pairs"
done
step merge "$ucxbpf" sweep merge -o "$work/all" "$work"/parts/*
printf 'evidence: %d bytes, %d cells\n' "$(stat -c %s "$work/all")" "$(zstdcat "$work/all" | grep -c ^cell)"
step check "$ucxbpf" check -P "$work/site.yaml" -o "$work/text" "$work/all" || true
step 'check as JSON' "$ucxbpf" check -P "$work/site.yaml" -f json -o "$work/json" "$work/all" || true
tail -1 "$work/text"
