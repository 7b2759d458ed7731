# SPDX-License-Identifier: BSD-3-Clause
# top: its rates are those of the program's ledger, on paper and on a screen.

bats_require_minimum_version 1.5.0
load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }

setup()
{
	live_setup
	TERMINAL="tmux -L ucxbpf-$$-$BATS_TEST_NUMBER -f /dev/null"
	TOP_PID=
}

teardown()
{
	[ -z "$TOP_PID" ] || kill -TERM "$TOP_PID" 2>/dev/null || true
	$TERMINAL kill-server 2>/dev/null || true
	[ -z "${STUCK:-}" ] || kill -KILL $STUCK
	running_teardown
}

# rates MPI: some intervals agree with the ledger of a job that goes on
rates()
{
	PROGRAM=mpi_rate start "$1" shm n
	"$UCXBPF" top --json -p "$PIDS" -d 3 >"$WORK/top" 2>"$WORK/warnings"
	[ ! -s "$WORK/warnings" ]
	finish
	count=$(/usr/bin/python3 "$TOP/tests/live/check_top.py" "$TOP/docs/top.schema.json" "$WORK/top" "$TRUTH")
	[ "$count" -ge 2 ]
}

@test "rates are those of the ledger: openmpi" { rates openmpi; }

@test "rates are those of the ledger: mpich" { rates mpich; }

@test "one interval, and the job's text is as before" {
	PROGRAM=mpi_rate start openmpi shm n
	mkdir "$WORK/tmp"
	TMPDIR=$WORK/tmp "$UCXBPF" top --once --json --interval 500ms -p "$PIDS" >"$WORK/top"
	text | diff "$WORK/text" -
	finish
	[ "$(/usr/bin/python3 "$TOP/tests/live/check_top.py" "$TOP/docs/top.schema.json" "$WORK/top" "$TRUTH")" = 1 ]
	rmdir "$WORK/tmp"
}

# in_view FILTER: the last interval that was printed fits
in_view()
{
	[ -s "$WORK/top" ] && tail -n 1 "$WORK/top" | jq -e "$1"
}

@test "a job ends, and top with it" {
	PROGRAM=mpi_rate start openmpi shm n
	"$UCXBPF" top --json --interval 200ms -p "$PIDS" >"$WORK/top" 3>&- &
	TOP_PID=$!
	soon in_view '.processes | map(.sends.total) | min > 0'
	finish
	wait "$TOP_PID"
	TOP_PID=
}

@test "a job that begins later is there, and goes when it ends" {
	env --default-signal=INT "$UCXBPF" top --json --all --interval 200ms >"$WORK/top" 3>&- &
	TOP_PID=$!
	soon in_view '.processes == []'
	text() { true; } # it is probed from its first instruction on
	PROGRAM=mpi_rate start openmpi shm n
	soon in_view '[.processes[] | select(.comm == "mpi_rate" and .sends.total > 0)] | length == 2'
	finish
	soon in_view '[.processes[] | select(.comm == "mpi_rate")] == []'
	kill -INT "$TOP_PID"
	wait "$TOP_PID"
	TOP_PID=
	jq -es 'map(.processes[] | select(.ended)) | length == 2' "$WORK/top"
}

@test "no such process, and one without UCX" {
	run -7 "$UCXBPF" top --json -p 4194303
	[ "$output" = "ucxbpf: error: process 4194303 does not exist" ]
	sleep 60 3>&- &
	TOP_PID=$!
	run -8 "$UCXBPF" top --json -p "$TOP_PID"
	[[ $output = *"none of the processes maps UCX or MPI now"* ]]
	run -7 "$UCXBPF" top --json --job no-such-job
}

# stuck_job: two ranks, one of which waits for the other; sets PIDS and JOB_PID
stuck_job()
{
	mkdir -p "$WORK/truth"
	TRUTH=$WORK/truth job_command openmpi 2 shm n "$PROGS/openmpi/mpi_stuck" never
	"${JOB[@]}" >"$WORK/out" 2>&1 3>&- &
	JOB_PID=$!
	soon test -s "$WORK/truth/0.pid"
	soon test -s "$WORK/truth/1.pid"
	PIDS=$(cat "$WORK/truth/0.pid"),$(cat "$WORK/truth/1.pid")
}

