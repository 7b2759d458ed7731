# SPDX-License-Identifier: BSD-3-Clause
# What a capture says of its own cost. The time in BPF programs goes by the clock, so it is compared with
# the kernel's in `make bench` (PARTS=estimate); what it is estimated from are counts, and exact.

load ../lib/live.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

# traced OPTIONS...: a ping-pong of half a second or more, for 1,000 ROUNDS; sets SELF
traced()
{
	TRUTH= job_command openmpi 2 shm n "$PROGS/openmpi/mpi_pingpong" "${ROUNDS:-1000}" 500
	timeout 100 "$UCXBPF" run -q "$@" -o "$WORK/a.ucxb" -- ${GATE:-} "${JOB[@]}" </dev/null >"$WORK/out" 2>&1
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	SELF=$(jq -c .self "$WORK/report.json")
	echo "self: $SELF"
	jq -r -f "$TOP/tests/golden/schema.jq" "$WORK/report.json" | tee "$WORK/breaches"
	[ ! -s "$WORK/breaches" ]
}

self() { jq -e "$1" <<<"$SELF" >/dev/null; }

# witness: how often the kernel says that probes ran the tracer's programs, while the job ran
witness()
{
	local pid

	read -r pid <"$WORK/says"
	coproc RUNTIME { "$BUILD/tests/bench/runtime" "$pid" 2>"$WORK/runtime.err" 3>&-; }
	read -r -t 30 <&"${RUNTIME[0]}"
	echo begin >"$WORK/told"
	read -r pid <"$WORK/says"
	echo >&"${RUNTIME[1]}"
	read -r -t 30 _ RUNS <&"${RUNTIME[0]}"
	echo leave >"$WORK/told"
}

# The job's own copies of the libraries: programs run by other jobs of this machine would count as well.
private_libraries()
{
	PYTHONPATH=$TOP/tests/bench /usr/bin/python3 -B -c 'import pathlib, sys; from bench import job
job.private_libraries(pathlib.Path(sys.argv[1]))' "$WORK/lib"
	JOB_EXTRA="LD_LIBRARY_PATH=$WORK/lib OMPI_MCA_mca_base_component_path=$WORK/lib/mca"
}

# No hit without a run of a program, and few runs that are none (what counts has no hit at a return); some
# hits, less than half, are measured.
counts_hold()
{
	local RUNS JOB_EXTRA tracer

	private_libraries
	mkfifo "$WORK/says" "$WORK/told"
	GATE="$TOP/tests/bench/gate $WORK"
	(traced -L "$WORK/lib" "$@"; echo "$SELF" >"$WORK/self") >"$WORK/log" 2>&1 3>&- &
	tracer=$!
	witness
	wait $tracer || { cat "$WORK/log" "$WORK/out"; return 1; }
	SELF=$(<"$WORK/self")
	echo "self: $SELF, runs: $RUNS"
	self ".kernel.hits <= $RUNS and .kernel.hits > $RUNS / 2 and .kernel.hits > 10000"
	self '.kernel.sampled_hits > 0 and .kernel.sampled_hits < .kernel.hits / 2 and .kernel.time_ns > 0'
}

@test "hits are runs of programs, as the kernel counts them, and a part of them is measured" { counts_hold; }
@test "so are those of the programs that count" { counts_hold --count; }

# Long enough for some samples on a busy machine as well.
@test "every level is named, and costs" {
	ROUNDS=4000
	for level in mpi ucp; do
		traced --level $level
		self ".levels == [\"$level\"] and .captures == 1 and .cpu_ns > 1000000"
		self ".memory_peak > 1000000 and .kernel.hits > 1000"
	done
	"$UCXBPF" replay "$WORK/a.ucxb" | head -n 4 >"$WORK/text"
	grep -q ', level ucp, Open MPI' "$WORK/text"
	grep -q '^cost:   tracer .* of CPU, .*B; .* records in ' "$WORK/text"
	grep -q '^        job .* +- .* in BPF, estimated from .* of .* hits, plus their traps$' "$WORK/text"
}

@test "records and bytes are those of the file" {
	local bytes

	traced
	bytes=$(stat -c %s "$WORK/a.ucxb")
	self ".records == $(jq .loss.stored "$WORK/report.json")"
	# the last chunk holds what is said here
	self ".bytes <= $bytes and .bytes > $bytes - 2000"
}
