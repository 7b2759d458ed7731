# SPDX-License-Identifier: BSD-3-Clause
# Real applications, from the start and joined in mid-run: what they compute does not change, and
# nearly all that they send is attributed and matched.

load ../lib/live.bash
load ../lib/soon.bash
load app.bash

setup_file()
{
	live_file_setup
	"$TOP/tests/apps/prepare" "$APPS"
}

setup() { live_setup; }

# The applications' own words, where a test fails.
teardown()
{
	[ -z "${BATS_TEST_COMPLETED:-}" ] || return 0
	tail -n 20 "$APPS"/*.log "$WORK"/plain/out "$WORK"/traced/out 2>/dev/null || true
}

# plain NAME: the application's untraced result, made once for all tests of that command; prints the file
plain()
{
	local file=$APPS/$1-$(cksum <<<"${APP[*]}" | cut -d ' ' -f 1).result

	if [ ! -s "$file" ]; then
		mkdir -p "$WORK/plain"
		cd "$WORK/plain"
		TRUTH= job 200 openmpi 2 shm n "${APP[@]}" >out 2>&1 || return 1
		app_result "$1" >result
		[ -s result ] && mv result "$file" || return 1
	fi
	echo "$file"
}

# prepare_app NAME HOW-LONG
prepare_app()
{
	local missing

	missing=$(app_missing "$1") && skip "$missing"
	app_command "$1" "$2"
	rm -rf "$WORK/traced"
	mkdir "$WORK/traced"
	cd "$WORK/traced"
}

# check NAME start|attach
check()
{
	"$UCXBPF" replay --json a.ucxb >report.json
	[ -z "${KEEP:-}" ] || cp report.json "$KEEP/$1-$2.json"
	/usr/bin/python3 "$TOP/tests/apps/check_app.py" report.json "$2"
}

from_start()
{
	prepare_app "$1" short
	TRUTH= job_command openmpi 2 shm n "${APP[@]}"
	timeout -k 5 120 "$UCXBPF" run -q -o a.ucxb -- "${JOB[@]}" >out 2>&1 </dev/null
	app_result "$1" | cmp - "$(plain "$1")"
	check "$1" start
}

# Two processes of the program itself, below the launcher.
ranks_below()
{
	local child

	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		grep -qz '^OMPI_COMM_WORLD_RANK=' "/proc/$child/environ" 2>/dev/null && echo "$child"
		ranks_below "$child"
	done
}

# ranks_at_work: two ranks below the launcher, with a second of CPU time each; sets pids
ranks_at_work()
{
	pids=$(ranks_below "$launcher" | paste -s -d ,)
	[[ $pids = *,* ]] && has_worked "${pids%,*}" && has_worked "${pids#*,}"
}

has_worked()
{
	local stat

	read -r -a stat <"/proc/$1/stat"
	[ $((stat[13] + stat[14])) -ge 100 ]
}

# start_long NAME HOW-LONG: sets launcher and pids
start_long()
{
	prepare_app "$1" "$2"
	TRUTH= job_command openmpi 2 shm n "${APP[@]}"
	timeout -k 5 200 "${JOB[@]}" >out 2>&1 </dev/null 3>&- &
	launcher=$!
	soon ranks_at_work
}

# Where a job has ended before its tracer, a longer one is taken.
mid_run()
{
	local launcher pids length

	for length in 1 2 3; do
		start_long "$1" $length
		timeout 60 "$UCXBPF" attach -q -o a.ucxb -p "$pids" -d 0.5 >summary
		! kill -0 $launcher || break
		wait $launcher
		echo "# ended before its tracer: length $length" >&3
	done
	wait $launcher
	app_result "$1" | cmp - "$(plain "$1")"
	check "$1" attach
}

# Every stack that gdb finds inside an MPI call is one of those that were recorded, and none ends early.
same_as_gdb()
{
	local launcher pids tracer

	command -v gdb >/dev/null || skip "no gdb"
	[ "$(uname -m)" = x86_64 ] || skip "--stacks is for x86-64"
	start_long "$1" 3
	env --default-signal=INT timeout 100 "$UCXBPF" attach -q --stacks -o a.ucxb -p "$pids" >summary 3>&- &
	tracer=$!
	soon calls_in a.ucxb 1
	/usr/bin/python3 "$TOP/tests/apps/gdb_stacks.py" sample "${pids%,*}" 4 >samples
	kill -INT $tracer
	wait $tracer
	kill "$launcher" && wait "$launcher" || true
	"$UCXBPF" replay --json a.ucxb >report.json
	/usr/bin/python3 "$TOP/tests/apps/gdb_stacks.py" check report.json <samples
	jq -e '[.stacks[].end] | length > 4 and all(. == null)' report.json
}

@test "PETSc CG from the start" { from_start petsc; }

@test "GROMACS, 400 steps, from the start" { from_start gromacs; }

@test "LAMMPS from the start" { from_start lammps; }

@test "mpi4py collectives from the start" { from_start mpi4py; }

@test "PETSc CG joined in mid-run" { mid_run petsc; }

@test "GROMACS joined in mid-run" { mid_run gromacs; }

@test "LAMMPS joined in mid-run" { mid_run lammps; }

@test "mpi4py collectives joined in mid-run" { mid_run mpi4py; }

@test "stacks of PETSc CG are gdb's" { same_as_gdb petsc; }

@test "stacks of GROMACS are gdb's" { same_as_gdb gromacs; }

@test "stacks of LAMMPS are gdb's" { same_as_gdb lammps; }

@test "stacks of mpi4py are gdb's" { same_as_gdb mpi4py; }