@test "a call that goes on is as old as the looks at it" {
	PROGRAM=mpi_stuck
	stuck_job
	"$UCXBPF" top --json --interval 300ms -p "$PIDS" >"$WORK/top" 3>&- &
	TOP_PID=$!
	soon in_view '[.threads[] | select(.at_least_ns > 1000000000)] != []'
	in_view '[.threads[] | select(.at_least_ns > 1000000000)] | all(.function != null)'
	kill -KILL "$(cat "$WORK/truth/0.pid")" "$(cat "$WORK/truth/1.pid")"
	wait "$JOB_PID" || true
	JOB_PID=
	wait "$TOP_PID"
	TOP_PID=
}

@test "a budget takes the probes away, and rates stay those of the watched time" {
	PAUSE=0 PROGRAM=mpi_rate start openmpi shm n
	"$UCXBPF" top --json --interval 500ms --budget 0.05% -p "$PIDS" >"$WORK/top" 3>&- &
	TOP_PID=$!
	soon jq -es 'map(select(.tracer.away and .watched_ns < .to_ns - .from_ns)) | length >= 3' "$WORK/top"
	kill -TERM "$TOP_PID"
	wait "$TOP_PID"
	TOP_PID=
	finish
	jq -es 'all(.rates_bound == .tracer.away)' "$WORK/top"
	# per second of watched time; none, where nothing was watched
	jq -es 'all(.watched_ns as $w | .processes[0].sends |
		if $w == 0 then .per_s == null else (.per_s * $w / 1e9 - .count | fabs) < 0.01 * (.count + 1) end)' "$WORK/top"
}

# ---- the screen ----

on_screen()
{
	$TERMINAL capture-pane -p -t top >"$WORK/screen" && grep -q -- "$1" "$WORK/screen"
}

# screen WIDTH HEIGHT: top on a terminal of that size, beside a job that runs
screen()
{
	PROGRAM=mpi_rate start openmpi shm n
	cat >"$WORK/shown" <<-END
		cd "$WORK"
		mkdir -p tmp
		export TMPDIR="$WORK/tmp"
		"$UCXBPF" top -p $PIDS
		status=\$?
		# of a tracer that was killed, the reader gives the terminal back: what is printed before that is gone with it
		while pgrep -f "top -p $PIDS" >/dev/null; do sleep 0.05; done
		echo "status \$status"
		stty -a | grep -o -- '-\?\<echo\>'
		exec sleep 120
	END
	$TERMINAL new-session -d -s top -x "$1" -y "$2" "bash '$WORK/shown'" 3>&-
	soon on_screen '^ *0 .*MiB'
}

fits()
{
	[ "$(wc -L <"$WORK/screen")" -le "$1" ]
	[ "$(wc -l <"$WORK/screen")" -le "$2" ]
}

quit()
{
	$TERMINAL send-keys -t top q
	soon on_screen '^status 0'
	soon on_screen '^echo'
}

@test "a screen of 80 columns and 24 lines" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 80 24
	fits 80 24
	grep '^ucxbpf top' "$WORK/screen"
	grep -E '^ *RANK +PID +MPI +WAIT +OUT/s +IN/s +SENDS/s NOW' "$WORK/screen"
	[ -z "$(grep '^  paths' "$WORK/screen")" ]
	$TERMINAL send-keys -t top 2
	soon on_screen '^posix *memory *buffered *sender *node'
	$TERMINAL send-keys -t top '/' x y z Enter
	soon on_screen 'no row has that text'
	$TERMINAL send-keys -t top '?'
	soon on_screen 'freeze, or continue'
	fits 80 24
	$TERMINAL send-keys -t top x Space
	soon on_screen '^FROZEN'
	$TERMINAL send-keys -t top Space 9
	soon on_screen '^CPU of the tracer'
	quit
	finish
}

@test "a screen of 200 columns and 50 lines, which changes its size" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 200 50
	soon on_screen '^  paths'
	soon on_screen '^  pairs'
	fits 200 50
	$TERMINAL resize-window -t top -x 80 -y 24
	soon on_screen '1-9 panes'
	gone() { ! on_screen '^  pairs'; }
	soon gone
	fits 80 24
	quit
	finish
}

