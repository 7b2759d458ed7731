# SPDX-License-Identifier: BSD-3-Clause
# A duty cycle: windows with probes, and time without, of jobs that must not notice.

load ../lib/live.bash
load ../lib/running.bash

setup_file() { live_file_setup; }
teardown_file() { live_file_teardown; }
setup() { live_setup; }
teardown() { running_teardown; }

# windowed MPI PROTO: a ping-pong, watched for four windows
windowed()
{
	wanted() { windows_in "$WORK/a.ucxb" 4; }
	attached "$@" --window 150ms/500ms
	windows_hold --count 4 --length 150 "$WORK/a.ucxb"
	"$UCXBPF" replay "$WORK/a.ucxb" >"$WORK/report.txt"
	grep -qE "^sampled $(jq '.windows | length' "$WORK/report.json") windows, [0-9.]+ m?s of [0-9.]+ m?s \(.*\): all numbers are of the windows alone$" \
		"$WORK/report.txt"
	judged_by_windows
}

# Rules pass for the windows, and say so. Those that need all of the time are unknown.
judged_by_windows()
{
	echo 'spec: ucxbpf-policy-v1' >"$WORK/site.yaml"
	judged 3 "$WORK/a.ucxb" | sort -u >"$WORK/unknown"
	grep -qx "unknown COV-01 $(hostname)" "$WORK/unknown"
	grep -qx 'unknown COV-04 all captures' "$WORK/unknown"
	# at a window's edge a fragment's operation may be missing, and with it the size of its message
	jq -e '[.findings[] | select(.rule == "PATH-05" and .verdict == "unknown") | .why] |
		all(test("^sizes of messages are not known for "))' "$WORK/check.json"
	[ "$(grep -cvx "unknown PATH-05 $(hostname)" "$WORK/unknown")" = 2 ]
	jq -e '[.findings[] | select(.verdict == "pass") | .why] | length > 3 and all(test("^as far as windows of .* saw"))' \
		"$WORK/check.json"
}

@test "windows on Open MPI, protocol v1" { windowed openmpi n; }

@test "windows on Open MPI, protocol v2" { windowed openmpi y; }

@test "windows on MPICH" { windowed mpich n; }

# patched: bytes of UCX's and MPI's code in rank 0 that are not as in their files
patched()
{
	/usr/bin/python3 "$TOP/tests/live/check_text.py" --count "${PIDS%,*}" |
		awk '!/libc/ { sum += $3 } END { print sum + 0 }'
}

between() { [ "$(patched)" -lt 50 ]; }

@test "between windows the probes are out of the job's text" {
	start openmpi shm n
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" --window 2s/1000s \
		>"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon windows_in "$WORK/a.ucxb" 1
	within=$(patched)
	soon between
	between=$(patched)
	kill -INT $tracer
	wait $tracer
	[ "$(patched)" = 0 ]
	finish
	same_result openmpi
	echo "$within bytes in a window, $between between windows"
	# what names objects stays, and is never run by a job that makes none
	[ "$within" -gt 150 ]
	[ "$between" -gt 5 ]
}

@test "windows of a run: from its start, then as if joined again" {
	for mpi in openmpi mpich; do
		export TRUTH=$WORK/truth
		STOP=$WORK/stop
		mkdir -p "$TRUTH"
		rm -f "$STOP" "$WORK/a.ucxb"
		job_command $mpi 2 shm n "$PROGS/$mpi/mpi_pingpong" "$STOP" 200
		timeout -k 5 100 "$UCXBPF" run -q -o "$WORK/a.ucxb" --window 150ms/500ms -- "${JOB[@]}" \
			</dev/null >"$WORK/out" 2>&1 3>&- &
		JOB_PID=$!
		soon windows_in "$WORK/a.ucxb" 4
		finish
		same_result $mpi
		windows_hold --count 4 --length 150 "$WORK/a.ucxb"
		[ "$(jq -r '[.processes[] | select(.rank != null) | .seen_from] | unique[]' \
			"$WORK/report.json")" = start ]
	done
}

@test "a tracer that is killed leaves the windows it had, and a clean job" {
	start openmpi shm n
	"$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" --window 300ms/500ms >"$WORK/summary" 2>&1 3>&- &
	tracer=$!
	soon windows_in "$WORK/a.ucxb" 3
	kill -KILL $tracer
	wait $tracer || true
	text | diff "$WORK/text" -
	finish
	same_result openmpi
	"$UCXBPF" replay --json "$WORK/a.ucxb" >"$WORK/report.json" || [ $? = 4 ]
	[ "$(jq '.windows | length' "$WORK/report.json")" -ge 2 ]
	"$BUILD/tests/bench/strict" -w "$WORK/a.ucxb"
}

noted() { so_far "$WORK/a.ucxb" '.notes | keys | any(test("^probes of .* could not be placed: Too many open files$"))'; }

@test "a window whose probes cannot be placed is left out, and a note says so" {
	start openmpi shm n
	env --default-signal=INT "$UCXBPF" attach -q -o "$WORK/a.ucxb" -p "$PIDS" --window 100ms/500ms \
		>"$WORK/summary" 2>"$WORK/warnings" 3>&- &
	tracer=$!
	soon windows_in "$WORK/a.ucxb" 2
	prlimit --pid $tracer --nofile=8:4096
	soon noted
	windows=$("$UCXBPF" replay --json "$WORK/a.ucxb" 2>/dev/null | jq '.windows | length')
	prlimit --pid $tracer --nofile=1024:4096
	soon windows_in "$WORK/a.ucxb" $((windows + 2))
	kill -INT $tracer
	wait $tracer
	text | diff "$WORK/text" -
	finish
	same_result openmpi
	[ "$(grep -c 'could not be placed' "$WORK/warnings")" = 1 ]
	"$BUILD/tests/bench/strict" -w "$WORK/a.ucxb"
	"$UCXBPF" replay --json "$WORK/a.ucxb" | jq -e '.notes | to_entries | map(select(.key | test("could not be placed"))) | map(.value) == [1]'
}

@test "two attaches to one job, one after the other" {
	start openmpi shm n
	for i in 1 2; do
		timeout 30 "$UCXBPF" attach -q -o "$WORK/$i.ucxb" -p "$PIDS" -d 0.5 >"$WORK/summary"
		"$UCXBPF" replay --json "$WORK/$i.ucxb" >"$WORK/$i.json"
	done
	finish
	"$UCXBPF" replay --json "$WORK/1.ucxb" "$WORK/2.ucxb" >"$WORK/both.json"
	"$UCXBPF" replay --json "$WORK/2.ucxb" "$WORK/1.ucxb" | cmp - "$WORK/both.json"
	/usr/bin/python3 "$TOP/tests/live/check_attach.py" "$WORK/both.json" 2
	"$BUILD/tests/bench/strict" "$WORK/1.ucxb" "$WORK/2.ucxb"
	# together they know what each knew alone, no more and no less
	for field in sends receives matched; do
		[ "$(jq .matching.$field "$WORK/1.json" "$WORK/2.json" | paste -sd+ | bc)" = \
			"$(jq .matching.$field "$WORK/both.json")" ]
	done
	[ "$(jq '.processes[].ucx | length' "$WORK/both.json" | sort -u)" = 1 ]
}
