#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --all-nodes of `attach` and `top`: jobs of a real Slurm on 2 and 4 nodes, lists of hosts, nodes that fail.

load ../lib/live.bash
load ../lib/sweep.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { "$BATS_TEST_DIRNAME/../slurm" down; }

setup()
{
	local status=0

	live_setup
	[ -e "/run/ucxbpf-slurm-$BED" ] || "$TOP/tests/slurm" up 4 || status=$?
	[ "$status" != 77 ] || skip "no Slurm here"
	[ "$status" = 0 ]
	TRACER="$TOP/tests/lib/own-proc $UCXBPF"
	export TRUTH=$WORK/truth
	mkdir -p "$TRUTH"
	STOP=$WORK/stop
	JOB_ID= GATHERER= LOST=
}

teardown()
{
	[ -z "${STOP:-}" ] || touch "$STOP" "$WORK/go"
	[ -z "${GATHERER:-}" ] || kill -9 "$GATHERER" 2>/dev/null || true
	[ -z "${TERMINAL:-}" ] || $TERMINAL kill-server 2>/dev/null || true
	# Slurm does not end a job on a node that is gone
	[ -z "${LOST:-}" ] || { JOB_ID= && "$TOP/tests/slurm" down; }
	[ -z "${JOB_ID:-}" ] || slurm scancel "$JOB_ID" || true
	[ -z "${JOB_ID:-}" ] || soon job_over
	! mountpoint -q "$WORK/cgroup" || umount "$WORK/cgroup"
}

slurm() { "$TOP/tests/slurm" enter n0 "$@"; }

job_over() { [ -z "$(slurm squeue -h -j "$JOB_ID" 2>/dev/null)" ]; }

said() { [ "$(ls "$TRUTH"/*."$1" 2>/dev/null | wc -l)" = "$2" ]; }

# job MPI NODES [RANKS [BELOW...]]: so many ranks on each (1), which wait for $WORK/go, then exchange messages until $STOP
# is there; each below a command BELOW
job()
{
	local plugin=pmix ranks=${3:-1} variables

	[ "$1" = openmpi ] || plugin=pmi2
	"job_env_$1"
	variables=("${JOB_ENV[@]}" OMPI_MCA_oob_tcp_if_include=eth0 UCX_NET_DEVICES=eth0 UCX_TLS=tcp,self "TRUTH=$TRUTH")
	JOB_ID=$(slurm env "${variables[@]}" sbatch --parsable --nodes="$2" --ntasks-per-node="$ranks" --output="$WORK/job.out" \
		--wrap "srun --mpi=$plugin ${*:4} $PROGS/$1/mpi_alltoall $STOP 1000 4000 $WORK/go")
	soon said ready $(($2 * ranks))
}

# gather OPTION...: attach on all nodes, as a background job of a shell has it; its id in GATHERER
gather()
{
	"$TOP/tests/slurm" enter n0 "$UCXBPF" attach --all-nodes --job "$JOB_ID" --ready "$WORK/ready" -o "$WORK/d" --ucxbpf "$TRACER" "$@" \
		</dev/null >"$WORK/out" 2>"$WORK/err" 3>&- &
	GATHERER=$!
}

# gathered STATUS: it ends so; nothing of it stays behind
gathered()
{
	local status=0 killer

	(sleep 60; kill -KILL "$GATHERER") 2>/dev/null 3>&- &
	killer=$!
	wait "$GATHERER" || status=$?
	kill $killer
	GATHERER=
	cat "$WORK/err"
	[ "$status" = "$1" ]
	soon nothing_left
	[ -z "$(find /tmp -maxdepth 1 -name 'ucxbpf-??????' -newer "$WORK/probe.out")" ]
}

nothing_left() { ! grep -al -- "--sen[d]" /proc/[0-9]*/cmdline; }