# written WIDTH HEIGHT MOST: bytes that reach the terminal in five seconds, with a view each second
written()
{
	screen "$1" "$2"
	$TERMINAL pipe-pane -t top "cat >'$WORK/bytes-$1'"
	sleep 5
	$TERMINAL pipe-pane -t top
	echo "$1x$2: $(($(stat -c %s "$WORK/bytes-$1") / 5)) bytes a second"
	[ "$(stat -c %s "$WORK/bytes-$1")" -gt 0 ]
	[ "$(stat -c %s "$WORK/bytes-$1")" -lt $((5 * $3)) ]
	quit
	$TERMINAL kill-server
	finish
}

@test "only what has changed goes to the terminal" {
	command -v tmux >/dev/null || skip "no tmux"
	# a view anew has 1,920 characters, and 10,000
	written 80 24 960
	rm -rf "$TRUTH" "$WORK/stop"
	written 200 50 5000
}

# ranks_shown: the ranks in the order of the screen
ranks_shown()
{
	on_screen '^ *RANK' && awk '$1 ~ /^[01]$/ && $2 ~ /^[0-9]+$/ { print $1 }' "$WORK/screen" | paste -sd' '
}

shown_as() { [ "$(ranks_shown)" = "$1" ]; }

@test "keys sort the ranks by another column, and the other way round" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 80 24
	# by rank, then by rank downwards
	soon shown_as "0 1"
	$TERMINAL send-keys -t top r
	soon shown_as "1 0"
	$TERMINAL send-keys -t top r
	soon shown_as "0 1"
	quit
	finish
}

# red_on_screen: whether a part of the screen is red; -e has the colours as escapes
red_on_screen() { $TERMINAL capture-pane -e -p -t top | grep -q $'\e\[[0-9;]*31m.*MPI_Recv'; }
coloured() { $TERMINAL capture-pane -e -p -t top | grep -q $'\e\[[0-9;]*3[0-7]m'; }

# stuck_screen [NAME=VALUE]: a view of two ranks, one of which waits for the other
stuck_screen()
{
	stuck_job
	STUCK=${PIDS/,/ }
	$TERMINAL new-session -d -s top -x 80 -y 24 "env ${1:-} '$UCXBPF' top -p $PIDS; exec sleep 120" 3>&-
	soon on_screen '>=[1-9][0-9.]* s MPI_Recv' || { cat "$WORK/screen" && return 1; }
}

stuck_end()
{
	kill -KILL $STUCK
	STUCK=
	wait "$JOB_PID" || true
	JOB_PID=
}

@test "a call is red from 5 s on, and nothing has a colour with NO_COLOR" {
	command -v tmux >/dev/null || skip "no tmux"
	stuck_screen
	soon red_on_screen
	$TERMINAL kill-server
	stuck_end
	rm -rf "$WORK/truth"
	stuck_screen NO_COLOR=1
	soon on_screen '>=[5-9][0-9.]* s MPI_Recv'
	! coloured || false
	stuck_end
}

@test "w writes a capture beside the view" {
	command -v tmux >/dev/null || skip "no tmux"
	screen 100 24
	$TERMINAL send-keys -t top w
	soon on_screen 'is written'
	quit
	finish
	"$UCXBPF" replay --json "$WORK"/top.*.ucxb | jq -e '[.calls[].count] | add > 0'
}

@test "the terminal is as before when the tracer or the reader is killed" {
	command -v tmux >/dev/null || skip "no tmux"
	local tracer
	for signal in INT TERM KILL; do
		screen 80 24
		tracer=$(pgrep -P "$($TERMINAL display-message -p -t top '#{pane_pid}')" ucxbpf)
		kill "-$signal" "$tracer"
		soon on_screen '^status'
		soon on_screen '^echo'
		[ -z "$(ls -d "$WORK/tmp"/ucxbpf-top-* 2>/dev/null)" ]
		$TERMINAL kill-server
		finish
		rm -rf "$WORK/truth" "$STOP"
	done
}
