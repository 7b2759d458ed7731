#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What doctor says about real jobs, and about what cannot be traced.

setup() {
	source "$BATS_TEST_DIRNAME/../lib/job.sh"
	# bats sources from within functions, where a plain declare is local
	declare -gA JOB_TLS=([shm]=posix,self,cma)
	UCXBPF=${UCXBPF:-$BUILD/ucxbpf}
	export TRUTH=$BATS_TEST_TMPDIR/truth
	mkdir -p "$TRUTH"
	started=
}

teardown() {
	touch "$TRUTH/stop"
	[ -z "$started" ] || wait "$started" || true
}

# start MPI [ARGUMENTS OF env(1)...]: a 2-rank job that runs until teardown; sets pid to rank 0's.
start() {
	local mpi=$1
	shift
	job_command "$mpi" 2 shm n "$PROGS/$mpi/mpi_pingpong" "$TRUTH/stop" 1000
	timeout -k 5 60 env "${JOB_ENV[@]}" env "$@" "${JOB_LAUNCHER[@]}" \
		"$PROGS/$mpi/mpi_pingpong" "$TRUTH/stop" 1000 </dev/null >/dev/null 2>&1 3>&- &
	started=$!
	for ((i = 0; i < 100; i++)); do
		[ -s "$TRUTH/0.pid" ] && break
		sleep 0.1
	done
	pid=$(cat "$TRUTH/0.pid")
}

# report ARGUMENTS: doctor's JSON in $json, its exit status in $status.
report() {
	json=$("$UCXBPF" doctor --json "$@") && status=0 || status=$?
}

field() {
	jq -r "$1" <<<"$json"
}

expect() {
	local got
	got=$(field "$1")
	[ "$got" = "$2" ] || {
		echo "$1 is '$got', not '$2'"
		field .
		return 1
	}
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

@test "Open MPI over UCX: libraries, layout and sites" {
	need_root
	start openmpi
	report -p "$pid"
	[ "$status" -eq 0 ]
	expect '[.problems[] | select(.fatal)] | length' 0
	expect '.processes | length' 1
	expect '.processes[0].pid' "$pid"
	expect '[.processes[0].libraries[] | select(.roles | index("ucp"))] | length' 1
	expect '[.processes[0].libraries[] | select(.roles | index("mpi"))][0].version | startswith("Open MPI")' true
	expect '[.processes[0].libraries[] | select(.roles | index("ucp"))][0].layout | length > 0' true
	expect '[.processes[0].libraries[].places.emulated] | add > 200' true
	expect '[.processes[0].libraries[].sites[] | select(.name == "MPI_Send")] | length' 1
}

@test "no hot site is single-stepped" {
	need_root
	start openmpi
	report -p "$pid"
	expect '[.processes[0].libraries[].sites[] | select(.place == "single-stepped" or .place == "refused")
		| .symbol | select(test("^P?MPI_|_am_(short|bcopy|zcopy)$|ucp_tag_(send|recv)_nbx|ucp_am_"))] | length' 0
	expect '[.processes[0].libraries[].left_out[]] | length' 0
	expect '[.problems[] | select(.id == "left_out")] | length' 0
	run "$UCXBPF" doctor -v -p "$pid"
	[ "$status" -eq 0 ]
	grep -qE '^ +uct +uct_mm_ep_am_short +\+[0-9]+ +(emulated|optimised)$' <<<"$output"
	grep -qE '^placement +[0-9]+ sites (emulated|optimised): 0\.' <<<"$output"
	grep -q '^ *no hot site is single-stepped$' <<<"$output"
}

@test "Debian's Open MPI without UCX: says that ob1 is used, why, and what to set" {
	need_root
	grep -qs '^pml = ^ucx' /etc/openmpi/openmpi-mca-params.conf || skip "Open MPI here does not rule UCX out"
	start openmpi -u OMPI_MCA_pml -u OMPI_MCA_osc
	report -p "$pid"
	[ "$status" -eq 8 ]
	expect '.problems[0].id' ob1_configured
	expect '.problems[0].text | contains("ob1") and contains("pml = ^ucx") and contains("openmpi-mca-params.conf")' true
	expect '.problems[0].fix | contains("OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any")' true
}