every_send_matched()
{
	"$UCXBPF" replay --json "$WORK"/d/*.ucxb >"$WORK/report.json"
	jq '{hosts: [.hosts[].name], ranks: [.processes[].rank], matching, loss, notes}' "$WORK/report.json"
	jq -e --argjson n "$1" '(.hosts | length) == $n and ([.processes[].rank] | sort) == [range($n)] and
		.matching.sends > 0 and .matching.matched == .matching.sends' "$WORK/report.json"
	[ "$(jq '[.calls[] | select(.function == "MPI_Alltoall") | .count] | add' "$WORK/report.json")" -gt 0 ]
}

# below_srun MPI NAME [OPTION...]: each rank of srun below a tracer; the captures' names fit the pattern NAME, where JOB
# is the job's number
below_srun()
{
	local mpi=$1 captures
	shift

	cd "$WORK"
	mkdir -p "$TRUTH"
	job "$mpi" 2 2 "$UCXBPF" run -q "${@:2}" --
	touch "$WORK/go"
	soon said running 4
	touch "$STOP"
	soon job_over
	cat "$WORK/job.out"
	mapfile -t captures < <(ls | grep -xE "${1//JOB/$JOB_ID}")
	ls
	[ "${#captures[@]}" = 4 ]
	"$UCXBPF" replay --json "${captures[@]}" >"$WORK/report.json"
	jq '{ranks: [.processes[].rank], matching, loss, notes}' "$WORK/report.json"
	jq -e '([.processes[].rank] | sort) == [0, 1, 2, 3] and ([.hosts[].name] | unique) == ["n0", "n1"] and
		.matching.sends > 0 and .matching.matched == .matching.sends' "$WORK/report.json"
}

# whole_job MPI NODES: traced from before its first message to its end
whole_job()
{
	job "$1" "$2"
	gather
	soon test -s "$WORK/ready"
	touch "$WORK/go"
	soon said running "$2"
	touch "$STOP"
	soon job_over
	gathered 0
	every_send_matched "$2"
	[ "$(grep -c '^  n[0-9] ' "$WORK/out")" -ge "$2" ]
	[ "$(ls "$WORK/d" | wc -l)" = "$2" ]
	grep -q "captures of $2 of $2 nodes in $WORK/d; the same again: ucxbpf replay $WORK/d/\*.ucxb" "$WORK/err"
	! grep 'ucxbpf: warning' "$WORK/err" || false
}

@test "Slurm, Open MPI on 2 nodes: a whole job, every send matched" { whole_job openmpi 2; }
@test "Slurm, MPICH on 2 nodes: a whole job, every send matched" { whole_job mpich 2; }
@test "Slurm, Open MPI on 4 nodes: a whole job, every send matched" { whole_job openmpi 4; }
@test "Slurm, MPICH on 4 nodes: a whole job, every send matched" { whole_job mpich 4; }

NAME='job\.n[01]\.[0-9]+\.[0-3]\.JOB\.0\.[0-9]{8}T[0-9]{6}\.ucxb'

@test "srun ucxbpf run, Open MPI: a capture for each rank" { below_srun openmpi 'ucxbpf\.n[01]\.[0-9]+\.ucxb'; }
@test "srun ucxbpf run, MPICH: a capture for each rank" { below_srun mpich 'ucxbpf\.n[01]\.[0-9]+\.ucxb'; }
@test "srun ucxbpf run, Open MPI: names of all that there is" { below_srun openmpi "$NAME" -o job.%h.%p.%r.%j.%s.%t.ucxb; }
@test "srun ucxbpf run, MPICH: names of all that there is" { below_srun mpich "$NAME" -o job.%h.%p.%r.%j.%s.%t.ucxb; }

@test "for a time: the job goes on" {
	job openmpi 2
	touch "$WORK/go"
	gather -d 300ms --level ucp
	gathered 0
	"$UCXBPF" replay --json "$WORK"/d/*.ucxb | jq -e '(.hosts | length) == 2 and (.ops | length) > 0 and .transfers == []'
	grep -q 'level ucp' "$WORK/out"
	! job_over || false
	# another one into the same folder would mix them
	status=0
	slurm "$UCXBPF" attach --all-nodes --job "$JOB_ID" -o "$WORK/d" 2>"$WORK/err" || status=$?
	[ "$status" = 2 ]
	[ "$(cat "$WORK/err")" = "ucxbpf: error: $WORK/d: holds files already, name a new folder with -o" ]
}

@test "a node that dies, one without the program, one that is slow: the others' report still comes" {
	job openmpi 4
	# n1 does not find it; n2 takes its time
	cat >"$WORK/tracer" <<-EOT
		#!/bin/bash
		case \$(hostname) in
		n1) exec /nowhere/ucxbpf "\$@" ;;
		n2) exec sleep 1000 ;;
		esac
		exec $TRACER "\$@"
	EOT
	chmod +x "$WORK/tracer"
	TRACER=$WORK/tracer
	gather --answer 8s
	soon test -s "$WORK/ready"
	touch "$WORK/go"
	soon said running 4
	# and n3's tracer is gone in the middle of it, not its keeper
	for process in /proc/[0-9]*; do
		[ "$(cat "$process/comm")" = ucxbpf ] || continue
		[ "$(readlink "$process/ns/uts")" != "$(readlink "/proc/$(cat "/run/ucxbpf-$BED/pid3")/ns/uts")" ] ||
			! tr '\0' ' ' <"$process/cmdline" | grep -q -- "attach --sen[d]" || kill -9 "${process#/proc/}"
	done 2>/dev/null
	sleep 0.3
	kill -INT "$GATHERER"
	gathered 4
	grep -q '^ucxbpf: warning: n1: not traced: .*/nowhere/ucxbpf: No such file' "$WORK/err"
	grep -qx 'ucxbpf: warning: n2: not traced: no answer within 8 s (--answer)' "$WORK/err"
	grep -q '^ucxbpf: warning: n3: its capture did not come: ' "$WORK/err"
	[ "$(grep -c warning "$WORK/err")" = 3 ]
	grep -q "captures of 1 of 4 nodes in $WORK/d" "$WORK/err"
	# srun may have nothing to say of n2 yet, whose log is then empty and taken away
	rm -f "$WORK/d/n2.log"
	[ "$(cd "$WORK/d" && echo *)" = "n0.ucxb n1.log n3.log" ]
	"$UCXBPF" replay --json "$WORK/d/n0.ucxb" | jq -e '[.processes[].rank] == [0]'
}

