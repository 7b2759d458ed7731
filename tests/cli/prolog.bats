#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The prolog of docs/sweep.md, run by a real slurmd before a job.

load ../lib/soon.bash

setup() {
	local status=0

	TOP=${TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	UCXBPF=${UCXBPF:-$TOP/build/ucxbpf}
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	awk '/^    #!/ { on = 1 } on && !/^    / { exit } on { print substr($0, 5) }' "$TOP/docs/sweep.md" |
		sed "s|/shared/ucxbpf/bin/ucxbpf|$UCXBPF|; s|/shared/ucxbpf/site.yaml|$PWD/site.yaml|" >prolog
	chmod +x prolog
	export BED=p$((BASHPID % 100000)) SLURM_MORE="Prolog=$PWD/prolog"
	"$TOP/tests/slurm" up 2 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
}

teardown() { "$TOP/tests/slurm" down; }

slurm() { "$TOP/tests/slurm" enter n0 "$@"; }

policy() {
	printf 'spec: ucxbpf-policy-v1\nclasses: { c: { nodes: "n[0-1]", nics: [%s] } }\n' "$1" >site.yaml
}

# is NODE STATE: its state and the reason for it
is() { [ "$(slurm sinfo --noheader --nodes="$1" --format='%T %E')" = "$2" ]; }

@test "a node in order runs jobs; one without a NIC of its class is drained; what cannot be judged runs" {
	policy eth0
	[ "$(slurm srun --nodelist=n1 hostname)" = n1 ]
	echo 'no policy at all' >site.yaml
	[ "$(slurm srun --nodelist=n1 hostname)" = n1 ]
	soon is n1 "idle none" # a job that has just ended is completing
	policy eth9
	slurm sbatch --nodelist=n1 --output=out --wrap hostname
	soon is n1 "drained Prolog error"
	[ ! -s out ]
}