@test "ob1 chosen by hand: the variable is named" {
	need_root
	start openmpi -u OMPI_MCA_osc OMPI_MCA_pml=ob1
	report -p "$pid"
	[ "$status" -eq 8 ]
	expect '.problems[0].text | contains("OMPI_MCA_pml=ob1")' true
}

@test "the list of all processes tells which avoid UCX" {
	need_root
	start openmpi -u OMPI_MCA_osc OMPI_MCA_pml=ob1
	report
	[ "$status" -eq 0 ]
	expect "[.problems[] | select(.id == \"avoids_ucx\" and (.text | test(\"\\\\b$pid\\\\b\")))] | length" 1
	expect '[.problems[] | select(.fatal)] | length' 0
}

@test "MPICH over UCX, and the list of all processes" {
	need_root
	start mpich
	report -p "$pid"
	[ "$status" -eq 0 ]
	expect '[.processes[0].libraries[] | select(.roles | index("mpi"))][0].version | startswith("MPICH")' true
	report
	[ "$status" -eq 0 ]
	expect "[.processes[] | select(.pid == $pid)] | length" 1
	expect "[.problems[] | select(.id == \"avoids_ucx\" and (.text | test(\"\\\\b$pid\\\\b\")))] | length" 0
}

@test "as text: kernel, privileges, verdict" {
	need_root
	run "$UCXBPF" doctor
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "kernel      $(uname -r) "* ]]
	[[ $output == *"links "*"verdict     a trace would work here"* ]]
}

@test "a report that cannot be written" {
	"$UCXBPF" doctor --json 2>"$BATS_TEST_TMPDIR/err" >/dev/full && status=0 || status=$?
	[ "$status" = 9 ]
	[ "$(cat "$BATS_TEST_TMPDIR/err")" = "ucxbpf: error: standard output: No space left on device" ]
}

@test "a process without UCX, one that is gone, and no process id at all" {
	report -p $$
	[ "$status" -eq 8 ]
	expect '[.problems[] | select(.fatal)][0].id' nothing_mapped
	report -p 4194304
	[ "$status" -eq 7 ]
	run "$UCXBPF" doctor -p 12x
	[ "$status" -eq 2 ]
	run "$UCXBPF" doctor surplus
	[ "$status" -eq 2 ]
}

@test "a static program" {
	printf 'int pause(void);\nint main(void) { return pause(); }\n' >"$BATS_TEST_TMPDIR/s.c"
	cc -static "$BATS_TEST_TMPDIR/s.c" -o "$BATS_TEST_TMPDIR/s" || skip "no static C library"
	"$BATS_TEST_TMPDIR/s" 3>&- &
	static=$!
	report -p $static
	kill $static
	[ "$status" -eq 8 ]
	expect '[.problems[] | select(.fatal)][0].id' static
}

@test "without a capability: it is named" {
	need_root
	json=$(setpriv --bounding-set=-perfmon,-sys_admin --inh-caps=-all "$UCXBPF" doctor --json) &&
		status=0 || status=$?
	[ "$status" -eq 5 ]
	expect '.problems[0].text | contains("CAP_PERFMON")' true
	# also root lacks it in a container
	expect '.problems[0].fix | startswith("run as root of the host, ")' true
	json=$(setpriv --bounding-set=-all --inh-caps=-all "$UCXBPF" doctor --json) && status=0 || status=$?
	[ "$status" -eq 5 ]
	expect '[.problems[] | select(.id == "capability")] | length' 3
	run setpriv --bounding-set=-all --inh-caps=-all "$UCXBPF" attach -o "$BATS_TEST_TMPDIR/a.ucxb" -p $$ -d 1
	[ "$status" -eq 5 ]
	[[ $output = *"run this on the host, not in a container, as root or with CAP_BPF, "* ]]
}

@test "a name meant to do harm steers no terminal" {
	harm=$(printf 'a\033[31m\302\233b')
	cp /bin/sleep "$BATS_TEST_TMPDIR/$harm"
	"$BATS_TEST_TMPDIR/$harm" 60 3>&- &
	pid=$!
	"$UCXBPF" doctor -p "$pid" >"$BATS_TEST_TMPDIR/said" 2>&1 || true
	kill "$pid"
	grep -q "^process  *$pid a?\[31m?b$" "$BATS_TEST_TMPDIR/said"
}
