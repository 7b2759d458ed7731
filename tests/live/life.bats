# SPDX-License-Identifier: BSD-3-Clause
# How processes begin and end: abort, fork, exec, an MPI loaded late.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/soon.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }

@test "a job that aborts keeps its exit status and all it did before" {
	for mpi in openmpi mpich; do
		one_case 7 mpi_abort $mpi shm n "$PROGS/$mpi/mpi_abort"
	done
}

@test "an abort between nodes" {
	nodes_up
	for mpi in openmpi mpich; do
		one_case 7 mpi_abort $mpi tcp n "$PROGS/$mpi/mpi_abort"
	done
}

@test "children that exit or run another program" {
	for mpi in openmpi mpich; do
		one_case 0 mpi_fork $mpi shm n "$PROGS/$mpi/mpi_fork"
	done
}

@test "ranks without UCX are counted, and said to have none" {
	JOB_EXTRA="OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx" trace mpi_send openmpi shm n "$PROGS/openmpi/mpi_send"
	[ "$status" = 0 ]
	grep -q "^ucxbpf: warning: 2 processes loaded MPI but no UCX, and cannot be followed: while the job runs, 'ucxbpf doctor" "$CASE/out"
	"$UCXBPF" replay --json "$CASE/job.ucxb" |
		jq -e '[.notes | keys[] | select(contains("no UCX"))] | length == 1 and (.[0] | startswith("2 processes loaded MPI "))'
}

is_zombie() { grep -q "^State:.Z" "/proc/$1/status"; }

@test "use of UCX is unknown where the last libraries of a process could not be read" {
	local command="import ctypes, os, sys, time
ctypes.CDLL('libmpi.so.40', ctypes.RTLD_GLOBAL).MPI_Init(None, None)
while not os.path.exists('$WORK/go'):
	time.sleep(0.01)
ctypes.CDLL('libucp.so.0')
os._exit(0)"

	OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		"$UCXBPF" run -o "$WORK/a.ucxb" -- /usr/bin/python3 -c "$command" >"$WORK/out" 2>&1 3>&- &
	local tracer=$!
	soon calls_in "$WORK/a.ucxb" 1
	kill -STOP "$tracer"
	touch "$WORK/go"
	soon is_zombie "$(pgrep -P "$tracer" python3)"
	kill -CONT "$tracer"
	wait "$tracer"
	grep "1 process loaded MPI and ended before the tracer had read all that was loaded: use of UCX is unknown" "$WORK/out"
	run ! grep "no UCX" "$WORK/out"
	grep -E "^  .* python3  Open MPI [0-9.]+  unknown " "$WORK/out"
	"$UCXBPF" replay --json "$WORK/a.ucxb" | jq -e '.processes[0].ucx_unknown == true'
}

@test "an MPI loaded late by a program that is linked with none" {
	for mpi in openmpi mpich; do
		one_case 0 dl_mpi $mpi shm n "$PROGS/dl/dl_mpi" $mpi
	done
}

@test "a command that is not there, one that fails, one without UCX" {
	run -127 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- /nonexistent/command
	run "$UCXBPF" run -q -o "$WORK/b.ucxb" -- sh -c 'exit 9'
	[ "$status" = 9 ]
	run "$UCXBPF" run -q -o "$WORK/c.ucxb" -- true
	[ "$status" = 0 ]
	"$UCXBPF" replay "$WORK/c.ucxb"
	# OTF2's own tools refuse an archive without a location
	run "$UCXBPF" export -f otf2 -o "$WORK/archive" "$WORK/c.ucxb"
	[ "$status" = 1 ]
	[ "${lines[0]}" = "ucxbpf: error: $WORK/archive: nothing written: no process was traced, and OTF2 has no archive without one" ]
	[ ! -e "$WORK/archive" ]
}