@test "a node that is gone in the middle, with all that ran there: the others' report still comes" {
	job openmpi 4
	gather --answer 8s
	soon test -s "$WORK/ready"
	touch "$WORK/go"
	soon said running 4
	LOST=n3
	"$TOP/tests/slurm" lose $LOST
	sleep 0.3
	kill -INT "$GATHERER"
	gathered 4
	grep -q x 'ucxbpf: warning: n3: its capture did not come within 8 s (--answer)' "$WORK/err"
	[ "$(grep -c warning "$WORK/err")" = 1 ]
	grep -q "captures of 3 of 4 nodes in $WORK/d" "$WORK/err"
	"$UCXBPF" replay --json "$WORK"/d/n?.ucxb | jq -e '([.processes[].rank] | sort) == [0, 1, 2] and .matching.matched > 0'
}

@test "a node whose slurmd is gone is named" {
	job openmpi 2
	kill -STOP "$(cat "/run/ucxbpf-slurm-$BED/slurmd.n1.pid")"
	gather --answer 5s -d 200ms
	gathered 4
	kill -CONT "$(cat "/run/ucxbpf-slurm-$BED/slurmd.n1.pid")"
	grep -q '^ucxbpf: warning: n1: not traced: ' "$WORK/err"
	grep -q "captures of 1 of 2 nodes in $WORK/d" "$WORK/err"
}

@test "a job that is not there, one of no process: the status says so, no folder stays" {
	local status=0

	slurm "$UCXBPF" attach --all-nodes --job 99999 -o "$WORK/d" 2>"$WORK/err" || status=$?
	[ "$status" = 7 ]
	grep -q '^ucxbpf: error: Slurm does not know job 99999 (.*); without Slurm: --launcher hosts$' "$WORK/err"
	[ ! -e "$WORK/d" ]
	status=0
	slurm "$UCXBPF" attach --all-nodes --job 99999 -w 'n[0-1]' --launcher hosts --rsh "$TOP/tests/rsh" -o "$WORK/d" \
		2>"$WORK/err" || status=$?
	[ "$status" = 7 ]
	grep -qx 'ucxbpf: warning: n1: not traced: no process here is of job 99999, by SLURM_JOB_ID, PBS_JOBID, LSB_JOBID, FLUX_JOB_ID' \
		"$WORK/err"
	[ "$(tail -n 1 "$WORK/err")" = 'ucxbpf: error: no node was traced' ]
}

# hosts MPI VARIABLE=ID COMMAND...: a job of mpirun on two nodes, with the variable of a batch system; then the tracer
hosts()
{
	local mpi=$1 id=$2
	shift 2

	job_env_openmpi
	[ "$mpi" = openmpi ] || job_env_mpich
	JOB_EXPORT=${id%%=*} JOB_EXTRA=$id
	job_command "$mpi" 2 tcp n "$PROGS/$mpi/mpi_alltoall" "$STOP" 1000 4000 "$WORK/go"
	timeout -k 2 30 "${JOB[@]}" </dev/null >"$WORK/job.out" 2>&1 3>&- &
	MPIRUN=$!
	soon said ready 2
	"$TOP/tests/slurm" enter n0 env "$id" "$@" --rsh "$TOP/tests/rsh" --ready "$WORK/ready" -o "$WORK/d" \
		--ucxbpf "$TRACER" </dev/null >"$WORK/out" 2>"$WORK/err" 3>&- &
	GATHERER=$!
	soon test -s "$WORK/ready"
	touch "$WORK/go"
	soon said running 2
	touch "$STOP"
	wait $MPIRUN
	# who traces all waits for more
	[[ " $* " != *" --all "* ]] || kill -INT "$GATHERER"
	gathered 0
	every_send_matched 2
}

