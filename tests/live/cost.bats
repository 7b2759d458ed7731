# SPDX-License-Identifier: BSD-3-Clause
# What a capture says of its own cost, against witnesses that measure the same from outside.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# traced OPTIONS...: 3 s of conjugate gradients, with both witnesses; sets SELF
traced()
{
	TRUTH= job_command openmpi 2 shm n "$PROGS/openmpi/cg" 100 3
	"$UCXBPF" run -q "$@" -o "$WORK/a.ucxb" -- "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	tracer=$!
	"$BUILD/tests/bench/runtime" $tracer >"$WORK/runtime" 2>"$WORK/runtime.err" 3>&- &
	witness=$!
	wait $tracer
	wait $witness
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	SELF=$(jq -c .self "$WORK/report.json")
	echo "self: $SELF, measured: $(cat "$WORK/runtime")"
	jq -r -f "$TOP/tests/golden/schema.jq" "$WORK/report.json" | tee "$WORK/breaches"
	[ ! -s "$WORK/breaches" ]
}

self() { jq -e "$1" <<<"$SELF" >/dev/null; }

# The estimate, against the time that the kernel measured throughout.
estimate_holds()
{
	local ns runs

	traced "$@"
	read -r ns runs <"$WORK/runtime"
	[ "$runs" -gt 100000 ]
	self ".kernel.sampled_hits > 2000 and .kernel.sampled_hits < .kernel.hits / 2"
	self ".kernel.time_ns > 0.7 * $ns and .kernel.time_ns < 1.4 * $ns"
}

@test "the time in BPF programs, estimated from samples, is what the kernel measures" { estimate_holds; }
@test "so is that of the programs that count" { estimate_holds --count; }

@test "every level is named, and costs" {
	for level in mpi ucp; do
		traced --level $level
		self ".levels == [\"$level\"] and .captures == 1 and .cpu_ns > 1000000"
		self ".memory_peak > 1000000 and .kernel.hits > 1000"
	done
	"$UCXBPF" replay "$WORK/a.ucxb" | head -n 3 >"$WORK/text"
	grep -q ', level ucp, Open MPI' "$WORK/text"
	grep -q '^cost:   tracer .* of CPU, .*B; .* records in ' "$WORK/text"
	grep -q '^        job .* in BPF, estimated from .* of .* hits, plus their traps$' "$WORK/text"
}

@test "records and bytes are those of the file" {
	local bytes

	traced
	bytes=$(stat -c %s "$WORK/a.ucxb")
	self ".records == $(jq .loss.stored "$WORK/report.json")"
	# the last chunk holds what is said here
	self ".bytes <= $bytes and .bytes > $bytes - 2000"
}