# A command's status shows the tracer's through its parent: all threads of it.
@test "a tracer keeps the rights that it needs, and its command all" {
	local rights='^(CapPrm|CapEff|NoNewPrivs|Seccomp):'

	grep -E "$rights" /proc/self/status >"$WORK/own"
	"$UCXBPF" run -q -o "$WORK/a.ucxb" -- sh -c "
		grep -E '$rights' /proc/self/status >$WORK/command
		sleep 0.3
		pgrep -P \$PPID ucxbpf-keeper >$WORK/keeper
		cat /proc/\$PPID/task/*/status | grep -E '$rights' | sort | uniq -c >$WORK/tracer"
	diff "$WORK/own" "$WORK/command"
	cat "$WORK/tracer"
	# without it, the end of a trace takes ten times as long
	[ -s "$WORK/keeper" ]
	awk '$2 == "NoNewPrivs:" && $3 != 1 || $2 == "Seccomp:" && $3 != 2 || /^ *[0-9]+ Cap/ && $3 ~ /ffff/ { bad = 1 }
		END { exit bad || NR != 4 }' "$WORK/tracer"
}

# side TYPE FILTER: of the capture's side records of a type
side() {
	"$BUILD/tests/bench/sides" "$WORK/a.ucxb" "$1" | jq -sc "$2"
}

@test "arguments are recorded where that is asked for, secrets of the environment never" {
	local program=$PROGS/mpich/mpi_self

	export UCX_SECRET_TOKEN=swordfish
	job_command mpich 2 shm n "$program" --password=swordfish
	timeout 60 "$UCXBPF" run -q -o "$WORK/a.ucxb" -- "${JOB[@]}" </dev/null
	[ "$(side capture 'map(.command)')" = '[["env"]]' ]
	[ "$(side process 'map(.cmdline) | unique')" = "[[\"$program\"]]" ]
	[ "$(side process 'map(.environment | has("UCX_TLS")) | unique')" = "[true]" ]
	[ "$(side process 'map(select(.environment.UCX_SECRET_TOKEN))')" = "[]" ]
	timeout 60 "$UCXBPF" run -q --record-arguments -o "$WORK/a.ucxb" -- "${JOB[@]}" </dev/null
	[ "$(side capture 'map(.command[-1])')" = '["--password=swordfish"]' ]
	[ "$(side process 'map(.cmdline) | unique')" = "[[\"$program\",\"--password=swordfish\"]]" ]
}

@test "a pipe, a link and another user's file are no place for a capture" {
	local file line

	mkfifo "$WORK/pipe"
	ln -s there "$WORK/link"
	: >"$WORK/foreign"
	chown nobody "$WORK/foreign"
	while IFS='|' read -r file line; do
		for command in "run -q --strict -o $WORK/$file -- true" "attach -q -o $WORK/$file -p $$"; do
			# shellcheck disable=SC2086
			run timeout 20 "$UCXBPF" $command
			echo "$command: $status $output"
			[ "$status" = 1 ]
			[ "$output" = "ucxbpf: error: cannot create '$WORK/$file': $line" ]
		done
	done <<-'END'
		pipe|it is no regular file, name one with -o
		link|it is a symbolic link, which is refused: name what it leads to with -o
		foreign|it is another user's, name a new file with -o
	END
	[ ! -e "$WORK/there" ]
	[ ! -s "$WORK/foreign" ]
}

@test "a command whose capture cannot be created runs untraced, but for --strict" {
	run timeout 20 "$UCXBPF" run -q -o "$WORK/none/a" -- sh -c "touch '$WORK/ran'; exit 3"
	echo "$status $output"
	[ "$status" = 3 ]
	[ "${lines[1]}" = "ucxbpf: warning: 'sh' runs untraced (--strict: not at all)" ]
	rm "$WORK/ran"
	run timeout 20 "$UCXBPF" run -q --strict -o "$WORK/none/a" -- touch "$WORK/ran"
	[ "$status" = 1 ]
	[ ! -e "$WORK/ran" ]
}

@test "a command of which nothing was traced is named last, with what to type instead" {
	run timeout 20 "$UCXBPF" run -o "$WORK/a.ucxb" -- true
	echo "$status $output"
	[ "$status" = 0 ]
	[[ "${lines[-1]}" = "ucxbpf: warning: nothing was traced: no process below 'true' called UCX or MPI;"*"attach --job ID"* ]]
	run timeout 20 "$UCXBPF" run --strict -o "$WORK/a.ucxb" -- true
	[ "$status" = 8 ]
	run timeout 20 "$UCXBPF" run --strict -o "$WORK/a.ucxb" -- sh -c "exit 5"
	[ "$status" = 5 ]
}

# each_below MPI: as "mpirun -n 2 ucxbpf run ./app", a tracer and a capture for each rank
each_below()
{
	job_command "$1" 2 shm n "$PROGS/$1/mpi_isend"
	for i in "${!JOB[@]}"; do
		[ "${JOB[i]}" != "$PROGS/$1/mpi_isend" ] || break
	done
	cd "$WORK"
	TRUTH=$WORK timeout 60 "${JOB[@]:0:i}" "$UCXBPF" run -q -- "${JOB[@]:i}" >out 2>&1
	ls ucxbpf."$(hostname -s)".*.ucxb
	[ "$(find . -name 'ucxbpf.*.ucxb' | wc -l)" = 2 ]
	"$UCXBPF" replay --json ucxbpf.*.ucxb >report.json
	jq -c '.matching' report.json
	jq -e '(.processes | map(.rank) | sort == [0, 1]) and .matching.sends > 0 and .matching.matched == .matching.sends' report.json
	TRUTH=$WORK timeout 60 "${JOB[@]:0:i}" "$UCXBPF" run -q -o "job.%r.%j.%%.ucxb" -- "${JOB[@]:i}" >out 2>&1
	ls job.[01].none.%.ucxb
}

@test "ranks that each run below a tracer leave a capture each, joined by one report: openmpi" { each_below openmpi; }
@test "ranks that each run below a tracer leave a capture each, joined by one report: mpich" { each_below mpich; }

# Over self a receive's callback runs inside the send, and may leave it: no end of it is ever seen.
@test "operations that are left by a longjmp" {
	for proto in n y; do
		UCX_TLS=self UCX_PROTO_ENABLE=$proto "$UCXBPF" run -q -o "$WORK/a.ucxb" -- "$PROGS/ucp/ucp_jump" >"$WORK/out"
		[ "$(cat "$WORK/out")" = "69 returned, 23 left" ]
		"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
		jq -e '([.ops[] | select(.op == "tag_send") | .count] | add) == 69
			and ([.ops[] | select(.op == "tag_recv") | .count] | add) == 92
			and .matching.matched == 69 and .attribution.to_op == 8 * 69
			and .loss.produced == .loss.stored' "$WORK/report.json"
	done
}

# A task has 16 frames: a send that finds none has no record, and is neither in the sums nor unaccounted for.
@test "sends within each other, deeper than there are frames: each that is missed is counted" {
	UCX_TLS=self "$UCXBPF" run -q -o "$WORK/a.ucxb" -- "$PROGS/ucp/ucp_nest" nest 10 50 >"$WORK/out"
	[ "$(cat "$WORK/out")" = "500 sends" ]
	"$UCXBPF" replay --allow-loss --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e '([.ops[] | select(.op == "tag_send") | .count] | add) as $sends
		| ([.ops[] | select(.op == "tag_recv") | .count] | add) as $receives
		| ([.transfers[].count] | add) as $transfers
		| $sends < 500 and .loss.dropped["ring full or nested too deep"] == 1500 - $sends - $receives - $transfers
		and .notes["frames nested too deep"] > 0' "$WORK/report.json"
}

# ended KEY NUMBER [thread]: a process that ends so has that in the report, and not the other.
ended() {
	local status=0

	UCX_TLS=self "$UCXBPF" run -q -o "$WORK/a.ucxb" -- "$PROGS/ucp/ucp_end" "$@" || status=$?
	[ "$status" = "$([ "$1" = status ] && echo "$2" || echo $((128 + $2)))" ]
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json"
	jq -e --arg key "exit_$1" --argjson number "$2" '[.processes[] | [to_entries[] | select(.key | startswith("exit_"))]]
		== [[{key: $key, value: $number}]]' "$WORK/report.json"
	"$UCXBPF" export -f ndjson "$WORK/a.ucxb" |
		jq -se --arg key "exit_$1" --argjson number "$2" '[.[] | select(.event == "lifetime") | [.exit_status, .exit_signal]]
			== [if $key == "exit_status" then [$number, null] else [null, $number] end]'
	"$UCXBPF" replay "$WORK/a.ucxb" >"$WORK/text"
}

@test "how a process ended: its status, or the signal" {
	ulimit -c 0
	for number in 0 3; do
		ended status $number
		! grep "died of" "$WORK/text" || false
	done
	ended status 5 thread
	ended signal 9
	! grep "died of" "$WORK/text" || false
	for thread in "" thread; do
		ended signal 6 $thread
		grep -q "^pid [0-9]* on $(hostname) died of signal 6 (SIGABRT)\$" "$WORK/text"
	done
}