@test "PBS and Open MPI: hosts of PBS_NODEFILE, by a command like ssh" {
	printf 'n0\nn0\nn1\n' >"$WORK/nodes"
	hosts openmpi PBS_JOBID=17.server "PBS_NODEFILE=$WORK/nodes" "$UCXBPF" attach --job 17 --all-nodes
}

@test "LSF and Open MPI: hosts of LSB_MCPU_HOSTS, by a command like ssh" {
	hosts openmpi LSB_JOBID=17 "LSB_MCPU_HOSTS=n0 1 n1 1" "$UCXBPF" attach --job 17 --all-nodes
}

@test "MPICH and a list of hosts, all that use UCX there" {
	printf 'n0 # the first\nn1\n' >"$WORK/nodes"
	hosts mpich PBS_JOBID=17.server "$UCXBPF" attach --all --all-nodes --hosts "$WORK/nodes"
}

# watch OPTION...: top on all nodes, as a background job of a shell has it; its id in GATHERER
watch()
{
	"$TOP/tests/slurm" enter n0 "$UCXBPF" top --json --all-nodes --job "$JOB_ID" --ucxbpf "$TRACER" "$@" \
		</dev/null >"$WORK/top.json" 2>"$WORK/err" 3>&- &
	GATHERER=$!
}

# objects FILTER: of all that came, each one fits the schema, and the filter is true of their list
objects()
{
	python3 - "$TOP/docs/top.schema.json" "$WORK/top.json" <<-'END'
		import json, sys, jsonschema
		schema = json.load(open(sys.argv[1]))
		for line in open(sys.argv[2]):
		    jsonschema.validate(json.loads(line), schema)
	END
	jq -c '{node, n, ranks: [.processes[] | [.rank, .sends.count]]}' "$WORK/top.json"
	jq -se "$1" "$WORK/top.json"
}

on_screen() { $TERMINAL capture-pane -p -t top | grep -qE -- "$1"; }

# tracer_of NODE: the processes of its top
tracer_of()
{
	local process uts

	uts=$(readlink "/proc/$(cat "/run/ucxbpf-$BED/pid${1#n}")/ns/uts")
	for process in $(pgrep -f 'top --sen[d]'); do
		[ "$(readlink "/proc/$process/ns/uts")" != "$uts" ] || echo "$process"
	done
}

@test "top of all nodes: by Slurm, by a command like ssh, and where one lacks the program, one says nothing" {
	job openmpi 2
	touch "$WORK/go"
	soon said running 2
	watch --once
	gathered 0
	[ ! -s "$WORK/err" ]
	# each rank by its own node, and what one sends the other one gets
	objects '(map(.node) | sort) == ["n0", "n1"] and all(.[]; .n == 1 and (.processes | length) == 1) and
		(map(.processes[0].rank) | sort) == [0, 1] and all(.[]; .node == .processes[0].host and .processes[0].sends.per_s > 0)'
	# until who asked has enough
	watch --interval 300ms --launcher hosts -w 'n[0-1]' --rsh "$TOP/tests/rsh"
	soon eval '[ "$(grep -c "\"node\":\"n0\"" "$WORK/top.json")" -ge 2 ] && grep -q "\"node\":\"n1\"" "$WORK/top.json"'
	kill -INT "$GATHERER"
	gathered 0
	[ ! -s "$WORK/err" ]
	objects 'group_by(.node) | length == 2 and all(.[]; map(.n) == [range(1; length + 1)])'
	# on a screen
	if command -v tmux >/dev/null; then
		TERMINAL="tmux -L ucxbpf-$$-$BATS_TEST_NUMBER -f /dev/null"
		$TERMINAL new-session -d -s top -x 80 -y 24 "exec '$TOP/tests/slurm' enter n0 '$UCXBPF' top --all-nodes --job $JOB_ID \
			--interval 300ms --ucxbpf '$TRACER' 2>'$WORK/err'" 3>&-
		soon on_screen '^n0 +0 .* [1-9][0-9.]* [KM]iB .* [1-9][0-9,]* '
		soon on_screen '^n1 +1 .* [1-9][0-9.]* [KM]iB .* [1-9][0-9,]* '
		kill -KILL $(tracer_of n1)
		soon on_screen '^n1 +failed: its view has ended'
		on_screen '1 of 2 nodes .* failed: n1'
		$TERMINAL send-keys -t top q
		soon eval '! $TERMINAL has-session -t top'
		grep '^ucxbpf: warning: n1: its view has ended' "$WORK/err"
		soon nothing_left
	fi
	! job_over || false
	# n1 does not find it; n2 says nothing
	cat >"$WORK/tracer" <<-EOT
		#!/bin/bash
		case \$(hostname) in
		n1) exec /nowhere/ucxbpf "\$@" ;;
		n2) exec cat >/dev/null ;;
		esac
		exec $TRACER "\$@"
	EOT
	chmod +x "$WORK/tracer"
	TRACER=$WORK/tracer
	watch --once --answer 4s --launcher hosts -w 'n[0-2]' --rsh "$TOP/tests/rsh"
	gathered 4
	sort "$WORK/err" >"$WORK/said"
	[ "$(wc -l <"$WORK/said")" = 2 ]
	sed -n 1p "$WORK/said" | grep '^ucxbpf: warning: n1: not watched: .*/nowhere/ucxbpf: No such file'
	[ "$(sed -n 2p "$WORK/said")" = 'ucxbpf: warning: n2: not watched: no answer within 4 s (--answer)' ]
	objects 'map(.node) == ["n0"]'
}

