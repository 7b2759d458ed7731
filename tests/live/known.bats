# SPDX-License-Identifier: BSD-3-Clause
# Memory that no call was seen to make: told by the process's mappings and by what UCX knows.

load ../lib/live.bash
load ../lib/soon.bash

LIBRARY=$PROGS/lib/lib_cuda.so

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	[ "$(uname -m)" = x86_64 ] || skip "probes on GPU libraries are for x86-64"
}

# What each rank sent from, as mpi_known has it: compare CAPTURE [GPU]
compare()
{
	local which='"made before the trace: which GPU was not told"'

	[ -z "${2:-}" ] || which=null
	"$UCXBPF" replay --json "$1" >"$WORK/report.json"
	[ -z "$(jq -r -f "$TOP/tests/golden/schema.jq" "$WORK/report.json")" ]
	# memory that was soon gone may have been looked at in time, or not
	jq -c '[.ops[] | select(.function == "MPI_Send") | if .memory_known_by == "elimination" then
		.memory_known_by = "map" else . end] | group_by(.process, .memory, .memory_known_by) | map([.[0].process,
		.[0].memory, .[0].memory_known_by, .[0].memory_reason, ([.[].count] | add),
		([.[].bytes] | add)]) | sort' "$WORK/report.json" >"$WORK/seen"
	jq -nc '[range(2) as $rank |
		[$rank, "'"${2:-gpu}"'", "map", '"$which"', 19, 0],
		[$rank, "gpu1", "ucx", null, 13, 0],
		[$rank, "host", "map", null, 92, 92000]] | sort' >"$WORK/wanted"
	diff "$WORK/wanted" "$WORK/seen"
	jq -c '[.devices[] | [.name, .pci, [.processes[].ordinal]]]' "$WORK/report.json" >"$WORK/seen"
	echo '[["gpu0","0000:18:00.0",[0,0]],["gpu1","0000:5e:00.0",[1,1]]]' >"$WORK/wanted"
	diff "$WORK/wanted" "$WORK/seen"
	jq -e '[.ops[] | select(.function == "MPI_Recv") | .memory] | unique == ["host"]' "$WORK/report.json"
}

@test "from the start, both MPIs, both protocols" {
	for mpi in openmpi mpich; do
		for proto in n y; do
			trace mpi_known $mpi shm $proto "$PROGS/$mpi/mpi_known" "$LIBRARY"
			[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && false; }
			compare "$CASE/job.ucxb"
		done
	done
}

# late MPI [GPU]: attaches to mpi_known, or PROGRAM, when all memory is there; GPU: the one that UCX is not needed for
late()
{
	local pids job tracer go=$WORK/go

	export TRUTH=$WORK/truth
	rm -rf "$TRUTH" "$go" "$WORK/late.ucxb"
	mkdir -p "$TRUTH"
	job_command "$1" 2 shm n "${PROGRAM:-$PROGS/$1/mpi_known}" "$LIBRARY" "$go"
	timeout -k 2 30 "${JOB[@]}" </dev/null >"$WORK/out" 2>&1 3>&- &
	job=$!
	soon test -e "$TRUTH/0.ready"
	soon test -e "$TRUTH/1.ready"
	pids=$(cat "$TRUTH/0.pid"),$(cat "$TRUTH/1.pid")
	NVML_PIDS=$pids timeout 20 "$UCXBPF" attach -q -o "$WORK/late.ucxb" -p "$pids" >"$WORK/summary" 2>"$WORK/err" 3>&- &
	tracer=$!
	soon test -s "$WORK/late.ucxb"
	touch "$go"
	wait $job
	wait $tracer
	compare "$WORK/late.ucxb" ${2:-}
}

@test "after a late attach, both MPIs" {
	late openmpi
	late mpich
}

# renamed: sets PROGRAM to an mpi_known whose MPICH has a UCX under other names, and knows no other
renamed()
{
	local mpich

	command -v patchelf >/dev/null || skip "no patchelf"
	mpich=$(ldconfig -p | sed -n 's/.*libmpich[.]so[.]12 .* => //p' | head -n 1)
	"$TOP/tests/renamed-ucx" "$WORK/ucx" "$PROGS/mpich/mpi_known" "$mpich"
	PROGRAM=$WORK/ucx/mpi_known
}

# by_renamed: the report's processes have that UCX alone
by_renamed()
{
	jq -e '[.processes[].ucx | length == 1 and all(.path | contains("311e600f"))] == [true, true]' "$WORK/report.json"
}

@test "UCX under other file names, from the start and after a late attach" {
	renamed
	trace mpi_known mpich shm n "$PROGRAM" "$LIBRARY"
	[ "$status" = 0 ] || { tail -n 5 "$CASE/out" && false; }
	compare "$CASE/job.ucxb"
	by_renamed
	late mpich
	by_renamed
}

@test "after a late attach, with the driver's list of who uses which GPU" {
	mkdir "$WORK/nvml"
	ln -s "$PROGS/lib/lib_nvml.so" "$WORK/nvml/libnvidia-ml.so.1"
	export LD_LIBRARY_PATH=$WORK/nvml
	late openmpi gpu1
}