# readme WORD: the commands of its section that hold this word, with this job, this program, and as root
readme()
{
	awk '/^## A Slurm job/ { on = 1; next } /^## / { on = 0 } on && /^    / { print substr($0, 5) }' "$TOP/README.md" |
		sed -z 's/\\\n *//g' |
		sed "s/\b1234\b/$JOB_ID/g; s/sudo -n //; s#'ucxbpf'#'$TRACER'#; s#ucxbpf attach -q#$TRACER attach -q#; s#^ucxbpf#$UCXBPF#" |
		grep -- "$1"
}

# readme_commands MPI NODES: by themselves and by hand
readme_commands()
{
	local captures
	job "$1" "$2"
	touch "$WORK/go"
	cd "$WORK"
	readme ' ' >commands
	cat commands
	[ "$(wc -l <commands)" = 5 ]
	slurm bash -c "$(sed -n 1p commands)" >out 2>err
	grep -q "captures of $2 of $2 nodes in trace" err
	captures=$(eval "echo n{0..$(($2 - 1))}.ucxb")
	[ "$(cd trace && echo *)" = "$captures" ]
	bash -c "$(sed -n 2p commands)"
	grep -q '<html' trace.html
	bash -c "$(sed -n 3p commands)" >verdict || [ $? -le 3 ]
	grep -q '^verdict ' verdict
	slurm bash -c "$(sed -n 4p commands)"
	[ "$(echo trace.*.ucxb)" = "trace.${captures// / trace.}" ]
	bash -c "$(sed -n 5p commands)" >report || [ $? = 4 ]
	grep -q "$2 processes, $2 hosts" report
	"$UCXBPF" replay --json trace/*.ucxb >report.json
	jq '{matching, loss, notes}' report.json
	jq -e --argjson n "$2" '([.processes[].rank] | sort) == [range($n)] and .matching.matched > 0' report.json
}

@test "the commands of the README: Open MPI on 2 nodes" { readme_commands openmpi 2; }
@test "the commands of the README: MPICH on 2 nodes" { readme_commands mpich 2; }
@test "the commands of the README: Open MPI on 4 nodes" { readme_commands openmpi 4; }
@test "the commands of the README: MPICH on 4 nodes" { readme_commands mpich 4; }

# Slurm 26.05 names the directory of a job by its SLUID.
@test "processes are found by their environment, whatever their cgroup is named" {
	local root=$WORK/cgroup pid
	local group=$root/ucxbpf-$BED/slurmstepd.scope/s8FXKTA79XAR00/step_batch

	! grep -rnE 'job_(%|[0-9])' "$TOP/user" --include='*.[ch]' || false
	mkdir "$root"
	mount -t cgroup2 none "$root" 2>/dev/null || skip "no cgroup can be made here"
	mkdir -p "$group"
	job openmpi 2
	touch "$WORK/go"
	for pid in "$TRUTH"/*.pid; do
		cat "$pid" >"$group/cgroup.procs"
		grep -q s8FXKTA79XAR00 "/proc/$(cat "$pid")/cgroup"
	done
	gather -d 300ms
	gathered 0
	"$UCXBPF" replay --json "$WORK"/d/*.ucxb | jq -e '[.processes[].rank] | sort == [0, 1]'
	touch "$STOP"
	soon job_over
	find "$root/ucxbpf-$BED" -depth -type d -exec rmdir {} +
	umount "$root"
}
